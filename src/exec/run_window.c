/*
 * run_window.c
 *	  Rows of many runs in the order of a key that its image decides alone.
 *
 * All that the runs have up to a key that none can fall below later is put
 * into a window and sorted at once, by digits.  An entry of a window is one
 * number: how far its image is above the least one of the window, then which
 * cursor and which entry of its block it is.  Where the images are too far
 * apart for that, their first bits are sorted, and the few rows put right that
 * these do not tell apart.
 *
 * Where nothing is wanted but the keys and how many rows each has, rows are
 * counted by their key, and only the keys sorted.
 *
 * A run takes part from its first key on, which the footer tells.  So runs
 * that follow each other, as with keys that grow from load to load, are read
 * one after the other.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/merge_search.h"
#include "exec/run_window.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"

/* rows of a window; it starts small, so that little is sorted in vain where most rows are skipped */
#define WINDOW_RUN_ROWS 4		/* of each run, at least */
#define WINDOW_ROWS (32 * 1024)
#define WINDOW_ENOUGH (8 * 1024)	/* no more runs begin than give so many */
#define WINDOW_ROOM (WINDOW_ROWS + BF_BATCH_ROWS + WINDOW_RUN_ROWS * MERGE_FAN_IN)

/* an entry: part of the image, cursor, entry of its block */
#define POS_BITS 13
#define CURSOR_BITS 9
#define TAG_BITS (POS_BITS + CURSOR_BITS)
#define ENTRY_POS(e) ((int) ((e) & ((1 << POS_BITS) - 1)))
#define ENTRY_CURSOR(e) ((int) ((e) >> POS_BITS) & ((1 << CURSOR_BITS) - 1))

StaticAssertDecl(BF_BATCH_ROWS <= 1 << POS_BITS, "entries of a block need more bits");
StaticAssertDecl(MERGE_FAN_IN <= 1 << CURSOR_BITS, "cursors need more bits");

/* bits of a digit, at most; two digits are sorted by */
#define DIGIT_BITS 11
/* bits that tell apart most of n images, beyond the logarithm of n */
#define SPARE_BITS 6
/* more rows with the same first bits than this are sorted by digits too */
#define SMALL_GROUP 32

/* rows are counted by keys of so many bits, at most: as many counters of two bytes */
#define COUNTER_BITS 19
/* ... and as long as windows have so many rows for each key, on average */
#define COUNTED_ROWS 2

StaticAssertDecl(WINDOW_ROOM <= PG_UINT16_MAX, "counters of two bytes may overflow");

typedef struct ImageRow
{
	uint64		image;			/* in unsigned order */
	uint64		entry;
} ImageRow;

#define RS_SORT SortByImage
#define RS_ELEMENT ImageRow
#define RS_NUMBER image
#include "vector/radix_sort.h"

#define SCALE_NONE (-2)

/* A run that has not begun. */
typedef struct WaitingRun
{
	int64		first;			/* no image of it is below */
	int			cursor;
} WaitingRun;

/* A column of the block a cursor stands in; values NULL: not decoded yet. */
typedef struct CursorColumn
{
	const Datum *values;
	const bool *nulls;
} CursorColumn;

struct RunWindow
{
	LeafReader *leaf;
	int			keycol;
	KeyClass	keyclass;
	Oid			keytype;
	bool		direct;			/* an image is the key itself */

	int			waiting_at;		/* runs before it have begun */
	int			nwaiting;
	WaitingRun *waiting;		/* by their first images */
	int			nactive;
	int		   *active;			/* cursors of runs that have begun and not ended */
	int		   *end;			/* per cursor: where its part of the window ends */
	int			run_rows;		/* a window takes at most so many of each run */

	int			n;				/* entries of the window */
	int			at;				/* next of them */
	int			from;			/* first of those last returned */
	int64		base;			/* least image */
	int			shift;			/* bits of the images, less the base, that entries do not have */
	bool		keys_only;		/* entries are 32-bit images, less the base, without cursor and place */
	bool		counted;		/* that, and each image is there once */
	bool		count_pays;		/* keys had several rows in the last window that was counted */
	int			counter_bits;
	uint16	   *counters;		/* by images, less the base, of so many bits; zero between windows */
	uint64	   *entry;
	uint64	   *spare;			/* for sorting; then, where rows are counted, how many entries have */
	int64	   *image;			/* of the entries, where they do not have all of it */
	ImageRow   *group;			/* for groups with the same first bits; made when needed */
	ImageRow   *group_spare;
	Datum	   *keys;			/* of the rows last returned */

	bool		selected;		/* there was a block not all of whose rows are entries */
	bool	   *any_nulls;		/* per column: in any block so far */
	CursorColumn **columns;		/* per column, made when first gathered: per cursor */
	CursorColumn **scaled;		/* the same of integers that stand for numerics */
	int		   *scale;			/* per column, of them; -1: none is loaded yet, SCALE_NONE: there is no such one */
};

