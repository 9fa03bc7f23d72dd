/*
 * latest.h
 *	  What a table is at the moment, for those who change it.
 */
#ifndef BF_LATEST_H
#define BF_LATEST_H

#include "utils/snapshot.h"

/*
 * The ids of the files and inline writes that a snapshot sees, an array of *n,
 * ascending.  A serializable transaction does not count it as read.
 */
extern uint64 *LatestFileIds(Oid relid, Snapshot snapshot, int64 *n);

/*
 * Error, as core raises it, if the transaction keeps one snapshot and others
 * have written to the table or deleted rows since: rows that are replaced by
 * rows of this transaction must be those that it sees.
 */
extern void LatestCheckNothingNew(Oid relid);

#endif							/* BF_LATEST_H */
