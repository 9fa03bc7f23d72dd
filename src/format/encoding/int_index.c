/*
 * int_index.c
 *	  Single integers of an int stream, found by their number, and searched.
 *
 * Deltas are added up from the value that is kept at every so many, the
 * patches that are on the way included; of repeats the value is counted in the
 * bitmap.
 */
#include "postgres.h"

#include "format/encoding/int_index.h"

/* of deltas the value at every so many is kept, and so many are read at a time; a multiple of 8 */
#define GROUP_VALUES	64

/* bytes of so many, and what may be read behind them */
#define GROUP_BYTES		(GROUP_VALUES * sizeof(int64) + BF_SLACK)

uint16 *
BitRanks(MemoryContext cxt, const uint8 *bits, int n, int *total)
{
	uint16	   *ranks = MemoryContextAlloc(cxt, RANKS_SIZE(n));
	int			count = 0;

	for (int i = 0; i < n; i += RANK_STEP)
	{
		uint64		word;

		/* a bitmap is whole words of 64 bits */
		memcpy(&word, bits + i / 8, sizeof(word));
		if (n - i < RANK_STEP)
			word &= (UINT64CONST(1) << (n - i)) - 1;
		ranks[i / RANK_STEP] = (uint16) count;
		count += pg_popcount64(word);
	}
	if (n % RANK_STEP == 0)
		ranks[n / RANK_STEP] = (uint16) count;
	*total = count;
	return ranks;
}

void
IntIndexInit(IntIndex *index, MemoryContext cxt)
{
	memset(index, 0, sizeof(*index));
	index->cxt = cxt;
}

/* Room for so many bytes more. */
static inline void *
MakeRoom(IntIndex *index, Size size)
{
	index->memory += size;
	return MemoryContextAlloc(index->cxt, size);
}

/* Room for the value at every GROUP_VALUES of n. */
static void
MakeSums(IntIndex *index, int n)
{
	index->sums = MakeRoom(index, (n + GROUP_VALUES - 1) / GROUP_VALUES * sizeof(int64));
}

/* The patches of a stream that was read without an error. */
static void
OpenPatches(IntIndex *index, const char *in, size_t len)
{
	int			n = (int) index->head.count;
	int64		places[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];
	size_t		used;

	(void) IntStreamRead(in, len, n, places, &used);
	(void) IntStreamRead(in + used, len - used, n, highs, &used);
	index->npatches = n;
	index->patch_at = MakeRoom(index, n * sizeof(uint16));
	index->patches = MakeRoom(index, n * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		index->patch_at[i] = (uint16) places[i];
		index->patches[i] = (uint64) highs[i] << index->head.width;
	}
}

static inline bool
HeadIsDelta(const DiskIntStream *head)
{
	return head->kind == INT_STREAM_DELTA || head->kind == INT_STREAM_PATCHED_DELTA;
}

/* Bytes of the packed integers of a stream of n values. */
static inline size_t
PackedBytes(const DiskIntStream *head, int n)
{
	return IntStreamSize(head->width, head->kind == INT_STREAM_TRIPLES ? (n + 2) / 3 :
						 HeadIsDelta(head) ? n - 1 : n) - sizeof(*head);
}

