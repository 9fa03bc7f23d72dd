/*
 * bucket_agg.c
 *	  Custom Scan (BucketAggregate): aggregates computed on whole batches.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "common/int.h"
#include "compat.h"
#include "exec/batch_input.h"
#include "exec/bucket_agg.h"
#include "exec/bucket_join_state.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* One aggregate and its transition value. */
typedef struct BatchAgg
{
	BatchAggKind kind;
	int			col;			/* batch column, -1 for count(*) */
	KeyClass	keyclass;		/* of the column, for min and max */
	Oid			type;
	bool		isnull;			/* no value yet */
	Datum		value;
	int64		value64;		/* KeySort64 of value, for min and max */
} BatchAgg;

typedef struct BucketAggState
{
	CustomScanState css;		/* must be first */
	BatchInput	input;
	int			naggs;
	BatchAgg   *aggs;
	bool		done;
	ParallelState *parallel;	/* of a parallel-aware node, NULL: this process reads all */
} BucketAggState;

static Node *CreateBucketAggState(CustomScan *cscan);
static void BeginBucketAgg(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketAgg(CustomScanState *node);
static void EndBucketAgg(CustomScanState *node);
static void ReScanBucketAgg(CustomScanState *node);
static Size EstimateDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt);
static void InitializeDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
static void ReInitializeDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
static void InitializeWorkerBucketAgg(CustomScanState *node, shm_toc *toc, void *coordinate);
static void ShutdownBucketAgg(CustomScanState *node);

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
	.EstimateDSMCustomScan = EstimateDSMBucketAgg,
	.InitializeDSMCustomScan = InitializeDSMBucketAgg,
	.ReInitializeDSMCustomScan = ReInitializeDSMBucketAgg,
	.InitializeWorkerCustomScan = InitializeWorkerBucketAgg,
	.ShutdownCustomScan = ShutdownBucketAgg,
};

void
BucketAggInit(void)
{
	RegisterCustomScanMethods(&bucket_agg_scan_methods);
}

BatchAggKind
BatchAggKindOf(const Aggref *aggref)
{
	if (aggref->aggorder != NIL || aggref->aggdistinct != NIL || aggref->aggfilter != NULL ||
		aggref->aggdirectargs != NIL || aggref->aggvariadic || aggref->agglevelsup != 0)
		return BATCH_AGG_NONE;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
			return BATCH_AGG_COUNT_ROWS;
		case F_COUNT_ANY:
			return BATCH_AGG_COUNT;
		case F_SUM_INT2:
		case F_SUM_INT4:
			return BATCH_AGG_SUM_INT;
		case F_SUM_FLOAT8:
			return BATCH_AGG_SUM_FLOAT8;
		case F_MIN_INT2:
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_OID:
		case F_MIN_DATE:
		case F_MIN_TIME:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
			return BATCH_AGG_MIN;
		case F_MAX_INT2:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_OID:
		case F_MAX_DATE:
		case F_MAX_TIME:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
			return BATCH_AGG_MAX;
		default:
			return BATCH_AGG_NONE;
	}
}

static Node *
CreateBucketAggState(CustomScan *cscan)
{
	BucketAggState *state = (BucketAggState *) newNode(sizeof(BucketAggState),
													   T_CustomScanState);

	state->css.methods = &bucket_agg_exec_methods;
	return (Node *) state;
}

