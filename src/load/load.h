/*
 * load.h
 *	  Rows in, bucketed sorted runs out.
 *
 * Rows of one transaction are collected per table: row buffers per bucket,
 * spilled to temporary files by bucket, each bucket sorted when it is spilled
 * or written.  They become files ("sealed") before commit, or when the
 * transaction reads the table.
 */
#ifndef BF_LOAD_H
#define BF_LOAD_H

#include "executor/tuptable.h"
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

/* Collect one row: cid is the command it belongs to.  Values may be toasted; they are flattened and copied. */
extern void LoadRow(LoadState *state, TupleTableSlot *slot, CommandId cid);

/*
 * Seal what a reader with this snapshot may see (rows of commands before
 * snapshot->curcid), writing files and the manifest row.  Called when a scan
 * begins, before the manifest is read.
 */
extern void LoadSealForRead(Oid relid, Snapshot snapshot);

/*
 * The same for all tables that have rows waiting: what reads the manifest
 * itself calls it with the snapshot it reads under, or before it takes one.
 */
extern void LoadSealAllForRead(Snapshot snapshot);

/* Seal all rows of one table, e.g. at the end of create_table_as. */
extern void LoadSealTable(Oid relid);

/* Forget collected rows of a table (TRUNCATE, DROP in the same transaction), restored if the subtransaction aborts. */
extern void LoadDiscard(Oid relid);

/* true if rows of the table wait in this backend (parallel scans must be refused). */
extern bool LoadPending(Oid relid);

/*
 * A collector whose rows nobody sees, and LoadDiscard leaves alone, until
 * LoadSealDetached writes them and frees it: what replaces the contents of a
 * table is collected before the table is truncated.
 */
extern LoadState *LoadBeginDetached(Relation rel, int budget_kb);
extern void LoadSealDetached(LoadState *state);

/* Register transaction callbacks; once, from _PG_init. */
extern void LoadInit(void);

#endif							/* BF_LOAD_H */
