/*
 * merge_passes.c
 *	  Merges that take too much at once.
 *
 * More runs than can be merged at once are merged in portions whose results go
 * to group stores, which keep little in memory and the rest in temporary
 * files; then the stores are merged like runs.  So the number of open files
 * and of decoded blocks stays bounded however often a table was appended to.
 *
 * A merge holds a block of each run.  64 kB for each column that is read are
 * what that may take.  Where blocks take more (wide texts, up to 8 MB), what is
 * beyond must fit into work_mem, all runs together: of the runs with the
 * largest blocks, so many are copied to stores, in small chunks, before the
 * merge begins.  One block at a time is held for that.
 */
#include "postgres.h"

#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/merge_passes.h"
#include "exec/scan/merge/run_merge.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* of what a column of a run has, a store takes this for the buffer of its file and for pointers to values */
#define STORE_EXTRA_BYTES (16 * 1024)

/* A store for rows of the reader; in the current context. */
static GroupStore *
MakeStore(LeafReader *leaf, Size limit)
{
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	int16	   *typlen = palloc(Max(leaf->ncols, 1) * sizeof(int16));
	bool	   *typbyval = palloc(Max(leaf->ncols, 1) * sizeof(bool));
	GroupStore *store;

	for (int c = 0; c < leaf->ncols; c++)
	{
		const FormData_pg_attribute *att = LeafAttribute(desc, leaf->attnums[c]);

		typlen[c] = att->attlen;
		typbyval[c] = att->attbyval;
	}
	store = GroupStoreCreate(leaf->ncols, typlen, typbyval, limit);
	GroupStoreLimitChunks(store, (Size) leaf->ncols * (MERGE_STREAM_BYTES - STORE_EXTRA_BYTES));
	pfree(typlen);
	pfree(typbyval);
	return store;
}

/* What the largest block of a run takes beyond what every run has. */
static Size
RunExcess(LeafReader *leaf, const BlockCursor *cursor)
{
	Size		most = 0;

	for (int b = cursor->next; b < cursor->end; b++)
		most = Max(most, MergeBlockMemory(leaf, cursor->file, b));
	return MergeBlockIsWide(leaf, most) ? most - (Size) leaf->ncols * MERGE_STREAM_BYTES : 0;
}

typedef struct WideRun
{
	Size		excess;
	int			cursor;
} WideRun;

/* largest first */
static int
CompareWide(const void *a, const void *b)
{
	const WideRun *x = a;
	const WideRun *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	return (x->cursor > y->cursor) - (x->cursor < y->cursor);
}

/* Copy what a cursor will read to a store, and let it read that instead. */
static void
SpoolRun(LeafReader *leaf, BlockCursor *cursor)
{
	GroupStore *store = MakeStore(leaf, 0);
	KeyVector	all = {0};

	while (BlockCursorNext(leaf, cursor, NULL))
	{
		/* a store needs no keys */
		all.batch = &cursor->block->batch;
		all.rows = all.batch->selection;
		all.n = all.batch->nselected;
		GroupStoreAdd(store, &all, 0, all.n);
		LeafBlockRelease(leaf, cursor->block);
		cursor->block = NULL;
	}
	BlockCursorStop(leaf, cursor);
	CursorReadStore(leaf, cursor, store);
}

void
MergeSpoolWide(LeafReader *leaf)
{
	WideRun    *wide = palloc(leaf->ncursors * sizeof(WideRun));
	Size		room = (Size) work_mem * 1024;
	Size		total = 0;

	for (int i = 0; i < leaf->ncursors; i++)
	{
		wide[i].cursor = i;
		wide[i].excess = RunExcess(leaf, &leaf->cursors[i]);
		total += wide[i].excess;
	}
	if (total > room)
	{
		MemoryContext old;

		leaf->spool_cxt = AllocSetContextCreate(leaf->cxt, "bucketfdw wide runs",
												ALLOCSET_DEFAULT_SIZES);
		old = MemoryContextSwitchTo(leaf->spool_cxt);
		qsort(wide, leaf->ncursors, sizeof(WideRun), CompareWide);
		for (int i = 0; total > room; i++)
		{
			SpoolRun(leaf, &leaf->cursors[wide[i].cursor]);
			total -= wide[i].excess;
		}
		MemoryContextSwitchTo(old);
	}
	pfree(wide);
}

/* Merge one portion of the unit's runs into a new store. */
static GroupStore *
MergePortion(LeafReader *leaf, int from, int to, Size limit)
{
	GroupStore *store = MakeStore(leaf, limit);
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
	MergeSpoolWide(leaf);
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
		MergePassesClose(leaf);
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
		CursorReadStore(leaf, &leaf->cursors[s], stores[s]);
	leaf->ncursors = nstores;
	RunMergeOpen(leaf);
	MemoryContextSwitchTo(old);
}

void
MergePassesClose(LeafReader *leaf)
{
	for (int i = 0; i < leaf->ncursors; i++)
	{
		if (leaf->cursors[i].store == NULL)
			continue;
		GroupStoreClear(leaf->cursors[i].store);
		leaf->cursors[i].block = NULL;
		leaf->cursors[i].store = NULL;
	}
	MemoryContextDelete(leaf->spool_cxt);
	leaf->spool_cxt = NULL;
}
