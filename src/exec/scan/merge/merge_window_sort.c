/*
 * merge_window_sort.c
 *	  The rows of a window in order.
 *
 * Two runs are merged; more are sorted by digits.  An entry of a window is one
 * number: how far its image is above the least one of the window, then which
 * cursor and which entry of its block it is.  Where the images are too far apart
 * for that, their first bits are sorted, and the few rows put right that these
 * do not tell apart.
 *
 * Where nothing is wanted but the keys and how many rows each has, rows are
 * counted by their key, and only the keys sorted.
 */
#include "postgres.h"

#include "exec/scan/merge/merge_window_sort.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "vector/merge_search.h"

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

/* bits of an image that an entry has at most, and one that is only a key */
#define MERGED_BITS (64 - TAG_BITS)
#define KEY_BITS 32
/* of a run with so many times as many rows as the other, rows are taken together up to the next of the other */
#define UNEVEN 8

StaticAssertDecl(WINDOW_ROOM <= PG_UINT16_MAX, "counters of two bytes may overflow");

#define RS_SORT SortByImage
#define RS_ELEMENT ImageRow
#define RS_NUMBER image
#include "vector/radix_sort.h"

/* The digits that a window is sorted by, and how often each value of them occurs. */
typedef struct Digits
{
	int			low_bits;
	int			high_bits;		/* 0: one digit is enough */
	uint32		low[1 << DIGIT_BITS];
	uint32		high[1 << DIGIT_BITS];
} Digits;

/* What a window takes of a run. */
typedef struct RunPart
{
	const int64 *k64;
	int			n;
	uint64		tag;			/* of the first entry; the next has one more */
} RunPart;

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
CountDigits(MergeWindow *window, int64 upto, int bits, Digits *digits)
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
SortEntries(MergeWindow *window, Digits *digits)
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
SortKeys(MergeWindow *window, Digits *digits)
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

/* Put n keys, which are in window->entry if there are two digits, else in window->spare, in order into window->entry. */
static void
SortCountedKeys(MergeWindow *window, const uint32 *keys, int n, Digits *digits)
{
	const uint32 mask = (UINT32_C(1) << digits->low_bits) - 1;

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
		SortParts((uint32 *) window->spare, (uint32 *) window->entry, n, digits->high,
				  digits->low_bits, PG_UINT32_MAX);
	}
	else
		SortParts(keys, (uint32 *) window->entry, n, digits->low, 0, mask);
}

/* Merge two arrays of keys, none of which is in both. */
static void
MergeKeys(const uint32 *a, int na, const uint32 *b, int nb, uint32 *to)
{
	const uint32 *a_end = a + na;
	const uint32 *b_end = b + nb;

	while (a < a_end && b < b_end)
	{
		bool		second = *b < *a;

		*to++ = second ? *b : *a;
		a += !second;
		b += second;
	}
	memcpy(to, a, (a_end - a) * sizeof(uint32));
	memcpy(to + (a_end - a), b, (b_end - b) * sizeof(uint32));
}

/*
 * Make entries of the keys of the window's rows, those up to an image, and count
 * the rows of each.  A look at the counter tells whether a key is new: that
 * takes less than sorting its rows.
 */
static void
CountKeys(MergeWindow *window, int64 upto, int bits, Digits *digits)
{
	LeafReader *leaf = window->leaf;
	const uint64 base = (uint64) window->base;
	uint32	   *keys;
	int64	   *times;
	uint16	   *counters;
	int			rows = 0;
	int			n = 0;
	int			first = 0;		/* keys of the first run */

	ChooseDigits(digits, bits);
	/* sorting by the last digit, or merging, leaves them where entries are */
	keys = (uint32 *) (digits->high_bits > 0 && window->nactive > 2 ? window->entry : window->spare);
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
		first = i == 0 ? n : first;
	}
	window->n = n;
	window->count_pays = n * COUNTED_ROWS <= rows;

	if (window->nactive <= 2)
		MergeKeys(keys, first, keys + first, n - first, (uint32 *) window->entry);
	else
		SortCountedKeys(window, keys, n, digits);

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
SortGroup(MergeWindow *window, int from, int to)
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
SortByRest(MergeWindow *window)
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

static inline void
PartAdvance(RunPart *run, int n)
{
	run->k64 += n;
	run->tag += n;
	run->n -= n;
}

/* The next n rows of a run go into the window. */
static inline void
TakeRows(MergeWindow *window, RunPart *run, int n, bool keys_only, bool images)
{
	uint32	   *keys = (uint32 *) window->entry + window->n;
	uint64	   *entry = window->entry + window->n;
	const int64 *k64 = run->k64;
	const uint64 tag = run->tag;
	const uint64 base = (uint64) window->base;
	const int	shift = window->shift;

	if (n == 0)
		return;					/* there may be no run */
	if (images)
		memcpy(window->image + window->n, k64, n * sizeof(int64));
	for (int k = 0; k < n; k++)
	{
		uint64		part = ((uint64) k64[k] - base) >> shift;

		if (keys_only)
			keys[k] = (uint32) part;
		else
			entry[k] = part << TAG_BITS | (tag + k);
	}
	window->n += n;
	PartAdvance(run, n);
}

