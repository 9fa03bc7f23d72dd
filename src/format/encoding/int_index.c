/*
 * int_index.c
 *	  Single integers of an int stream, found by their number, and searched.
 *
 * Those of FOR and TRIPLES are decoded by themselves.  Of the other kinds the
 * first value of each group is kept, and the group decoded from there; of
 * repeats the value is counted in the bitmap.
 */
#include "postgres.h"

#include "format/encoding/int_index.h"

/* values of a group; a multiple of 8 */
#define GROUP_VALUES	64

/* A decoded group.  With the first value of the next one, differences are whole bytes. */
typedef struct IntGroup
{
	int			number;
	int64		values[GROUP_VALUES + 1];
} IntGroup;

int
RankedBitsOpen(RankedBits *bitmap, MemoryContext cxt, const char *bits, int n)
{
	int			last = (n - 1) / 64;

	bitmap->bits = bits;
	bitmap->ranks = MemoryContextAlloc(cxt, (last + 1) * sizeof(uint16));
	bitmap->ranks[0] = 0;
	for (int i = 0; i < last; i++)
	{
		uint64		word;

		memcpy(&word, bits + i * sizeof(word), sizeof(word));
		bitmap->ranks[i + 1] = (uint16) (bitmap->ranks[i] + pg_popcount64(word));
	}
	return RankedBitsBefore(bitmap, n - 1) + RankedBitIsSet(bitmap, n - 1);
}

/* Read the patches, which are behind the packed bits of a stream that was read without an error. */
static void
open_patches(IntIndex *index, MemoryContext cxt, const char *in, size_t len)
{
	size_t		used;

	index->npatches = (int) index->head.count;
	index->patch_at = MemoryContextAlloc(cxt, index->npatches * sizeof(int64));
	index->patches = MemoryContextAlloc(cxt, index->npatches * sizeof(int64));
	(void) IntStreamRead(in, len, index->npatches, index->patch_at, &used);
	(void) IntStreamRead(in + used, len - used, index->npatches, index->patches, &used);
}

const char *
IntIndexOpen(IntIndex *index, MemoryContext cxt, const char *in, size_t len, int n, ByteBuffer *space)
{
	DiskIntStream *head = &index->head;
	int64	   *values;
	size_t		used;
	const char *problem = IntStreamHead(in, len, head);

	index->n = n;
	if (problem == NULL && head->kind == INT_STREAM_REPEATS)
	{
		problem = IntStreamBitmap(in, len, n, &used);
		if (problem)
			return problem;
		n = RankedBitsOpen(&index->distinct, cxt, in + sizeof(*head), n);
		in += used;
		len -= used;
		problem = IntStreamHead(in, len, head);
		if (problem == NULL && head->kind == INT_STREAM_REPEATS)
			return "int stream is nested too deeply";
	}
	if (problem)
		return problem;
	index->nints = n;
	index->bits = in + sizeof(*head);
	if (head->kind == INT_STREAM_FOR || head->kind == INT_STREAM_TRIPLES)
		return IntStreamPackedSize(head, n) == len ? NULL : "int stream has a wrong length";

	values = (int64 *) ByteBufferPrepare(space, n * sizeof(int64));
	problem = IntStreamRead(in, len, n, values, &used);
	if (problem == NULL && used != len)
		problem = "int stream has a wrong length";
	if (problem)
		return problem;
	index->starts = MemoryContextAlloc(cxt, ((n - 1) / GROUP_VALUES + 1) * sizeof(int64));
	for (int i = 0; i < n; i += GROUP_VALUES)
		index->starts[i / GROUP_VALUES] = values[i];
	index->last = MemoryContextAlloc(cxt, sizeof(IntGroup));
	index->last->number = -1;
	used = IntStreamPackedSize(head, n);
	if (head->kind == INT_STREAM_PATCHED_FOR || head->kind == INT_STREAM_PATCHED_DELTA)
		open_patches(index, cxt, in + used, len - used);
	return NULL;
}

/* Integer number "at" of a FOR or TRIPLES stream. */
static inline int64
take_packed(const IntIndex *index, int at)
{
	const DiskIntStream *head = &index->head;
	uint64		value;

	if (head->kind == INT_STREAM_FOR)
		value = IntStreamBits(index->bits, at, head->width);
	else
	{
		int			third = (index->nints + 2) / 3;

		value = IntStreamBits(index->bits, at % third, head->width);
		for (int digit = at / third; digit > 0; digit--)
			value /= head->count;
		/* as it is decoded: the last digit is what is left */
		if (at < 2 * third)
			value %= head->count;
	}
	return (int64) ((uint64) head->base + value);
}

