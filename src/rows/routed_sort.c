/*
 * routed_sort.c
 *	  The routed rows of one group in key order.
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
#include "rows/row_sort.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#define SIGN_BIT (UINT64CONST(1) << 63)

struct RoutedSort
{
	MemoryContext cxt;
	MemoryContext copycxt;		/* rows copied out of temporary files */
	const RowLayout *layout;

	/* a group in memory */
	RowSorter	sorter;
	int64		n;
	int64		position;

	/* a larger one: sorted as the number, the keys, and the row */
	int			nlarge;			/* keys in it: none if the prefix decides, and is that of NULL for no value */
	TupleDesc	desc;
	TupleTableSlot *in;
	TupleTableSlot *out;
	Tuplesortstate *large;
	int64		disk_kb;
};

RoutedSort *
RoutedSortCreate(const RowLayout *layout)
{
	RoutedSort *sort = palloc0(sizeof(RoutedSort));

	sort->cxt = CurrentMemoryContext;
	sort->copycxt = AllocSetContextCreate(sort->cxt, "bucketfdw routed copies",
										  ALLOCSET_DEFAULT_SIZES);
	sort->layout = layout;
	RowSorterInit(&sort->sorter, sort->cxt);
	return sort;
}

/* Sort a group in memory. */
static void
SortInMemory(RoutedSort *sort, RoutedStore *store, int group)
{
	int64		rows = RoutedStoreRows(store, group);
	RoutedWalk	walk;
	char	   *row;

	RowSorterRoom(&sort->sorter, rows);
	RoutedWalkBegin(&walk, store, group, true);
	while ((row = RoutedWalkNext(&walk)) != NULL)
	{
		sort->sorter.entries[sort->n].prefix = RowPrefix(sort->layout, row);
		sort->sorter.entries[sort->n].row = row;
		sort->n++;
	}
	if (sort->n != rows)
		elog(ERROR, "group %d of routed rows has " INT64_FORMAT " rows, not " INT64_FORMAT,
			 group, sort->n, rows);
	RowSorterOrder(&sort->sorter, sort->layout, rows);
}

/*
 * A larger group
 */

/* What a larger group is sorted as. */
static void
DescribeLarge(RoutedSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->cxt);
	const RowLayout *layout = sort->layout;
	int			nkeys = layout->nsort == 1 && layout->exact_first && layout->cols[layout->sort_cols[0]].len < 8 ?
		0 : layout->nsort;

	sort->nlarge = nkeys;
	sort->desc = CreateTemplateTupleDesc(nkeys + 2);
	TupleDescInitEntry(sort->desc, 1, "number", INT8OID, -1, 0);
	for (int k = 0; k < nkeys; k++)
		TupleDescInitEntry(sort->desc, (AttrNumber) (k + 2), "key", layout->sort[k].typid, -1, 0);
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
		const SortColumn *key = &sort->layout->sort[a - 1];

		attnums[a] = (AttrNumber) (a + 1);
		operators[a] = lookup_type_cache(key->typid, TYPECACHE_LT_OPR)->lt_opr;
		/* the order of files is that of bytes, whatever the collation of the column */
		if (key->keyclass == KEYCLASS_TEXT || key->keyclass == KEYCLASS_BPCHAR)
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
	const RowLayout *layout = sort->layout;
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
		Size		size = RowLayoutSize(layout, row);
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
		values[0] = Int64GetDatum((int64) (RowPrefix(layout, row) ^ SIGN_BIT));
		nulls[0] = false;
		for (int k = 0; k < sort->nlarge; k++)
		{
			int			c = layout->sort_cols[k];

			nulls[k + 1] = RowColumnIsNull(layout, row, c);
			values[k + 1] = nulls[k + 1] ? (Datum) 0 : RowColumnValue(&layout->cols[c], row);
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
			rows[n++] = sort->sorter.entries[sort->position++].row;
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