RunWindow *
RunWindowCreate(LeafReader *leaf, int keycol, KeyClass keyclass, Oid keytype)
{
	RunWindow  *window = palloc0(sizeof(RunWindow));

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
RunWindowOpen(RunWindow *window)
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

		if (leaf->cursors[i].next >= leaf->cursors[i].end)
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
CursorReady(RunWindow *window, int c, const KeyBound *bound, int64 image)
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
			if (cursor->store == NULL)
				LeafBlockRelease(leaf, cursor->block);
			cursor->block = NULL;
		}
		if (!RunMergeReadBlock(leaf, cursor, bound))
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
Offer(RunWindow *window, int c, WindowOffer *offer)
{
	const BlockCursor *cursor = &window->leaf->cursors[c];
	const KeyVector *keys = &cursor->block->keys;
	int			rows = offer->rows < WINDOW_ROWS ? window->run_rows : WINDOW_RUN_ROWS;
	int			end = Min(cursor->pos + rows, keys->n);

	window->end[c] = end;
	offer->rows += end - cursor->pos;
	offer->least = Min(offer->least, keys->k64[cursor->pos]);
	offer->greatest = Max(offer->greatest, keys->k64[end - 1]);
	if (end < keys->n || cursor->next < cursor->end)
		offer->upto = Min(offer->upto, keys->k64[end - 1]);
}

/*
 * Find what the next window is made of.  A NULL and the greatest value have
 * the same image.  Rows with it are left to the heap, which compares them in
 * full; they are the last ones.
 */
static void
CollectOffers(RunWindow *window, const KeyBound *bound, WindowOffer *offer)
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

/* The digits that a window is sorted by, and how often each value of them occurs. */
typedef struct Digits
{
	int			low_bits;
	int			high_bits;		/* 0: one digit is enough */
	uint32		low[1 << DIGIT_BITS];
	uint32		high[1 << DIGIT_BITS];
} Digits;

/* Turn counts into the places where the entries of each digit begin. */
static void
CountsToStarts(uint32 *counts, int n)
{
	uint32		sum = 0;

	for (int d = 0; d < n; d++)
	{
		uint32		count = counts[d];

		counts[d] = sum;
		sum += count;
	}
}

/* The digits that numbers of so many bits are sorted by; none has been counted. */
static void
ChooseDigits(Digits *digits, int bits)
{
	digits->low_bits = bits > DIGIT_BITS ? (bits + 1) / 2 : bits;
	digits->high_bits = bits - digits->low_bits;
	memset(digits->low, 0, sizeof(uint32) << digits->low_bits);
	memset(digits->high, 0, sizeof(uint32) << digits->high_bits);
}

/* Find the rows of the window, those up to an image, and where entries with each digit will begin. */
static void
CountDigits(RunWindow *window, int64 upto, int bits, Digits *digits)
{
	const LeafReader *leaf = window->leaf;
	const uint64 base = (uint64) window->base;
	const int	shift = window->shift;
	int			low_bits;
	int			high_bits;
	uint64		low_mask;
	int			n = 0;

	ChooseDigits(digits, bits);
	low_bits = digits->low_bits;
	high_bits = digits->high_bits;
	low_mask = (UINT64CONST(1) << low_bits) - 1;
	for (int i = 0; i < window->nactive; i++)
	{
		int			c = window->active[i];
		const int64 *k64 = leaf->cursors[c].block->keys.k64;
		const int	start = leaf->cursors[c].pos;
		const int	end = window->end[c];
		int			pos = start;

		if (high_bits > 0)
		{
			for (; pos < end && k64[pos] <= upto; pos++)
			{
				uint64		part = ((uint64) k64[pos] - base) >> shift;

				digits->low[part & low_mask]++;
				digits->high[part >> low_bits]++;
			}
		}
		else
		{
			for (; pos < end && k64[pos] <= upto; pos++)
				digits->low[((uint64) k64[pos] - base) >> shift]++;
		}
		window->end[c] = pos;
		n += pos - start;
	}
	window->n = n;
	CountsToStarts(digits->low, 1 << low_bits);
	CountsToStarts(digits->high, 1 << high_bits);
}

