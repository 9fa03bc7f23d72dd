/*
 * routed_sort.c
 *	  The routed rows of one group in key order.
 *
 * A number made of the first key decides nearly every comparison.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "rows/routed_sort.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "vector/key_vector.h"

/* below this many entries a comparison sort is faster than counting */
#define RADIX_MIN_ROWS 192

/* the number of a row whose first key is NULL, the greatest there is */
#define NUMBER_NULL PG_UINT64_MAX

#define SIGN_BIT (UINT64CONST(1) << 63)

typedef struct RoutedEntry
{
	uint64		number;
	char	   *row;
} RoutedEntry;

struct RoutedSort
{
	MemoryContext cxt;
	MemoryContext copycxt;		/* rows copied out of temporary files */
	const RoutedLayout *layout;
	const RoutedKey *key;
	bool		decides;		/* equal numbers are equal keys, unless they are NUMBER_NULL */

	/* a group in memory */
	RoutedEntry *entries;
	RoutedEntry *spare;
	int64		room;
	int64		n;
	int64		position;

	/* a larger one: sorted as the number, the keys, and the row */
	int			nlarge;			/* keys in it: none if the number of a value is never NUMBER_NULL, and decides */
	TupleDesc	desc;
	TupleTableSlot *in;
	TupleTableSlot *out;
	Tuplesortstate *large;
	int64		disk_kb;
};

RoutedSort *
RoutedSortCreate(const RoutedLayout *layout, const RoutedKey *key)
{
	RoutedSort *sort = palloc0(sizeof(RoutedSort));

	sort->cxt = CurrentMemoryContext;
	sort->copycxt = AllocSetContextCreate(sort->cxt, "bucketfdw routed copies",
										  ALLOCSET_DEFAULT_SIZES);
	sort->layout = layout;
	sort->key = key;
	sort->decides = key->nkeys == 1 && KeyClassIsFixed(key->classes[0]);
	return sort;
}

static uint64
NumberOf(const RoutedSort *sort, char *row)
{
	const RoutedKey *key = sort->key;
	KeyClass	keyclass = key->classes[0];
	Datum		value;

	if (RoutedRowIsNull(sort->layout, row, key->cols[0]))
		return NUMBER_NULL;
	value = RoutedRowValue(&sort->layout->cols[key->cols[0]], row);
	if (KeyClassIsFixed(keyclass))
		return (uint64) KeySort64(keyclass, key->types[0], value) ^ SIGN_BIT;
	if (keyclass == KEYCLASS_NUMERIC)
		return KeyNumericPrefix(value);
	return (uint64) KeyImage64(keyclass, key->types[0], value) ^ SIGN_BIT;
}

/* Compare two rows by all keys; NULLs are last. */
static int
CompareRows(const RoutedSort *sort, char *a, char *b)
{
	const RoutedKey *key = sort->key;

	for (int k = 0; k < key->nkeys; k++)
	{
		const RoutedColumn *col = &sort->layout->cols[key->cols[k]];
		bool		anull = RoutedRowIsNull(sort->layout, a, key->cols[k]);
		bool		bnull = RoutedRowIsNull(sort->layout, b, key->cols[k]);
		int			c;

		c = anull || bnull ? anull - bnull :
			KeyCompare(key->classes[k], key->types[k], RoutedRowValue(col, a),
					   key->types[k], RoutedRowValue(col, b));
		if (c != 0)
			return c;
	}
	return 0;
}

/* by number only */
#define ST_SORT SortByNumber
#define ST_ELEMENT_TYPE RoutedEntry
#define ST_COMPARE(a, b) ((a)->number < (b)->number ? -1 : (a)->number > (b)->number ? 1 : 0)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* the same of many entries */
#define RS_SORT SortByDigits
#define RS_ELEMENT RoutedEntry
#define RS_NUMBER number
#include "vector/radix_sort.h"

