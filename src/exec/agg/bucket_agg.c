/*
 * bucket_agg.c
 *	  Custom Scan (BucketAggregate): aggregates computed on whole batches.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "exec/agg/agg_counted.h"
#include "exec/agg/agg_groups.h"
#include "exec/agg/agg_hash.h"
#include "exec/agg/bucket_agg.h"
#include "exec/agg/expr/computed_column.h"
#include "exec/source/parallel_state.h"
#include "exec/source/source_of.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

typedef struct BucketAggState
{
	ParallelCustomState base;	/* must be first */
	BucketAggMode mode;
	BucketAggStage stage;
	BatchSource *input;			/* NULL: a FINAL stage reads rows */
	int			naggs;
	BatchAgg   *aggs;
	AggArgs		args;
	int		   *agg_place;		/* per aggregate: its place in the scan tuple */
	int			ncolumns;		/* columns of the input that are shown */
	int		   *column_place;
	int		   *column_source;	/* batch column; of a FINAL stage the child's; -1: it is computed */
	ComputedColumn **computed;	/* then, how */
	Datum	   *column_values;
	bool	   *column_nulls;
	AggCell    *cells;			/* of the present group; of HASHED in the table */
	AggGroups  *groups;			/* BY_KEY */
	AggHash    *hash;			/* HASHED, and FINAL */
	AggCounted *counted;		/* large groups of the join are counted; NULL: they are not */
	AggVector  *vectors;		/* per aggregate, of a batch */
	const ColumnVector **columns;	/* per column, of a batch */
	Datum	   *read_values;	/* FINAL: per column, of a row of the child */
	bool	   *read_nulls;
	Datum	   *packed;			/* and per aggregate */
	int		   *packed_source;	/* its place there */

	bool		started;		/* reading of the input */
	bool		in_group;		/* of buckets */
	bool		whole;			/* all of the input was opened at once */
	UnitQueue	queue;			/* what is read, unless all is */
	UnitClaim	claim;			/* where the process stands if it is */
	bool		done;			/* ALL: the group was given */
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
	VectorAggsCheck();
}

static Node *
CreateBucketAggState(CustomScan *cscan)
{
	BucketAggState *state = (BucketAggState *) newNode(sizeof(BucketAggState),
													   T_CustomScanState);

	state->base.css.methods = &bucket_agg_exec_methods;
	return (Node *) state;
}

/* The function is not called, yet to use it takes the same rights as in core's nodes. */
static void
CheckRights(Oid aggfnoid)
{
	AclResult	result = BfFunctionAclCheck(aggfnoid, GetUserId());

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(aggfnoid));
	InvokeFunctionExecuteHook(aggfnoid);
}

/* Describe an aggregate of the scan tuple. */
static void
DescribeAgg(BucketAggState *state, CustomScan *cscan, int place, const Aggref *aggref)
{
	BatchAgg   *agg = &state->aggs[state->naggs];
	AggArg	   *in = &state->args.list[state->naggs];
	int			column = list_nth_int(list_nth(cscan->custom_private, AGG_PRIVATE_COLUMNS), place);
	int			arg = list_nth_int(list_nth(cscan->custom_private, AGG_PRIVATE_ARGS), place);
	int			filter = list_nth_int(list_nth(cscan->custom_private, AGG_PRIVATE_FILTERS), place);
	List	   *sides = list_nth(cscan->custom_private, AGG_PRIVATE_SIDES);

	CheckRights(aggref->aggfnoid);
	BatchAggInit(agg, aggref, state->hash ? AggHashContext(state->hash) : CurrentMemoryContext);
	state->agg_place[state->naggs] = place;
	in->col = -1;
	if (state->stage == BUCKET_AGG_FINAL)
		state->packed_source[state->naggs] = column;
	else if (column >= 0)
		in->col = BatchSourceColumn(state->input, column);
	if (sides != NIL)
		in->side = list_nth_int(sides, place);
	AggArgInit(&state->args, in, agg,
				 filter < 0 ? NULL : list_nth(cscan->custom_exprs, filter),
				 arg < 0 ? NULL : list_nth(cscan->custom_exprs, arg));
	state->naggs++;
}

