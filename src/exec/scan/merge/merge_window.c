/*
 * merge_window.c
 *	  Rows of many runs in the order of a key that its image decides alone.
 *
 * All that the runs have up to a key that none can fall below later is put
 * into a window and sorted at once, see merge_window_sort.c.
 *
 * A run takes part from its first key on, which the footer tells.  So runs
 * that follow each other, as with keys that grow from load to load, are read
 * one after the other.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/merge_window.h"
#include "exec/scan/merge/merge_window_sort.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"
#include "vector/merge_search.h"

MergeWindow *
MergeWindowCreate(LeafReader *leaf, int keycol, KeyClass keyclass, Oid keytype)
{
	MergeWindow  *window = palloc0(sizeof(MergeWindow));

	window->leaf = leaf;
	window->keycol = keycol;
	window->keyclass = keyclass;
	window->keytype = keytype;
	window->direct = keyclass != KEYCLASS_FLOAT;
	window->waiting = palloc(MERGE_FAN_IN * sizeof(WaitingRun));
	window->active = palloc(MERGE_FAN_IN * sizeof(int));
	window->end = palloc(MERGE_FAN_IN * sizeof(int));
	window->entry = palloc(WINDOW_ROOM * sizeof(uint64));
	window->spare = palloc(WINDOW_ROOM * sizeof(uint64));
	window->image = palloc(WINDOW_ROOM * sizeof(int64));
	window->keys = palloc(BF_BATCH_ROWS * sizeof(Datum));
	window->any_nulls = palloc0(leaf->ncols * sizeof(bool));
	window->columns = palloc0(leaf->ncols * sizeof(CursorColumn *));
	window->scaled = palloc0(leaf->ncols * sizeof(CursorColumn *));
	window->scale = palloc(leaf->ncols * sizeof(int));
	return window;
}

static int
CompareWaiting(const void *a, const void *b)
{
	const WaitingRun *x = a;
	const WaitingRun *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->cursor > y->cursor) - (x->cursor < y->cursor);
}

void
MergeWindowOpen(MergeWindow *window)
{
	LeafReader *leaf = window->leaf;

	window->nwaiting = window->waiting_at = 0;
	window->nactive = 0;
	window->n = window->at = 0;
	window->counted = false;
	window->count_pays = leaf->countable;
	window->run_rows = WINDOW_RUN_ROWS;
	window->selected = false;
	memset(window->any_nulls, 0, leaf->ncols * sizeof(bool));
	for (int col = 0; col < leaf->ncols; col++)
		window->scale[col] = -1;
	for (int i = 0; i < leaf->ncursors; i++)
	{
		WaitingRun *run = &window->waiting[window->nwaiting];

		if (!BlockCursorHasMore(&leaf->cursors[i]))
			continue;
		run->cursor = i;
		run->first = BlockCursorFirstImage(&leaf->cursors[i], window->keyclass, window->keytype);
		window->nwaiting++;
	}
	qsort(window->waiting, window->nwaiting, sizeof(WaitingRun), CompareWaiting);
}

/*
 * Move the cursor behind the rows used and those below the image, to the next
 * block if need be; false at the end of the run.
 */
static bool
CursorReady(MergeWindow *window, int c, const KeyBound *bound, int64 image)
{
	LeafReader *leaf = window->leaf;
	BlockCursor *cursor = &leaf->cursors[c];

	for (;;)
	{
		if (cursor->block != NULL)
		{
			if (bound != NULL)
				cursor->pos = Search64(cursor->block->keys.k64, cursor->pos, cursor->block->keys.n, image);
			if (cursor->pos < cursor->block->keys.n)
				return true;
			/* the window has been used up: nothing points there any more */
			if (!BlockIsChunk(cursor))
				LeafBlockRelease(leaf, cursor->block);
			cursor->block = NULL;
		}
		if (!CursorReadBlock(leaf, cursor, bound))
			return false;
		window->selected |= cursor->block->keys.rows != NULL;
		for (int col = 0; col < leaf->ncols; col++)
		{
			if (window->columns[col] != NULL)
				window->columns[col][c].values = NULL;
			if (window->scaled[col] != NULL)
				window->scaled[col][c].values = NULL;
		}
	}
}

/* The least and the greatest image of what the cursors offer for a window, and how much that is. */
typedef struct WindowOffer
{
	int64		least;
	int64		greatest;
	int64		upto;			/* rows up to this image have nothing before them that is not offered */
	int			rows;
} WindowOffer;

/*
 * What a cursor has behind its part of the window is not below that part's
 * last row.  Where a run ends within its part, nothing comes after.
 */