/* entries of one number by the keys */
#define ST_SORT SortTies
#define ST_ELEMENT_TYPE RoutedEntry
#define ST_COMPARE(a, b, sort) CompareRows(sort, (a)->row, (b)->row)
#define ST_COMPARE_ARG_TYPE const RoutedSort
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
SortEntries(RoutedSort *sort)
{
	RoutedEntry *entries = sort->entries;
	uint64		differing = 0;
	bool		sorted = true;
	int64		n = sort->n;
	int64		end;

	for (int64 i = 1; i < n; i++)
	{
		sorted &= entries[i].number >= entries[i - 1].number;
		differing |= entries[i].number ^ entries[i - 1].number;
	}
	if (!sorted && n < RADIX_MIN_ROWS)
		SortByNumber(entries, n);
	else if (!sorted)
		SortByDigits(&sort->entries, &sort->spare, n, differing);
	entries = sort->entries;
	for (int64 i = 0; i < n; i = end)
	{
		uint64		number = entries[i].number;

		/* only the last ones can be of no key */
		if (sort->decides && entries[n - 1].number != NUMBER_NULL)
			break;
		for (end = i + 1; end < n && entries[end].number == number; end++)
			 /* of the same number */ ;
		if (end - i > 1 && (!sort->decides || number == NUMBER_NULL))
			SortTies(entries + i, end - i, sort);
	}
}

/* Sort a group in memory. */
static void
SortInMemory(RoutedSort *sort, RoutedStore *store, int group)
{
	int64		rows = RoutedStoreRows(store, group);
	RoutedWalk	walk;
	char	   *row;

	if (rows > sort->room)
	{
		if (sort->entries != NULL)
		{
			pfree(sort->entries);
			pfree(sort->spare);
			sort->entries = sort->spare = NULL;
		}
		sort->entries = MemoryContextAllocHuge(sort->cxt, rows * sizeof(RoutedEntry));
		sort->spare = MemoryContextAllocHuge(sort->cxt, rows * sizeof(RoutedEntry));
		sort->room = rows;
	}
	RoutedWalkBegin(&walk, store, group, true);
	while ((row = RoutedWalkNext(&walk)) != NULL)
	{
		sort->entries[sort->n].number = NumberOf(sort, row);
		sort->entries[sort->n].row = row;
		sort->n++;
	}
	if (sort->n != rows)
		elog(ERROR, "group %d of routed rows has " INT64_FORMAT " rows, not " INT64_FORMAT,
			 group, sort->n, rows);
	SortEntries(sort);
}

/*
 * A larger group
 */

/* What a larger group is sorted as. */
static void
DescribeLarge(RoutedSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->cxt);
	const RoutedKey *key = sort->key;
	int			nkeys = sort->decides && sort->layout->cols[key->cols[0]].len < 8 ? 0 : key->nkeys;

	sort->nlarge = nkeys;
	sort->desc = CreateTemplateTupleDesc(nkeys + 2);
	TupleDescInitEntry(sort->desc, 1, "number", INT8OID, -1, 0);
	for (int k = 0; k < nkeys; k++)
		TupleDescInitEntry(sort->desc, (AttrNumber) (k + 2), "key", key->types[k], -1, 0);
	TupleDescInitEntry(sort->desc, (AttrNumber) (nkeys + 2), "row", BYTEAOID, -1, 0);
	sort->in = MakeSingleTupleTableSlot(sort->desc, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
}

static Tuplesortstate *
BeginLarge(RoutedSort *sort)
{
	int			n = sort->nlarge + 1;
	MemoryContext old = MemoryContextSwitchTo(sort->cxt);
	AttrNumber *attnums = palloc(n * sizeof(AttrNumber));
	Oid		   *operators = palloc(n * sizeof(Oid));
	Oid		   *collations = palloc0(n * sizeof(Oid));
	bool	   *nulls_first = palloc0(n * sizeof(bool));
	Tuplesortstate *large;

	attnums[0] = 1;
	operators[0] = Int8LessOperator;
	for (int a = 1; a < n; a++)
	{
		KeyClass	keyclass = sort->key->classes[a - 1];

		attnums[a] = (AttrNumber) (a + 1);
		operators[a] = lookup_type_cache(sort->key->types[a - 1], TYPECACHE_LT_OPR)->lt_opr;
		/* the order of files is that of bytes, whatever the collation of the column */
		if (keyclass == KEYCLASS_TEXT || keyclass == KEYCLASS_BPCHAR)
			collations[a] = C_COLLATION_OID;
	}
	large = tuplesort_begin_heap(sort->desc, n, attnums, operators, collations, nulls_first,
								 work_mem, NULL, TUPLESORT_NONE);
	MemoryContextSwitchTo(old);
	return large;
}

