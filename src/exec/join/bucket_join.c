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
#include "exec/source/source_of.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

static Node *CreateBucketJoinState(CustomScan *cscan);
static void BeginBucketJoin(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketJoin(CustomScanState *node);
static void EndBucketJoin(CustomScanState *node);
static void ReScanBucketJoin(CustomScanState *node);

static const BatchSourceOps join_source_ops;

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

static Node *
CreateBucketJoinState(CustomScan *cscan)
{
	BucketJoinState *state = (BucketJoinState *) newNode(sizeof(BucketJoinState),
														 T_CustomScanState);

	state->base.css.methods = &bucket_join_exec_methods;
	state->source.ops = &join_source_ops;
	state->source.node = state->source.planstate = &state->base.css.ss.ps;
	return (Node *) state;
}

/* An entry that is the k-th key of whichever side has a row. */
static void
DescribeMergedKey(BucketJoinState *state, JoinOutput *out, int k, TargetEntry *tle)
{
	out->type = getBaseType(exprType((Node *) tle->expr));
	for (int s = 0; s < 2; s++)
	{
		out->keycols[s] = state->child[s]->keycols[k];
		out->keytypes[s] = state->child[s]->keytypes[k];
	}
}

/* Where the entries of custom_scan_tlist come from. */
static void
DescribeOutput(BucketJoinState *state, List *tlist, List *sides, List *columns)
{
	state->nout = list_length(sides);
	state->out = palloc0(state->nout * sizeof(JoinOutput));
	state->unconditional = state->joinqual == NULL && state->base.css.ss.ps.qual == NULL;
	for (int i = 0; i < state->nout; i++)
	{
		JoinOutput *out = &state->out[i];
		int			column = list_nth_int(columns, i);
		BatchSource *child;

		out->side = list_nth_int(sides, i);
		if (out->side == JOIN_SIDE_EITHER)
		{
			DescribeMergedKey(state, out, column,
							  list_nth_node(TargetEntry, tlist, i));
			continue;
		}
		child = state->child[out->side];
		out->attribute = column;
		out->col = BatchSourceIsAttribute(child, column) ? -1 : BatchSourceColumn(child, column);
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
		BatchSourceKind kind = (BatchSourceKind) list_nth_int(kinds, i);
		PlanState  *child;

		/* rows that are routed are read once and forward */
		child = ExecInitNode((Plan *) lfirst(lc), estate, kind == BATCH_SOURCE_ROUTED ?
							 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK) :
							 eflags);
		node->custom_ps = lappend(node->custom_ps, child);
		state->child[i++] = BatchSourceOf(child, kind);
	}
	Assert(i == 2);
	state->queue.parent = state->cxt;
	state->queue.split = linitial_int(list_nth(cscan->custom_private, JOIN_PRIVATE_SPLIT)) != 0;
	state->joinqual = ExecInitQual(cscan->custom_exprs, &node->ss.ps);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	state->base.work.source = &state->source;
	state->base.work.meter = &state->queue.meter;
	for (i = 0; i < 2; i++)
	{
		int			wants = 0;

		BatchSourceDescribe(state->child[i], i == 0 ? okeys : ikeys);
		BatchSourceCheckOrder(state->child[i], i == 0 ? okeys : ikeys);
		if (state->jointype != JOIN_FULL &&
			(i == 1 || state->jointype == JOIN_INNER || state->jointype == JOIN_SEMI))
			wants |= WANT_NO_NULL_KEYS;
		/* a rescan is likely, or parameters may ask for one that changes the other side only */
		if ((eflags & EXEC_FLAG_REWIND) != 0 ||
			(!bms_is_empty(cscan->scan.plan.extParam) &&
			 bms_is_empty(state->child[i]->planstate->plan->extParam)))
			wants |= WANT_KEPT_ROWS;
		BatchSourceWant(state->child[i], wants);
	}
	DescribeOutput(state, cscan->custom_scan_tlist,
				   list_nth(cscan->custom_private, JOIN_PRIVATE_SIDES),
				   list_nth(cscan->custom_private, JOIN_PRIVATE_COLUMNS));
}

/* Begin the topmost join of a chain. */
static void
StartJoin(BucketJoinState *state)
{
	JoinNodeStart(&state->source);
	state->queue.shared = ParallelStateUnits(state->base.parallel);
	state->queue.meter.instrument = state->base.css.ss.ps.instrument;
	BatchSourceStartUnits(&state->source, &state->queue);
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
			JoinNodeClose(&state->source);
		}
		if (!BatchSourceOpenNext(&state->source, &state->queue))
			return ExecClearTuple(slot);
	}
}

static void
EndBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;
	ListCell   *lc;

	for (int i = 0; i < 2; i++)
		BatchSourceEnd(state->child[i]);
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

static void
ReScanBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;

	JoinNodeReset(state);
	for (int i = 0; i < 2; i++)
		BatchSourceReScan(state->child[i], state->child[i]->planstate, &node->ss.ps);
}

