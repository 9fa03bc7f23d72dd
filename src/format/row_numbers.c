/*
 * row_numbers.c
 *	  A set of row numbers of a file.
 *
 * As bytes: groups one after the other, ascending.  Each has its number (uint32),
 * its form (uint16), a count less one (uint16), and then
 *	  ranges	count pairs of uint16: first and last number in the group
 *	  numbers	count uint16
 *	  bits		1024 bytes; the count is of numbers
 */
#include "postgres.h"

#include "format/row_numbers.h"
#include "port/pg_bitutils.h"

#define GROUP_BITS 13
#define GROUP_ROWS (1 << GROUP_BITS)
#define GROUP_WORDS (GROUP_ROWS / 64)
#define GROUP_OF(row) ((row) >> GROUP_BITS)
#define PLACE_OF(row) ((int) ((row) & (GROUP_ROWS - 1)))

/* more numbers than this take less as bits */
#define LIST_MAX (GROUP_ROWS / 16)
#define LIST_MIN 4

typedef enum GroupForm
{
	FORM_RANGES,
	FORM_NUMBERS,
	FORM_BITS
} GroupForm;

typedef struct GroupHeader
{
	uint32		group;
	uint16		form;
	uint16		count_less_one;
} GroupHeader;

/* Numbers of a group: a list, sorted, or bits. */
typedef struct RowGroup
{
	uint16		n;
	uint16		room;			/* of the list; 0: there are bits */
	uint64		data[FLEXIBLE_ARRAY_MEMBER];
} RowGroup;

#define LIST(group) ((uint16 *) (group)->data)
#define BITS(group) ((uint64 *) (group)->data)

struct RowNumbers
{
	MemoryContext cxt;
	int64		count;
	Size		memory;
	int64		ngroups;		/* room for them */
	RowGroup  **groups;			/* NULL: none of its numbers is there */
};

static Size
ListSize(int room)
{
	return offsetof(RowGroup, data) + room * sizeof(uint16);
}

static const Size BitsSize = offsetof(RowGroup, data) + GROUP_WORDS * sizeof(uint64);

RowNumbers *
RowNumbersCreate(void)
{
	RowNumbers *set = palloc0(sizeof(RowNumbers));

	set->cxt = CurrentMemoryContext;
	set->memory = sizeof(RowNumbers);
	return set;
}

void
RowNumbersFree(RowNumbers *set)
{
	for (int64 g = 0; g < set->ngroups; g++)
	{
		if (set->groups[g] != NULL)
			pfree(set->groups[g]);
	}
	if (set->groups != NULL)
		pfree(set->groups);
	pfree(set);
}

int64
RowNumbersCount(const RowNumbers *set)
{
	return set->count;
}

Size
RowNumbersMemory(const RowNumbers *set)
{
	return set->memory;
}

static RowGroup *
GetGroup(const RowNumbers *set, int64 group)
{
	return group < set->ngroups ? set->groups[group] : NULL;
}

/* Make room for the pointer to a group. */
static void
MakeRoom(RowNumbers *set, int64 group)
{
	int64		n;

	if (group < set->ngroups)
		return;
	n = Max(group + 1, Max(set->ngroups * 2, 8));
	if (set->groups == NULL)
		set->groups = MemoryContextAllocHuge(set->cxt, n * sizeof(RowGroup *));
	else
		set->groups = repalloc_huge(set->groups, n * sizeof(RowGroup *));
	memset(set->groups + set->ngroups, 0, (n - set->ngroups) * sizeof(RowGroup *));
	set->memory += (n - set->ngroups) * sizeof(RowGroup *);
	set->ngroups = n;
}