/* The first patch of the packed bits from number "at" on. */
static int
first_patch(const IntIndex *index, int at)
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

/* The values of a group of another stream. */
static const int64 *
read_group(const IntIndex *index, int group)
{
	int64	   *values = index->last->values;
	DiskIntStream head = index->head;
	bool		delta = head.kind == INT_STREAM_DELTA || head.kind == INT_STREAM_PATCHED_DELTA;
	int			first = group * GROUP_VALUES;
	int			n = Min(GROUP_VALUES + 1, index->nints - first);

	if (index->last->number == group)
		return values;
	index->last->number = group;
	head.kind = delta ? INT_STREAM_DELTA : INT_STREAM_FOR;
	if (delta)
		head.base = index->starts[group];
	IntStreamReadPacked(&head, index->bits + (size_t) (first / 8) * head.width, n, values);
	for (int i = first_patch(index, first); i < index->npatches; i++)
	{
		/* a difference is that of the value behind its number, and of all that follow */
		int			from = (int) index->patch_at[i] - first + delta;
		int			to = delta ? n : from + 1;

		if (from >= n)
			break;
		for (int k = from; k < to; k++)
			values[k] = (int64) ((uint64) values[k] + ((uint64) index->patches[i] << head.width));
	}
	return values;
}

void
IntIndexTake(const IntIndex *index, int n, const uint16 *at, int64 *out)
{
	for (int i = 0; i < n; i++)
	{
		int			number = at[i];

		if (index->distinct.bits != NULL)
			number = RankedBitsBefore(&index->distinct, number) + RankedBitIsSet(&index->distinct, number) - 1;
		if (index->starts == NULL)
			out[i] = take_packed(index, number);
		else
			out[i] = read_group(index, number / GROUP_VALUES)[number % GROUP_VALUES];
	}
}

/* The first of the integers [from, to) of the stream that is at least want, or to. */
static int
search_stream(const IntIndex *index, int from, int to, int64 want)
{
	const int64 *values = NULL;
	int			first = 0;

	if (index->starts != NULL)
	{
		/* the last group that begins below the value */
		int			group = from / GROUP_VALUES;
		int			last = (to - 1) / GROUP_VALUES;

		while (group < last)
		{
			int			mid = group + (last - group + 1) / 2;

			if (index->starts[mid] < want)
				group = mid;
			else
				last = mid - 1;
		}
		first = group * GROUP_VALUES;
		from = Max(from, first);
		to = Min(to, first + GROUP_VALUES);
		values = read_group(index, group);
	}
	while (from < to)
	{
		int			mid = from + (to - from) / 2;

		if ((values != NULL ? values[mid - first] : take_packed(index, mid)) < want)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* The value that is number "number" of those that differ from the one before. */
static int
select_distinct(const IntIndex *index, int number)
{
	const RankedBits *distinct = &index->distinct;
	int			lo = 0;
	int			hi = (index->n - 1) / 64;
	uint64		word;

	/* the last word with at most so many before */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo + 1) / 2;

		if (distinct->ranks[mid] <= number)
			lo = mid;
		else
			hi = mid - 1;
	}
	memcpy(&word, distinct->bits + lo * sizeof(word), sizeof(word));
	for (int count = distinct->ranks[lo]; count < number; count++)
		word &= word - 1;
	return lo * 64 + pg_rightmost_one_pos64(word);
}

int
IntIndexSearch(const IntIndex *index, int from, int to, int64 want)
{
	const RankedBits *distinct = &index->distinct;
	int			first;
	int			last;
	int			found;

	if (distinct->bits == NULL)
		return search_stream(index, from, to, want);
	first = RankedBitsBefore(distinct, from) + RankedBitIsSet(distinct, from) - 1;
	last = RankedBitsBefore(distinct, to - 1) + RankedBitIsSet(distinct, to - 1) - 1;
	found = search_stream(index, first, last + 1, want);
	if (found > last)
		return to;
	return found == first ? from : select_distinct(index, found);
}