const char *
IntIndexOpen(IntIndex *index, const char *in, size_t len, int n, ByteBuffer *space, size_t *used)
{
	DiskIntStream *head = &index->head;
	size_t		inside = 0;
	const char *problem;

	if (len < sizeof(*head))
		return "int stream is cut off";
	memcpy(head, in, sizeof(*head));
	*used = 0;
	index->n = n;
	if (head->kind == INT_STREAM_REPEATS)
	{
		problem = IntStreamBitmap(in, len, n, used);
		if (problem)
			return problem;
		index->distinct = (const uint8 *) in + sizeof(*head);
		index->distinct_ranks = BitRanks(index->cxt, index->distinct, n, &n);
		index->memory += RANKS_SIZE(index->n);
		in += *used;
		len -= *used;
		if (len < sizeof(*head))
			return "int stream is cut off";
		memcpy(head, in, sizeof(*head));
		if (head->kind == INT_STREAM_REPEATS)
			return "int stream is nested too deeply";
	}
	if (head->kind == INT_STREAM_FOR || head->kind == INT_STREAM_TRIPLES)
	{
		if (!IntStreamHeadValid(head))
			return "int stream has an invalid header";
		inside = sizeof(*head) + PackedBytes(head, n);
		if (len < inside)
			return "int stream is cut off";
	}
	else
	{
		int64	   *values = (int64 *) ByteBufferPrepare(space, n * sizeof(int64));

		problem = IntStreamRead(in, len, n, values, &inside);
		if (problem)
			return problem;
		MakeSums(index, n);
		for (int i = 0; i < n; i += GROUP_VALUES)
			index->sums[i / GROUP_VALUES] = values[i];
	}
	*used += inside;
	index->nints = n;
	index->bits = in + sizeof(*head);
	index->nbits = PackedBytes(head, n);
	if (head->kind == INT_STREAM_PATCHED_FOR || head->kind == INT_STREAM_PATCHED_DELTA)
		OpenPatches(index, in + sizeof(*head) + index->nbits, len - sizeof(*head) - index->nbits);
	return NULL;
}

void
IntIndexFree(IntIndex *index)
{
	if (index->sums)
		pfree(index->sums);
	if (index->distinct_ranks)
		pfree(index->distinct_ranks);
	if (index->patches)
	{
		pfree(index->patch_at);
		pfree(index->patches);
	}
}

void
IntIndexKeepSums(IntIndex *index)
{
	int			n = index->nints;

	if (index->sums != NULL)
		return;
	MakeSums(index, n);
	for (int i = 0; i < n; i += GROUP_VALUES)
		index->sums[i / GROUP_VALUES] = (int64)
			((uint64) index->head.base + IntStreamBits(index->bits, i, index->head.width));
}

