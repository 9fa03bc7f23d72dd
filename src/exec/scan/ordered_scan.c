/*
 * ordered_scan.c
 *	  A scan whose rows come in the order of leading sort columns.
 *
 * The planner promised the order to the nodes above, from options that may
 * say another thing than the files, and from a manifest that may have grown
 * since.  So this is where the promise is kept: when every visible file is
 * sorted by the promised columns, and the runs are few enough to be merged,
 * they are merged; else the rows are sorted.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/scan/ordered_scan.h"
#include BF_EXPLAIN_HEADER
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

struct OrderedScan
{
	BucketSpec *want;			/* only the sort columns are of use */
	int			runs;
	Tuplesortstate *sort;		/* rows are sorted, not merged */
	TupleTableSlot *sorted;
};

List *
OrderedScanDescribe(int ncols, const SortColumn *cols)
{
	List	   *order = NIL;

	for (int i = 0; i < ncols; i++)
	{
		order = lappend_int(order, cols[i].attnum);
		order = lappend_int(order, cols[i].flags);
	}
	return order;
}

OrderedScan *
OrderedScanCreate(Relation rel, List *order)
{
	OrderedScan *scan = palloc0(sizeof(OrderedScan));
	TupleDesc	desc = RelationGetDescr(rel);
	int			n = list_length(order) / 2;

	scan->want = palloc0(BucketSpecSize(n));
	scan->want->nsort = n;
	for (int i = 0; i < n; i++)
	{
		SortColumn *col = &scan->want->sort[i];

		col->attnum = (AttrNumber) list_nth_int(order, 2 * i);
		col->flags = (uint8) list_nth_int(order, 2 * i + 1);
		col->typid = getBaseType(TupleDescAttr(desc, col->attnum - 1)->atttypid);
		col->keyclass = KeyClassOfType(col->typid);
	}
	return scan;
}

static Tuplesortstate *
BeginSort(const BucketSpec *want, TupleDesc desc)
{
	AttrNumber *attnums = palloc(want->nsort * sizeof(AttrNumber));
	Oid		   *operators = palloc(want->nsort * sizeof(Oid));
	Oid		   *collations = palloc(want->nsort * sizeof(Oid));
	bool	   *nulls_first = palloc(want->nsort * sizeof(bool));
	Tuplesortstate *sort;

	for (int i = 0; i < want->nsort; i++)
	{
		const SortColumn *col = &want->sort[i];
		bool		descending = (col->flags & BF_SORT_DESC) != 0;
		TypeCacheEntry *type = lookup_type_cache(col->typid, descending ?
												 TYPECACHE_GT_OPR : TYPECACHE_LT_OPR);

		attnums[i] = col->attnum;
		operators[i] = descending ? type->gt_opr : type->lt_opr;
		collations[i] = TupleDescAttr(desc, col->attnum - 1)->attcollation;
		nulls_first[i] = (col->flags & BF_SORT_NULLS_FIRST) != 0;
	}
	sort = tuplesort_begin_heap(desc, want->nsort, attnums, operators, collations, nulls_first,
								work_mem, NULL, TUPLESORT_NONE);
	pfree(attnums);
	pfree(operators);
	pfree(collations);
	pfree(nulls_first);
	return sort;
}

/* Sort all rows of the reader. */
static void
SortRows(OrderedScan *scan, LeafReader *leaf, ScanState *ss, int ncols, const AttrNumber *attnums)
{
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	Batch	   *batch;

	scan->sort = BeginSort(scan->want, slot->tts_tupleDescriptor);
	LeafOpenAll(leaf, NULL);
	while ((batch = LeafNextBatch(leaf, NULL)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < batch->nselected; i++)
		{
			int			row = batch->selection ? batch->selection[i] : i;

			ExecClearTuple(slot);
			for (int c = 0; c < ncols; c++)
			{
				ColumnVector *vec = BatchColumn(batch, c);
				int			at = attnums[c] - 1;

				slot->tts_values[at] = vec->values[row];
				slot->tts_isnull[at] = vec->nulls ? vec->nulls[row] : false;
			}
			ExecStoreVirtualTuple(slot);
			tuplesort_puttupleslot(scan->sort, slot);
		}
	}
	ExecClearTuple(slot);
	LeafClose(leaf);
	tuplesort_performsort(scan->sort);
	if (scan->sorted == NULL)
		scan->sorted = MakeSingleTupleTableSlot(slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
}

bool
OrderedScanOpen(OrderedScan *scan, LeafReader *leaf, ScanState *ss,
				int ncols, const AttrNumber *attnums)
{
	scan->runs = LeafWantedRuns(leaf);
	if (scan->runs <= BF_MAX_MERGE_RUNS &&
		ManifestCommonOrder(LeafReaderManifest(leaf), scan->want) == scan->want->nsort)
	{
		LeafOpenOrdered(leaf, scan->want->nsort);
		return true;
	}
	scan->runs = 0;
	SortRows(scan, leaf, ss, ncols, attnums);
	return false;
}

bool
OrderedScanNext(OrderedScan *scan, TupleTableSlot *slot)
{
	int			natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	if (!tuplesort_gettupleslot(scan->sort, true, false, scan->sorted, NULL))
		return false;
	slot_getallattrs(scan->sorted);
	memcpy(slot->tts_values, scan->sorted->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, scan->sorted->tts_isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	return true;
}

void
OrderedScanClose(OrderedScan *scan)
{
	if (scan->sorted != NULL)
		ExecClearTuple(scan->sorted);
	if (scan->sort != NULL)
		tuplesort_end(scan->sort);
	scan->sort = NULL;
}

void
OrderedScanExplain(const OrderedScan *scan, ExplainState *es)
{
	if (scan->runs > 0)
		ExplainPropertyInteger("Runs Merged", NULL, scan->runs, es);
	else
		ExplainPropertyBool("Rows Sorted", true, es);
}

char *
OrderedScanText(Oid relid, List *order)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i + 1 < list_length(order); i += 2)
	{
		int			flags = list_nth_int(order, i + 1);
		bool		descending = (flags & BF_SORT_DESC) != 0;
		bool		nulls_first = (flags & BF_SORT_NULLS_FIRST) != 0;

		if (i > 0)
			appendStringInfoString(&text, ", ");
		appendStringInfoString(&text,
							   quote_identifier(get_attname(relid, (AttrNumber) list_nth_int(order, i),
															false)));
		if (descending)
			appendStringInfoString(&text, " DESC");
		if (nulls_first != descending)
			appendStringInfoString(&text, nulls_first ? " NULLS FIRST" : " NULLS LAST");
	}
	return text.data;
}
