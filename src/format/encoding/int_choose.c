/*
 * int_choose.c
 *	  Choose the kind of int streams and write them.
 *
 * FOR and DELTA decode fastest; another kind has to be clearly smaller.
 */
#include "postgres.h"

#include "format/encoding/int_stream.h"
#include "port/pg_bitutils.h"

/* values below which other kinds than FOR and DELTA are not tried */
#define MIN_TRIED		64

/* of so many values one is looked at before all of them are */
#define SAMPLE_STEP		32

/* bits that have to be saved for every patch, as it takes the time of many values */
#define PATCH_PRICE		8

int
IntWidth(uint64 x)
{
	return x == 0 ? 0 : pg_leftmost_one_pos64(x) + 1;
}

/* Is a stream of that size worth decoding more slowly than one of the other size? */
static inline bool
clearly_smaller(size_t size, size_t other, int part)
{
	return size + other / part < other;
}

/* FOR or DELTA; returns how many values are that of the one before. */
static int
plan_packed(const int64 *values, int n, IntStreamPlan *plan)
{
	int64		min = values[0];
	int64		max = values[0];
	int64		dmin = PG_INT64_MAX;
	int64		dmax = PG_INT64_MIN;
	int			nrepeats = 0;
	int			forwidth;
	int			deltawidth;
	size_t		forsize;
	size_t		deltasize;

	for (int i = 1; i < n; i++)
	{
		int64		v = values[i];
		int64		d = (int64) ((uint64) v - (uint64) values[i - 1]);

		min = Min(min, v);
		max = Max(max, v);
		dmin = Min(dmin, d);
		dmax = Max(dmax, d);
		nrepeats += d == 0;
	}
	if (n == 1)
		dmin = dmax = 0;

	forwidth = IntWidth((uint64) max - (uint64) min);
	deltawidth = IntWidth((uint64) dmax - (uint64) dmin);
	forsize = IntStreamSize(forwidth, n);
	deltasize = IntStreamSize(deltawidth, n - 1);

	memset(&plan->head, 0, sizeof(plan->head));
	plan->min = min;
	plan->max = max;
	/* FOR decodes a little faster: let delta win only by a margin */
	if (deltasize + n / 64 < forsize)
	{
		plan->head.kind = INT_STREAM_DELTA;
		plan->head.width = deltawidth;
		plan->head.base = values[0];
		plan->head.step = dmin;
		plan->size = deltasize;
	}
	else
	{
		plan->head.kind = INT_STREAM_FOR;
		plan->head.width = forwidth;
		plan->head.base = min;
		plan->size = forsize;
	}
	return nrepeats;
}

/* What is packed of value i >= first of a FOR or DELTA stream; first is 1 for DELTA. */
static inline uint64
packed_bits(const DiskIntStream *head, bool delta, const int64 *values, int i)
{
	uint64		v = (uint64) values[i];

	return delta ? v - (uint64) values[i - 1] - (uint64) head->step : v - (uint64) head->base;
}

static inline bool
head_is_delta(const DiskIntStream *head)
{
	return head->kind == INT_STREAM_DELTA || head->kind == INT_STREAM_PATCHED_DELTA;
}

/* The bits that do not fit in the width: where, and which.  Returns their number. */
static int
find_patches(const DiskIntStream *head, const int64 *values, int n, int64 *positions, int64 *highs)
{
	bool		delta = head_is_delta(head);
	int			first = delta ? 1 : 0;
	int			npatches = 0;

	for (int i = first; i < n; i++)
	{
		uint64		high = packed_bits(head, delta, values, i) >> head->width;

		if (high != 0)
		{
			positions[npatches] = i - first;
			highs[npatches++] = (int64) high;
		}
	}
	return npatches;
}

