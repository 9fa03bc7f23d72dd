/*
 * test_row_numbers.c
 *	  Sets of row numbers against a plain array of flags, and as bytes and back.
 */
#include "postgres.h"

#include "format/row_numbers.h"
#include "format_data.h"
#include "pg_shim.h"
#include "utils/memutils.h"

#define GROUP 8192

/* the forms of a group as bytes */
#define RANGES	0
#define NUMBERS	1
#define BITS	2

/* How the numbers of a group lie. */
typedef enum Spread
{
	FIRST,						/* the first ones of the group */
	LAST,
	EVEN,						/* with gaps of the same size */
	PAIRS,						/* two, then a gap, as far as that goes */
	RANDOM,
	NSPREADS
} Spread;

static const char *const spread_names[] = {"first", "last", "even", "pairs", "random"};

/* What a set should be. */
typedef struct Model
{
	bool	   *has;
	int64		n;
} Model;

static int
below(int64 n)
{
	return (int) (DataRandom() % (uint64) n);
}

static void
model_add(Model *model, RowNumbers *set, int64 row, bool *ok)
{
	*ok &= RowNumbersAdd(set, row) == !model->has[row];
	*ok &= !RowNumbersAdd(set, row) && RowNumbersHas(set, row);
	model->has[row] = true;
}

/* Add count numbers of the group that begins at "base", in order or not. */
static void
fill_group(Model *model, RowNumbers *set, int64 base, int count, Spread spread, bool shuffled, bool *ok)
{
	bool		wanted[GROUP] = {false};
	int			order[GROUP];
	int			n = 0;

	if (spread == PAIRS && count > GROUP / 2)
		spread = RANDOM;
	for (int i = 0; i < count; i++)
	{
		int			place = spread == FIRST ? i : spread == LAST ? GROUP - 1 - i :
			spread == EVEN ? (int) ((int64) i * GROUP / count) :
			spread == PAIRS ? (i / 2) * 4 + i % 2 : below(GROUP);

		while (wanted[place])
			place = (place + 1) % GROUP;
		wanted[place] = true;
	}
	for (int i = 0; i < GROUP; i++)
	{
		if (wanted[i] && base + i < model->n)
			order[n++] = i;
	}
	for (int i = n - 1; shuffled && i > 0; i--)
	{
		int			j = below(i + 1);
		int			other = order[i];

		order[i] = order[j];
		order[j] = other;
	}
	for (int i = 0; i < n; i++)
		model_add(model, set, base + order[i], ok);
}

static bool
same_bits(const Model *model, const RowNumbers *set, int64 from, int n)
{
	int			words = ROW_NUMBERS_WORDS(n);
	uint64	   *bits = palloc((words + 1) * sizeof(uint64));
	int			expected = 0;
	int			count;
	bool		ok = true;

	/* a guard word behind; and nothing is written if there is none */
	memset(bits, 0xa5, (words + 1) * sizeof(uint64));
	count = RowNumbersBits(set, from, n, bits);
	for (int i = 0; i < n; i++)
		expected += from + i < model->n && model->has[from + i];
	ok = count == expected && bits[words] == UINT64CONST(0xa5a5a5a5a5a5a5a5) &&
		RowNumbersCountIn(set, from, from + n) == expected;
	for (int i = 0; ok && count == 0 && i < words; i++)
		ok = bits[i] == UINT64CONST(0xa5a5a5a5a5a5a5a5);
	for (int i = 0; ok && count > 0 && i < words * 64; i++)
	{
		bool		has = i < n && from + i < model->n && model->has[from + i];

		ok = ((bits[i / 64] >> (i % 64)) & 1) == has;
	}
	pfree(bits);
	return ok;
}

/* Does a set say what the model says, to every question? */
static bool
same(const Model *model, const RowNumbers *set)
{
	int64		count = 0;
	int64		next = -1;
	bool		ok = true;

	for (int64 row = model->n - 1; row >= 0; row--)
	{
		if (model->has[row])
			next = row;
		count += model->has[row];
		ok &= RowNumbersHas(set, row) == model->has[row] && RowNumbersNext(set, row) == next;
	}
	ok &= RowNumbersCount(set) == count && RowNumbersNext(set, model->n) == -1 &&
		RowNumbersNext(set, model->n + 10 * GROUP) == -1 && !RowNumbersHas(set, model->n + 10 * GROUP) &&
		RowNumbersCountIn(set, 0, PG_INT64_MAX) == count && RowNumbersCountIn(set, 5, 5) == 0 &&
		RowNumbersCountIn(set, model->n, model->n + 3) == 0 && RowNumbersMemory(set) >= count / 8;
	for (int i = 0; i < 40; i++)
	{
		/* windows that begin and end anywhere, in one group or several, beyond the last too */
		int64		from = i % 4 == 0 ? (int64) GROUP * below(model->n / GROUP + 2) : below(model->n + GROUP);
		int			n = i % 5 == 0 ? GROUP : 1 + below(i % 3 == 0 ? 200 : 3 * GROUP);

		ok &= same_bits(model, set, from, n);
	}
	return ok;
}

