/*
 * run_merge.c
 *	  Merge the runs of a bucket group into one sorted stream.
 *
 * A binary heap of cursors ordered by the key images picks rows; a merged
 * batch is a list of (block, row) and gathers a column only when it is asked
 * for.  Blocks used up while a batch is built are retired, not reused, until
 * the next call, because the batch still points into them; they take few bytes,
 * as a large one ends the batch.  After the next call, also one that returns
 * NULL, no column of the batch may be asked for.
 *
 * Of runs whose order the images decide alone, no row is compared with another:
 * merge_window.c gives their rows.
 *
 * When the first rows are wanted soon (leaf->ramp), batches start small, and a
 * run's first block is not decoded before its first key, known from the
 * footer, comes to the top of the heap.
 */
#include "postgres.h"

#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/run_merge.h"
#include "exec/scan/merge/merge_window.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* rows of a merged batch; small enough that its columns stay in cache */
#define MERGE_ROWS 2048

/* a batch ends with the block that would make retired ones take more than this */
#define RETIRED_BYTES (256 * 1024)

typedef struct HeapNode
{
	int64		k64;			/* image of the cursor's next key, or not above it (no block yet) */
	int			cursor;
} HeapNode;

typedef struct MergeState
{
	Batch		batch;			/* the merged batch */
	LeafBlock  *source[MERGE_ROWS];
	uint16		row[MERGE_ROWS];
	ScaledColumn *scaled;		/* per column: of windows, made on first use */
	bool		exact;			/* equal images other than KEY64_NULL are equal keys */
	bool		lazy;			/* cursors without a block are in the heap */
	bool		refill;			/* the top cursor has used up its block, which goes before the next comes */
	int			nheap;			/* -1: no block was read yet */
	HeapNode   *heap;
	bool		windowed;		/* rows come from windows, not from the heap */
	MergeWindow  *window;			/* made at first use */
	LeafBlock  *retired;
	Size		retired_memory;
	uint8	   *flags;			/* BF_SORT_*, NULL: all ascending, nulls last */
} MergeState;

/* BatchColumnLoader of merged batches. */
static void
GatherColumn(Batch *batch, int col)
{
	MergeState *merge = batch->load_arg;
	Datum	   *values = BatchRoom(batch, col)->values;
	bool	   *nulls = BatchRoom(batch, col)->nulls;
	bool		anynull = false;
	LeafBlock  *last = NULL;
	ColumnVector *vec = NULL;

	if (merge->windowed)
		anynull = MergeWindowGather(merge->window, batch->nrows, col, values, nulls);
	for (int i = 0; i < batch->nrows && !merge->windowed; i++)
	{
		int			row = merge->row[i];

		if (merge->source[i] != last)
		{
			last = merge->source[i];
			vec = BatchColumn(&last->batch, col);
		}
		values[i] = vec->values[row];
		nulls[i] = vec->nulls ? vec->nulls[row] : false;
		anynull |= nulls[i];
	}
	BatchFilled(batch, col, anynull);
}

/* BatchScaledLoader of merged batches. */
static bool
GatherScaled(Batch *batch, int col, ScaledColumn *scaled)
{
	MergeState *merge = batch->load_arg;

	if (!merge->windowed)
		return false;
	if (merge->scaled[col].values == NULL)
	{
		MemoryContext cxt = GetMemoryChunkContext(merge);

		merge->scaled[col].values = MemoryContextAlloc(cxt, MERGE_ROWS * sizeof(int64));
		merge->scaled[col].nulls = MemoryContextAlloc(cxt, MERGE_ROWS * sizeof(bool));
	}
	*scaled = merge->scaled[col];
	return MergeWindowGatherScaled(merge->window, batch->nrows, col, scaled);
}

/* Heap order: by image, then by full comparison. */
static inline bool
NodeBefore(LeafReader *leaf, const HeapNode *a, const HeapNode *b)
{
	BlockCursor *x;
	BlockCursor *y;

	if (a->k64 != b->k64)
		return a->k64 < b->k64;
	if (leaf->merge->exact && a->k64 != KEY64_NULL)
		return a->cursor < b->cursor;
	x = &leaf->cursors[a->cursor];
	y = &leaf->cursors[b->cursor];
	/* what is not decoded yet goes first, to be decoded before it is compared */
	if (x->block == NULL || y->block == NULL)
		return x->block == NULL && y->block != NULL;
	return KeyVectorCompareFlags(&x->block->keys, x->pos, &y->block->keys, y->pos,
								 leaf->merge->flags) < 0;
}

/*
 * Put the node at "at" where it belongs.  With many runs it mostly belongs near
 * the bottom: so the smaller children move up without a look at it, and it
 * climbs from there.  That takes half the comparisons, and their outcome,
 * which cannot be foreseen, decides no branch.
 */