/* Fewer bits for most of the values of a FOR or DELTA stream, if that is smaller. */
static void
plan_patched(const int64 *values, int n, IntStreamPlan *plan)
{
	IntStreamPlan patched = *plan;
	bool		delta = head_is_delta(&plan->head);
	int			first = delta ? 1 : 0;
	int			npacked = n - first;
	int			max_patches = Min(BF_MAX_PATCHES, npacked / 4);
	int			widths[65] = {0};
	int			wider = 0;
	int			npatches = 0;
	int			sample = 0;
	uint64		best = (uint64) npacked * plan->head.width;
	int64		positions[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];
	IntStreamPlan part;

	/* of most columns many values need all bits, which a few of them show */
	for (int i = first; i < n; i += SAMPLE_STEP)
		sample += packed_bits(&plan->head, delta, values, i) >> (plan->head.width - 1) != 0;
	if (sample * SAMPLE_STEP > npacked / 8 * 3 + 4 * SAMPLE_STEP)
		return;

	for (int i = first; i < n; i++)
		widths[IntWidth(packed_bits(&plan->head, delta, values, i) | 1)]++;
	for (int w = plan->head.width - 1; w > 0; w--)
	{
		uint64		bits;

		wider += widths[w + 1];
		if (wider > max_patches)
			break;
		/* the largest distance of patches is several times the average */
		bits = (uint64) npacked * w +
			(uint64) wider * (plan->head.width - w + IntWidth(npacked / wider) + 3 + PATCH_PRICE);
		if (bits < best)
		{
			best = bits;
			npatches = wider;
			patched.head.width = w;
		}
	}
	if (npatches == 0 || !clearly_smaller(best / 8, (size_t) npacked * plan->head.width / 8, 16))
		return;

	patched.head.kind = delta ? INT_STREAM_PATCHED_DELTA : INT_STREAM_PATCHED_FOR;
	patched.head.count = npatches;
	patched.size = IntStreamSize(patched.head.width, npacked);
	(void) find_patches(&patched.head, values, n, positions, highs);
	(void) plan_packed(positions, npatches, &part);
	patched.size += part.size;
	(void) plan_packed(highs, npatches, &part);
	patched.size += part.size;
	if (clearly_smaller(patched.size, plan->size, 16))
		*plan = patched;
}

/* Three values of a FOR stream as digits of one number, if that is smaller. */
static void
plan_triples(int n, IntStreamPlan *plan)
{
	uint64		radix = (uint64) plan->max - (uint64) plan->min + 1;
	int			width;
	size_t		size;

	if (radix < 2 || radix > BF_MAX_RADIX)
		return;
	width = IntWidth(radix * radix * radix - 1);
	size = IntStreamSize(width, (n + 2) / 3);
	if (width > BF_TRIPLE_BITS || !clearly_smaller(size, plan->size, 32))
		return;
	memset(&plan->head, 0, sizeof(plan->head));
	plan->head.kind = INT_STREAM_TRIPLES;
	plan->head.width = width;
	plan->head.count = (uint32) radix;
	plan->head.base = plan->min;
	plan->size = size;
}

/* The values that differ from the one before; returns their number. */
static int
find_distinct(const int64 *values, int n, int64 *distinct)
{
	int			ndistinct = 1;

	distinct[0] = values[0];
	for (int i = 1; i < n; i++)
	{
		distinct[ndistinct] = values[i];
		ndistinct += values[i] != values[i - 1];
	}
	return ndistinct;
}

/* Any kind but REPEATS. */
static int
plan_distinct(const int64 *values, int n, IntStreamPlan *plan)
{
	int			nrepeats = plan_packed(values, n, plan);

	if (n >= MIN_TRIED && n <= BF_BATCH_ROWS && plan->head.width > 0)
	{
		plan_patched(values, n, plan);
		plan_triples(n, plan);
	}
	return nrepeats;
}

void
IntStreamMakePlan(const int64 *values, int n, IntStreamPlan *plan)
{
	int			nrepeats = plan_distinct(values, n, plan);
	size_t		bitmap = BF_ALIGN8(((size_t) n + 7) / 8);
	int64		distinct[BF_BATCH_ROWS];
	IntStreamPlan rest;
	int			ndistinct;
	size_t		size;

	/* what the repeated values take now, against a bit for every value */
	if (n < MIN_TRIED || n > BF_BATCH_ROWS || plan->size * nrepeats / n <= bitmap)
		return;
	ndistinct = find_distinct(values, n, distinct);
	(void) plan_distinct(distinct, ndistinct, &rest);
	size = sizeof(DiskIntStream) + bitmap + rest.size;
	if (!clearly_smaller(size, plan->size, 16))
		return;
	memset(&plan->head, 0, sizeof(plan->head));
	plan->head.kind = INT_STREAM_REPEATS;
	plan->head.count = ndistinct;
	plan->size = size;
}

/* Bits on their way to memory. */
typedef struct BitWriter
{
	char	   *out;
	uint64		acc;
	int			used;			/* bits in acc, < 64 */
} BitWriter;

