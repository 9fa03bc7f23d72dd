/*
 * bucket_rows.c
 *	  Custom Scan (BucketRows): the rows of a bucketed input, key by key.
 *
 * Rows of a key come together, bucket after bucket, which is what core's
 * grouping nodes need of an input; no order of all rows is promised.  Where
 * the rows of each key are wanted in an order of their own, files that are
 * sorted by it give it; what the files are is known when the query runs, so
 * that it is decided here.  Else the rows of each key are sorted.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/agg/kept_key.h"
#include "exec/keyed/bucket_rows.h"
#include "exec/keyed/run_sort.h"
#include "exec/source/parallel_state.h"
#include "exec/source/source_of.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

typedef struct BucketRowsState
{
	ParallelCustomState base;	/* must be first */
	BatchSource *input;
	int			ncolumns;		/* of the scan tuple */
	int		   *columns;		/* batch columns */
	ColumnVector **vectors;		/* of the present batch */
	List	   *want;			/* order of files that makes the sort needless; NIL: none does */

	bool		started;
	UnitQueue	queue;
	bool		in_unit;		/* a bucket group, or a part of one, is open */
	KeyVector	keys;			/* of the present batch; sorting only */
	Batch	   *batch;			/* NULL: the next one is to be read */
	int			pos;			/* next row of it, or entry of keys */

	RunSort    *sort;			/* NULL: no order is wanted */
	bool		sorting;		/* the files have not got it */
	bool		getting;		/* sorted rows are there */
	List	   *exprs;			/* ExprState: order columns that are computed */
	Datum	   *values;			/* a row to be sorted: the scan tuple and exprs */
	bool	   *nulls;

	bool		have_last;
	KeptKey		last;			/* of the batch before */
} BucketRowsState;

