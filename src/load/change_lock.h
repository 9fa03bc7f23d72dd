/*
 * change_lock.h
 *	  The lock under which rows of a table are deleted and updated.
 *
 * Those who add rows and those who read never take it.  It is a lock on an
 * object, (bucketfdw.manifest, the table, part): shown by pg_locks, watched by
 * the deadlock detector, kept by PREPARE TRANSACTION, and released at the end
 * of the transaction, or of the subtransaction if that is rolled back.
 *
 * Part 0 is the whole table.  Who changes rows of known bucket keys only takes
 * part 0 in a mode that others of the kind may have, too, and the slots of the
 * keys: parts 1 + hash modulo CHANGE_SLOTS.  The hash is the one that buckets
 * are made by, so rows of a bucket b of N are in the slots that equal b modulo
 * the greatest common divisor of N and CHANGE_SLOTS.
 */
#ifndef BF_CHANGE_LOCK_H
#define BF_CHANGE_LOCK_H

#include "postgres.h"

#define CHANGE_SLOTS 16

/* with more of them the whole table is locked */
#define CHANGE_MAX_SLOTS 4

/* a set of slots; all of them: the whole table */
typedef uint16 ChangeSlots;

#define CHANGE_WHOLE ((ChangeSlots) 0xffff)

typedef enum ChangeLockMode
{
	CHANGE_LOCK_SHARE,			/* nobody may change the rows: FOR SHARE */
	CHANGE_LOCK_EXCLUSIVE		/* nor lock them */
} ChangeLockMode;

/* Lock the whole table, or slots of it; no slot at all: no row can be changed, but the table is not locked either. */
extern void ChangeLock(Oid relid, ChangeSlots slots, ChangeLockMode mode);

/* The same if nobody has to be waited for, else false; what was locked until then stays so. */
extern bool ChangeLockIfFree(Oid relid, ChangeSlots slots, ChangeLockMode mode);

/* Could this transaction lock the whole table now?  It does not. */
extern bool ChangeLockIsFree(Oid relid);

#endif							/* BF_CHANGE_LOCK_H */
