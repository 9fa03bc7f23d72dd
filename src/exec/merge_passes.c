/*
 * merge_passes.c
 *	  More runs than can be merged at once.
 *
 * Runs are merged in portions whose results go to group stores, which keep
 * little in memory and the rest in temporary files; then the stores are
 * merged like runs.  So the number of open files and of decoded blocks stays
 * bounded however often a table was appended to.
 */
#include "postgres.h"

#include "exec/block_cursor.h"
#include "exec/group_store.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Merge one portion of the unit's runs into a new store. */
static GroupStore *
MergePortion(LeafReader *leaf, int from, int to, Size limit)
{
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	int16	   *typlen = palloc(Max(leaf->ncols, 1) * sizeof(int16));
	bool	   *typbyval = palloc(Max(leaf->ncols, 1) * sizeof(bool));
	KeyVector	all = {0};
	GroupStore *store;
	Batch	   *batch;

	for (int c = 0; c < leaf->ncols; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, leaf->attnums[c] - 1);

		typlen[c] = att->attlen;
		typbyval[c] = att->attbyval;
	}
	store = GroupStoreCreate(leaf->ncols, typlen, typbyval, limit);
	pfree(typlen);
	pfree(typbyval);

	LeafCursorsAllocate(leaf, to - from);
	for (int i = from; i < to; i++)
	{
		BlockCursorStart(leaf, &leaf->cursors[i - from], leaf->unit[i]);
		leaf->ncursors = i - from + 1;
	}
	RunMergeOpen(leaf);
	while ((batch = RunMergeNext(leaf, NULL)) != NULL)
	{
		/* all rows of the batch; a store needs no keys */
		all.batch = batch;
		all.n = batch->nrows;
		GroupStoreAdd(store, &all, 0, all.n);
	}
	RunMergeClose(leaf);
	LeafCursorsFree(leaf);
	return store;
}

void
MergePassesOpen(LeafReader *leaf)
{
	int			nstores = (leaf->nunit + MERGE_FAN_IN - 1) / MERGE_FAN_IN;
	Size		limit = (Size) work_mem * 1024 / nstores;
	GroupStore **stores;
	MemoryContext old;

	leaf->spool_cxt = AllocSetContextCreate(leaf->cxt, "bucketfdw merge passes",
											ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(leaf->spool_cxt);
	stores = palloc(nstores * sizeof(GroupStore *));
	for (int s = 0; s < nstores; s++)
		stores[s] = MergePortion(leaf, s * MERGE_FAN_IN,
								 Min((s + 1) * MERGE_FAN_IN, leaf->nunit), limit);

	LeafCursorsAllocate(leaf, nstores);
	for (int s = 0; s < nstores; s++)
	{
		BlockCursor *cursor = &leaf->cursors[s];

		cursor->run = -1;
		cursor->store = stores[s];
		cursor->end = GroupStoreChunks(stores[s]);
		cursor->spooled = palloc0(sizeof(LeafBlock));
		cursor->spooled->leaf = leaf;
	}
	leaf->ncursors = nstores;
	RunMergeOpen(leaf);
	MemoryContextSwitchTo(old);
}

bool
SpooledCursorNext(BlockCursor *cursor)
{
	cursor->block = NULL;
	if (cursor->next >= cursor->end)
		return false;
	cursor->block = cursor->spooled;
	cursor->block->batch = *GroupStoreChunk(cursor->store, cursor->next++);
	cursor->pos = 0;
	return true;
}

void
MergePassesClose(LeafReader *leaf)
{
	for (int i = 0; i < leaf->ncursors; i++)
	{
		GroupStoreClear(leaf->cursors[i].store);
		leaf->cursors[i].block = NULL;
		leaf->cursors[i].store = NULL;
	}
	MemoryContextDelete(leaf->spool_cxt);
	leaf->spool_cxt = NULL;
}
