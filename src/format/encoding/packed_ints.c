/*
 * packed_ints.c
 *	  The integers of a packed column: found by their number, and searched.
 *
 * Deltas are added up from the value that is kept at every so many, the
 * patches that are on the way included; of repeats the value is counted in the
 * bitmap.
 */
#include "postgres.h"

#include "format/encoding/int_encoding.h"
#include "format/read/packed_column_private.h"

/* bytes of so many, and what may be read behind them */
#define GROUP_BYTES		(GROUP_VALUES * sizeof(int64) + BF_SLACK)

uint16 *
PackedRanks(PackedColumn *column, const uint8 *bits, int n, int *total)
{
	uint16	   *ranks = MakeRoom(column, (n / RANK_STEP + 1) * sizeof(uint16));
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

/* Room for the value at every GROUP_VALUES of n. */
static void
MakeSums(PackedColumn *column, int n)
{
	column->sums = MakeRoom(column, (n + GROUP_VALUES - 1) / GROUP_VALUES * sizeof(int64));
}

/* The patches of a stream that was read without an error. */
static void
OpenPatches(PackedColumn *column, const char *in, size_t len)
{
	int			n = (int) column->head.count;
	int64		places[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];
	size_t		used;

	(void) IntStreamRead(in, len, n, places, &used);
	(void) IntStreamRead(in + used, len - used, n, highs, &used);
	column->npatches = n;
	column->patch_at = MakeRoom(column, n * sizeof(uint16));
	column->patches = MakeRoom(column, n * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		column->patch_at[i] = (uint16) places[i];
		column->patches[i] = (uint64) highs[i] << column->head.width;
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
PackedIntsOpen(PackedColumn *column, const char *in, size_t len, int n, ColumnScratch *scratch, size_t *used)
{
	DiskIntStream *head = &column->head;
	size_t		inside = 0;
	const char *problem;

	if (len < sizeof(*head))
		return "int stream is cut off";
	memcpy(head, in, sizeof(*head));
	*used = 0;
	if (head->kind == INT_STREAM_REPEATS)
	{
		problem = IntStreamBitmap(in, len, n, used);
		if (problem)
			return problem;
		column->distinct = (const uint8 *) in + sizeof(*head);
		column->distinct_ranks = PackedRanks(column, column->distinct, n, &n);
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
		int64	   *values = (int64 *) ByteBufferPrepare(&scratch->lengths, n * sizeof(int64));

		problem = IntStreamRead(in, len, n, values, &inside);
		if (problem)
			return problem;
		MakeSums(column, n);
		for (int i = 0; i < n; i += GROUP_VALUES)
			column->sums[i / GROUP_VALUES] = values[i];
	}
	*used += inside;
	column->nints = n;
	column->bits = in + sizeof(*head) - column->raw.data;
	column->nbits = PackedBytes(head, n);
	if (head->kind == INT_STREAM_PATCHED_FOR || head->kind == INT_STREAM_PATCHED_DELTA)
		OpenPatches(column, in + sizeof(*head) + column->nbits, len - sizeof(*head) - column->nbits);
	return NULL;
}

void
PackedIntsFree(PackedColumn *column)
{
	if (column->sums)
		pfree(column->sums);
	if (column->distinct_ranks)
		pfree(column->distinct_ranks);
	if (column->patches)
	{
		pfree(column->patch_at);
		pfree(column->patches);
	}
}

void
PackedIntsKeepSums(PackedColumn *column)
{
	int			n = column->nints;

	if (column->sums != NULL)
		return;
	MakeSums(column, n);
	for (int i = 0; i < n; i += GROUP_VALUES)
		column->sums[i / GROUP_VALUES] = (int64)
			((uint64) column->head.base + IntStreamBits(column->raw.data + column->bits, i, column->head.width));
}

/* The first patch of the packed bits from number "at" on. */
static inline int
FirstPatch(const PackedColumn *column, int at)
{
	int			lo = 0;
	int			hi = column->npatches;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (column->patch_at[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Packed integer number "at", of a stream of no deltas, that begins at bits with the number first. */
static inline uint64
IntAt(const PackedColumn *column, const char *bits, int first, int at)
{
	const DiskIntStream *head = &column->head;
	uint64		value = IntStreamBits(bits, at - first, head->width);

	if (column->npatches > 0)
	{
		int			patch = FirstPatch(column, at);

		if (patch < column->npatches && column->patch_at[patch] == at)
			value += column->patches[patch];
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
DeltaStart(const PackedColumn *column, const char *bits, int group, DeltaWalk *walk)
{
	walk->bits = bits;
	walk->first = walk->at = group * GROUP_VALUES;
	walk->value = (uint64) column->sums[group];
	walk->patch = FirstPatch(column, walk->at);
}

static inline void
DeltaStep(const PackedColumn *column, DeltaWalk *walk)
{
	walk->value += (uint64) column->head.step +
		IntStreamBits(walk->bits, walk->at - walk->first, column->head.width);
	if (walk->patch < column->npatches && column->patch_at[walk->patch] == walk->at)
		walk->value += column->patches[walk->patch++];
	walk->at++;
}

/* The bits of a group of GROUP_VALUES integers; into room, of GROUP_BYTES, if they are left in the file. */
static const char *
GroupBits(const PackedColumn *column, int group, char *room, uint64 *bytes_read)
{
	size_t		size = (size_t) column->head.width * (GROUP_VALUES / 8);
	size_t		at = group * size;
	size_t		len;

	if (!column->thin)
		return column->raw.data + column->bits + at;
	/* a last delta has no bits; it is not asked for */
	len = at < column->nbits ? Min(size, column->nbits - at) : 0;
	memset(room + len, 0, GROUP_BYTES - len);
	if (len > 0)
		column->reader->source->read(column->reader->source, room, len, column->offset + column->bits + at);
	*bytes_read += len;
	return room;
}

void
PackedIntsGather(const PackedColumn *column, int n, const uint16 *at, int64 *out, uint64 *bytes_read)
{
	const DiskIntStream *head = &column->head;
	int			third = (column->nints + 2) / 3;
	char		room[GROUP_BYTES];
	const char *bits = NULL;
	int			group = -1;
	DeltaWalk	walk = {NULL};

	for (int i = 0; i < n; i++)
	{
		int			number = at[i];
		int			digit = 0;
		uint64		value;

		if (column->distinct != NULL)
			number = RankOf(column->distinct, column->distinct_ranks, number + 1) - 1;
		if (head->kind == INT_STREAM_TRIPLES)
		{
			digit = number / third;
			number %= third;
		}
		if (number / GROUP_VALUES != group)
		{
			group = number / GROUP_VALUES;
			bits = GroupBits(column, group, room, bytes_read);
			if (HeadIsDelta(head))
				DeltaStart(column, bits, group, &walk);
		}
		if (HeadIsDelta(head))
		{
			while (walk.at < number)
				DeltaStep(column, &walk);
			value = walk.value;
		}
		else
		{
			value = IntAt(column, bits, group * GROUP_VALUES, number);
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
	if (column->span == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		if ((uint64) out[i] - (uint64) column->low >= column->span)
			FileReaderCorrupt(column->reader, column->block, column->col, 0,
							  column->form == PACKED_DICT ? "position is outside the dictionary" :
							  "value is outside the range of its type");
	}
}

/* The first of the integers [from, to) of the stream that is at least want, or to. */
static int
SearchStream(const PackedColumn *column, int from, int to, int64 want, uint64 *bytes_read)
{
	const DiskIntStream *head = &column->head;
	char		room[GROUP_BYTES];
	const char *bits = column->raw.data + column->bits;
	int			lo = from;
	int			hi = to;
	int			group = 0;
	DeltaWalk	walk;

	if (column->sums != NULL)
	{
		/* the last group that begins below the value */
		int			last = (to - 1) / GROUP_VALUES;

		group = from / GROUP_VALUES;
		while (group < last)
		{
			int			mid = group + (last - group + 1) / 2;

			if (column->sums[mid] < want)
				group = mid;
			else
				last = mid - 1;
		}
		bits = GroupBits(column, group, room, bytes_read);
		lo = Max(from, group * GROUP_VALUES);
		hi = Min(to, (group + 1) * GROUP_VALUES);
	}
	if (!HeadIsDelta(head))
	{
		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if ((int64) ((uint64) head->base + IntAt(column, bits, group * GROUP_VALUES, mid)) < want)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}
	DeltaStart(column, bits, group, &walk);
	while (walk.at < hi)
	{
		if (walk.at >= lo && (int64) walk.value >= want)
			return walk.at;
		if (walk.at + 1 == hi)
			break;
		DeltaStep(column, &walk);
	}
	return hi;
}

/* The value that is number "number" of those that differ from the one before. */
static int
SelectDistinct(const PackedColumn *column, int number)
{
	int			lo = 0;
	int			hi = (column->nvalues - 1) / RANK_STEP;
	uint64		word;

	/* the last step with at most so many before */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo + 1) / 2;

		if (column->distinct_ranks[mid] <= number)
			lo = mid;
		else
			hi = mid - 1;
	}
	memcpy(&word, column->distinct + lo * (RANK_STEP / 8), sizeof(word));
	for (int count = column->distinct_ranks[lo]; count < number; count++)
		word &= word - 1;
	return lo * RANK_STEP + pg_rightmost_one_pos64(word);
}

int
PackedIntsSearch(const PackedColumn *column, int from, int to, int64 want, uint64 *bytes_read)
{
	int			first;
	int			last;
	int			found;

	if (column->distinct == NULL)
		return SearchStream(column, from, to, want, bytes_read);
	first = from == 0 ? 0 : RankOf(column->distinct, column->distinct_ranks, from + 1) - 1;
	last = to == column->nvalues ? column->nints - 1 : RankOf(column->distinct, column->distinct_ranks, to) - 1;
	found = SearchStream(column, first, last + 1, want, bytes_read);
	if (found > last)
		return to;
	return found == first ? from : SelectDistinct(column, found);
}