static Node *CreateBucketRowsState(CustomScan *cscan);
static void BeginBucketRows(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketRows(CustomScanState *node);
static void EndBucketRows(CustomScanState *node);
static void ReScanBucketRows(CustomScanState *node);
static void ExplainBucketRows(CustomScanState *node, List *ancestors, ExplainState *es);

const CustomScanMethods bucket_rows_scan_methods = {
	.CustomName = "BucketRows",
	.CreateCustomScanState = CreateBucketRowsState,
};

static const CustomExecMethods bucket_rows_exec_methods = {
	.CustomName = "BucketRows",
	.BeginCustomScan = BeginBucketRows,
	.ExecCustomScan = ExecBucketRows,
	.EndCustomScan = EndBucketRows,
	.ReScanCustomScan = ReScanBucketRows,
	.EstimateDSMCustomScan = ParallelCustomEstimateDSM,
	.InitializeDSMCustomScan = ParallelCustomInitializeDSM,
	.ReInitializeDSMCustomScan = ParallelCustomReInitializeDSM,
	.InitializeWorkerCustomScan = ParallelCustomInitializeWorker,
	.ShutdownCustomScan = ParallelCustomShutdown,
	.ExplainCustomScan = ExplainBucketRows,
};

void
BucketRowsInit(void)
{
	RegisterCustomScanMethods(&bucket_rows_scan_methods);
}

static Node *
CreateBucketRowsState(CustomScan *cscan)
{
	BucketRowsState *state = (BucketRowsState *) newNode(sizeof(BucketRowsState),
														 T_CustomScanState);

	state->base.css.methods = &bucket_rows_exec_methods;
	return (Node *) state;
}

/* Prepare to sort the rows of each key. */
static void
InitSort(BucketRowsState *state, CustomScan *cscan)
{
	List	   *places = list_nth(cscan->custom_private, ROWS_PRIVATE_PLACES);
	List	   *operators = list_nth(cscan->custom_private, ROWS_PRIVATE_OPERATORS);
	List	   *nulls_first = list_nth(cscan->custom_private, ROWS_PRIVATE_NULLS_FIRST);
	TupleDesc	row = state->base.css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	int			n = list_length(places);
	int			natts = row->natts + list_length(cscan->custom_exprs);
	TupleDesc	desc = CreateTemplateTupleDesc(natts);
	AttrNumber *attnums = palloc(n * sizeof(AttrNumber));
	Oid		   *ops = palloc(n * sizeof(Oid));
	Oid		   *collations = palloc(n * sizeof(Oid));
	bool	   *first = palloc(n * sizeof(bool));
	int			computed = 0;
	ListCell   *lc;

	for (int i = 1; i <= row->natts; i++)
		TupleDescCopyEntry(desc, (AttrNumber) i, row, (AttrNumber) i);
	foreach(lc, cscan->custom_exprs)
	{
		Node	   *expr = lfirst(lc);
		AttrNumber	at = (AttrNumber) (row->natts + foreach_current_index(lc) + 1);

		TupleDescInitEntry(desc, at, NULL, exprType(expr), exprTypmod(expr), 0);
		TupleDescInitEntryCollation(desc, at, exprCollation(expr));
		state->exprs = lappend(state->exprs, ExecInitExpr((Expr *) expr, &state->base.css.ss.ps));
	}
	for (int i = 0; i < n; i++)
	{
		int			place = list_nth_int(places, i);
		Node	   *expr;

		if (place < 0)
		{
			expr = list_nth(cscan->custom_exprs, computed);
			place = row->natts + computed++;
		}
		else
			expr = (Node *) list_nth_node(TargetEntry, cscan->custom_scan_tlist, place)->expr;
		attnums[i] = (AttrNumber) (place + 1);
		ops[i] = list_nth_oid(operators, i);
		collations[i] = exprCollation(expr);
		first[i] = list_nth_int(nulls_first, i) != 0;
	}
	state->sort = RunSortCreate(desc, n, attnums, ops, collations, first);
	state->values = palloc(natts * sizeof(Datum));
	state->nulls = palloc(natts * sizeof(bool));
	KeyVectorInit(&state->keys, state->input->nkeys, state->input->keycols, state->input->keyclasses,
				  state->input->keytypes);
	KeptKeyInit(&state->last, state->input);
}

static void
BeginBucketRows(CustomScanState *node, EState *estate, int eflags)
{
	BucketRowsState *state = (BucketRowsState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = list_nth(cscan->custom_private, ROWS_PRIVATE_KEYS);
	List	   *columns = list_nth(cscan->custom_private, ROWS_PRIVATE_COLUMNS);
	List	   *order = list_nth(cscan->custom_private, ROWS_PRIVATE_FILE_ORDER);
	PlanState  *child = ExecInitNode((Plan *) linitial(cscan->custom_plans), estate,
									 eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));

	node->custom_ps = list_make1(child);
	state->input = BatchSourceOf(child, (BatchSourceKind)
								 linitial_int(list_nth(cscan->custom_private, ROWS_PRIVATE_KIND)));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	/* each process of a parallel plan gives the units it claims */
	state->base.work.source = state->input;
	state->base.work.meter = &state->queue.meter;
	BatchSourceDescribe(state->input, keys);
	BatchSourceCheckOrder(state->input, keys);
	state->ncolumns = list_length(columns);
	state->columns = palloc(state->ncolumns * sizeof(int));
	state->vectors = palloc(state->ncolumns * sizeof(ColumnVector *));
	for (int i = 0; i < state->ncolumns; i++)
		state->columns[i] = BatchSourceColumn(state->input, list_nth_int(columns, i));
	if (list_nth(cscan->custom_private, ROWS_PRIVATE_PLACES) != NIL)
		InitSort(state, cscan);
	state->want = order;
}

/* Fix parameters, and whether the files have the order. */
static void
Start(BucketRowsState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->base.css.ss.ps.state->es_query_cxt);

	BatchSourceStart(state->input);
	/* where the files have it, units are merged by more columns than the key */
	state->sorting = state->sort != NULL &&
		!(state->want != NIL && BatchSourceSortedBy(state->input, state->want));
	state->queue.shared = ParallelStateUnits(state->base.parallel);
	state->queue.parent = state->base.css.ss.ps.state->es_query_cxt;
	state->queue.meter.instrument = state->base.css.ss.ps.instrument;
	BatchSourceStartUnits(state->input, &state->queue);
	state->started = true;
	MemoryContextSwitchTo(old);
}

/* Open the next unit that is ours; false when there is none. */
static bool
OpenNextUnit(BucketRowsState *state)
{
	if (!BatchSourceOpenNext(state->input, &state->queue))
		return false;
	state->in_unit = true;
	state->have_last = false;
	return true;
}

