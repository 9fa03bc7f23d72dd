/*
 * bucket_agg.c
 *	  Custom Scan (BucketAggregate): aggregates computed on whole batches.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/agg_groups.h"
#include "exec/batch_input.h"
#include "exec/bucket_agg.h"
#include "exec/bucket_join_state.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

typedef struct BucketAggState
{
	ParallelCustomState base;	/* must be first */
	BatchInput	input;
	int			naggs;
	BatchAgg   *aggs;
	int		   *agg_place;		/* per aggregate: its place in the scan tuple */
	int			ncolumns;		/* columns of the input that are shown */
	int		   *column_place;
	Datum	   *column_values;
	bool	   *column_nulls;
	AggGroups  *groups;			/* NULL: one group of all rows */
	UnitQueue	queue;			/* what is read, unless all of a scan is */
	bool		done;
} BucketAggState;

static Node *CreateBucketAggState(CustomScan *cscan);
static void BeginBucketAgg(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketAgg(CustomScanState *node);
static void EndBucketAgg(CustomScanState *node);
static void ReScanBucketAgg(CustomScanState *node);
static void ExplainBucketAgg(CustomScanState *node, List *ancestors, ExplainState *es);

const CustomScanMethods bucket_agg_scan_methods = {
	.CustomName = "BucketAggregate",
	.CreateCustomScanState = CreateBucketAggState,
};

static const CustomExecMethods bucket_agg_exec_methods = {
	.CustomName = "BucketAggregate",
	.BeginCustomScan = BeginBucketAgg,
	.ExecCustomScan = ExecBucketAgg,
	.EndCustomScan = EndBucketAgg,
	.ReScanCustomScan = ReScanBucketAgg,
	.EstimateDSMCustomScan = ParallelCustomEstimateDSM,
	.InitializeDSMCustomScan = ParallelCustomInitializeDSM,
	.ReInitializeDSMCustomScan = ParallelCustomReInitializeDSM,
	.InitializeWorkerCustomScan = ParallelCustomInitializeWorker,
	.ShutdownCustomScan = ParallelCustomShutdown,
	.ExplainCustomScan = ExplainBucketAgg,
};

void
BucketAggInit(void)
{
	RegisterCustomScanMethods(&bucket_agg_scan_methods);
}

/* What is read and joined below; in a parallel plan each process aggregates the groups, or runs, it claims. */
static void
AddNodes(ParallelCustomState *custom, ParallelNodes *nodes)
{
	nodes->meter = &((BucketAggState *) custom)->queue.meter;
	ParallelNodesAdd(nodes, &((BucketAggState *) custom)->input);
}

static Node *
CreateBucketAggState(CustomScan *cscan)
{
	BucketAggState *state = (BucketAggState *) newNode(sizeof(BucketAggState),
													   T_CustomScanState);

	state->base.add_nodes = AddNodes;
	state->base.css.methods = &bucket_agg_exec_methods;
	return (Node *) state;
}

/* What the scan tuple is made of: aggregates, and columns of the input. */
static void
DescribeOutput(BucketAggState *state, CustomScan *cscan)
{
	List	   *kinds = list_nth(cscan->custom_private, AGG_PRIVATE_KINDS);
	List	   *columns = list_nth(cscan->custom_private, AGG_PRIVATE_COLUMNS);
	int			n = list_length(kinds);

	state->aggs = palloc0(n * sizeof(BatchAgg));
	state->agg_place = palloc(n * sizeof(int));
	state->column_place = palloc(n * sizeof(int));
	state->column_values = palloc(n * sizeof(Datum));
	state->column_nulls = palloc(n * sizeof(bool));
	for (int i = 0; i < n; i++)
	{
		BatchAggKind kind = (BatchAggKind) list_nth_int(kinds, i);
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist, i);
		BatchAgg   *agg;

		if (kind == BATCH_AGG_NONE)
		{
			state->column_place[state->ncolumns++] = i;
			continue;
		}
		agg = &state->aggs[state->naggs];
		state->agg_place[state->naggs++] = i;
		agg->kind = kind;
		agg->col = -1;
		if (kind != BATCH_AGG_COUNT_ROWS)
			agg->col = BatchInputColumn(&state->input, list_nth_int(columns, i));
		if (kind == BATCH_AGG_MIN || kind == BATCH_AGG_MAX)
		{
			/* the result is of the column's type */
			agg->type = getBaseType(exprType((Node *) tle->expr));
			agg->keyclass = KeyClassOfType(agg->type);
		}
	}
}

