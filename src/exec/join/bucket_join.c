/*
 * bucket_join.c
 *	  Custom Scan (BucketJoin): the executor node.
 *
 * Buckets of all inputs that are congruent modulo the gcd of their counts
 * form a group; groups, or parts of large ones, are joined one after the other
 * by merging.  Counts, runs, groups and parts come from the manifests the scans
 * read under the query's snapshot and from the files, never from the planner.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/join/bucket_join.h"
#include "exec/join/bucket_join_state.h"
#include "exec/unit/unit_cutter.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static Node *CreateBucketJoinState(CustomScan *cscan);
static void BeginBucketJoin(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketJoin(CustomScanState *node);
static void EndBucketJoin(CustomScanState *node);
static void ReScanBucketJoin(CustomScanState *node);

const CustomScanMethods bucket_join_scan_methods = {
	.CustomName = "BucketJoin",
	.CreateCustomScanState = CreateBucketJoinState,
};

static const CustomExecMethods bucket_join_exec_methods = {
	.CustomName = "BucketJoin",
	.BeginCustomScan = BeginBucketJoin,
	.ExecCustomScan = ExecBucketJoin,
	.EndCustomScan = EndBucketJoin,
	.ReScanCustomScan = ReScanBucketJoin,
	.EstimateDSMCustomScan = ParallelCustomEstimateDSM,
	.InitializeDSMCustomScan = ParallelCustomInitializeDSM,
	.ReInitializeDSMCustomScan = ParallelCustomReInitializeDSM,
	.InitializeWorkerCustomScan = ParallelCustomInitializeWorker,
	.ShutdownCustomScan = ParallelCustomShutdown,
	.ExplainCustomScan = BucketJoinExplain,
};

void
BucketJoinInit(void)
{
	RegisterCustomScanMethods(&bucket_join_scan_methods);
}

/*
 * This join and what is below it.  Only the topmost join of a chain is
 * parallel-aware; those below open the groups they are told.
 */
static void
AddNodes(ParallelCustomState *custom, ParallelNodes *nodes)
{
	BucketJoinState *state = (BucketJoinState *) custom;

	if (nodes->meter == NULL)
		nodes->meter = &state->queue.meter;
	nodes->joins = lappend(nodes->joins, state);
	for (int i = 0; i < 2; i++)
		ParallelNodesAdd(nodes, &state->input[i]);
}

static Node *
CreateBucketJoinState(CustomScan *cscan)
{
	BucketJoinState *state = (BucketJoinState *) newNode(sizeof(BucketJoinState),
														 T_CustomScanState);

	state->base.add_nodes = AddNodes;
	state->base.css.methods = &bucket_join_exec_methods;
	return (Node *) state;
}

BucketJoinState *
BucketJoinOf(PlanState *planstate)
{
	if (!IsA(planstate, CustomScanState) ||
		((CustomScanState *) planstate)->methods != &bucket_join_exec_methods)
		return NULL;
	return (BucketJoinState *) planstate;
}

/* An entry that is the k-th key of whichever side has a row. */
static void
DescribeMergedKey(BucketJoinState *state, JoinOutput *out, int k, TargetEntry *tle)
{
	out->type = getBaseType(exprType((Node *) tle->expr));
	for (int s = 0; s < 2; s++)
	{
		out->keycols[s] = state->input[s].keycols[k];
		out->keytypes[s] = state->input[s].keytypes[k];
	}
	state->direct = false;
}

/* Where the entries of custom_scan_tlist come from. */
static void
DescribeOutput(BucketJoinState *state, List *tlist, List *sides, List *columns)
{
	state->nout = list_length(sides);
	state->out = palloc0(state->nout * sizeof(JoinOutput));
	state->unconditional = state->joinqual == NULL && state->base.css.ss.ps.qual == NULL;
	state->direct = state->unconditional;
	for (int i = 0; i < state->nout; i++)
	{
		JoinOutput *out = &state->out[i];
		int			column = list_nth_int(columns, i);
		BatchInput  *input;

		out->side = list_nth_int(sides, i);
		if (out->side == JOIN_SIDE_EITHER)
		{
			DescribeMergedKey(state, out, column,
							  list_nth_node(TargetEntry, tlist, i));
			continue;
		}
		input = &state->input[out->side];
		out->col = column;
		if (input->scan == NULL)
			continue;
		out->col = -1;
		out->attnum = (AttrNumber) column;
		state->direct &= out->attnum > 0;
		if (out->attnum > 0)
		{
			out->col = ScanNodeColumn(input->scan, out->attnum);
			if (out->col < 0)
				elog(ERROR, "output column %d of a bucket join is not read", out->attnum);
		}
	}
}

