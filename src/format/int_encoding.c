/*
 * int_encoding.c
 *	  Int streams: frame of reference or delta, bit-packed.
 *
 * All arithmetic is modulo 2^64, so that no input overflows and every value
 * comes back exactly.  Unpacking is specialised by width over groups of 8
 * values, which take exactly width bytes: shifts and masks are constants.
 */
#include "postgres.h"

#include "format/int_encoding.h"
#include "port/pg_bitutils.h"

static inline uint64
load64(const char *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return v;
}

int
IntWidth(uint64 x)
{
	return x == 0 ? 0 : pg_leftmost_one_pos64(x) + 1;
}

void
IntStreamMakePlan(const int64 *values, int n, IntStreamPlan *plan)
{
	int64		min = values[0];
	int64		max = values[0];
	int64		dmin = PG_INT64_MAX;
	int64		dmax = PG_INT64_MIN;
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

void
IntStreamWrite(ByteBuffer *out, const int64 *values, int n, const IntStreamPlan *plan)
{
	const DiskIntStream *head = &plan->head;
	int			width = head->width;
	BitWriter	w;

	ByteBufferAppend(out, head, sizeof(*head));
	if (width == 0)
		return;
	w.out = ByteBufferExtend(out, plan->size - sizeof(*head));
	w.acc = 0;
	w.used = 0;

	if (head->kind == INT_STREAM_FOR)
	{
		for (int i = 0; i < n; i++)
			put_bits(&w, (uint64) values[i] - (uint64) head->base, width);
	}
	else
	{
		for (int i = 1; i < n; i++)
			put_bits(&w, (uint64) values[i] - (uint64) values[i - 1] - (uint64) head->step, width);
	}
	if (w.used > 0)
		memcpy(w.out, &w.acc, sizeof(uint64));
}

/* Value k of a group of 8 values of width w <= 57 that begins at in. */
#define GROUP_VALUE(w, k) \
	((load64(in + (((k) * (w)) >> 3)) >> (((k) * (w)) & 7)) & ((UINT64CONST(1) << (w)) - 1))

static pg_attribute_always_inline void
unpack_for(const char *in, int groups, uint64 base, uint64 *out, const int w)
{
	for (int g = 0; g < groups; g++, in += w, out += 8)
	{
		out[0] = base + GROUP_VALUE(w, 0);
		out[1] = base + GROUP_VALUE(w, 1);
		out[2] = base + GROUP_VALUE(w, 2);
		out[3] = base + GROUP_VALUE(w, 3);
		out[4] = base + GROUP_VALUE(w, 4);
		out[5] = base + GROUP_VALUE(w, 5);
		out[6] = base + GROUP_VALUE(w, 6);
		out[7] = base + GROUP_VALUE(w, 7);
	}
}

/* Returns the last value, where the caller goes on. */
static pg_attribute_always_inline uint64
unpack_delta(const char *in, int groups, uint64 last, uint64 step, uint64 *out, const int w)
{
	for (int g = 0; g < groups; g++, in += w, out += 8)
	{
		/* sums of pairs first: a shorter chain of dependent additions */
		uint64		d0 = step + GROUP_VALUE(w, 0);
		uint64		d1 = d0 + step + GROUP_VALUE(w, 1);
		uint64		d2 = step + GROUP_VALUE(w, 2);
		uint64		d3 = d2 + step + GROUP_VALUE(w, 3);
		uint64		d4 = step + GROUP_VALUE(w, 4);
		uint64		d5 = d4 + step + GROUP_VALUE(w, 5);
		uint64		d6 = step + GROUP_VALUE(w, 6);
		uint64		d7 = d6 + step + GROUP_VALUE(w, 7);
		uint64		l1 = last + d1;
		uint64		l3 = l1 + d3;
		uint64		l5 = l3 + d5;

		out[0] = last + d0;
		out[1] = l1;
		out[2] = l1 + d2;
		out[3] = l3;
		out[4] = l3 + d4;
		out[5] = l5;
		out[6] = l5 + d6;
		out[7] = last = l5 + d7;
	}
	return last;
}

#define EACH_WIDTH(X) \
	X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
	X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) \
	X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) \
	X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57)

static void
read_for(const char *in, int n, int width, uint64 base, uint64 *out)
{
	int			groups = n / 8;
	int			i = groups * 8;

	switch (width)
	{
#define FOR_CASE(w) \
		case w: \
			unpack_for(in, groups, base, out, w); \
			break;
			EACH_WIDTH(FOR_CASE)
		default:
			i = 0;
			break;
	}
	for (; i < n; i++)
		out[i] = base + IntStreamBits(in, i, width);
}

static void
read_delta(const char *in, int n, int width, uint64 last, uint64 step, uint64 *out)
{
	int			groups = n / 8;
	int			i = groups * 8;

	switch (width)
	{
#define DELTA_CASE(w) \
		case w: \
			last = unpack_delta(in, groups, last, step, out, w); \
			break;
			EACH_WIDTH(DELTA_CASE)
		default:
			i = 0;
			break;
	}
	for (; i < n; i++)
		out[i] = last = last + step + IntStreamBits(in, i, width);
}

const char *
IntStreamRead(const char *in, size_t len, int n, int64 *out, size_t *used)
{
	DiskIntStream head;
	size_t		size;
	uint64	   *result = (uint64 *) out;

	if (len < sizeof(head))
		return "int stream is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.kind > INT_STREAM_DELTA || head.width > 64)
		return "int stream has an invalid header";
	size = IntStreamSize(head.width, head.kind == INT_STREAM_DELTA ? n - 1 : n);
	if (len < size)
		return "int stream is cut off";
	*used = size;
	in += sizeof(head);

	if (head.kind == INT_STREAM_FOR)
	{
		if (head.width == 0)
		{
			for (int i = 0; i < n; i++)
				result[i] = (uint64) head.base;
		}
		else
			read_for(in, n, head.width, (uint64) head.base, result);
	}
	else
	{
		result[0] = (uint64) head.base;
		if (head.width == 0)
		{
			for (int i = 1; i < n; i++)
				result[i] = (uint64) head.base + (uint64) i * (uint64) head.step;
		}
		else
			read_delta(in, n - 1, head.width, (uint64) head.base, (uint64) head.step, result + 1);
	}
	return NULL;
}