static inline void
put_bits(BitWriter *w, uint64 value, int width)
{
	w->acc |= value << w->used;
	w->used += width;
	if (w->used >= 64)
	{
		int			rest = w->used - 64;

		memcpy(w->out, &w->acc, sizeof(uint64));
		w->out += sizeof(uint64);
		w->acc = rest > 0 ? value >> (width - rest) : 0;
		w->used = rest;
	}
}

/* What is behind the head of FOR, DELTA and, without the patches, the patched kinds. */
static void
write_packed(ByteBuffer *out, const int64 *values, int n, const DiskIntStream *head)
{
	bool		delta = head_is_delta(head);
	int			first = delta ? 1 : 0;
	int			width = head->width;
	uint64		mask = width == 64 ? PG_UINT64_MAX : (UINT64CONST(1) << width) - 1;
	BitWriter	w = {NULL};

	if (width == 0)
		return;
	w.out = ByteBufferExtend(out, IntStreamSize(width, n - first) - sizeof(*head));
	if (delta)
	{
		for (int i = 1; i < n; i++)
			put_bits(&w, packed_bits(head, true, values, i) & mask, width);
	}
	else
	{
		for (int i = 0; i < n; i++)
			put_bits(&w, packed_bits(head, false, values, i) & mask, width);
	}
	if (w.used > 0)
		memcpy(w.out, &w.acc, sizeof(uint64));
}

static void
write_packed_stream(ByteBuffer *out, const int64 *values, int n)
{
	IntStreamPlan plan;

	(void) plan_packed(values, n, &plan);
	ByteBufferAppend(out, &plan.head, sizeof(plan.head));
	write_packed(out, values, n, &plan.head);
}

static void
write_patched(ByteBuffer *out, const int64 *values, int n, const DiskIntStream *head)
{
	int64		positions[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];

	write_packed(out, values, n, head);
	(void) find_patches(head, values, n, positions, highs);
	write_packed_stream(out, positions, (int) head->count);
	write_packed_stream(out, highs, (int) head->count);
}

static void
write_triples(ByteBuffer *out, const int64 *values, int n, const DiskIntStream *head)
{
	int			third = (n + 2) / 3;
	uint64		radix = head->count;
	uint64		base = (uint64) head->base;
	BitWriter	w = {NULL};

	w.out = ByteBufferExtend(out, IntStreamSize(head->width, third) - sizeof(*head));
	for (int i = 0; i < third; i++)
	{
		uint64		x = (uint64) values[i] - base;

		if (i + third < n)
			x += radix * ((uint64) values[i + third] - base);
		if (i + 2 * third < n)
			x += radix * radix * ((uint64) values[i + 2 * third] - base);
		put_bits(&w, x, head->width);
	}
	if (w.used > 0)
		memcpy(w.out, &w.acc, sizeof(uint64));
}

static void
write_repeats(ByteBuffer *out, const int64 *values, int n)
{
	size_t		bitmap = BF_ALIGN8(((size_t) n + 7) / 8);
	uint8	   *bits = (uint8 *) ByteBufferExtend(out, bitmap);
	int64		distinct[BF_BATCH_ROWS];
	IntStreamPlan plan;
	int			ndistinct = find_distinct(values, n, distinct);

	memset(bits, 0, bitmap);
	bits[0] = 1;
	for (int i = 1; i < n; i++)
		bits[i >> 3] |= (uint8) (values[i] != values[i - 1]) << (i & 7);
	(void) plan_distinct(distinct, ndistinct, &plan);
	IntStreamWrite(out, distinct, ndistinct, &plan);
}

void
IntStreamWrite(ByteBuffer *out, const int64 *values, int n, const IntStreamPlan *plan)
{
	const DiskIntStream *head = &plan->head;

	ByteBufferAppend(out, head, sizeof(*head));
	switch ((IntStreamKind) head->kind)
	{
		case INT_STREAM_FOR:
		case INT_STREAM_DELTA:
			write_packed(out, values, n, head);
			break;
		case INT_STREAM_REPEATS:
			write_repeats(out, values, n);
			break;
		case INT_STREAM_PATCHED_FOR:
		case INT_STREAM_PATCHED_DELTA:
			write_patched(out, values, n, head);
			break;
		case INT_STREAM_TRIPLES:
			write_triples(out, values, n, head);
			break;
	}
}