/* A copy of the bytes in memory of their size, for sanitizers to watch. */
static char *
copy_of(const ByteBuffer *bytes)
{
	char	   *copy = palloc(Max(bytes->len, 1));

	if (bytes->len > 0)
		memcpy(copy, bytes->data, bytes->len);
	return copy;
}

static int
form_of(const ByteBuffer *bytes)
{
	uint16		form;

	memcpy(&form, bytes->data + sizeof(uint32), sizeof(form));
	return form;
}

/* As bytes and back; *form is that of the first group. */
static bool
same_again(const Model *model, const RowNumbers *set, int *form)
{
	RowNumbers *again = RowNumbersCreate();
	ByteBuffer	out;
	ByteBuffer	out2;
	char	   *copy;
	bool		ok;

	ByteBufferInit(&out, CurrentMemoryContext);
	ByteBufferInit(&out2, CurrentMemoryContext);
	RowNumbersWrite(set, &out);
	*form = out.len > 0 ? form_of(&out) : -1;
	copy = copy_of(&out);
	ok = RowNumbersRead(again, copy, out.len, model->n) && same(model, again);

	/* what was read is written the same */
	RowNumbersWrite(again, &out2);
	ok &= out2.len == out.len && (out.len == 0 || memcmp(out.data, out2.data, out.len) == 0);

	/* a set that stays can be added to */
	for (int i = 0; i < 20; i++)
	{
		int64		row = below(model->n);

		ok &= RowNumbersAdd(again, row) == !model->has[row] || RowNumbersHas(set, row) == model->has[row];
		ok &= RowNumbersHas(again, row);
	}
	pfree(copy);
	ByteBufferFree(&out);
	ByteBufferFree(&out2);
	RowNumbersFree(again);
	return ok;
}

static void
check_group(int count, Spread spread, bool shuffled)
{
	Model		model = {palloc0(3 * GROUP * sizeof(bool)), 3 * GROUP};
	RowNumbers *set = RowNumbersCreate();
	bool		ok = true;
	int			form = -1;

	fill_group(&model, set, GROUP, count, spread, shuffled, &ok);
	ok &= same(&model, set) && same_again(&model, set, &form);
	ShimOk(ok, "%d numbers, %s%s, of one group: form %d",
		   count, spread_names[spread], shuffled ? ", shuffled" : "", form);
	if (count == 0)
		ShimOk(form == -1, "an empty set has no bytes");
	else if (spread == FIRST || spread == LAST)
		ShimOk(form == (count == 1 ? NUMBERS : RANGES), "one range");
	else if (spread == EVEN && count < GROUP / 2)
		ShimOk(form == (count <= 512 ? NUMBERS : BITS), "numbers up to 512, then bits");
	RowNumbersFree(set);
	pfree(model.has);
}

/* Several groups of different kinds, some empty, the last one not whole; and their union with others. */
static void
check_groups(int round)
{
	static const int counts[] = {0, 1, 511, 512, 513, 4000, 8191, 8192};
	int			ngroups = 1 + below(6);
	Model		model = {NULL, (int64) GROUP * ngroups - below(GROUP)};
	RowNumbers *set = RowNumbersCreate();
	RowNumbers *other = RowNumbersCreate();
	Model		added;
	int64		both = 0;
	bool		ok = true;
	int			form;

	model.has = palloc0(model.n * sizeof(bool));
	added.n = model.n;
	added.has = palloc0(model.n * sizeof(bool));
	for (int64 base = 0; base < model.n; base += GROUP)
	{
		fill_group(&model, set, base, counts[below(lengthof(counts))], below(NSPREADS), below(2), &ok);
		fill_group(&added, other, base, counts[below(lengthof(counts))], below(NSPREADS), below(2), &ok);
	}
	ok &= same(&model, set) && same_again(&model, set, &form) && same(&added, other);
	for (int64 row = 0; row < model.n; row++)
	{
		both += model.has[row] && added.has[row];
		model.has[row] |= added.has[row];
	}
	ok &= RowNumbersUnion(set, other) == both && same(&model, set) && same(&added, other) &&
		same_again(&model, set, &form) && RowNumbersUnion(set, other) == RowNumbersCount(other);
	ShimOk(ok, "round %d: %lld rows in groups, and a union", round, (long long) model.n);
	RowNumbersFree(set);
	RowNumbersFree(other);
	pfree(model.has);
	pfree(added.has);
}

