/*
 * run_sort.c
 *	  Sorts the rows of each key among themselves.
 *
 * The first column of what is sorted numbers the keys in the order they come,
 * so that keys are compared neither by type nor by collation, and most
 * comparisons are of two integers.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "exec/keyed/run_sort.h"
#include "executor/tuptable.h"
#include "miscadmin.h"

struct RunSort
{
	MemoryContext cxt;
	TupleDesc	desc;			/* the number, then the row */
	int			n;				/* sort columns, the number among them */
	AttrNumber *attnums;
	Oid		   *operators;
	Oid		   *collations;
	bool	   *nulls_first;
	TupleTableSlot *in;
	TupleTableSlot *out;
	Tuplesortstate *sort;		/* made at first use */
	int32		key;			/* number of the present key */
	int64		put;
	int64		rows;
	int64		disk_kb;
};

RunSort *
RunSortCreate(TupleDesc desc, int n, const AttrNumber *attnums, const Oid *operators,
			  const Oid *collations, const bool *nulls_first)
{
	RunSort    *sort = palloc0(sizeof(RunSort));

	sort->cxt = CurrentMemoryContext;
	sort->desc = CreateTemplateTupleDesc(desc->natts + 1);
	TupleDescInitEntry(sort->desc, 1, "key", INT4OID, -1, 0);
	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(sort->desc, (AttrNumber) (i + 1), desc, (AttrNumber) i);
	sort->n = n + 1;
	sort->attnums = palloc(sort->n * sizeof(AttrNumber));
	sort->operators = palloc(sort->n * sizeof(Oid));
	sort->collations = palloc(sort->n * sizeof(Oid));
	sort->nulls_first = palloc(sort->n * sizeof(bool));
	sort->attnums[0] = 1;
	sort->operators[0] = Int4LessOperator;
	sort->collations[0] = InvalidOid;
	sort->nulls_first[0] = false;
	for (int i = 0; i < n; i++)
	{
		sort->attnums[i + 1] = (AttrNumber) (attnums[i] + 1);
		sort->operators[i + 1] = operators[i];
		sort->collations[i + 1] = collations[i];
		sort->nulls_first[i + 1] = nulls_first[i];
	}
	sort->in = MakeSingleTupleTableSlot(sort->desc, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	return sort;
}

void
RunSortPut(RunSort *sort, const Datum *values, const bool *nulls, bool new_key)
{
	int			natts = sort->desc->natts - 1;

	if (sort->sort == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(sort->cxt);

		sort->sort = tuplesort_begin_heap(sort->desc, sort->n, sort->attnums, sort->operators,
										  sort->collations, sort->nulls_first, work_mem, NULL,
										  TUPLESORT_NONE);
		MemoryContextSwitchTo(old);
	}
	if (new_key)
		sort->key++;
	ExecClearTuple(sort->in);
	sort->in->tts_values[0] = Int32GetDatum(sort->key);
	sort->in->tts_isnull[0] = false;
	memcpy(sort->in->tts_values + 1, values, natts * sizeof(Datum));
	memcpy(sort->in->tts_isnull + 1, nulls, natts * sizeof(bool));
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->sort, sort->in);
	sort->put++;
	sort->rows++;
}

int64
RunSortRows(const RunSort *sort)
{
	return sort->put;
}

void
RunSortPerform(RunSort *sort)
{
	TuplesortInstrumentation stats;

	tuplesort_performsort(sort->sort);
	if (sort->put <= RUN_SORT_ROWS)
		return;
	tuplesort_get_stats(sort->sort, &stats);
	if (stats.spaceType == SORT_SPACE_TYPE_DISK)
		sort->disk_kb = Max(sort->disk_kb, stats.spaceUsed);
}

bool
RunSortGet(RunSort *sort, Datum **values, bool **nulls)
{
	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->out, NULL))
	{
		RunSortReset(sort);
		return false;
	}
	slot_getallattrs(sort->out);
	*values = sort->out->tts_values + 1;
	*nulls = sort->out->tts_isnull + 1;
	return true;
}

void
RunSortReset(RunSort *sort)
{
	ExecClearTuple(sort->in);
	ExecClearTuple(sort->out);
	if (sort->sort != NULL && sort->put > 0)
		tuplesort_reset(sort->sort);
	sort->put = 0;
	sort->key = 0;
}

void
RunSortStats(const RunSort *sort, int64 *rows, int64 *disk_kb)
{
	*rows = sort->rows;
	*disk_kb = sort->disk_kb;
}

void
RunSortEnd(RunSort *sort)
{
	ExecClearTuple(sort->in);
	ExecClearTuple(sort->out);
	if (sort->sort != NULL)
		tuplesort_end(sort->sort);
	sort->sort = NULL;
}