static void
BeginBucketJoin(CustomScanState *node, EState *estate, int eflags)
{
	BucketJoinState *state = (BucketJoinState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *okeys = list_nth(cscan->custom_private, JOIN_PRIVATE_OUTER_KEYS);
	List	   *ikeys = list_nth(cscan->custom_private, JOIN_PRIVATE_INNER_KEYS);
	List	   *kinds = list_nth(cscan->custom_private, JOIN_PRIVATE_KINDS);
	ListCell   *lc;
	int			i = 0;

	state->jointype = (JoinType) linitial_int(list_nth(cscan->custom_private, JOIN_PRIVATE_TYPE));
	state->cxt = CurrentMemoryContext;
	foreach(lc, cscan->custom_plans)
	{
		BatchInputKind kind = (BatchInputKind) list_nth_int(kinds, i);
		PlanState  *child;

		/* rows that are routed are read once and forward */
		child = ExecInitNode((Plan *) lfirst(lc), estate, kind == BATCH_INPUT_ROUTED ?
							 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK) :
							 eflags);
		node->custom_ps = lappend(node->custom_ps, child);
		BatchInputResolve(&state->input[i], child, kind);
		i++;
	}
	Assert(i == 2);
	state->queue.parent = state->cxt;
	state->queue.split = linitial_int(list_nth(cscan->custom_private, JOIN_PRIVATE_SPLIT)) != 0;
	state->joinqual = ExecInitQual(cscan->custom_exprs, &node->ss.ps);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	for (i = 0; i < 2; i++)
	{
		if (state->input[i].scan == NULL && state->input[i].join == NULL &&
			state->input[i].append == NULL && state->input[i].routed == NULL)
			elog(ERROR, "input of a bucket join is not bucketed");
		BatchInputDescribe(&state->input[i], i == 0 ? okeys : ikeys);
		BatchInputCheckOrder(&state->input[i], i == 0 ? okeys : ikeys);
		if (state->input[i].routed == NULL)
			continue;
		if (state->jointype != JOIN_FULL &&
			(i == 1 || state->jointype == JOIN_INNER || state->jointype == JOIN_SEMI))
			RoutedInputDropNulls(state->input[i].routed);

		/* a rescan is likely, or parameters may ask for one that changes the other side only */
		if ((eflags & EXEC_FLAG_REWIND) != 0 ||
			(!bms_is_empty(cscan->scan.plan.extParam) &&
			 bms_is_empty(state->input[i].planstate->plan->extParam)))
			RoutedInputKeepRows(state->input[i].routed);
	}
	DescribeOutput(state, cscan->custom_scan_tlist,
				   list_nth(cscan->custom_private, JOIN_PRIVATE_SIDES),
				   list_nth(cscan->custom_private, JOIN_PRIVATE_COLUMNS));
}

/* UnitRows */
static int64
GroupWork(void *arg, int ngroups, int group)
{
	return JoinNodeGroupWork(arg, ngroups, group);
}

/* UnitInputs */
static bool
CutInputs(void *arg, UnitCutter *cutter)
{
	return JoinNodeCutSources(arg, cutter, cutter->split);
}

/* Begin the topmost join of a chain. */
static void
StartJoin(BucketJoinState *state)
{
	JoinNodeStart(state);
	state->queue.shared = ParallelStateUnits(state->base.parallel);
	state->queue.meter.instrument = state->base.css.ss.ps.instrument;
	UnitQueueStart(&state->queue, state->nbuckets, GroupWork, CutInputs, state);
}

/* Open the next unit that is ours; false when there is none. */
static bool
OpenNextUnit(BucketJoinState *state)
{
	const Unit *unit = UnitQueueNext(&state->queue);

	if (unit == NULL)
		return false;
	JoinNodeOpenUnit(state, state->queue.ngroups, unit);
	return true;
}

static TupleTableSlot *
ExecBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ProjectionInfo *proj = node->ss.ps.ps_ProjInfo;

	if (!state->started)
		StartJoin(state);
	for (;;)
	{
		if (state->in_group)
		{
			if (JoinNodeNextEntry(state))
				return proj ? ExecProject(proj) : slot;
			JoinNodeCloseGroup(state);
		}
		if (!OpenNextUnit(state))
			return ExecClearTuple(slot);
	}
}

bool
BucketJoinGivesBatches(const BucketJoinState *state)
{
	for (int i = 0; i < state->nout; i++)
	{
		if (state->out[i].side != JOIN_SIDE_EITHER && state->out[i].col < 0)
			return false;
	}
	return true;
}

Batch *
BucketJoinNextBatch(BucketJoinState *state)
{
	/* as ExecProcNode would */
	if (state->base.css.ss.ps.chgParam != NULL)
		ExecReScan(&state->base.css.ss.ps);
	if (!state->started)
		StartJoin(state);
	for (;;)
	{
		if (state->in_group)
		{
			Batch	   *batch = JoinNodeNextBatch(state, NULL);

			if (batch != NULL)
				return batch;
			JoinNodeCloseGroup(state);
		}
		if (!OpenNextUnit(state))
			return NULL;
	}
}

static void
EndBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;
	ListCell   *lc;

	for (int i = 0; i < 2; i++)
	{
		if (state->input[i].routed != NULL)
			RoutedInputEnd(state->input[i].routed);
	}
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

static void
ReScanBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;

	JoinNodeReset(state);
	for (int i = 0; i < 2; i++)
		BatchInputReScan(&state->input[i], &node->ss.ps);
}