/* What the scan tuple is made of: aggregates, and columns of the input. */
static void
DescribeOutput(BucketAggState *state, CustomScan *cscan)
{
	List	   *roles = list_nth(cscan->custom_private, AGG_PRIVATE_ROLES);
	List	   *columns = list_nth(cscan->custom_private, AGG_PRIVATE_COLUMNS);
	List	   *places = list_nth(cscan->custom_private, AGG_PRIVATE_ARGS);
	List	   *computed = list_nth(cscan->custom_private, AGG_PRIVATE_COMPUTED);
	AggArgs    *args = &state->args;
	int			n = list_length(roles);
	Oid		   *types = palloc(n * sizeof(Oid));

	for (int i = 0; i < n; i++)
	{
		int			source = list_nth_int(columns, i);
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist, i);

		if (list_nth_int(roles, i) == BUCKET_AGG_AGGREGATE)
			continue;
		if (state->stage != BUCKET_AGG_FINAL && source >= 0)
		{
			/* expressions may read any of them */
			source = BatchSourceColumn(state->input, source);
			args->vars.var_cols[args->vars.nvars] = source;
			args->vars.var_places[args->vars.nvars++] = i;
		}
		if (list_nth_int(roles, i) == BUCKET_AGG_INPUT)
			continue;
		types[state->ncolumns] = exprType((Node *) tle->expr);
		state->column_place[state->ncolumns] = i;
		state->column_source[state->ncolumns++] = source;
	}
	/* all columns are known now */
	for (int c = 0; c < state->ncolumns; c++)
	{
		int			place = list_nth_int(places, state->column_place[c]);

		if (place >= 0)
			state->computed[c] = ComputedColumnCreate(list_nth(computed, place), &args->vars, args->parent);
	}
	if (state->mode == BUCKET_AGG_HASHED || state->stage == BUCKET_AGG_FINAL)
		state->hash = AggHashCreate(state->ncolumns, types, state->stage == BUCKET_AGG_PARTIAL,
									get_hash_memory_limit());
	for (int i = 0; i < n; i++)
	{
		if (list_nth_int(roles, i) == BUCKET_AGG_AGGREGATE)
			DescribeAgg(state, cscan, i, (Aggref *)
						list_nth_node(TargetEntry, cscan->custom_scan_tlist, i)->expr);
	}
	args->n = state->naggs;
	if (state->hash)
		AggHashSetAggs(state->hash, state->naggs, state->aggs);
}

static void
AllocateOutput(BucketAggState *state, int n)
{
	state->aggs = palloc0(n * sizeof(BatchAgg));
	state->agg_place = palloc(n * sizeof(int));
	state->column_place = palloc(n * sizeof(int));
	state->column_source = palloc(n * sizeof(int));
	state->computed = palloc0(n * sizeof(ComputedColumn *));
	state->column_values = palloc(n * sizeof(Datum));
	state->column_nulls = palloc(n * sizeof(bool));
	state->cells = palloc0(n * sizeof(AggCell));
	state->vectors = palloc0(n * sizeof(AggVector));
	state->columns = palloc0(n * sizeof(ColumnVector *));
	state->read_values = palloc(n * sizeof(Datum));
	state->read_nulls = palloc(n * sizeof(bool));
	state->packed = palloc(n * sizeof(Datum));
	state->packed_source = palloc(n * sizeof(int));
	state->args.list = palloc0(n * sizeof(AggArg));
	state->args.vars.var_cols = palloc(n * sizeof(int));
	state->args.vars.var_places = palloc(n * sizeof(int));
}

/* Have the join below count the pairs of large groups. */
static void
CountPairs(BucketAggState *state)
{
	int		   *sides = palloc(Max(state->naggs, 1) * sizeof(int));

	for (int i = 0; i < state->naggs; i++)
		sides[i] = state->args.list[i].side;
	state->counted = AggCountedCreate(state->naggs, state->aggs, state->cells, sides);
	BatchSourceWant(state->input, WANT_COUNTED_PAIRS);
	state->queue.counts = true;
	pfree(sides);
}