/*
 * The source
 */

static void
Describe(BatchSource *source)
{
	BatchSourceDescribeList(source, ((CustomScan *) source->node->plan)->custom_scan_tlist);
}

/* Merged keys are made for batches, too; whole rows are not. */
static int
Column(const BatchSource *source, int column)
{
	const JoinOutput *out = &JoinOf(source)->out[column];

	return out->side == JOIN_SIDE_EITHER || out->col >= 0 ? column : -1;
}

static void
Want(BatchSource *source, int wants)
{
	BucketJoinState *state = JoinOf(source);

	state->counts |= (wants & WANT_COUNTED_PAIRS) != 0;
	/* to a join that counts it does not matter how many rows stand for a key */
	if (state->counts && (wants & WANT_COUNTED_ROWS) != 0)
	{
		BatchSourceWant(state->child[0], WANT_COUNTED_ROWS);
		BatchSourceWant(state->child[1], WANT_COUNTED_ROWS);
	}
}

static int
Buckets(BatchSource *source)
{
	return JoinOf(source)->nbuckets;
}

static int64
GroupRows(BatchSource *source, int ngroups, int group)
{
	BucketJoinState *state = JoinOf(source);
	int64		outer = BatchSourceGroupRows(state->child[0], ngroups, group);
	int64		inner;

	if (outer == 0 && state->jointype != JOIN_FULL)
		return 0;
	inner = BatchSourceGroupRows(state->child[1], ngroups, group);
	switch (state->jointype)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
			return inner == 0 ? 0 : outer;
		case JOIN_FULL:
			return outer + inner;
		default:
			return outer;
	}
}

static int64
GroupWork(BatchSource *source, int ngroups, int group)
{
	BucketJoinState *state = JoinOf(source);

	if (GroupRows(source, ngroups, group) == 0)
		return 0;
	return BatchSourceGroupWork(state->child[0], ngroups, group) +
		BatchSourceGroupWork(state->child[1], ngroups, group);
}

/*
 * A row's matches are found whole as long as the other child is read whole;
 * whether it has any is known in one unit only.  So a child whose rows are
 * shared out must be one whose rows appear in the result of their own accord,
 * and the other one must not be: there, a row without a match in one unit may
 * have it in another.
 */
static bool
CutSources(BatchSource *source, UnitCutter *cutter, bool may_slice)
{
	BucketJoinState *state = JoinOf(source);

	return BatchSourceCutSources(state->child[0], cutter,
								 may_slice && state->jointype != JOIN_FULL) &&
		BatchSourceCutSources(state->child[1], cutter,
							  may_slice && state->jointype == JOIN_INNER);
}

/* The batches of all units of a join that is a plan of its own, in place of the rows it would give. */
static Batch *
NextOfAll(BatchSource *source)
{
	BucketJoinState *state = JoinOf(source);

	/* as ExecProcNode would */
	if (source->node->chgParam != NULL)
		ExecReScan(source->node);
	if (!state->started)
		StartJoin(state);
	for (;;)
	{
		if (state->in_group)
		{
			Batch	   *batch = JoinNodeNextBatch(source, NULL);

			if (batch != NULL)
				return batch;
			JoinNodeClose(source);
		}
		if (!BatchSourceOpenNext(source, &state->queue))
			return NULL;
	}
}

static BatchSource *
Child(BatchSource *source, int i)
{
	return i < 2 ? JoinOf(source)->child[i] : NULL;
}

static Size
ReportSize(BatchSource *source)
{
	return sizeof(JoinCounters);
}

static void
Report(BatchSource *source, void *report)
{
	JoinNodeCounters(JoinOf(source), report);
}

static void
Collect(BatchSource *source, const void *report)
{
	JoinCountersAdd(&JoinOf(source)->workers, report);
}

static const BatchSourceOps join_source_ops = {
	.describe = Describe,
	.column = Column,
	.want = Want,
	.start = JoinNodeStart,
	.buckets = Buckets,
	.group_rows = GroupRows,
	.group_work = GroupWork,
	.cut_sources = CutSources,
	.open_unit = JoinNodeOpenUnit,
	.next = JoinNodeNextBatch,
	.close = JoinNodeClose,
	.next_of_all = NextOfAll,
	.child = Child,
	.report_size = ReportSize,
	.report = Report,
	.collect = Collect,
	.key_name = JoinKeyName,
	.bucket_counts = JoinBucketCounts,
	.add_counters = JoinAddCounters,
};

/* BatchSourceFinder */
static BatchSource *
FindJoin(PlanState *planstate)
{
	BucketJoinState *state = (BucketJoinState *) planstate;

	if (state->base.css.methods != &bucket_join_exec_methods)
		return NULL;
	return &state->source;
}

void
BucketJoinInit(void)
{
	RegisterCustomScanMethods(&bucket_join_scan_methods);
	BatchSourceRegister(T_CustomScanState, FindJoin);
}