/* The first patch of the packed bits from number "at" on. */
static inline int
FirstPatch(const IntIndex *index, int at)
{
	int			lo = 0;
	int			hi = index->npatches;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (index->patch_at[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Packed integer number "at", of a stream of no deltas, that begins at bits with the number first. */
static inline uint64
IntAt(const IntIndex *index, const char *bits, int first, int at)
{
	const DiskIntStream *head = &index->head;
	uint64		value = IntStreamBits(bits, at - first, head->width);

	if (index->npatches > 0)
	{
		int			patch = FirstPatch(index, at);

		if (patch < index->npatches && index->patch_at[patch] == at)
			value += index->patches[patch];
	}
	return value;
}

/* Walks over deltas from the first value of a group on. */
typedef struct DeltaWalk
{
	const char *bits;
	int			first;			/* number of the first value */
	int			at;				/* number of the value reached */
	uint64		value;
	int			patch;			/* the next one */
} DeltaWalk;

static inline void
DeltaStart(const IntIndex *index, const char *bits, int group, DeltaWalk *walk)
{
	walk->bits = bits;
	walk->first = walk->at = group * GROUP_VALUES;
	walk->value = (uint64) index->sums[group];
	walk->patch = FirstPatch(index, walk->at);
}

static inline void
DeltaStep(const IntIndex *index, DeltaWalk *walk)
{
	walk->value += (uint64) index->head.step +
		IntStreamBits(walk->bits, walk->at - walk->first, index->head.width);
	if (walk->patch < index->npatches && index->patch_at[walk->patch] == walk->at)
		walk->value += index->patches[walk->patch++];
	walk->at++;
}

/* The bits of a group of GROUP_VALUES integers; into room, of GROUP_BYTES, if they are left in the file. */
static const char *
GroupBits(const IntIndex *index, int group, char *room, uint64 *bytes_read)
{
	size_t		size = (size_t) index->head.width * (GROUP_VALUES / 8);
	size_t		at = group * size;
	size_t		len;

	if (index->bits != NULL)
		return index->bits + at;
	/* a last delta has no bits; it is not asked for */
	len = at < index->nbits ? Min(size, index->nbits - at) : 0;
	memset(room + len, 0, GROUP_BYTES - len);
	if (len > 0)
		index->source->read(index->source, room, len, index->offset + at);
	*bytes_read += len;
	return room;
}

void
IntIndexTake(const IntIndex *index, int n, const uint16 *at, int64 *out, uint64 *bytes_read)
{
	const DiskIntStream *head = &index->head;
	int			third = (index->nints + 2) / 3;
	char		room[GROUP_BYTES];
	const char *bits = NULL;
	int			group = -1;
	DeltaWalk	walk = {NULL};

	for (int i = 0; i < n; i++)
	{
		int			number = at[i];
		int			digit = 0;
		uint64		value;

		if (index->distinct != NULL)
			number = RankOf(index->distinct, index->distinct_ranks, number + 1) - 1;
		if (head->kind == INT_STREAM_TRIPLES)
		{
			digit = number / third;
			number %= third;
		}
		if (number / GROUP_VALUES != group)
		{
			group = number / GROUP_VALUES;
			bits = GroupBits(index, group, room, bytes_read);
			if (HeadIsDelta(head))
				DeltaStart(index, bits, group, &walk);
		}
		if (HeadIsDelta(head))
		{
			while (walk.at < number)
				DeltaStep(index, &walk);
			value = walk.value;
		}
		else
		{
			value = IntAt(index, bits, group * GROUP_VALUES, number);
			if (head->kind == INT_STREAM_TRIPLES)
			{
				for (int k = 0; k < digit; k++)
					value /= head->count;
				/* as it is decoded: the last digit is what is left */
				value = digit == 2 ? value : value % head->count;
			}
			value += (uint64) head->base;
		}
		out[i] = (int64) value;
	}
}

/* The first of the integers [from, to) of the stream that is at least want, or to. */
static int
SearchStream(const IntIndex *index, int from, int to, int64 want, uint64 *bytes_read)
{
	const DiskIntStream *head = &index->head;
	char		room[GROUP_BYTES];
	const char *bits = index->bits;
	int			lo = from;
	int			hi = to;
	int			group = 0;
	DeltaWalk	walk;

	if (index->sums != NULL)
	{
		/* the last group that begins below the value */
		int			last = (to - 1) / GROUP_VALUES;

		group = from / GROUP_VALUES;
		while (group < last)
		{
			int			mid = group + (last - group + 1) / 2;

			if (index->sums[mid] < want)
				group = mid;
			else
				last = mid - 1;
		}
		bits = GroupBits(index, group, room, bytes_read);
		lo = Max(from, group * GROUP_VALUES);
		hi = Min(to, (group + 1) * GROUP_VALUES);
	}
	if (!HeadIsDelta(head))
	{
		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if ((int64) ((uint64) head->base + IntAt(index, bits, group * GROUP_VALUES, mid)) < want)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}
	DeltaStart(index, bits, group, &walk);
	while (walk.at < hi)
	{
		if (walk.at >= lo && (int64) walk.value >= want)
			return walk.at;
		if (walk.at + 1 == hi)
			break;
		DeltaStep(index, &walk);
	}
	return hi;
}

/* The value that is number "number" of those that differ from the one before. */
static int
SelectDistinct(const IntIndex *index, int number)
{
	int			lo = 0;
	int			hi = (index->n - 1) / RANK_STEP;
	uint64		word;

	/* the last step with at most so many before */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo + 1) / 2;

		if (index->distinct_ranks[mid] <= number)
			lo = mid;
		else
			hi = mid - 1;
	}
	memcpy(&word, index->distinct + lo * (RANK_STEP / 8), sizeof(word));
	for (int count = index->distinct_ranks[lo]; count < number; count++)
		word &= word - 1;
	return lo * RANK_STEP + pg_rightmost_one_pos64(word);
}

int
IntIndexSearch(const IntIndex *index, int from, int to, int64 want, uint64 *bytes_read)
{
	int			first;
	int			last;
	int			found;

	if (index->distinct == NULL)
		return SearchStream(index, from, to, want, bytes_read);
	first = from == 0 ? 0 : RankOf(index->distinct, index->distinct_ranks, from + 1) - 1;
	last = to == index->n ? index->nints - 1 : RankOf(index->distinct, index->distinct_ranks, to) - 1;
	found = SearchStream(index, first, last + 1, want, bytes_read);
	if (found > last)
		return to;
	return found == first ? from : SelectDistinct(index, found);
}
