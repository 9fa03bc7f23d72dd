/*
 * changers.h
 *	  The lock of those who change rows of a table.
 *
 * They hold it to the end of their transaction.  Who has it alone knows what is
 * deleted of each file, until he commits.
 */
#ifndef BF_CHANGERS_H
#define BF_CHANGERS_H

#include "storage/lock.h"

/* Lock out all who change rows, if nobody does now; kept to the end of the transaction. */
extern bool ChangersTryLockOut(Oid relid);

/* Let them in again; for who has read nothing since. */
extern void ChangersLetIn(Oid relid);

#endif							/* BF_CHANGERS_H */