/* Put the entries of the window in the order of the bits they have of their images. */
static void
SortEntries(RunWindow *window, Digits *digits)
{
	LeafReader *leaf = window->leaf;
	const uint64 base = (uint64) window->base;
	const int	shift = window->shift;
	const uint64 low_mask = (UINT64CONST(1) << digits->low_bits) - 1;
	const int	high_shift = TAG_BITS + digits->low_bits;
	const int	n = window->n;
	uint64	   *to = digits->high_bits > 0 ? window->spare : window->entry;

	for (int i = 0; i < window->nactive; i++)
	{
		int			c = window->active[i];
		BlockCursor *cursor = &leaf->cursors[c];
		const int64 *k64 = cursor->block->keys.k64;
		const uint64 tag = (uint64) c << POS_BITS;
		const int	end = window->end[c];

		for (int pos = cursor->pos; pos < end; pos++)
		{
			uint64		part = ((uint64) k64[pos] - base) >> shift;

			to[digits->low[part & low_mask]++] = part << TAG_BITS | tag | (uint64) pos;
		}
		cursor->pos = end;
	}
	if (digits->high_bits == 0)
		return;
	to = window->entry;
	for (int i = 0; i < n; i++)
	{
		uint64		e = window->spare[i];

		to[digits->high[e >> high_shift]++] = e;
	}
}

/* Put keys in the order of a digit. */
static void
SortParts(const uint32 *from, uint32 *to, int n, uint32 *starts, int shift, uint32 mask)
{
	for (int i = 0; i < n; i++)
		to[starts[(from[i] >> shift) & mask]++] = from[i];
}

/* SortEntries where nothing is wanted but the keys. */
static void
SortKeys(RunWindow *window, Digits *digits)
{
	LeafReader *leaf = window->leaf;
	const uint64 base = (uint64) window->base;
	const uint32 low_mask = (UINT32_C(1) << digits->low_bits) - 1;
	uint32	   *to = (uint32 *) (digits->high_bits > 0 ? window->spare : window->entry);

	for (int i = 0; i < window->nactive; i++)
	{
		BlockCursor *cursor = &leaf->cursors[window->active[i]];
		const int64 *k64 = cursor->block->keys.k64;
		const int	end = window->end[window->active[i]];

		for (int pos = cursor->pos; pos < end; pos++)
		{
			uint32		part = (uint32) ((uint64) k64[pos] - base);

			to[digits->low[part & low_mask]++] = part;
		}
		cursor->pos = end;
	}
	if (digits->high_bits > 0)
		SortParts((uint32 *) window->spare, (uint32 *) window->entry, window->n, digits->high,
				  digits->low_bits, PG_UINT32_MAX);
}

/*
 * Make entries of the keys of the window's rows, those up to an image, and count
 * the rows of each.  A look at the counter tells whether a key is new: that
 * takes less than sorting its rows.
 */
static void
CountKeys(RunWindow *window, int64 upto, int bits, Digits *digits)
{
	LeafReader *leaf = window->leaf;
	const uint64 base = (uint64) window->base;
	uint32	   *keys;
	int64	   *times;
	uint16	   *counters;
	uint32		mask;
	int			rows = 0;
	int			n = 0;

	ChooseDigits(digits, bits);
	/* sorting by the last digit leaves them where entries are */
	keys = (uint32 *) (digits->high_bits > 0 ? window->entry : window->spare);
	mask = (UINT32_C(1) << digits->low_bits) - 1;
	if (window->counters == NULL || bits > window->counter_bits)
	{
		if (window->counters != NULL)
			pfree(window->counters);
		window->counters = MemoryContextAllocZero(leaf->cxt, sizeof(uint16) << bits);
		window->counter_bits = bits;
	}
	counters = window->counters;

	for (int i = 0; i < window->nactive; i++)
	{
		int			c = window->active[i];
		BlockCursor *cursor = &leaf->cursors[c];
		const int64 *k64 = cursor->block->keys.k64;
		const int	end = window->end[c];
		int			pos = cursor->pos;

		for (; pos < end && k64[pos] <= upto; pos++)
		{
			uint32		part = (uint32) ((uint64) k64[pos] - base);
			uint16		before = counters[part];

			counters[part] = before + 1;
			keys[n] = part;
			n += before == 0;
		}
		rows += pos - cursor->pos;
		cursor->pos = pos;
	}
	window->n = n;
	window->count_pays = n * COUNTED_ROWS <= rows;

	for (int i = 0; i < n; i++)
	{
		digits->low[keys[i] & mask]++;
		digits->high[keys[i] >> digits->low_bits]++;
	}
	CountsToStarts(digits->low, 1 << digits->low_bits);
	CountsToStarts(digits->high, 1 << digits->high_bits);
	if (digits->high_bits > 0)
	{
		SortParts(keys, (uint32 *) window->spare, n, digits->low, 0, mask);
		keys = (uint32 *) window->spare;
		SortParts(keys, (uint32 *) window->entry, n, digits->high, digits->low_bits, PG_UINT32_MAX);
	}
	else
		SortParts(keys, (uint32 *) window->entry, n, digits->low, 0, mask);

	keys = (uint32 *) window->entry;
	times = (int64 *) window->spare;
	for (int i = 0; i < n; i++)
	{
		times[i] = counters[keys[i]];
		counters[keys[i]] = 0;
	}
}