static void
Offer(MergeWindow *window, int c, WindowOffer *offer)
{
	const BlockCursor *cursor = &window->leaf->cursors[c];
	const KeyVector *keys = &cursor->block->keys;
	int			rows = offer->rows < WINDOW_ROWS ? window->run_rows : WINDOW_RUN_ROWS;
	int			end = Min(cursor->pos + rows, keys->n);

	window->end[c] = end;
	offer->rows += end - cursor->pos;
	offer->least = Min(offer->least, keys->k64[cursor->pos]);
	offer->greatest = Max(offer->greatest, keys->k64[end - 1]);
	if (end < keys->n || BlockCursorHasMore(cursor))
		offer->upto = Min(offer->upto, keys->k64[end - 1]);
}

/*
 * Find what the next window is made of.  A NULL and the greatest value have
 * the same image.  Rows with it are left to the heap, which compares them in
 * full; they are the last ones.
 */
static void
CollectOffers(MergeWindow *window, const KeyBound *bound, WindowOffer *offer)
{
	int64		from = bound ? KeyBoundImage(bound, window->keyclass) : 0;

	offer->least = PG_INT64_MAX;
	offer->greatest = PG_INT64_MIN;
	offer->upto = KEY64_NULL - 1;
	offer->rows = 0;
	window->run_rows = Max(Min(window->run_rows, WINDOW_ROWS / Max(window->nactive, 1)), WINDOW_RUN_ROWS);
	for (int i = 0; i < window->nactive;)
	{
		if (CursorReady(window, window->active[i], bound, from))
			Offer(window, window->active[i++], offer);
		else
			window->active[i] = window->active[--window->nactive];
	}
	while (window->waiting_at < window->nwaiting)
	{
		const WaitingRun *run = &window->waiting[window->waiting_at];

		if (run->first > offer->upto)
			break;
		if (offer->rows >= WINDOW_ENOUGH && run->first > offer->least)
		{
			offer->upto = run->first - 1;
			break;
		}
		window->waiting_at++;
		if (CursorReady(window, run->cursor, bound, from))
		{
			window->active[window->nactive++] = run->cursor;
			Offer(window, run->cursor, offer);
		}
	}
}

/* Fill the window, from the bound on. */
static void
FillWindow(MergeWindow *window, const KeyBound *bound)
{
	WindowOffer offer;
	uint64		range;
	int			bits;

	CHECK_FOR_INTERRUPTS();
	window->n = window->at = 0;
	CollectOffers(window, bound, &offer);
	if (window->nactive == 0 || offer.least > offer.upto)
	{
		/* what follows is left to the heap: all cursors must have come there */
		for (; window->waiting_at < window->nwaiting; window->waiting_at++)
			CursorReady(window, window->waiting[window->waiting_at].cursor, NULL, 0);
		return;
	}
	window->base = offer.least;
	range = (uint64) Min(offer.upto, offer.greatest) - (uint64) offer.least;
	bits = range == 0 ? 0 : pg_leftmost_one_pos64(range) + 1;
	MergeWindowSort(window, offer.upto, bits, offer.rows);
}

static inline int64
EntryImage(const MergeWindow *window, int i)
{
	uint64		part;

	if (window->shift > 0)
		return window->image[i];
	part = window->keys_only ? ((const uint32 *) window->entry)[i] : window->entry[i] >> TAG_BITS;
	return (int64) ((uint64) window->base + part);
}

/* Pass over entries below the bound. */
static void
SkipEntries(MergeWindow *window, const KeyBound *bound)
{
	int64		image = KeyBoundImage(bound, window->keyclass);
	int			at = window->at;
	int			to = window->n;

	while (at < to)
	{
		int			mid = at + (to - at) / 2;

		if (EntryImage(window, mid) < image)
			at = mid + 1;
		else
			to = mid;
	}
	/* what is skipped was sorted in vain */
	if (at - window->at > window->n / 2)
		window->run_rows = WINDOW_RUN_ROWS;
	window->at = at;
}

int
MergeWindowNext(MergeWindow *window, Batch *batch, int limit, const KeyBound *bound)
{
	int			n;

	if (bound != NULL && window->at < window->n)
		SkipEntries(window, bound);
	if (window->at == window->n)
	{
		if (window->n > 0)
			window->run_rows = Min(2 * window->run_rows, BF_BATCH_ROWS);
		FillWindow(window, bound);
	}
	n = Min(limit, window->n - window->at);
	if (n == 0)
		return 0;
	window->from = window->at;
	window->at += n;
	BatchReset(batch, n);
	if (window->direct)
	{
		ColumnVector *key = &batch->cols[window->keycol];

		if (window->shift > 0)
			key->values = (Datum *) (window->image + window->from);
		else
		{
			const uint64 *entry = window->entry + window->from;
			const uint64 base = (uint64) window->base;
			Datum	   *values = window->keys;

			if (window->keys_only)
			{
				const uint32 *part = (const uint32 *) window->entry + window->from;

				for (int i = 0; i < n; i++)
					values[i] = (Datum) (base + part[i]);
			}
			else
			{
				for (int i = 0; i < n; i++)
					values[i] = (Datum) (base + (entry[i] >> TAG_BITS));
			}
			key->values = values;
		}
		key->nulls = NULL;
		batch->loaded[window->keycol] = true;
	}
	if (window->counted)
		batch->times = (const int64 *) window->spare + window->from;
	return n;
}