static void
BeginBucketAgg(CustomScanState *node, EState *estate, int eflags)
{
	BucketAggState *state = (BucketAggState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = list_nth(cscan->custom_private, AGG_PRIVATE_KEYS);
	int		   *columns = palloc(list_length(cscan->custom_scan_tlist) * sizeof(int));
	PlanState  *child = ExecInitNode((Plan *) linitial(cscan->custom_plans), estate, eflags);

	node->custom_ps = list_make1(child);
	BatchInputResolve(&state->input, child,
					  (BatchInputKind) linitial_int(list_nth(cscan->custom_private, AGG_PRIVATE_KIND)));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (state->input.scan == NULL && state->input.join == NULL && state->input.append == NULL)
		elog(ERROR, "input of a bucket aggregate is not bucketed");
	state->queue.parent = CurrentMemoryContext;
	BatchInputDescribe(&state->input, keys);
	DescribeOutput(state, cscan);
	if (linitial_int(list_nth(cscan->custom_private, AGG_PRIVATE_GROUPED)) == 0)
		return;
	BatchInputCheckOrder(&state->input, keys);
	for (int c = 0; c < state->ncolumns; c++)
		columns[c] = BatchInputColumn(&state->input, list_nth_int(list_nth(cscan->custom_private,
																		   AGG_PRIVATE_COLUMNS),
																  state->column_place[c]));
	state->groups = AggGroupsCreate(&state->input, &state->queue, state->naggs, state->aggs,
									state->ncolumns, columns);
}

static void
AdvanceBatch(BucketAggState *state, Batch *batch)
{
	for (int i = 0; i < state->naggs; i++)
	{
		BatchAgg   *agg = &state->aggs[i];

		BatchAggAdvance(agg, agg->col >= 0 ? BatchColumn(batch, agg->col) : NULL,
						batch->selection, 0, batch->nselected);
	}
}

/* Read the whole input, or what other processes leave of it. */
static void
AggregateInput(BucketAggState *state)
{
	BatchInput *input = &state->input;
	Batch	   *batch;
	UnitShared *shared = ParallelStateUnits(state->base.parallel);

	for (int i = 0; i < state->naggs; i++)
		BatchAggReset(&state->aggs[i]);
	BatchInputStart(input);
	if (input->gate_closed)
		return;
	if (input->scan)
	{
		/* a scan need not go bucket by bucket */
		ScanNodeOpenAll(input->scan, shared);
		while ((batch = BatchInputNext(input, NULL)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			AdvanceBatch(state, batch);
		}
		BatchInputClose(input);
		return;
	}
	/* values of one key may be summed up in several units */
	state->queue.split = true;
	BatchInputStartUnits(input, &state->queue);
	while (BatchInputOpenNext(input, &state->queue))
	{
		while ((batch = BatchInputNext(input, NULL)) != NULL)
			AdvanceBatch(state, batch);
		BatchInputClose(input);
	}
}

/* Compute the next group; false at the end. */
static bool
NextGroup(BucketAggState *state)
{
	state->queue.shared = ParallelStateUnits(state->base.parallel);
	state->queue.meter.instrument = state->base.css.ss.ps.instrument;
	if (state->groups)
		return AggGroupsNext(state->groups, state->column_values, state->column_nulls);
	if (state->done)
		return false;
	AggregateInput(state);
	state->done = true;
	return true;
}

static TupleTableSlot *
ExecBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		if (!NextGroup(state))
			return node->ss.ps.ps_ProjInfo ?
				ExecClearTuple(node->ss.ps.ps_ResultTupleSlot) : slot;
		for (int i = 0; i < state->naggs; i++)
		{
			slot->tts_values[state->agg_place[i]] = state->aggs[i].value;
			slot->tts_isnull[state->agg_place[i]] = state->aggs[i].isnull;
		}
		for (int c = 0; c < state->ncolumns; c++)
		{
			slot->tts_values[state->column_place[c]] = state->column_values[c];
			slot->tts_isnull[state->column_place[c]] = state->column_nulls[c];
		}
		ExecStoreVirtualTuple(slot);

		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (node->ss.ps.qual == NULL || ExecQual(node->ss.ps.qual, econtext))
			return node->ss.ps.ps_ProjInfo ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(node, 1);
	}
}

static void
EndBucketAgg(CustomScanState *node)
{
	ExecEndNode(linitial(node->custom_ps));
}

static void
ReScanBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;
	PlanState  *child = linitial(node->custom_ps);

	state->done = false;
	if (state->groups)
		AggGroupsReset(state->groups);
	/* core passes changed parameters to left and right trees only */
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
ExplainBucketAgg(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketAggState *state = (BucketAggState *) node;
	List	   *private = ((CustomScan *) node->ss.ps.plan)->custom_private;
	List	   *keys = list_nth(private, AGG_PRIVATE_KEYS);
	List	   *names = NIL;

	if (linitial_int(list_nth(private, AGG_PRIVATE_GROUPED)) != 0)
	{
		for (int k = 0; k < list_length(keys); k++)
			names = lappend(names, BatchInputKeyName(&state->input, list_nth_int(keys, k), k, es));
		ExplainPropertyList("Group Key", names, es);
	}
	if (es->analyze)
		UnitMeterExplain(&state->queue.meter, es);
}
