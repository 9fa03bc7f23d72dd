/*
 * merge_passes.c
 *	  Merges of many runs.
 *
 * More runs than can be merged at once are merged in portions whose results go
 * to group stores, which keep little in memory and the rest in temporary
 * files; then the stores are merged like runs.  So the number of open files
 * and of decoded blocks stays bounded however often a table was appended to.
 */
#include "postgres.h"

#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/merge_passes.h"
#include "exec/scan/merge/merge_spool.h"
#include "exec/scan/merge/run_merge.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Merge one portion of the unit's runs into a new store. */
static GroupStore *
MergePortion(LeafReader *leaf, int from, int to, Size limit)
{
	GroupStore *store = MergeStoreMake(leaf, limit);
	MemoryContext passes = leaf->spool_cxt;
	KeyVector	all = {0};
	Batch	   *batch;

	leaf->spool_cxt = NULL;
	CursorSetAllocate(leaf, to - from);
	for (int i = from; i < to; i++)
	{
		BlockCursorStart(leaf, &leaf->cursors[i - from], leaf->runs[i]);
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
	if (leaf->spool_cxt != NULL)
		MergeSpoolClose(leaf);
	CursorSetFree(leaf);
	leaf->spool_cxt = passes;
	return store;
}

void
MergePassesOpen(LeafReader *leaf)
{
	int			nstores = (leaf->nruns + MERGE_FAN_IN - 1) / MERGE_FAN_IN;
	Size		limit = (Size) work_mem * 1024 / nstores;
	GroupStore **stores;
	MemoryContext old;

	leaf->spool_cxt = AllocSetContextCreate(leaf->cxt, "bucketfdw merge passes",
											ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(leaf->spool_cxt);
	stores = palloc(nstores * sizeof(GroupStore *));
	for (int s = 0; s < nstores; s++)
		stores[s] = MergePortion(leaf, s * MERGE_FAN_IN,
								 Min((s + 1) * MERGE_FAN_IN, leaf->nruns), limit);

	CursorSetAllocate(leaf, nstores);
	for (int s = 0; s < nstores; s++)
		MergeReadStore(leaf, &leaf->cursors[s], stores[s]);
	leaf->ncursors = nstores;
	RunMergeOpen(leaf);
	MemoryContextSwitchTo(old);
}