static void
SiftDown(LeafReader *leaf, MergeState *merge, int at)
{
	HeapNode   *heap = merge->heap;
	HeapNode	node = heap[at];
	int			start = at;
	int			n = merge->nheap;

	for (;;)
	{
		int			child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n)
		{
			if (unlikely(heap[child + 1].k64 == heap[child].k64))
				child += NodeBefore(leaf, &heap[child + 1], &heap[child]);
			else
				child += heap[child + 1].k64 < heap[child].k64;
		}
		/* runs of near keys: the top often stays */
		if (at == start && !NodeBefore(leaf, &heap[child], &node))
			return;
		heap[at] = heap[child];
		at = child;
	}
	while (at > start)
	{
		int			parent = (at - 1) / 2;

		if (!NodeBefore(leaf, &node, &heap[parent]))
			break;
		heap[at] = heap[parent];
		at = parent;
	}
	heap[at] = node;
}

/* Read the cursor's next block; the batch may still point into the present one. */
static bool
AdvanceBlock(LeafReader *leaf, MergeState *merge, BlockCursor *cursor, const KeyBound *bound)
{
	if (cursor->block != NULL && !BlockIsChunk(cursor))
	{
		merge->retired_memory += cursor->block->expected;
		cursor->block->next = merge->retired;
		merge->retired = cursor->block;
		cursor->block = NULL;
	}
	return CursorReadBlock(leaf, cursor, bound);
}

/* The same when nothing points into the present one. */
static bool
ReplaceBlock(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound)
{
	if (!BlockIsChunk(cursor))
		LeafBlockRelease(leaf, cursor->block);
	cursor->block = NULL;
	return CursorReadBlock(leaf, cursor, bound);
}

static void
BuildHeap(LeafReader *leaf, MergeState *merge)
{
	merge->nheap = 0;
	for (int i = 0; i < leaf->ncursors; i++)
	{
		BlockCursor *cursor = &leaf->cursors[i];
		HeapNode   *node = &merge->heap[merge->nheap];

		node->cursor = i;
		if (cursor->block != NULL)
			node->k64 = cursor->block->keys.k64[cursor->pos];
		else if (merge->lazy && BlockCursorHasMore(cursor))
			node->k64 = BlockCursorFirstImage(cursor, leaf->keyclasses[0], leaf->keytypes[0]);
		else
			continue;
		merge->nheap++;
	}
	for (int i = merge->nheap / 2 - 1; i >= 0; i--)
		SiftDown(leaf, merge, i);
}

/* The merge state of the reader, made once. */
static MergeState *
GetMergeState(LeafReader *leaf)
{
	MergeState *merge = leaf->merge;
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	MemoryContext old;
	BucketSpec *spec = leaf->manifest->specs[leaf->manifest->files[leaf->manifest->runs[leaf->runs[0]].file].spec];

	if (merge != NULL)
		return merge;
	old = MemoryContextSwitchTo(leaf->cxt);
	merge = palloc0(sizeof(MergeState));
	BatchInit(&merge->batch, leaf->ncols, MERGE_ROWS, GatherColumn, merge);
	merge->batch.load_scaled = GatherScaled;
	merge->scaled = palloc0(leaf->ncols * sizeof(ScaledColumn));
	leaf->keyclasses = palloc(leaf->nkeys * sizeof(KeyClass));
	leaf->keytypes = palloc(leaf->nkeys * sizeof(Oid));
	leaf->keycols = palloc(leaf->nkeys * sizeof(int));
	for (int k = 0; k < leaf->nkeys; k++)
	{
		leaf->keycols[k] = LeafColumn(leaf, spec->sort[k].attnum);
		leaf->keyclasses[k] = spec->sort[k].keyclass;
		/* as the table has it now: a file may have been written with a narrower one */
		leaf->keytypes[k] = getBaseType(TupleDescAttr(desc, spec->sort[k].attnum - 1)->atttypid);
		if (spec->sort[k].flags != 0 && merge->flags == NULL)
			merge->flags = palloc0(leaf->nkeys * sizeof(uint8));
		if (merge->flags != NULL)
			merge->flags[k] = spec->sort[k].flags;
	}
	merge->exact = leaf->nkeys == 1 && KeyClassIsFixed(leaf->keyclasses[0]);
	leaf->merge = merge;
	MemoryContextSwitchTo(old);
	return merge;
}

void
RunMergeOpen(LeafReader *leaf)
{
	MergeState *merge = GetMergeState(leaf);

	if (merge->heap != NULL)
		pfree(merge->heap);
	merge->heap = MemoryContextAlloc(leaf->cxt, leaf->ncursors * sizeof(HeapNode));
	merge->refill = false;
	merge->windowed = false;
	merge->nheap = -1;			/* blocks are not read before the first batch is asked for */
}