/* Decode a column of the block a cursor stands in. */
static const Datum *
LoadCursorColumn(MergeWindow *window, int c, int col)
{
	CursorColumn *column = &window->columns[col][c];
	ColumnVector *vec = BatchColumn(&window->leaf->cursors[c].block->batch, col);

	column->values = vec->values;
	column->nulls = vec->nulls;
	window->any_nulls[col] |= vec->nulls != NULL;
	return column->values;
}

/* The same as integers; NULL: the block does not hold such, or not of the scale of those before. */
static const Datum *
LoadCursorScaled(MergeWindow *window, int c, int col)
{
	CursorColumn *column = &window->scaled[col][c];
	ScaledColumn scaled;

	if (window->scale[col] == SCALE_NONE || !BatchScaled(&window->leaf->cursors[c].block->batch, col, &scaled) ||
		(window->scale[col] >= 0 && window->scale[col] != scaled.scale))
	{
		window->scale[col] = SCALE_NONE;
		return NULL;
	}
	window->scale[col] = scaled.scale;
	column->values = (const Datum *) scaled.values;
	column->nulls = scaled.nulls;
	window->any_nulls[col] |= scaled.nulls != NULL;
	return column->values;
}

/*
 * Values of a column, which is loaded for all cursors that the rows come from,
 * where entries are not rows or some are NULL; whether one of them is.
 */
static bool
GatherNulls(const MergeWindow *window, int nrows, const CursorColumn *columns, Datum *values, bool *nulls)
{
	const LeafReader *leaf = window->leaf;
	const uint64 *entry = window->entry + window->from;
	bool		found = false;

	for (int i = 0; i < nrows; i++)
	{
		int			c = ENTRY_CURSOR(entry[i]);
		const CursorColumn *column = &columns[c];
		int			row = KeyVectorRow(&leaf->cursors[c].block->keys, ENTRY_POS(entry[i]));

		values[i] = column->values[row];
		nulls[i] = column->nulls != NULL && column->nulls[row];
		found |= nulls[i];
	}
	return found;
}

/* Room for a column of the cursors. */
static void
MakeCursorColumns(MergeWindow *window, CursorColumn **columns)
{
	if (*columns == NULL)
		*columns = MemoryContextAllocZero(window->leaf->cxt, MERGE_FAN_IN * sizeof(CursorColumn));
}

bool
MergeWindowGather(MergeWindow *window, int nrows, int col, Datum *values, bool *nulls)
{
	const uint64 *entry = window->entry + window->from;

	if (window->keys_only)
		elog(ERROR, "column %d of rows that are counted is asked for", col);
	MakeCursorColumns(window, &window->columns[col]);
	for (int i = 0; i < nrows; i++)
	{
		int			c = ENTRY_CURSOR(entry[i]);
		const Datum *from = window->columns[col][c].values;

		if (unlikely(from == NULL))
			from = LoadCursorColumn(window, c, col);
		values[i] = from[ENTRY_POS(entry[i])];
	}
	return (window->selected || window->any_nulls[col]) &&
		GatherNulls(window, nrows, window->columns[col], values, nulls);
}

bool
MergeWindowGatherScaled(MergeWindow *window, int nrows, int col, ScaledColumn *scaled)
{
	const uint64 *entry = window->entry + window->from;

	if (window->keys_only || window->scale[col] == SCALE_NONE)
		return false;
	MakeCursorColumns(window, &window->scaled[col]);
	for (int i = 0; i < nrows; i++)
	{
		int			c = ENTRY_CURSOR(entry[i]);
		const Datum *from = window->scaled[col][c].values;

		if (unlikely(from == NULL) && (from = LoadCursorScaled(window, c, col)) == NULL)
			return false;
		scaled->values[i] = (int64) from[ENTRY_POS(entry[i])];
	}
	scaled->scale = window->scale[col];
	if (!(window->selected || window->any_nulls[col]) ||
		!GatherNulls(window, nrows, window->scaled[col], (Datum *) scaled->values, scaled->nulls))
		scaled->nulls = NULL;
	return true;
}