static void
BeginBucketAgg(CustomScanState *node, EState *estate, int eflags)
{
	BucketAggState *state = (BucketAggState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *kinds = list_nth(cscan->custom_private, AGG_PRIVATE_KINDS);
	List	   *columns = list_nth(cscan->custom_private, AGG_PRIVATE_COLUMNS);
	PlanState  *child = ExecInitNode((Plan *) linitial(cscan->custom_plans), estate, eflags);

	node->custom_ps = list_make1(child);
	BatchInputResolve(&state->input, child,
					  linitial_int(list_nth(cscan->custom_private, AGG_PRIVATE_APPEND)) != 0);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (state->input.scan == NULL && state->input.join == NULL && state->input.append == NULL)
		elog(ERROR, "input of a bucket aggregate is not bucketed");
	BatchInputDescribe(&state->input, list_nth(cscan->custom_private, AGG_PRIVATE_KEYS));

	state->naggs = list_length(kinds);
	state->aggs = palloc0(state->naggs * sizeof(BatchAgg));
	for (int i = 0; i < state->naggs; i++)
	{
		BatchAgg   *agg = &state->aggs[i];
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist, i);
		int			column = list_nth_int(columns, i);

		agg->kind = (BatchAggKind) list_nth_int(kinds, i);
		agg->col = -1;
		if (agg->kind != BATCH_AGG_COUNT_ROWS)
			agg->col = BatchInputColumn(&state->input, column);
		if (agg->kind == BATCH_AGG_MIN || agg->kind == BATCH_AGG_MAX)
		{
			/* the result is of the column's type */
			agg->type = getBaseType(exprType((Node *) tle->expr));
			agg->keyclass = KeyClassOfType(agg->type);
		}
	}
}

/* Run a statement for the number of each selected row that is not NULL in vec. */
#define FOR_EACH_VALUE(batch, vec, row, stmt) \
	do { \
		for (int i_ = 0; i_ < (batch)->nselected; i_++) \
		{ \
			int			row = (batch)->selection ? (batch)->selection[i_] : i_; \
			if ((vec)->nulls && (vec)->nulls[row]) \
				continue; \
			stmt; \
		} \
	} while (0)

