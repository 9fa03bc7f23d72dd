/*
 * replace.h
 *	  Files of a table replaced by a write of the same rows.
 */
#ifndef BF_REPLACE_H
#define BF_REPLACE_H

#include "rows/row_format.h"
#include "storage/manifest.h"

/* files replaced in one step, about: what the step needs on disk, and what is lost when it is cancelled */
#define STEP_BYTES (INT64CONST(256) * 1024 * 1024)

/* May the current user do the upkeep of a table, and look for damage in it? */
extern bool MayMaintain(Oid relid);

/*
 * A step of upkeep, in a transaction that has done nothing yet and that the
 * caller commits; it is made READ COMMITTED.  The table need not exist any more,
 * or be the user's; else it is locked against others who replace files, and the
 * result is step's.
 */
extern bool StepOfTable(Oid relid, bool (*step) (void *state, Relation rel), void *state);

/*
 * The manifest as it is, in the current context, for a table that is locked
 * against all who replace files: the lock keeps them there.
 */
extern Manifest *ManifestToReplace(Oid relid);

/*
 * Is there more garbage of the table that cannot go yet than there are files?
 * Then no more is to be made.
 */
extern bool GarbageHoldsUpkeep(const Manifest *manifest);

/* The same, and it is said to the user. */
extern bool TooMuchGarbage(Relation rel, const Manifest *manifest);

/*
 * The manifest rows of the files of a manifest are replaced by those of a write
 * of all their rows; error if it has not as many.  write may be NULL: none.
 */
extern void ReplaceFiles(Relation rel, const RowLayout *layout, const Manifest *inputs,
						 ManifestWrite *write, char origin);

#endif							/* BF_REPLACE_H */