/* Vectors of several commands, read into one set. */
static void
check_parts(void)
{
	Model		model = {palloc0(4 * GROUP * sizeof(bool)), 4 * GROUP};
	RowNumbers *whole = RowNumbersCreate();
	bool		ok = true;
	int			form;

	for (int part = 0; part < 30; part++)
	{
		RowNumbers *set = RowNumbersCreate();
		ByteBuffer	out;
		int			n = part % 7 == 0 ? 3000 : 1 + below(50);

		for (int i = 0; i < n; i++)
		{
			int64		row = below(model.n);

			if (model.has[row])
				continue;
			model.has[row] = true;
			ok &= RowNumbersAdd(set, row);
		}
		ByteBufferInit(&out, CurrentMemoryContext);
		RowNumbersWrite(set, &out);
		ok &= RowNumbersRead(whole, out.data, out.len, model.n);
		ByteBufferFree(&out);
		RowNumbersFree(set);
	}
	ShimOk(ok && same(&model, whole) && same_again(&model, whole, &form), "30 parts, disjoint, read into one set");

	/* those that are there already do not count twice, whatever form they come in */
	for (int count = 1; count <= GROUP; count *= 8)
	{
		RowNumbers *set = RowNumbersCreate();
		ByteBuffer	out;
		int64		before = RowNumbersCount(whole);
		int64		fresh = 0;

		for (int i = 0; i < count; i++)
		{
			int64		row = count == GROUP ? i : below(GROUP);

			if (RowNumbersAdd(set, row) && !model.has[row])
			{
				fresh++;
				model.has[row] = true;
			}
		}
		ByteBufferInit(&out, CurrentMemoryContext);
		RowNumbersWrite(set, &out);
		ShimOk(RowNumbersRead(whole, out.data, out.len, model.n) && RowNumbersCount(whole) == before + fresh &&
			   same(&model, whole), "%d numbers, some there already", count);
		ByteBufferFree(&out);
		RowNumbersFree(set);
	}
	RowNumbersFree(whole);
	pfree(model.has);
}

/* Append a group as it stands in bytes. */
static void
put_group(ByteBuffer *out, uint32 group, uint16 form, int count, const void *data, Size len)
{
	uint16		rest[2] = {form, (uint16) (count - 1)};

	ByteBufferAppend(out, &group, sizeof(group));
	ByteBufferAppend(out, rest, sizeof(rest));
	ByteBufferAppend(out, data, len);
}

/* Bytes of one or two groups that must be refused, or taken. */
static void
check_bytes(bool expected, int64 nrows, uint32 group, uint16 form, int count, const void *data, Size len, int times,
			const char *what)
{
	RowNumbers *set = RowNumbersCreate();
	ByteBuffer	out;
	char	   *copy;

	ByteBufferInit(&out, CurrentMemoryContext);
	for (int i = 0; i < times; i++)
		put_group(&out, group, form, count, data, len);
	copy = copy_of(&out);
	ShimOk(RowNumbersRead(set, copy, out.len, nrows) == expected, "%s", what);
	pfree(copy);
	ByteBufferFree(&out);
	RowNumbersFree(set);
}

static void
check_malformed(void)
{
	static const uint16 two[] = {3, 9};
	static const uint16 twice[] = {9, 9};
	static const uint16 down[] = {9, 3};
	static const uint16 beyond[] = {3, 8192};
	static const uint16 overlap[] = {3, 9, 9, 12};
	static const uint16 next[] = {3, 9, 10, 12};
	uint64		bits[GROUP / 64] = {0};

	bits[0] = 0x1234;
	bits[127] = UINT64CONST(1) << 63;
	check_bytes(true, GROUP, 0, NUMBERS, 2, two, sizeof(two), 1, "two numbers");
	check_bytes(true, 10, 0, NUMBERS, 2, two, sizeof(two), 1, "two numbers, the second of the last row");
	check_bytes(false, 9, 0, NUMBERS, 2, two, sizeof(two), 1, "a number that is no row's");
	check_bytes(false, GROUP, 0, NUMBERS, 2, twice, sizeof(twice), 1, "a number twice");
	check_bytes(false, GROUP, 0, NUMBERS, 2, down, sizeof(down), 1, "numbers out of order");
	check_bytes(false, 2 * GROUP, 0, NUMBERS, 2, beyond, sizeof(beyond), 1, "a number beyond the group");
	check_bytes(false, GROUP, 0, NUMBERS, 3, two, sizeof(two), 1, "a number is missing");
	check_bytes(false, GROUP, 0, NUMBERS, 2, two, sizeof(two), 2, "a group twice");
	check_bytes(false, GROUP, 1, NUMBERS, 2, two, sizeof(two), 1, "a group beyond the rows");
	check_bytes(false, GROUP, PG_UINT32_MAX, NUMBERS, 2, two, sizeof(two), 1, "a group far beyond the rows");
	check_bytes(false, GROUP, 0, 3, 2, two, sizeof(two), 1, "an unknown form");
	check_bytes(true, GROUP, 0, RANGES, 1, two, sizeof(two), 1, "a range");
	check_bytes(true, GROUP, 0, RANGES, 1, twice, sizeof(twice), 1, "a range of one number");
	check_bytes(false, GROUP, 0, RANGES, 1, down, sizeof(down), 1, "a range from its end to its start");
	check_bytes(false, 2 * GROUP, 0, RANGES, 1, beyond, sizeof(beyond), 1, "a range beyond the group");
	check_bytes(false, 9, 0, RANGES, 1, two, sizeof(two), 1, "a range beyond the rows");
	check_bytes(false, GROUP, 0, RANGES, 2, overlap, sizeof(overlap), 1, "ranges that overlap");
	check_bytes(true, GROUP, 0, RANGES, 2, next, sizeof(next), 1, "ranges that touch");
	check_bytes(true, GROUP, 0, BITS, 6, bits, sizeof(bits), 1, "bits");
	check_bytes(false, GROUP - 1, 0, BITS, 6, bits, sizeof(bits), 1, "a bit that is no row's");
	check_bytes(false, GROUP, 0, BITS, 5, bits, sizeof(bits), 1, "a bit more than counted");
	check_bytes(false, GROUP, 0, BITS, 7, bits, sizeof(bits), 1, "a bit less than counted");
	check_bytes(false, GROUP, 0, BITS, 6, bits, sizeof(bits) - 1, 1, "bits cut off");
	check_bytes(false, GROUP, 0, NUMBERS, 1, two, 0, 1, "a header alone");
}