static void
AddCount(BatchAgg *agg, int64 n)
{
	int64		count;

	if (pg_add_s64_overflow(DatumGetInt64(agg->value), n, &count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
	agg->value = Int64GetDatum(count);
}

/* As float8pl: the order of the additions is that of the rows. */
static void
SumFloat8(BatchAgg *agg, Batch *batch, ColumnVector *vec)
{
	float8		sum = DatumGetFloat8(agg->value);
	bool		isnull = agg->isnull;

	FOR_EACH_VALUE(batch, vec, row,
				   {
					   float8		x = DatumGetFloat8(vec->values[row]);
					   float8		old = sum;

					   sum = isnull ? x : old + x;
					   if (unlikely(isinf(sum)) && !isnull && !isinf(old) && !isinf(x))
						   float_overflow_error();
					   isnull = false;
				   });
	agg->value = Float8GetDatum(sum);
	agg->isnull = isnull;
}

/* As int4_sum: a bigint that wraps around. */
static void
SumInt(BatchAgg *agg, Batch *batch, ColumnVector *vec)
{
	uint64		sum = (uint64) DatumGetInt64(agg->value);
	bool		isnull = agg->isnull;

	FOR_EACH_VALUE(batch, vec, row,
				   {
					   sum += (uint64) vec->values[row];
					   isnull = false;
				   });
	agg->value = Int64GetDatum((int64) sum);
	agg->isnull = isnull;
}

static void
MinMax(BatchAgg *agg, Batch *batch, ColumnVector *vec)
{
	bool		want_max = agg->kind == BATCH_AGG_MAX;

	FOR_EACH_VALUE(batch, vec, row,
				   {
					   int64		x = KeySort64(agg->keyclass, agg->type, vec->values[row]);

					   if (agg->isnull || (want_max ? x > agg->value64 : x < agg->value64))
					   {
						   agg->value64 = x;
						   agg->value = vec->values[row];
						   agg->isnull = false;
					   }
				   });
}

static void
AdvanceBatch(BucketAggState *state, Batch *batch)
{
	for (int i = 0; i < state->naggs; i++)
	{
		BatchAgg   *agg = &state->aggs[i];
		ColumnVector *vec = agg->col >= 0 ? BatchColumn(batch, agg->col) : NULL;

		switch (agg->kind)
		{
			case BATCH_AGG_COUNT_ROWS:
				AddCount(agg, batch->nselected);
				break;
			case BATCH_AGG_COUNT:
				if (vec->nulls == NULL)
					AddCount(agg, batch->nselected);
				else
				{
					int64		n = 0;

					FOR_EACH_VALUE(batch, vec, row, (void) row; n++);
					AddCount(agg, n);
				}
				break;
			case BATCH_AGG_SUM_INT:
				SumInt(agg, batch, vec);
				break;
			case BATCH_AGG_SUM_FLOAT8:
				SumFloat8(agg, batch, vec);
				break;
			case BATCH_AGG_MIN:
			case BATCH_AGG_MAX:
				MinMax(agg, batch, vec);
				break;
			case BATCH_AGG_NONE:
				elog(ERROR, "unexpected kind of aggregate");
		}
	}
}

/* UnitRows */
static int64
GroupRows(void *arg, int ngroups, int group)
{
	return BatchInputGroupRows(arg, ngroups, group);
}

/* Read the whole input, or what other processes leave of it. */
static void
AggregateInput(BucketAggState *state)
{
	BatchInput *input = &state->input;
	Batch	   *batch;
	UnitShared *shared = state->parallel ? ParallelStateUnits(state->parallel) : NULL;
	UnitQueue	queue = {.shared = shared};
	int			group;

	for (int i = 0; i < state->naggs; i++)
	{
		BatchAgg   *agg = &state->aggs[i];

		agg->value = Int64GetDatum(0);
		agg->isnull = agg->kind != BATCH_AGG_COUNT_ROWS && agg->kind != BATCH_AGG_COUNT;
	}
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
	UnitQueueStart(&queue, BatchInputBuckets(input), GroupRows, input);
	while ((group = UnitQueueNext(&queue)) >= 0)
	{
		BatchInputOpenGroup(input, queue.nunits, group);
		while ((batch = BatchInputNext(input, NULL)) != NULL)
			AdvanceBatch(state, batch);
		BatchInputClose(input);
	}
}

static TupleTableSlot *
ExecBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	ExecClearTuple(slot);
	if (state->done)
		return slot;
	AggregateInput(state);
	state->done = true;
	for (int i = 0; i < state->naggs; i++)
	{
		slot->tts_values[i] = state->aggs[i].value;
		slot->tts_isnull[i] = state->aggs[i].isnull;
	}
	ExecStoreVirtualTuple(slot);

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	if (node->ss.ps.qual != NULL && !ExecQual(node->ss.ps.qual, econtext))
	{
		InstrCountFiltered1(node, 1);
		return ExecClearTuple(slot);
	}
	return node->ss.ps.ps_ProjInfo ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
}

/*
 * Parallel plans: each process aggregates the groups, or runs, it claims.
 */

static ParallelNodes
NodesOf(BucketAggState *state)
{
	ParallelNodes nodes = {NIL, NIL};

	ParallelNodesAdd(&nodes, &state->input);
	return nodes;
}

static Size
EstimateDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt)
{
	ParallelNodes nodes = NodesOf((BucketAggState *) node);

	return ParallelStateSize(&nodes, pcxt->nworkers);
}

static void
InitializeDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BucketAggState *state = (BucketAggState *) node;
	ParallelNodes nodes = NodesOf(state);

	state->parallel = coordinate;
	ParallelStateInit(state->parallel, &nodes, pcxt->nworkers);
}

static void
ReInitializeDSMBucketAgg(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	UnitSharedReset(ParallelStateUnits(coordinate));
}

static void
InitializeWorkerBucketAgg(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((BucketAggState *) node)->parallel = coordinate;
}

static void
ShutdownBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;
	ParallelNodes nodes;

	if (state->parallel == NULL)
		return;
	nodes = NodesOf(state);
	ParallelStateShutdown(state->parallel, &nodes);
	/* the memory goes away with the workers; a rescan gets other */
	state->parallel = NULL;
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
	/* core passes changed parameters to left and right trees only */
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}
