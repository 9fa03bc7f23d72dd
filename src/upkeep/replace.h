/*
 * replace.h
 *	  Files of a table replaced by a write of the same rows.
 */
#ifndef BF_REPLACE_H
#define BF_REPLACE_H

#include "rows/row_format.h"
#include "storage/manifest.h"
#include "upkeep/row_sources.h"

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
 * against all who replace files.  Its snapshot stays to the end of the step:
 * who deletes all rows of a file takes it away.
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
 * of all their rows that were not deleted; error if it has not as many.  write
 * may be NULL: none.
 *
 * With sources, which know all rows of the write, rows may have been deleted
 * since the manifest was read: nobody deletes any more from now on, and they are
 * deleted of the write.  false: somebody has been at it for too long; then the
 * files of the write are dropped and the caller is to end.  Without sources the
 * table must be locked against all writers.
 */
extern bool ReplaceFiles(Relation rel, const RowLayout *layout, const Manifest *inputs,
						 ManifestWrite *write, char origin, RowSources *sources);

#endif							/* BF_REPLACE_H */
