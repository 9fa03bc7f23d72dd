/*
 * open_checked.h
 *	  Relations that a function's caller names: rights before locks.
 */
#ifndef BF_OPEN_CHECKED_H
#define BF_OPEN_CHECKED_H

#include "access/tupdesc.h"
#include "nodes/primnodes.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

/* Error unless the current user may have the relation, which need not exist. */
typedef void (*RelationCheck) (Oid relid);

/*
 * Open a relation.  The check comes before the lock is waited for, so that
 * nobody without rights stands in the queue of a table, and once more when it
 * is held.
 */
extern Relation OpenChecked(Oid relid, LOCKMODE lockmode, RelationCheck check);

/*
 * Lock a table, if there is one, and its partitions, for rows with columns of
 * these names, or to replace its rows by them; the rights of INSERT, and
 * TRUNCATE, come first.
 */
extern Oid	LockForInsert(RangeVar *name, TupleDesc columns, bool overwrite);

/* The bucketed partitions of a partitioned table, at whatever depth, or the table itself; error if it is not bucketed. */
extern List *BucketTables(Oid relid);

/* The same; error unless the current user may maintain all of them. */
extern List *MaintainedTables(Oid relid);

/*
 * Checks: a bucketed table; one that the user may maintain; a relation of
 * which some column may be read; a bucketed one.
 */
extern void RequireBucketTable(Oid relid);
extern void RequireMaintainable(Oid relid);
extern void RequireReadable(Oid relid);
extern void RequireReadableBucketTable(Oid relid);

#endif							/* BF_OPEN_CHECKED_H */