/*
 * The next rows of two runs go into the window, as many as are sure to be there;
 * of equal ones those of the first come first.
 */
static inline void
TakeBoth(MergeWindow *window, RunPart *a, RunPart *b, bool keys_only, bool images)
{
	uint32	   *keys = (uint32 *) window->entry;
	uint64	   *entry = window->entry;
	const uint64 base = (uint64) window->base;
	const int	shift = window->shift;
	const int	steps = Min(a->n, b->n);
	const int64 *x = a->k64;
	const int64 *y = b->k64;
	uint64		x_tag = a->tag;
	uint64		y_tag = b->tag;
	int			n = window->n;

	for (int k = 0; k < steps; k++)
	{
		bool		second = *y < *x;
		int64		image = second ? *y : *x;
		uint64		part = ((uint64) image - base) >> shift;

		if (images)
			window->image[n] = image;
		if (keys_only)
			keys[n++] = (uint32) part;
		else
			entry[n++] = part << TAG_BITS | (second ? y_tag : x_tag);
		x_tag += !second;
		y_tag += second;
		x += !second;
		y += second;
	}
	window->n = n;
	PartAdvance(a, x - a->k64);
	PartAdvance(b, y - b->k64);
}

/* Merge two runs, or take one where the other has no rows. */
static inline void
MergeParts(MergeWindow *window, RunPart *a, RunPart *b, bool keys_only, bool images)
{
	while (a->n > 0 && b->n > 0)
	{
		if (a->n / UNEVEN > b->n)
		{
			/* up to the next row of b, and that */
			int			n = *b->k64 == PG_INT64_MAX ? a->n : Search64(a->k64, 0, a->n, *b->k64 + 1);

			TakeRows(window, a, n, keys_only, images);
			TakeRows(window, b, 1, keys_only, images);
		}
		else if (b->n / UNEVEN > a->n)
		{
			TakeRows(window, b, Search64(b->k64, 0, b->n, *a->k64), keys_only, images);
			TakeRows(window, a, 1, keys_only, images);
		}
		else
			TakeBoth(window, a, b, keys_only, images);
	}
	TakeRows(window, a, a->n, keys_only, images);
	TakeRows(window, b, b->n, keys_only, images);
}

/* One or two runs: merging takes less than sorting. */
static void
MergeTwo(MergeWindow *window, int64 upto)
{
	LeafReader *leaf = window->leaf;
	RunPart		parts[2] = {0};

	for (int i = 0; i < window->nactive; i++)
	{
		int			c = window->active[i];
		BlockCursor *cursor = &leaf->cursors[c];
		const int64 *k64 = cursor->block->keys.k64;
		int			end = window->end[c];

		if (upto < PG_INT64_MAX)
			end = Search64(k64, cursor->pos, end, upto + 1);
		parts[i].k64 = k64 + cursor->pos;
		parts[i].n = end - cursor->pos;
		parts[i].tag = (uint64) c << POS_BITS | (uint64) cursor->pos;
		cursor->pos = window->end[c] = end;
	}
	window->n = 0;
	if (window->keys_only)
		MergeParts(window, &parts[0], &parts[1], true, false);
	else if (window->shift == 0)
		MergeParts(window, &parts[0], &parts[1], false, false);
	else
		MergeParts(window, &parts[0], &parts[1], false, true);
}

void
MergeWindowSort(MergeWindow *window, int64 upto, int bits, int rows)
{
	bool		merged = window->nactive <= 2;
	int			most = Min(2 * DIGIT_BITS, pg_leftmost_one_pos32(rows) + 1 + SPARE_BITS);
	Digits		digits;

	window->shift = Max(bits - (merged ? MERGED_BITS : most), 0);
	window->keys_only = (window->leaf->ncols == 1 || window->leaf->countable) && window->direct &&
		bits <= (merged ? KEY_BITS : most);
	window->counted = window->keys_only && window->count_pays && bits <= COUNTER_BITS;
	if (window->counted)
	{
		CountKeys(window, upto, bits, &digits);
		return;
	}
	if (merged)
	{
		MergeTwo(window, upto);
		return;
	}
	CountDigits(window, upto, bits - window->shift, &digits);
	if (window->keys_only)
		SortKeys(window, &digits);
	else
		SortEntries(window, &digits);
	if (window->shift > 0)
		SortByRest(window);
}