static void
FreeRetired(LeafReader *leaf, MergeState *merge)
{
	while (merge->retired != NULL)
	{
		LeafBlock  *block = merge->retired;

		merge->retired = block->next;
		LeafBlockRelease(leaf, block);
	}
	merge->retired_memory = 0;
}

/* Move every cursor to the first key not below the bound. */
static void
SkipToBound(LeafReader *leaf, MergeState *merge, const KeyBound *bound)
{
	bool		moved = false;

	for (int i = 0; i < leaf->ncursors; i++)
	{
		BlockCursor *cursor = &leaf->cursors[i];
		int			pos;

		if (cursor->block == NULL)
			continue;
		pos = KeyVectorLowerBound(&cursor->block->keys, cursor->pos, bound);
		if (pos == cursor->pos)
			continue;
		moved = true;
		cursor->pos = pos;
		while (cursor->block != NULL && cursor->pos >= cursor->block->keys.n)
		{
			if (ReplaceBlock(leaf, cursor, bound))
				cursor->pos = KeyVectorLowerBound(&cursor->block->keys, 0, bound);
		}
	}
	if (moved)
		BuildHeap(leaf, merge);
}

/* After the top cursor has moved: read on if need be, and put it where it belongs. */
static void
StepTop(LeafReader *leaf, MergeState *merge)
{
	BlockCursor *cursor = &leaf->cursors[merge->heap[0].cursor];
	bool		more = cursor->pos < cursor->block->keys.n;

	if (!more)
		more = merge->refill ? ReplaceBlock(leaf, cursor, NULL) : AdvanceBlock(leaf, merge, cursor, NULL);
	if (more)
		merge->heap[0].k64 = cursor->block->keys.k64[cursor->pos];
	else
		merge->heap[0] = merge->heap[--merge->nheap];
	if (merge->nheap > 0)
		SiftDown(leaf, merge, 0);
}

static void
OpenWindow(LeafReader *leaf, MergeState *merge)
{
	if (merge->window == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(leaf->cxt);

		merge->window = MergeWindowCreate(leaf, leaf->keycols[0], leaf->keyclasses[0], leaf->keytypes[0]);
		MemoryContextSwitchTo(old);
	}
	MergeWindowOpen(merge->window);
}

Batch *
RunMergeNext(LeafReader *leaf, const KeyBound *bound)
{
	MergeState *merge = leaf->merge;
	Batch	   *batch = &merge->batch;
	int			limit = leaf->ramp > 0 ? leaf->ramp : MERGE_ROWS;
	int			n = 0;

	FreeRetired(leaf, merge);
	if (merge->refill)
		StepTop(leaf, merge);
	merge->refill = false;
	if (merge->nheap < 0)
	{
		merge->lazy = leaf->ramp > 0;
		merge->windowed = merge->exact && !merge->lazy;
		merge->nheap = 0;
		if (merge->windowed)
			OpenWindow(leaf, merge);
		else
		{
			for (int i = 0; i < leaf->ncursors && !merge->lazy; i++)
				AdvanceBlock(leaf, merge, &leaf->cursors[i], bound);
			BuildHeap(leaf, merge);
		}
	}
	if (merge->windowed)
	{
		if (MergeWindowNext(merge->window, batch, MERGE_ROWS, bound) > 0)
			return batch;
		merge->windowed = false;
		BuildHeap(leaf, merge);
	}
	if (leaf->ramp > 0)
		leaf->ramp = Min(2 * leaf->ramp, MERGE_ROWS);
	if (bound != NULL)
		SkipToBound(leaf, merge, bound);

	while (n < limit && merge->nheap > 0)
	{
		BlockCursor *cursor = &leaf->cursors[merge->heap[0].cursor];

		if (cursor->block == NULL)
		{
			if (AdvanceBlock(leaf, merge, cursor, NULL))
				merge->heap[0].k64 = cursor->block->keys.k64[0];
			else
				merge->heap[0] = merge->heap[--merge->nheap];
			if (merge->nheap > 0)
				SiftDown(leaf, merge, 0);
			continue;
		}
		CursorSettle(leaf, cursor);
		merge->source[n] = cursor->block;
		merge->row[n] = (uint16) KeyVectorRow(&cursor->block->keys, cursor->pos);
		n++;
		cursor->pos++;
		if (cursor->pos >= cursor->block->keys.n &&
			(BlockIsChunk(cursor) || merge->retired_memory + cursor->block->expected > RETIRED_BYTES))
		{
			/*
			 * The next chunk of a store would take the place of the one the
			 * batch points into; the next of large blocks would be held
			 * besides.
			 */
			merge->refill = true;
			break;
		}
		StepTop(leaf, merge);
	}
	if (n == 0)
		return NULL;
	BatchReset(batch, n);
	return batch;
}

void
RunMergeClose(LeafReader *leaf)
{
	FreeRetired(leaf, leaf->merge);
	leaf->merge->nheap = 0;
}