/* Read the next batch with rows of the open unit; false at its end. */
static bool
ReadBatch(BucketRowsState *state)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		state->batch = BatchSourceNext(state->input, NULL);
		if (state->batch == NULL)
		{
			BatchSourceClose(state->input);
			state->in_unit = false;
			return false;
		}
	} while (state->batch->nselected == 0);
	for (int i = 0; i < state->ncolumns; i++)
		state->vectors[i] = BatchColumn(state->batch, state->columns[i]);
	if (state->sorting)
		KeyVectorFill(&state->keys, state->batch, true);
	state->pos = 0;
	return true;
}

/* Put a row of the batch into the scan slot. */
static void
FillSlot(BucketRowsState *state, int row)
{
	TupleTableSlot *slot = state->base.css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	for (int i = 0; i < state->ncolumns; i++)
	{
		const ColumnVector *vec = state->vectors[i];

		slot->tts_values[i] = vec->values[row];
		slot->tts_isnull[i] = vec->nulls ? vec->nulls[row] : false;
	}
	ExecStoreVirtualTuple(slot);
}

/* The next row as the input gives it. */
static bool
NextPlainRow(BucketRowsState *state)
{
	while (state->batch == NULL || state->pos >= state->batch->nselected)
	{
		if (!state->in_unit && !OpenNextUnit(state))
			return false;
		if (!ReadBatch(state))
			state->batch = NULL;
	}
	FillSlot(state, state->batch->selection ? state->batch->selection[state->pos] : state->pos);
	state->pos++;
	return true;
}

/* Does an entry begin a key? */
static bool
BeginsKey(const BucketRowsState *state, int entry)
{
	const KeyVector *keys = &state->keys;

	if (entry > 0)
		return KeyVectorCompare(keys, entry - 1, keys, entry) != 0;
	return !state->have_last || !KeptKeyGoesOn(&state->last, keys, 0);
}

/* Put an entry of the batch into the sort. */
static void
PutRow(BucketRowsState *state, int entry, bool new_key)
{
	ExprContext *econtext = state->base.css.ss.ps.ps_ExprContext;
	int			row = KeyVectorRow(&state->keys, entry);
	ListCell   *lc;

	for (int i = 0; i < state->ncolumns; i++)
	{
		const ColumnVector *vec = state->vectors[i];

		state->values[i] = vec->values[row];
		state->nulls[i] = vec->nulls ? vec->nulls[row] : false;
	}
	if (state->exprs != NIL)
	{
		ResetExprContext(econtext);
		FillSlot(state, row);
		econtext->ecxt_scantuple = state->base.css.ss.ss_ScanTupleSlot;
		foreach(lc, state->exprs)
		{
			int			i = state->ncolumns + foreach_current_index(lc);

			state->values[i] = ExecEvalExprSwitchContext(lfirst(lc), econtext, &state->nulls[i]);
		}
	}
	RunSortPut(state->sort, state->values, state->nulls, new_key);
}

/* Sort all rows of the next keys; false when there are none. */
static bool
FillSort(BucketRowsState *state)
{
	for (;;)
	{
		if (state->batch == NULL)
		{
			if (!state->in_unit)
			{
				/* a key lies in one unit */
				if (RunSortRows(state->sort) >= RUN_SORT_ROWS || !OpenNextUnit(state))
					break;
			}
			if (!ReadBatch(state))
			{
				state->batch = NULL;
				continue;
			}
		}
		while (state->pos < state->keys.n)
		{
			bool		new_key = BeginsKey(state, state->pos);

			if (new_key && RunSortRows(state->sort) >= RUN_SORT_ROWS)
			{
				RunSortPerform(state->sort);
				return true;
			}
			PutRow(state, state->pos++, new_key);
		}
		KeptKeySet(&state->last, state->input, &state->keys, state->keys.n - 1);
		state->have_last = true;
		state->batch = NULL;
	}
	if (RunSortRows(state->sort) == 0)
		return false;
	RunSortPerform(state->sort);
	return true;
}

