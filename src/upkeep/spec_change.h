/*
 * spec_change.h
 *	  Other options of a table that decide how its files are written.
 */
#ifndef BF_SPEC_CHANGE_H
#define BF_SPEC_CHANGE_H

#include "spec/bucket_spec.h"
#include "utils/relcache.h"

typedef struct SpecChange
{
	List	   *options;		/* of the table, with the change */
	TableOptions *now;
	TableOptions *wanted;
} SpecChange;

/*
 * The options of a table with those that are given, as DefElems: what is not
 * among them stays, the columns that the table is sorted by beyond its key
 * included.  Error if the table's columns do not allow it.
 */
extern SpecChange *SpecChangeMake(Relation rel, List *given);

/* Would it change how files are written? */
extern bool SpecChanges(const SpecChange *change);

/* Make it so, for files that are written from now on.  The table is locked against others who do that. */
extern void SpecChangeApply(Oid relid, const SpecChange *change);

#endif							/* BF_SPEC_CHANGE_H */