/*
 * Where rows are only counted, tables need not give each of them: those with one
 * key may come as one row that tells how many they are.  A join does not mind,
 * if it counts.
 */
static void
CountRows(BucketAggState *state)
{
	for (int i = 0; i < state->naggs; i++)
	{
		if (!state->aggs[i].fn->counts_rows || state->args.list[i].filter >= 0)
			return;
	}
	if (state->mode == BUCKET_AGG_HASHED || state->stage == BUCKET_AGG_FINAL)
		return;
	if (state->counted || state->mode == BUCKET_AGG_BY_KEY)
		BatchSourceWant(state->input, WANT_COUNTED_ROWS);
}

static void
BeginBucketAgg(CustomScanState *node, EState *estate, int eflags)
{
	BucketAggState *state = (BucketAggState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = list_nth(cscan->custom_private, AGG_PRIVATE_KEYS);
	List	   *mode = list_nth(cscan->custom_private, AGG_PRIVATE_MODE);
	PlanState  *child = ExecInitNode((Plan *) linitial(cscan->custom_plans), estate, eflags);

	node->custom_ps = list_make1(child);
	state->mode = (BucketAggMode) linitial_int(mode);
	state->stage = (BucketAggStage) lsecond_int(mode);
	if (state->stage != BUCKET_AGG_FINAL)
		state->input = BatchSourceOf(child, (BatchSourceKind)
									 linitial_int(list_nth(cscan->custom_private, AGG_PRIVATE_KIND)));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	/* in a parallel plan each process aggregates the groups, or runs, it claims */
	state->base.work.source = state->input;
	state->base.work.meter = &state->queue.meter;
	if (state->input != NULL)
		BatchSourceDescribe(state->input, keys);
	state->queue.parent = CurrentMemoryContext;
	AllocateOutput(state, list_length(cscan->custom_scan_tlist));
	state->args.vars.slot = node->ss.ss_ScanTupleSlot;
	state->args.vars.econtext = CreateExprContext(estate);
	state->args.parent = &node->ss.ps;
	state->args.cxt = AllocSetContextCreate(CurrentMemoryContext, "BucketAggregate values",
											  ALLOCSET_DEFAULT_SIZES);
	DescribeOutput(state, cscan);
	if (list_nth(cscan->custom_private, AGG_PRIVATE_SIDES) != NIL)
		CountPairs(state);
	CountRows(state);
	if (state->mode != BUCKET_AGG_BY_KEY)
		return;
	BatchSourceCheckOrder(state->input, keys);
	state->groups = AggGroupsCreate(state->input, &state->queue, state->aggs, state->cells,
									&state->args, state->counted, state->ncolumns,
									state->column_source);
}

/* The next batch of the whole input, or of what other processes leave of it; NULL at the end. */
static Batch *
NextBatch(BucketAggState *state)
{
	BatchSource *input = state->input;

	if (!state->started)
	{
		state->started = true;
		/* rows of one key may be read in several units */
		state->queue.split = true;
		BatchSourceStart(input);
		if (input->gate_closed)
			return NULL;
		/* scans need not go bucket by bucket */
		state->claim = (UnitClaim) {.shared = state->queue.shared};
		state->whole = state->in_group = BatchSourceOpenAll(input, &state->claim);
		if (!state->whole)
			BatchSourceStartUnits(input, &state->queue);
	}
	for (;;)
	{
		Batch	   *batch = state->in_group ? BatchSourceNext(input, NULL) : NULL;

		if (batch != NULL)
			return batch;
		if (state->in_group)
			BatchSourceClose(input);
		state->in_group = !state->whole && !input->gate_closed &&
			BatchSourceOpenNext(input, &state->queue);
		if (!state->in_group)
			return NULL;
	}
}

/* Aggregate the whole input as one group. */
static void
AggregateAll(BucketAggState *state)
{
	Batch	   *batch;

	if (state->counted)
		AggCountedReset(state->counted);
	for (int i = 0; i < state->naggs; i++)
		AggCellReset(&state->aggs[i], &state->cells[i]);
	while ((batch = NextBatch(state)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		AggArgsLoad(&state->args, batch, state->vectors);
		for (int s = 0; s < batch->nstretches; s++)
		{
			if (batch->stretches[s].begins)
				AggCountedFinish(state->counted);
			AggCountedAdd(state->counted, state->vectors, batch, s);
		}
		for (int i = 0; batch->nstretches == 0 && i < state->naggs; i++)
			state->aggs[i].fn->advance(&state->aggs[i], &state->cells[i], &state->vectors[i],
									   batch->selection, 0, batch->nselected);
	}
	if (state->counted)
		AggCountedFinish(state->counted);
}

/* AggHashRead: a batch of rows */
static bool
ReadBatch(void *arg)
{
	BucketAggState *state = arg;
	Batch	   *batch = NextBatch(state);

	if (batch == NULL)
		return false;
	AggArgsLoad(&state->args, batch, state->vectors);
	for (int c = 0; c < state->ncolumns; c++)
		state->columns[c] = state->computed[c] != NULL ? ComputedColumnOf(state->computed[c], batch) :
			BatchColumn(batch, state->column_source[c]);
	AggHashAddBatch(state->hash, batch, state->columns, state->vectors);
	return true;
}

/* AggHashRead: a group of another process */
static bool
ReadPacked(void *arg)
{
	BucketAggState *state = arg;
	TupleTableSlot *slot = ExecProcNode(linitial(state->base.css.custom_ps));

	if (TupIsNull(slot))
		return false;
	slot_getallattrs(slot);
	for (int c = 0; c < state->ncolumns; c++)
	{
		state->read_values[c] = slot->tts_values[state->column_source[c]];
		state->read_nulls[c] = slot->tts_isnull[state->column_source[c]];
	}
	for (int i = 0; i < state->naggs; i++)
		state->packed[i] = slot->tts_values[state->packed_source[i]];
	AggHashAddPacked(state->hash, state->read_values, state->read_nulls, state->packed);
	return true;
}

/* Compute the next group; false at the end. */
static bool
NextGroup(BucketAggState *state)
{
	state->queue.shared = ParallelStateUnits(state->base.parallel);
	state->queue.meter.instrument = state->base.css.ss.ps.instrument;
	if (state->hash)
		return AggHashNext(state->hash,
						   state->stage == BUCKET_AGG_FINAL ? ReadPacked : ReadBatch, state,
						   &state->column_values, &state->column_nulls, &state->cells);
	if (state->groups)
		return AggGroupsNext(state->groups, state->column_values, state->column_nulls);
	if (state->done)
		return false;
	AggregateAll(state);
	state->done = true;
	return true;
}

/* Put the present group into the slot. */
static void
FillSlot(BucketAggState *state, TupleTableSlot *slot)
{
	for (int v = 0; v < state->args.vars.nvars; v++)
		slot->tts_isnull[state->args.vars.var_places[v]] = true;
	for (int i = 0; i < state->naggs; i++)
	{
		int			place = state->agg_place[i];

		slot->tts_isnull[place] = false;
		if (state->stage == BUCKET_AGG_PARTIAL)
			slot->tts_values[place] = PointerGetDatum(AggCellPack(&state->aggs[i],
																  &state->cells[i]));
		else
			slot->tts_values[place] = AggCellResult(&state->aggs[i], &state->cells[i],
													&slot->tts_isnull[place]);
	}
	for (int c = 0; c < state->ncolumns; c++)
	{
		slot->tts_values[state->column_place[c]] = state->column_values[c];
		slot->tts_isnull[state->column_place[c]] = state->column_nulls[c];
	}
	ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
ExecBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	MemoryContext old;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		if (!NextGroup(state))
		{
			ExecClearTuple(slot);
			return node->ss.ps.ps_ProjInfo ?
				ExecClearTuple(node->ss.ps.ps_ResultTupleSlot) : slot;
		}
		ExecClearTuple(slot);
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		FillSlot(state, slot);
		MemoryContextSwitchTo(old);

		econtext->ecxt_scantuple = slot;
		if (node->ss.ps.qual == NULL || ExecQual(node->ss.ps.qual, econtext))
			return node->ss.ps.ps_ProjInfo ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(node, 1);
	}
}

static void
EndBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;

	/* its files */
	if (state->hash)
		AggHashReset(state->hash);
	ExecEndNode(linitial(node->custom_ps));
}

