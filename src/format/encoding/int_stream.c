/*
 * int_stream.c
 *	  Read int streams.
 *
 * All arithmetic is modulo 2^64, so that no input overflows and every value
 * comes back exactly.  Unpacking is specialised by width over groups of 8
 * values, which take exactly width bytes: shifts and masks are constants.  The
 * other kinds are loops over what was unpacked, without a branch per value.
 */
#include "postgres.h"

#include "format/encoding/int_stream.h"
#include "port/pg_bitutils.h"

static inline uint64
load64(const char *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return v;
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
		case 0:
			for (i = 0; i < n; i++)
				out[i] = base;
			break;
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

void
IntStreamReadPacked(const DiskIntStream *head, const char *in, int n, int64 *values)
{
	uint64		base = (uint64) head->base;
	uint64		step = (uint64) head->step;
	uint64	   *out = (uint64 *) values;

	if (head->kind == INT_STREAM_FOR)
		read_for(in, n, head->width, base, out);
	else
	{
		out[0] = base;
		if (head->width == 0)
		{
			for (int i = 1; i < n; i++)
				out[i] = base + (uint64) i * step;
		}
		else
			read_delta(in, n - 1, head->width, base, step, out + 1);
	}
}

/* Which kinds a stream may be of: each level leaves out those that hold it. */
typedef enum StreamLevel
{
	LEVEL_OUTER,				/* any */
	LEVEL_DISTINCT,				/* inside REPEATS: any other */
	LEVEL_PATCHES				/* inside PATCHED_*: FOR and DELTA */
} StreamLevel;

static const char *read_stream(const char *in, size_t len, int n, int64 *values, size_t *used,
							   StreamLevel level);

/* Add to the values of a group from a place on; without a branch on the place. */
static inline void
raise_from(uint64 *group, int64 place, uint64 high)
{
	for (int k = 0; k < 8; k++)
		group[k] += high & (uint64) ((place - 1 - k) >> 63);
}

/*
 * Differences group by group, as without patches.  A patch raises the values
 * from its place on: those of its group here, the following by where they start.
 */
static void
patch_delta(const DiskIntStream *head, const char *in, int n, const int64 *positions, const int64 *highs,
			uint64 *out)
{
	int			width = head->width;
	uint64		last = (uint64) head->base;
	int			start = 0;

	*out++ = last;
	n--;
	for (int i = 0; i < (int) head->count;)
	{
		int			group = (int) positions[i] & ~7;
		int			end = Min(group + 8, n);

		/* a group of 8 takes width bytes */
		read_delta(in + (size_t) (start / 8) * width, end - start, width, last, (uint64) head->step,
				   out + start);
		do
		{
			uint64		high = (uint64) highs[i] << width;

			if (end - group == 8)
				raise_from(out + group, positions[i] - group, high);
			else
			{
				for (int k = (int) positions[i]; k < end; k++)
					out[k] += high;
			}
		} while (++i < (int) head->count && positions[i] < end);
		last = out[end - 1];
		start = end;
	}
	read_delta(in + (size_t) (start / 8) * width, n - start, width, last, (uint64) head->step, out + start);
}

/* PATCHED_FOR and PATCHED_DELTA. */
static const char *
read_patched(const DiskIntStream *head, const char *in, size_t len, int n, uint64 *out, size_t *used)
{
	bool		delta = head->kind == INT_STREAM_PATCHED_DELTA;
	int			npacked = delta ? n - 1 : n;
	int			npatches = (int) head->count;
	size_t		at = IntStreamSize(head->width, npacked) - sizeof(*head);
	int64		positions[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];
	bool		ascending = true;
	size_t		part;
	const char *problem;

	if (at > len)
		return "int stream is cut off";
	for (int k = 0; k < 2; k++)
	{
		problem = read_stream(in + at, len - at, npatches, k == 0 ? positions : highs, &part, LEVEL_PATCHES);
		if (problem)
			return problem;
		at += part;
	}
	*used = at;

	/* ascending, the last one in range: all of them are */
	for (int i = 1; i < npatches; i++)
		ascending &= positions[i] > positions[i - 1];
	if (!ascending || positions[0] < 0 || positions[npatches - 1] >= npacked)
		return "position of a patch is invalid";

	if (delta)
		patch_delta(head, in, n, positions, highs, out);
	else
	{
		read_for(in, n, head->width, (uint64) head->base, out);
		for (int i = 0; i < npatches; i++)
			out[positions[i]] += (uint64) highs[i] << head->width;
	}
	return NULL;
}

/* Byte k of the result: how many of the bits 0 .. k are set. */
static inline uint64
prefix_counts(uint8 bits)
{
	uint64		spread = (bits * UINT64CONST(0x0101010101010101)) & UINT64CONST(0x8040201008040201);

	/* byte k holds bit k or 0: make it 0 or 1, then add up */
	spread = ((spread + UINT64CONST(0x7f7f7f7f7f7f7f7f)) >> 7) & UINT64CONST(0x0101010101010101);
	return spread * UINT64CONST(0x0101010101010101);
}

static bool
head_valid(const DiskIntStream *head)
{
	switch (head->kind)
	{
		case INT_STREAM_FOR:
		case INT_STREAM_DELTA:
			return head->width <= 64;
		case INT_STREAM_REPEATS:
			return head->count > 0;
		case INT_STREAM_PATCHED_FOR:
		case INT_STREAM_PATCHED_DELTA:
			return head->width > 0 && head->width <= 63 && head->count > 0 && head->count <= BF_MAX_PATCHES;
		case INT_STREAM_TRIPLES:
			return head->width > 0 && head->width <= BF_TRIPLE_BITS && head->count > 1 && head->count <= BF_MAX_RADIX;
	}
	return false;
}

const char *
IntStreamHead(const char *in, size_t len, DiskIntStream *head)
{
	if (len < sizeof(*head))
		return "int stream is cut off";
	memcpy(head, in, sizeof(*head));
	return head_valid(head) ? NULL : "int stream has an invalid header";
}

const char *
IntStreamBitmap(const char *in, size_t len, int n, size_t *used)
{
	size_t		bytes = BF_ALIGN8(((size_t) n + 7) / 8);
	uint64		ndistinct = 0;
	DiskIntStream head;

	memcpy(&head, in, sizeof(head));
	in += sizeof(head);
	*used = sizeof(head) + bytes;
	if (len < *used)
		return "int stream is cut off";
	for (size_t at = 0; at < bytes; at += sizeof(uint64))
		ndistinct += pg_popcount64(load64(in + at));
	/* bits behind the last value are 0 */
	if (ndistinct != head.count || (in[0] & 1) == 0 ||
		(n % 64 != 0 && load64(in + bytes - sizeof(uint64)) >> (n % 64) != 0))
		return "int stream has an invalid bitmap";
	return NULL;
}

/* REPEATS. */
static const char *
read_repeats(const DiskIntStream *head, const char *in, size_t len, int n, uint64 *out, size_t *used)
{
	const uint64 *from;
	size_t		bitmap;
	size_t		part;
	const char *problem = IntStreamBitmap(in - sizeof(*head), len + sizeof(*head), n, &bitmap);

	if (problem)
		return problem;
	bitmap -= sizeof(*head);

	/*
	 * The values that differ from the one before go to the end of the array.
	 * As many as are still to be read are not yet written over, as each of
	 * them is for at least one more row.
	 */
	problem = read_stream(in + bitmap, len - bitmap, (int) head->count,
						  (int64 *) out + (n - (int) head->count), &part, LEVEL_DISTINCT);
	if (problem)
		return problem;
	*used = bitmap + part;
	from = out + (n - (int) head->count) - 1;
	for (const char *end = in + n / 8; in < end; in++, out += 8)
	{
		uint64		counts = prefix_counts((uint8) *in);
		uint64		group[8];

		for (int k = 0; k < 8; k++)
			group[k] = from[(counts >> (8 * k)) & 0xff];
		memcpy(out, group, sizeof(group));
		from += counts >> 56;
	}
	for (int k = 0; k < n % 8; k++)
	{
		from += ((uint8) *in >> k) & 1;
		out[k] = *from;
	}
	return NULL;
}

/*
 * x / d for x < 2^30 and 0 < d <= 2^30 as (x * m) >> (31 + s), where 2^s <= d
 * and m = 2^(31 + s) / d, rounded up, thus at most 2^31: the error of m, less
 * than d, makes less than 2^30 * 2^(s + 1) in the product, which is not enough
 * to reach another quotient.
 */
typedef struct Divider
{
	uint32		factor;
	int			shift;
} Divider;

static Divider
divider_of(uint32 d)
{
	int			shift = 31 + pg_leftmost_one_pos32(d);
	Divider		result = {(uint32) (((UINT64CONST(1) << shift) + d - 1) / d), shift};

	return result;
}

/* so many numbers are taken apart at a time */
#define TRIPLE_TILE		64

/* The digits of m numbers, lowest first, to 0, third and 2 * third behind where they are. */
static void
split_triples(uint64 *out, int m, int third, uint64 base, uint32 radix, Divider by)
{
	uint32		x[TRIPLE_TILE];
	uint32		y[TRIPLE_TILE];
	uint32		z[TRIPLE_TILE];

	/* 32 bits, and one loop for each step, are what can be vectorized everywhere */
	for (int i = 0; i < m; i++)
		x[i] = (uint32) out[i];
	for (int i = 0; i < m; i++)
		y[i] = (uint32) (((uint64) x[i] * by.factor) >> by.shift);
	for (int i = 0; i < m; i++)
		z[i] = (uint32) (((uint64) y[i] * by.factor) >> by.shift);
	for (int i = 0; i < m; i++)
		out[i] = base + (uint64) x[i] - (uint64) y[i] * radix;
	for (int i = 0; i < m; i++)
		out[i + third] = base + (uint64) y[i] - (uint64) z[i] * radix;
	for (int i = 0; i < m; i++)
		out[i + 2 * third] = base + z[i];
}

/* TRIPLES. */
static const char *
read_triples(const DiskIntStream *head, const char *in, size_t len, int n, uint64 *out, size_t *used)
{
	int			third = (n + 2) / 3;
	uint64		base = (uint64) head->base;
	uint32		radix = head->count;
	int			nwhole = Max(n - 2 * third, 0);
	Divider		by;

	*used = IntStreamSize(head->width, third) - sizeof(*head);
	if (*used > len)
		return "int stream is cut off";
	by = divider_of(radix);
	read_for(in, third, head->width, 0, out);
	for (int i = 0; i < nwhole; i += TRIPLE_TILE)
		split_triples(out + i, Min(TRIPLE_TILE, nwhole - i), third, base, radix, by);
	/* the last one or two have no third digit; a single row has no second */
	for (int i = nwhole; i < third; i++)
	{
		uint64		x = out[i];

		out[i] = base + x % radix;
		if (i + third < n)
			out[i + third] = base + x / radix % radix;
	}
	return NULL;
}

static const char *
read_stream(const char *in, size_t len, int n, int64 *values, size_t *used, StreamLevel level)
{
	uint64	   *out = (uint64 *) values;
	DiskIntStream head;
	const char *problem = IntStreamHead(in, len, &head);

	if (problem)
		return problem;
	if ((level == LEVEL_DISTINCT && head.kind == INT_STREAM_REPEATS) ||
		(level == LEVEL_PATCHES && head.kind > INT_STREAM_DELTA))
		return "int stream is nested too deeply";
	in += sizeof(head);
	len -= sizeof(head);
	switch ((IntStreamKind) head.kind)
	{
		case INT_STREAM_FOR:
		case INT_STREAM_DELTA:
			*used = IntStreamPackedSize(&head, n) - sizeof(head);
			if (*used > len)
				return "int stream is cut off";
			IntStreamReadPacked(&head, in, n, values);
			break;
		case INT_STREAM_REPEATS:
			problem = read_repeats(&head, in, len, n, out, used);
			break;
		case INT_STREAM_PATCHED_FOR:
		case INT_STREAM_PATCHED_DELTA:
			problem = read_patched(&head, in, len, n, out, used);
			break;
		case INT_STREAM_TRIPLES:
			problem = read_triples(&head, in, len, n, out, used);
			break;
	}
	*used += sizeof(head);
	return problem;
}

const char *
IntStreamRead(const char *in, size_t len, int n, int64 *out, size_t *used)
{
	return read_stream(in, len, n, out, used, LEVEL_OUTER);
}