/* The next row of the sorted ones. */
static bool
NextSortedRow(BucketRowsState *state)
{
	TupleTableSlot *slot = state->base.css.ss.ss_ScanTupleSlot;
	Datum	   *values;
	bool	   *nulls;

	for (;;)
	{
		if (!state->getting && !FillSort(state))
			return false;
		state->getting = RunSortGet(state->sort, &values, &nulls);
		if (!state->getting)
			continue;
		ExecClearTuple(slot);
		memcpy(slot->tts_values, values, state->ncolumns * sizeof(Datum));
		memcpy(slot->tts_isnull, nulls, state->ncolumns * sizeof(bool));
		ExecStoreVirtualTuple(slot);
		return true;
	}
}

static TupleTableSlot *
ExecBucketRows(CustomScanState *node)
{
	BucketRowsState *state = (BucketRowsState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ProjectionInfo *proj = node->ss.ps.ps_ProjInfo;

	if (!state->started)
		Start(state);
	if (!(state->sorting ? NextSortedRow(state) : NextPlainRow(state)))
		return ExecClearTuple(proj ? node->ss.ps.ps_ResultTupleSlot : slot);
	if (proj == NULL)
		return slot;
	ResetExprContext(node->ss.ps.ps_ExprContext);
	node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(proj);
}

static void
EndBucketRows(CustomScanState *node)
{
	BucketRowsState *state = (BucketRowsState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->sort != NULL)
		RunSortEnd(state->sort);
	ExecEndNode(linitial(node->custom_ps));
}

static void
ReScanBucketRows(CustomScanState *node)
{
	BucketRowsState *state = (BucketRowsState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->in_unit)
		BatchSourceClose(state->input);
	if (state->sort != NULL)
		RunSortReset(state->sort);
	state->in_unit = state->started = state->getting = false;
	state->batch = NULL;
	BatchSourceReScan(state->input, linitial(node->custom_ps), &node->ss.ps);
}

/* An order column as EXPLAIN prints sort keys. */
static char *
OrderColumn(CustomScan *cscan, int i, int *computed, List *context)
{
	int			place = list_nth_int(list_nth(cscan->custom_private, ROWS_PRIVATE_PLACES), i);
	Oid			operator = list_nth_oid(list_nth(cscan->custom_private, ROWS_PRIVATE_OPERATORS), i);
	bool		nulls_first = list_nth_int(list_nth(cscan->custom_private, ROWS_PRIVATE_NULLS_FIRST), i) != 0;
	bool		descending = false;
	Node	   *expr;

	if (place < 0)
		expr = list_nth(cscan->custom_exprs, (*computed)++);
	else
	{
		Node	   *column = (Node *) list_nth_node(TargetEntry, cscan->custom_scan_tlist, place)->expr;

		expr = (Node *) makeVar(INDEX_VAR, (AttrNumber) (place + 1), exprType(column),
								exprTypmod(column), exprCollation(column), 0);
	}
	(void) get_equality_op_for_ordering_op(operator, &descending);
	return psprintf("%s%s%s", deparse_expression(expr, context, true, false),
					descending ? " DESC" : "",
					nulls_first == descending ? "" : nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

static void
ExplainBucketRows(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketRowsState *state = (BucketRowsState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = list_nth(cscan->custom_private, ROWS_PRIVATE_KEYS);
	int			norder = list_length(list_nth(cscan->custom_private, ROWS_PRIVATE_PLACES));
	List	   *context;
	List	   *names = NIL;
	int64		rows;
	int64		disk_kb;
	int			computed = 0;

	for (int k = 0; k < list_length(keys); k++)
		names = lappend(names, BatchSourceKeyName(state->input, list_nth_int(keys, k), k, es));
	ExplainPropertyList("Bucket Key", names, es);
	if (es->analyze)
		UnitMeterExplain(&state->queue.meter, es);
	if (norder == 0)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) cscan, ancestors);
	names = NIL;
	for (int i = 0; i < norder; i++)
		names = lappend(names, OrderColumn(cscan, i, &computed, context));
	ExplainPropertyList("Order in Key", names, es);
	/* what workers sorted is not known here */
	if (!es->analyze || !state->started || cscan->scan.plan.parallel_aware)
		return;
	RunSortStats(state->sort, &rows, &disk_kb);
	ExplainPropertyInteger("Rows Sorted", NULL, rows, es);
	if (disk_kb > 0)
		ExplainPropertyInteger("Sort Disk", "kB", disk_kb, es);
}