static void
ReScanBucketAgg(CustomScanState *node)
{
	BucketAggState *state = (BucketAggState *) node;

	state->done = false;
	if (state->in_group)
		BatchSourceClose(state->input);
	state->in_group = false;
	state->started = false;
	if (state->hash)
		AggHashReset(state->hash);
	for (int c = 0; c < state->ncolumns; c++)
	{
		if (state->computed[c] != NULL)
			ComputedColumnReset(state->computed[c]);
	}
	if (state->groups)
		AggGroupsReset(state->groups);
	BatchSourceReScan(state->input, linitial(node->custom_ps), &node->ss.ps);
}

/* The columns that are grouped by. */
static List *
GroupNames(CustomScan *cscan, List *ancestors, ExplainState *es)
{
	List	   *roles = list_nth(cscan->custom_private, AGG_PRIVATE_ROLES);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) cscan, ancestors);
	List	   *names = NIL;

	for (int i = 0; i < list_length(roles); i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist, i);

		if (list_nth_int(roles, i) == BUCKET_AGG_COLUMN)
			names = lappend(names, deparse_expression((Node *)
													  makeVarFromTargetEntry(INDEX_VAR, tle),
													  context, true, false));
	}
	return names;
}

/* Are large groups of the join counted, and how many pairs were? */
static void
ExplainCounted(BucketAggState *state, ExplainState *es)
{
	SourceCounters counters = {0};

	if (list_nth(((CustomScan *) state->base.css.ss.ps.plan)->custom_private, AGG_PRIVATE_SIDES) == NIL)
		return;
	ExplainPropertyText("Frequent Keys", "counted, not paired", es);
	if (!es->analyze)
		return;
	state->input->ops->add_counters(state->input, &counters);
	ExplainPropertyFloat("Pairs Counted", NULL, counters.pairs_counted, 0, es);
}