/* Sort a group by way of temporary files. */
static void
SortLarge(RoutedSort *sort, RoutedStore *store, int group)
{
	const RoutedKey *key = sort->key;
	TuplesortInstrumentation stats;
	struct varlena *copy = NULL;
	Size		room = 0;
	RoutedWalk	walk;
	char	   *row;

	if (sort->desc == NULL)
		DescribeLarge(sort);
	sort->large = BeginLarge(sort);
	RoutedWalkBegin(&walk, store, group, false);
	while ((row = RoutedWalkNext(&walk)) != NULL)
	{
		Size		size = RoutedRowSize(sort->layout, row);
		Datum	   *values = sort->in->tts_values;
		bool	   *nulls = sort->in->tts_isnull;

		CHECK_FOR_INTERRUPTS();
		if (size + VARHDRSZ > room)
		{
			room = Max(2 * size, 1024) + VARHDRSZ;
			copy = copy ? repalloc_huge(copy, room) : MemoryContextAllocHuge(sort->cxt, room);
		}
		SET_VARSIZE(copy, size + VARHDRSZ);
		memcpy(VARDATA(copy), row, size);
		ExecClearTuple(sort->in);
		values[0] = Int64GetDatum((int64) (NumberOf(sort, row) ^ SIGN_BIT));
		nulls[0] = false;
		for (int k = 0; k < sort->nlarge; k++)
		{
			nulls[k + 1] = RoutedRowIsNull(sort->layout, row, key->cols[k]);
			values[k + 1] = nulls[k + 1] ? (Datum) 0 :
				RoutedRowValue(&sort->layout->cols[key->cols[k]], row);
		}
		values[sort->nlarge + 1] = PointerGetDatum(copy);
		nulls[sort->nlarge + 1] = false;
		ExecStoreVirtualTuple(sort->in);
		tuplesort_puttupleslot(sort->large, sort->in);
	}
	ExecClearTuple(sort->in);
	if (copy != NULL)
		pfree(copy);
	tuplesort_performsort(sort->large);
	tuplesort_get_stats(sort->large, &stats);
	if (stats.spaceType == SORT_SPACE_TYPE_DISK)
		sort->disk_kb = Max(sort->disk_kb, stats.spaceUsed);
}

void
RoutedSortClose(RoutedSort *sort)
{
	sort->n = sort->position = 0;
	MemoryContextReset(sort->copycxt);
	if (sort->large == NULL)
		return;
	ExecClearTuple(sort->out);
	tuplesort_end(sort->large);
	sort->large = NULL;
}

void
RoutedSortOpen(RoutedSort *sort, RoutedStore *store, int group)
{
	RoutedSortClose(sort);
	if (RoutedStoreFits(store, group))
		SortInMemory(sort, store, group);
	else
		SortLarge(sort, store, group);
}

int
RoutedSortNext(RoutedSort *sort, char **rows, int max, Size bytes)
{
	int			n = 0;
	Size		copied = 0;

	if (sort->large == NULL)
	{
		while (n < max && sort->position < sort->n)
			rows[n++] = sort->entries[sort->position++].row;
		return n;
	}
	MemoryContextReset(sort->copycxt);
	while (n < max && copied < bytes &&
		   tuplesort_gettupleslot(sort->large, true, false, sort->out, NULL))
	{
		bool		isnull;
		struct varlena *row = (struct varlena *) DatumGetPointer(slot_getattr(sort->out, sort->nlarge + 2, &isnull));
		Size		size = VARSIZE_ANY_EXHDR(row);

		CHECK_FOR_INTERRUPTS();
		rows[n] = MemoryContextAllocHuge(sort->copycxt, size);
		memcpy(rows[n++], VARDATA_ANY(row), size);
		copied += size;
	}
	return n;
}

int64
RoutedSortDisk(const RoutedSort *sort)
{
	return sort->disk_kb;
}