/* Where a place is, or belongs, in a list. */
static int
ListPlace(const RowGroup *group, int place)
{
	int			low = 0;
	int			high = group->n;

	/* numbers mostly come in order */
	if (group->n == 0 || LIST(group)[group->n - 1] < place)
		return group->n;
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (LIST(group)[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline bool
HasBit(const RowGroup *group, int place)
{
	return (BITS(group)[place / 64] >> (place % 64)) & 1;
}

static inline void
SetBit(RowGroup *group, int place)
{
	BITS(group)[place / 64] |= UINT64CONST(1) << (place % 64);
}

/* A group, perhaps NULL, as bits; a list is freed. */
static RowGroup *
MakeBits(RowNumbers *set, RowGroup *group)
{
	RowGroup   *made;

	if (group != NULL && group->room == 0)
		return group;
	made = MemoryContextAllocZero(set->cxt, BitsSize);
	set->memory += BitsSize;
	if (group == NULL)
		return made;
	made->n = group->n;
	for (int i = 0; i < group->n; i++)
		SetBit(made, LIST(group)[i]);
	set->memory -= ListSize(group->room);
	pfree(group);
	return made;
}

/* Give a group room for more numbers than it has: a longer list, or bits. */
static RowGroup *
Grow(RowNumbers *set, RowGroup *group)
{
	if (group->room < LIST_MAX)
	{
		int			room = group->room * 2;
		RowGroup   *grown;

		set->memory += ListSize(room) - ListSize(group->room);
		grown = repalloc(group, ListSize(room));
		grown->room = room;
		return grown;
	}
	return MakeBits(set, group);
}

bool
RowNumbersAdd(RowNumbers *set, int64 row)
{
	int			place = PLACE_OF(row);
	RowGroup   *group;

	Assert(row >= 0);
	MakeRoom(set, GROUP_OF(row));
	group = set->groups[GROUP_OF(row)];
	if (group == NULL)
	{
		group = MemoryContextAlloc(set->cxt, ListSize(LIST_MIN));
		group->n = 0;
		group->room = LIST_MIN;
		set->memory += ListSize(LIST_MIN);
		set->groups[GROUP_OF(row)] = group;
	}
	if (group->room > 0)
	{
		int			at = ListPlace(group, place);

		if (at < group->n && LIST(group)[at] == place)
			return false;
		if (group->n == group->room)
			set->groups[GROUP_OF(row)] = group = Grow(set, group);
		if (group->room > 0)
		{
			memmove(&LIST(group)[at + 1], &LIST(group)[at], (group->n - at) * sizeof(uint16));
			LIST(group)[at] = (uint16) place;
			group->n++;
			set->count++;
			return true;
		}
	}
	if (HasBit(group, place))
		return false;
	SetBit(group, place);
	group->n++;
	set->count++;
	return true;
}

bool
RowNumbersHas(const RowNumbers *set, int64 row)
{
	const RowGroup *group = GetGroup(set, GROUP_OF(row));
	int			place = PLACE_OF(row);
	int			at;

	if (group == NULL)
		return false;
	if (group->room == 0)
		return HasBit(group, place);
	at = ListPlace(group, place);
	return at < group->n && LIST(group)[at] == place;
}

/* Numbers of a group from <= place < to. */
static int
CountInGroup(const RowGroup *group, int from, int to)
{
	int			n = 0;

	if (group == NULL || from >= to)
		return 0;
	if (from == 0 && to == GROUP_ROWS)
		return group->n;
	if (group->room > 0)
		return ListPlace(group, to) - ListPlace(group, from);
	for (int word = from / 64; word <= (to - 1) / 64; word++)
	{
		uint64		bits = BITS(group)[word];

		if (word == from / 64)
			bits &= PG_UINT64_MAX << (from % 64);
		if (word == (to - 1) / 64)
			bits &= PG_UINT64_MAX >> (63 - (to - 1) % 64);
		n += pg_popcount64(bits);
	}
	return n;
}

int64
RowNumbersCountIn(const RowNumbers *set, int64 from, int64 to)
{
	int64		n = 0;

	to = Min(to, set->ngroups * GROUP_ROWS);
	while (from < to)
	{
		int64		end = Min((GROUP_OF(from) + 1) * GROUP_ROWS, to);

		n += CountInGroup(set->groups[GROUP_OF(from)], PLACE_OF(from), PLACE_OF(end - 1) + 1);
		from = end;
	}
	return n;
}

/* Set the bits of a group's numbers from <= place < to; that of "from" is bit "at". */
static void
AddBits(const RowGroup *group, int from, int to, uint64 *bits, int at)
{
	if (group->room > 0)
	{
		for (int i = ListPlace(group, from); i < group->n && LIST(group)[i] < to; i++)
		{
			int			bit = LIST(group)[i] - from + at;

			bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
		}
		return;
	}
	while (from < to)
	{
		/* as many as one word of each side has */
		int			n = Min(to - from, Min(64 - from % 64, 64 - at % 64));
		uint64		taken = (BITS(group)[from / 64] >> (from % 64)) & (PG_UINT64_MAX >> (64 - n));

		bits[at / 64] |= taken << (at % 64);
		from += n;
		at += n;
	}
}

int
RowNumbersBits(const RowNumbers *set, int64 from, int n, uint64 *bits)
{
	int64		to = Min(from + n, set->ngroups * GROUP_ROWS);
	int			count = (int) RowNumbersCountIn(set, from, to);

	if (count == 0)
		return 0;
	memset(bits, 0, ROW_NUMBERS_WORDS(n) * sizeof(uint64));
	for (int64 row = from; row < to;)
	{
		int64		end = Min((GROUP_OF(row) + 1) * GROUP_ROWS, to);
		const RowGroup *group = set->groups[GROUP_OF(row)];

		if (group != NULL)
			AddBits(group, PLACE_OF(row), PLACE_OF(end - 1) + 1, bits, (int) (row - from));
		row = end;
	}
	return count;
}

int64
RowNumbersNext(const RowNumbers *set, int64 row)
{
	for (int64 g = GROUP_OF(row); g < set->ngroups; g++)
	{
		const RowGroup *group = set->groups[g];
		int			place = g == GROUP_OF(row) ? PLACE_OF(row) : 0;

		if (group == NULL)
			continue;
		if (group->room > 0)
		{
			int			at = ListPlace(group, place);

			if (at < group->n)
				return g * GROUP_ROWS + LIST(group)[at];
			continue;
		}
		for (int word = place / 64; word < GROUP_WORDS; word++)
		{
			uint64		bits = BITS(group)[word];

			if (word == place / 64)
				bits &= PG_UINT64_MAX << (place % 64);
			if (bits != 0)
				return g * GROUP_ROWS + word * 64 + pg_rightmost_one_pos64(bits);
		}
	}
	return -1;
}

int64
RowNumbersUnion(RowNumbers *set, const RowNumbers *other)
{
	int64		before = set->count;

	for (int64 row = RowNumbersNext(other, 0); row >= 0; row = RowNumbersNext(other, row + 1))
		(void) RowNumbersAdd(set, row);
	return before + other->count - set->count;
}

/* The numbers of a group in a list that has room for all. */
static int
ListNumbers(const RowGroup *group, uint16 *list)
{
	int			n = 0;

	if (group->room > 0)
	{
		memcpy(list, LIST(group), group->n * sizeof(uint16));
		return group->n;
	}
	for (int word = 0; word < GROUP_WORDS; word++)
		for (uint64 bits = BITS(group)[word]; bits != 0; bits &= bits - 1)
			list[n++] = (uint16) (word * 64 + pg_rightmost_one_pos64(bits));
	return n;
}

void
RowNumbersWrite(const RowNumbers *set, ByteBuffer *out)
{
	uint16	   *list = palloc(GROUP_ROWS * sizeof(uint16));

	for (int64 g = 0; g < set->ngroups; g++)
	{
		const RowGroup *group = set->groups[g];
		GroupHeader header;
		int			n;
		int			nranges = 0;

		if (group == NULL)
			continue;
		n = ListNumbers(group, list);
		for (int i = 0; i < n; i++)
			nranges += i == 0 || list[i] != list[i - 1] + 1;
		header.group = (uint32) g;
		if (nranges * 2 <= Min(n, LIST_MAX))
			header.form = FORM_RANGES;
		else
			header.form = n <= LIST_MAX ? FORM_NUMBERS : FORM_BITS;
		header.count_less_one = (uint16) ((header.form == FORM_RANGES ? nranges : n) - 1);
		ByteBufferAppend(out, &header, sizeof(header));
		if (header.form == FORM_NUMBERS)
			ByteBufferAppend(out, list, n * sizeof(uint16));
		else if (header.form == FORM_BITS)
			ByteBufferAppend(out, BITS(group), GROUP_WORDS * sizeof(uint64));
		else
		{
			for (int i = 0; i < n;)
			{
				uint16		range[2] = {list[i], list[i]};

				while (++i < n && list[i] == range[1] + 1)
					range[1] = list[i];
				ByteBufferAppend(out, range, sizeof(range));
			}
		}
	}
	pfree(list);
}

/* Set the bits first to last. */
static void
SetBits(uint64 *bits, int first, int last)
{
	for (int word = first / 64; word <= last / 64; word++)
	{
		uint64		mask = PG_UINT64_MAX;

		if (word == first / 64)
			mask &= PG_UINT64_MAX << (first % 64);
		if (word == last / 64)
			mask &= PG_UINT64_MAX >> (63 - last % 64);
		bits[word] |= mask;
	}
}

/* The bits of a group as they were written; false unless they are count, all less than limit. */
static bool
ReadBits(const char *data, int count, int limit, uint64 *bits)
{
	int			n = 0;
	int			last = -1;

	memcpy(bits, data, GROUP_WORDS * sizeof(uint64));
	for (int word = 0; word < GROUP_WORDS; word++)
	{
		n += pg_popcount64(bits[word]);
		if (bits[word] != 0)
			last = word * 64 + pg_leftmost_one_pos64(bits[word]);
	}
	return n == count && last < limit;
}

/* Ranges as bits; false if they are not ascending, and less than limit. */
static bool
ReadRanges(const char *data, int count, int limit, uint64 *bits)
{
	int			next = 0;

	memset(bits, 0, GROUP_WORDS * sizeof(uint64));
	for (int i = 0; i < count; i++)
	{
		uint16		range[2];

		memcpy(range, data + i * sizeof(range), sizeof(range));
		if (range[0] < next || range[1] < range[0] || range[1] >= limit)
			return false;
		SetBits(bits, range[0], range[1]);
		next = range[1] + 1;
	}
	return true;
}

/* Add the numbers of a group that are bits. */
static void
AddGroup(RowNumbers *set, int64 group, const uint64 *bits)
{
	RowGroup   *into;
	int			n = 0;

	for (int word = 0; word < GROUP_WORDS; word++)
		n += pg_popcount64(bits[word]);
	if (n <= LIST_MAX)
	{
		for (int word = 0; word < GROUP_WORDS; word++)
			for (uint64 left = bits[word]; left != 0; left &= left - 1)
				(void) RowNumbersAdd(set, group * GROUP_ROWS + word * 64 + pg_rightmost_one_pos64(left));
		return;
	}
	MakeRoom(set, group);
	into = MakeBits(set, set->groups[group]);
	set->count -= into->n;
	into->n = 0;
	for (int word = 0; word < GROUP_WORDS; word++)
	{
		BITS(into)[word] |= bits[word];
		into->n += pg_popcount64(BITS(into)[word]);
	}
	set->count += into->n;
	set->groups[group] = into;
}

/* Add a list; false if its numbers are not ascending, and less than limit. */
static bool
AddList(RowNumbers *set, int64 group, const char *data, int count, int limit)
{
	int			next = 0;

	for (int i = 0; i < count; i++)
	{
		uint16		place;

		memcpy(&place, data + i * sizeof(place), sizeof(place));
		if (place < next || place >= limit)
			return false;
		(void) RowNumbersAdd(set, group * GROUP_ROWS + place);
		next = place + 1;
	}
	return true;
}

bool
RowNumbersRead(RowNumbers *set, const char *data, Size len, int64 nrows)
{
	int64		next = 0;

	while (len > 0)
	{
		GroupHeader header;
		int64		first;
		int			count;
		int			limit;
		Size		size;
		uint64		bits[GROUP_WORDS];

		if (len < sizeof(header))
			return false;
		memcpy(&header, data, sizeof(header));
		data += sizeof(header);
		len -= sizeof(header);
		count = header.count_less_one + 1;
		size = header.form == FORM_RANGES ? count * 2 * sizeof(uint16) :
			header.form == FORM_NUMBERS ? count * sizeof(uint16) : GROUP_WORDS * sizeof(uint64);
		first = (int64) header.group * GROUP_ROWS;
		if (header.form > FORM_BITS || size > len || header.group < next || first >= nrows)
			return false;
		limit = (int) Min(nrows - first, GROUP_ROWS);
		if (header.form == FORM_NUMBERS)
		{
			if (!AddList(set, header.group, data, count, limit))
				return false;
		}
		else
		{
			if (header.form == FORM_BITS ? !ReadBits(data, count, limit, bits) : !ReadRanges(data, count, limit, bits))
				return false;
			AddGroup(set, header.group, bits);
		}
		next = (int64) header.group + 1;
		data += size;
		len -= size;
	}
	return true;
}
