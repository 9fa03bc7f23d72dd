/*
 * load.h
 *	  Rows in, bucketed sorted runs out.
 *
 * Rows of one transaction are collected per table: row buffers per bucket,
 * spilled to temporary files by bucket, each bucket sorted when it is spilled
 * or written.  They become files ("sealed") at the end of the statement that
 * brought many, before a query with workers, and before commit.  Until then
 * readers of the transaction find them in a file image.
 */
#ifndef BF_LOAD_H
#define BF_LOAD_H

#include "executor/tuptable.h"
#include "load/seal.h"
#include "storage/manifest.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

typedef struct LoadState LoadState;

/*
 * Get the collector of a table for the current subtransaction.  Memory of all
 * collectors of a transaction together is bounded by budget_kb (the largest
 * given so far: work_mem for INSERT and COPY, maintenance_work_mem for
 * create_table_as).  Do not keep the pointer across commands.
 */
extern LoadState *LoadBegin(Relation rel, int budget_kb);

/* Collectors of this transaction may have so much memory, whoever begins them. */
extern void LoadAllowMemory(int budget_kb);

/* Collect one row: cid is the command it belongs to.  Values may be toasted; they are flattened and copied. */
extern void LoadRow(LoadState *state, TupleTableSlot *slot, CommandId cid);

/*
 * The manifest as ManifestRead gives it, and in it the rows that wait and that
 * the snapshot sees.  They stay readable until the current memory context is
 * reset, whatever becomes of the rows.
 */
extern Manifest *LoadManifest(Oid relid, Snapshot snapshot);

/* The same for those who read the files: without the damaged ones if bucketfdw.ignore_damaged_files says so. */
extern Manifest *LoadManifestToRead(Oid relid, Snapshot snapshot);

/*
 * The same for a statement that changes rows, which have numbers and origins in
 * it; rows that wait become files or inline rows first.
 */
extern Manifest *LoadManifestToChange(Oid relid, Snapshot snapshot);

/* The same with sizes only, see ManifestReadSizes: those of rows that wait are estimated. */
extern Manifest *LoadManifestSizes(Oid relid, Snapshot snapshot, bool with_stats);

/* How many more rows the snapshot sees of a table, for what waits, than without: less, if more are deleted. */
extern int64 LoadWaitingRows(Oid relid, Snapshot snapshot);

/* How many of them are deleted by what waits. */
extern int64 LoadWaitingDeletes(Oid relid, Snapshot snapshot);

/*
 * All rows of a command (a statement, COPY, create_table_as) have come: if
 * there are many, or always, they are sealed now, so that the time and the
 * errors are those of the statement.
 */
extern void LoadEndCommand(CommandId cid, bool always);

/* What LoadEndCommand wrote of a collector; false if the rows wait. */
extern bool LoadCommandSealed(const LoadState *state, CommandId cid, SealCounters *counters);

/* Seal all rows of one table, or of all tables. */
extern void LoadSealTable(Oid relid);
extern void LoadSealAll(void);

/* Forget collected rows of a table (TRUNCATE, DROP in the same transaction), restored if the subtransaction aborts. */
extern void LoadDiscard(Oid relid);

/* true if rows of the table wait in this backend. */
extern bool LoadPending(Oid relid);

/*
 * A collector whose rows nobody sees, and LoadDiscard leaves alone, until
 * LoadSealDetached writes them and frees it: what replaces the contents of a
 * table is collected before the table is truncated.  The options may be others
 * than the table has now.
 */
extern LoadState *LoadBeginDetached(Relation rel, const TableOptions *options, int budget_kb);
extern void LoadSealDetached(LoadState *state);

/*
 * The same without manifest rows, which are the caller's to insert; NULL: no
 * row came.  The result is in the current context.  For sealed see SealFiles.
 */
extern ManifestWrite *LoadWriteDetached(Relation rel, LoadState *state, SealedRows sealed, void *arg);

/* LoadRow for such a collector; the row has a number instead of its command, which RowCid gives back. */
extern void LoadNumberedRow(LoadState *state, TupleTableSlot *slot, CommandId cid, uint32 number);

/* Register the callbacks at the end of transactions, those of src/storage too; once, from _PG_init. */
extern void LoadInit(void);

#endif							/* BF_LOAD_H */