static void
ExplainBucketAgg(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketAggState *state = (BucketAggState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *keys = list_nth(cscan->custom_private, AGG_PRIVATE_KEYS);
	List	   *names = NIL;

	if (state->stage != BUCKET_AGG_COMPLETE)
		ExplainPropertyText("Stage", state->stage == BUCKET_AGG_FINAL ? "Final" : "Partial", es);
	if (state->mode == BUCKET_AGG_BY_KEY)
	{
		for (int k = 0; k < list_length(keys); k++)
			names = lappend(names, BatchSourceKeyName(state->input, list_nth_int(keys, k), k, es));
		ExplainPropertyList("Group Key", names, es);
	}
	if (state->mode == BUCKET_AGG_HASHED)
		ExplainPropertyList("Hash Key", GroupNames(cscan, ancestors, es), es);
	ExplainCounted(state, es);
	if (!es->analyze)
		return;
	if (state->stage != BUCKET_AGG_FINAL)
		UnitMeterExplain(&state->queue.meter, es);
	if (state->hash == NULL || state->mode != BUCKET_AGG_HASHED)
		return;
	ExplainPropertyInteger("Memory", "kB", (int64) (AggHashPeakMemory(state->hash) + 1023) / 1024, es);
	if (AggHashSpilled(state->hash) > 0)
		ExplainPropertyInteger("Temp Written", "kB", (AggHashSpilled(state->hash) + 1023) / 1024, es);
}