/* Are all numbers of a set, which damaged bytes gave, in bounds and counted? */
static bool
valid(const RowNumbers *set, int64 nrows)
{
	int64		count = 0;
	int64		last = -1;

	for (int64 row = RowNumbersNext(set, 0); row >= 0; row = RowNumbersNext(set, row + 1))
	{
		if (row <= last || row >= nrows || !RowNumbersHas(set, row))
			return false;
		last = row;
		count++;
	}
	return count == RowNumbersCount(set) && count == RowNumbersCountIn(set, 0, nrows);
}

static void
check_damaged(void)
{
	int			nrows = 5 * GROUP - 77;
	Model		model = {palloc0(nrows * sizeof(bool)), nrows};
	RowNumbers *set = RowNumbersCreate();
	ByteBuffer	out;
	bool		ok = true;
	int			refused = 0;
	int			taken = 0;

	fill_group(&model, set, 0, 100, RANDOM, false, &ok);
	fill_group(&model, set, GROUP, 700, RANDOM, false, &ok);
	fill_group(&model, set, 2 * GROUP, 300, PAIRS, false, &ok);
	fill_group(&model, set, 4 * GROUP, 1000, FIRST, false, &ok);
	ByteBufferInit(&out, CurrentMemoryContext);
	RowNumbersWrite(set, &out);
	for (int i = 0; i < 20000; i++)
	{
		RowNumbers *read = RowNumbersCreate();
		Size		len = i % 3 == 0 ? below(out.len + 1) : out.len;
		char	   *copy;

		if (i % 4 == 3)
		{
			/* anything; small numbers, that pass for groups, more often than not */
			len = below(400);
			copy = palloc(Max(len, 1));
			for (Size b = 0; b < len; b++)
				copy[b] = (char) (below(3) ? below(4) : below(256));
		}
		else
		{
			copy = copy_of(&out);
			copy = repalloc(copy, Max(len, 1));
			for (int flips = i % 3 == 0 ? 0 : 1 + below(4); flips > 0; flips--)
				copy[below(len)] ^= (char) (1 << below(8));
		}
		if (RowNumbersRead(read, copy, len, nrows))
			taken++;
		else
			refused++;
		/* what stands before the damage is a set in either case */
		ok &= valid(read, nrows);
		pfree(copy);
		RowNumbersFree(read);
	}
	ShimOk(ok && refused > 1000 && taken > 100, "damaged bytes: %d refused, %d are another set", refused, taken);
	ByteBufferFree(&out);
	RowNumbersFree(set);
	pfree(model.has);
}

int
main(void)
{
	static const int counts[] = {0, 1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 511, 512, 513, 514, 4095, 4096, 8191, 8192};
	Size		memory;

	ShimInit();
	DataSeed(20261201);
	memory = ShimMemoryInUse();
	for (int i = 0; i < lengthof(counts); i++)
	{
		for (int spread = 0; spread < NSPREADS; spread++)
		{
			check_group(counts[i], spread, false);
			check_group(counts[i], spread, true);
		}
	}
	for (int round = 0; round < 60; round++)
		check_groups(round);
	check_parts();
	check_malformed();
	check_damaged();
	ShimOk(ShimMemoryInUse() == memory, "all memory was given back");
	return ShimDone();
}