/* Sort entries from .. to-1, which have the same bits, by their images. */
static void
SortGroup(RunWindow *window, int from, int to)
{
	int64	   *image = window->image;
	uint64	   *entry = window->entry;
	uint64		differing = 0;

	if (to - from <= SMALL_GROUP)
	{
		for (int i = from + 1; i < to; i++)
		{
			int64		x = image[i];
			uint64		e = entry[i];
			int			k = i;

			for (; k > from && image[k - 1] > x; k--)
			{
				image[k] = image[k - 1];
				entry[k] = entry[k - 1];
			}
			image[k] = x;
			entry[k] = e;
		}
		return;
	}
	if (window->group == NULL)
	{
		window->group = MemoryContextAlloc(window->leaf->cxt, WINDOW_ROOM * sizeof(ImageRow));
		window->group_spare = MemoryContextAlloc(window->leaf->cxt, WINDOW_ROOM * sizeof(ImageRow));
	}
	for (int i = from; i < to; i++)
	{
		window->group[i - from].image = (uint64) image[i] ^ (UINT64CONST(1) << 63);
		window->group[i - from].entry = entry[i];
		differing |= (uint64) (image[i] ^ image[from]);
	}
	SortByImage(&window->group, &window->group_spare, to - from, differing);
	for (int i = from; i < to; i++)
	{
		image[i] = (int64) (window->group[i - from].image ^ (UINT64CONST(1) << 63));
		entry[i] = window->group[i - from].entry;
	}
}

/* Get the images, of which entries have the first bits only, and finish the order by them. */
static void
SortByRest(RunWindow *window)
{
	const BlockCursor *cursors = window->leaf->cursors;
	const uint64 *entry = window->entry;

	for (int i = 0; i < window->n; i++)
		window->image[i] = cursors[ENTRY_CURSOR(entry[i])].block->keys.k64[ENTRY_POS(entry[i])];
	for (int i = 1; i < window->n; i++)
	{
		int			from = i - 1;

		if (likely(window->image[i] >= window->image[i - 1]))
			continue;
		while (from > 0 && entry[from - 1] >> TAG_BITS == entry[i] >> TAG_BITS)
			from--;
		while (i < window->n && entry[from] >> TAG_BITS == entry[i] >> TAG_BITS)
			i++;
		SortGroup(window, from, i);
	}
}

/* Fill the window, from the bound on. */
static void
FillWindow(RunWindow *window, const KeyBound *bound)
{
	WindowOffer offer;
	Digits		digits;
	uint64		range;
	int			bits;
	int			most;

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
	most = Min(2 * DIGIT_BITS, pg_leftmost_one_pos32(offer.rows) + 1 + SPARE_BITS);
	window->shift = Max(bits - most, 0);
	window->keys_only = (window->leaf->ncols == 1 || window->leaf->countable) && window->direct &&
		window->shift == 0;
	window->counted = window->keys_only && window->count_pays && bits <= COUNTER_BITS;
	if (window->counted)
	{
		CountKeys(window, offer.upto, bits, &digits);
		return;
	}
	CountDigits(window, offer.upto, bits - window->shift, &digits);
	if (window->keys_only)
		SortKeys(window, &digits);
	else
		SortEntries(window, &digits);
	if (window->shift > 0)
		SortByRest(window);
}

static inline int64
EntryImage(const RunWindow *window, int i)
{
	uint64		part;

	if (window->shift > 0)
		return window->image[i];
	part = window->keys_only ? ((const uint32 *) window->entry)[i] : window->entry[i] >> TAG_BITS;
	return (int64) ((uint64) window->base + part);
}

/* Pass over entries below the bound. */
static void
SkipEntries(RunWindow *window, const KeyBound *bound)
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
RunWindowNext(RunWindow *window, Batch *batch, int limit, const KeyBound *bound)
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
LoadCursorColumn(RunWindow *window, int c, int col)
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
LoadCursorScaled(RunWindow *window, int c, int col)
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
GatherNulls(const RunWindow *window, int nrows, const CursorColumn *columns, Datum *values, bool *nulls)
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
MakeCursorColumns(RunWindow *window, CursorColumn **columns)
{
	if (*columns == NULL)
		*columns = MemoryContextAllocZero(window->leaf->cxt, MERGE_FAN_IN * sizeof(CursorColumn));
}

bool
RunWindowGather(RunWindow *window, int nrows, int col, Datum *values, bool *nulls)
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
RunWindowGatherScaled(RunWindow *window, int nrows, int col, ScaledColumn *scaled)
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
