/*
 * join_explain.c
 *	  EXPLAIN lines of BucketJoin.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/join/bucket_join.h"
#include "exec/join/bucket_join_state.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

static char *KeyName(BatchInput *input, CustomScan *parent, int side, int k, ExplainState *es);

/* "alias.column" of an entry of the target list of an Append, or of the scan left in its place. */
static char *
AppendKeyName(PlanState *node, int entry, ExplainState *es)
{
	Plan	   *plan = node->plan;
	Plan	   *child = plan;
	Index		named;
	Var		   *var;
	RangeTblEntry *rte;

	if (IsA(plan, Append))
		child = linitial(((Append *) plan)->appendplans);
	if (IsA(child, Result))
		child = outerPlan(child);
	var = (Var *) list_nth_node(TargetEntry, child->targetlist, entry)->expr;
	named = ((Scan *) child)->scanrelid;
	rte = list_nth_node(RangeTblEntry, es->rtable, named - 1);
	/* a column has the same name in the partition and in its parent */
	if (IsA(plan, Append) && bms_next_member(((Append *) plan)->apprelids, -1) > 0)
		named = bms_next_member(((Append *) plan)->apprelids, -1);
	return psprintf("%s.%s", quote_identifier(list_nth(es->rtable_names, named - 1)),
					quote_identifier(get_attname(rte->relid, var->varattno, false)));
}

/* The same of an entry of the target list of any plan, as EXPLAIN VERBOSE prints it. */
static char *
RoutedKeyName(PlanState *node, int entry, ExplainState *es)
{
	TargetEntry *tle = list_nth_node(TargetEntry, node->plan->targetlist, entry);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->plan, NIL);

	return deparse_expression((Node *) tle->expr, context, true, false);
}

char *
BatchInputKeyName(BatchInput *input, int key, int k, ExplainState *es)
{
	switch (input->kind)
	{
		case BATCH_INPUT_APPEND:
			return AppendKeyName(input->node, key, es);
		case BATCH_INPUT_ROUTED:
			return RoutedKeyName(input->node, key, es);
		case BATCH_INPUT_NODE:
			break;
	}
	if (IsA(input->node, ForeignScanState))
	{
		Scan	   *scan = (Scan *) input->node->plan;
		Relation	rel = ((ScanState *) input->node)->ss_currentRelation;
		const char *refname = NULL;

		if (es->rtable_names != NIL && scan->scanrelid <= list_length(es->rtable_names))
			refname = list_nth(es->rtable_names, scan->scanrelid - 1);
		if (refname == NULL)
			refname = RelationGetRelationName(rel);
		return psprintf("%s.%s", quote_identifier(refname),
						quote_identifier(get_attname(RelationGetRelid(rel), (AttrNumber) key, false)));
	}
	else
	{
		/* entry "key" of the child's output comes from one of its own inputs */
		CustomScan *child = (CustomScan *) input->node->plan;
		int			from = list_nth_int(list_nth(child->custom_private, JOIN_PRIVATE_SIDES), key);

		if (from == JOIN_SIDE_EITHER)
			return psprintf("COALESCE(%s, %s)",
							KeyName(&BucketJoinOf(input->node)->input[0], child, 0, k, es),
							KeyName(&BucketJoinOf(input->node)->input[1], child, 1, k, es));
		return KeyName(&BucketJoinOf(input->node)->input[from], child, from, k, es);
	}
}

/* The same of the k-th key of a side of a join. */
static char *
KeyName(BatchInput *input, CustomScan *parent, int side, int k, ExplainState *es)
{
	List	   *keys = list_nth(parent->custom_private,
								side == 0 ? JOIN_PRIVATE_OUTER_KEYS : JOIN_PRIVATE_INNER_KEYS);

	return BatchInputKeyName(input, list_nth_int(keys, k), k, es);
}

static void
ExplainBucketCond(BucketJoinState *state, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) state->base.css.ss.ps.plan;
	int			nkeys = list_length(list_nth(cscan->custom_private, JOIN_PRIVATE_OUTER_KEYS));
	StringInfoData buf;

	initStringInfo(&buf);
	for (int k = 0; k < nkeys; k++)
	{
		if (k > 0)
			appendStringInfoString(&buf, " AND ");
		appendStringInfo(&buf, "(%s = %s)",
						 KeyName(&state->input[0], cscan, 0, k, es),
						 KeyName(&state->input[1], cscan, 1, k, es));
	}
	ExplainPropertyText("Bucket Cond", nkeys > 1 ? psprintf("(%s)", buf.data) : buf.data, es);
}

static void
ExplainJoinFilter(BucketJoinState *state, List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) state->base.css.ss.ps.plan;
	List	   *context;
	Node	   *expr;

	if (cscan->custom_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) cscan, ancestors);
	expr = (Node *) make_ands_explicit(cscan->custom_exprs);
	ExplainPropertyText("Join Filter", deparse_expression(expr, context, true, false), es);
	if (es->analyze && state->rows_filtered + state->workers.rows_filtered > 0)
		ExplainPropertyInteger("Rows Removed by Join Filter", NULL,
							   state->rows_filtered + state->workers.rows_filtered, es);
}

static const char *
JoinTypeName(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_LEFT:
			return "Left";
		case JOIN_FULL:
			return "Full";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			return "Inner";
	}
}

/* Bucket counts of the tables below: each once, in the order they stand. */
static List *
LeafCounts(BatchInput *input, Snapshot snapshot, List *counts)
{
	/* what is routed has no say */
	if (input->kind == BATCH_INPUT_ROUTED)
		return counts;
	if (IsA(input->node, ForeignScanState))
	{
		Relation	rel = ((ScanState *) input->node)->ss_currentRelation;
		int			n = ManifestBuckets(input->scan ? input->scan->manifest :
										ManifestReadSizes(RelationGetRelid(rel), snapshot, false));

		/* a table without files: what its options say */
		if (n == 0)
			n = TableOptionsGet(rel)->spec->nbuckets;
		return lappend_int(counts, n);
	}
	if (IsA(input->node, AppendState))
	{
		AppendState *append = (AppendState *) input->node;
		int			buckets = 0;

		/* the partitions' counts as one */
		for (int i = 0; i < append->as_nplans; i++)
		{
			BatchInput	child = {0};

			BatchInputResolve(&child, append->appendplans[i], BATCH_INPUT_NODE);
			buckets = GreatestCommonDivisor(buckets, linitial_int(LeafCounts(&child, snapshot, NIL)));
		}
		return buckets > 0 ? lappend_int(counts, buckets) : counts;
	}
	for (int i = 0; i < 2; i++)
		counts = LeafCounts(&BucketJoinOf(input->node)->input[i], snapshot, counts);
	return counts;
}

static void
ExplainBuckets(BucketJoinState *state, ExplainState *es)
{
	List	   *counts = NIL;
	List	   *distinct = NIL;
	ListCell   *lc;
	StringInfoData buf;
	int			groups = 0;

	for (int i = 0; i < 2; i++)
		counts = LeafCounts(&state->input[i], state->base.css.ss.ps.state->es_snapshot, counts);
	foreach(lc, counts)
	{
		groups = GreatestCommonDivisor(groups, lfirst_int(lc));
		distinct = list_append_unique_int(distinct, lfirst_int(lc));
	}
	if (list_length(distinct) == 1 || es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Buckets", NULL, groups, es);
		if (es->format != EXPLAIN_FORMAT_TEXT)
		{
			List	   *names = NIL;

			foreach(lc, counts)
				names = lappend(names, psprintf("%d", lfirst_int(lc)));
			ExplainPropertyList("Input Buckets", names, es);
		}
		return;
	}
	initStringInfo(&buf);
	foreach(lc, counts)
	{
		if (lc != list_head(counts))
			appendStringInfoString(&buf, lnext(counts, lc) ? ", " : " and ");
		appendStringInfo(&buf, "%d", lfirst_int(lc));
	}
	ExplainPropertyText("Buckets", psprintf("%d (%s by gcd)", groups, buf.data), es);
}

/* Most runs merged for a bucket, and memory for decoded vectors, of the scans right below. */
static void
ScanCounters(BucketJoinState *state, int *runs, Size *memory)
{
	*runs = 0;
	*memory = 0;
	for (int i = 0; i < 2; i++)
	{
		AppendInput *append = state->input[i].append;
		int			nruns = 0;

		for (int c = 0; c < (append ? AppendInputCount(append) : 1); c++)
		{
			BatchInput *input = append ? AppendInputChild(append, c) : &state->input[i];

			LeafCounters counters;

			if (input->scan == NULL)
				continue;
			ScanNodeCounters(input->scan, &counters);
			nruns += counters.max_runs;
			*memory += counters.peak_memory;
		}
		*runs = Max(*runs, nruns);
	}
}

/* Which input is not bucketed by the key, and how its rows were sorted. */
static void
ExplainRouted(BucketJoinState *state, ExplainState *es)
{
	for (int i = 0; i < 2; i++)
	{
		BatchInput *input = &state->input[i];
		int64		memory_kb;
		int64		disk_kb;

		if (input->kind != BATCH_INPUT_ROUTED)
			continue;
		ExplainPropertyText("Routed", i == 0 ? "Outer" : "Inner", es);
		if (!es->analyze || input->routed == NULL || !RoutedInputStats(input->routed, &memory_kb, &disk_kb))
			continue;
		ExplainPropertyInteger("Sort Memory", "kB", memory_kb, es);
		if (disk_kb > 0)
			ExplainPropertyInteger("Sort Disk", "kB", disk_kb, es);
	}
}

void
BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketJoinState *state = (BucketJoinState *) node;
	JoinCounters counters;
	int			runs;
	Size		memory;

	ExplainPropertyText("Join Type", JoinTypeName(state->jointype), es);
	ExplainBucketCond(state, es);
	ExplainJoinFilter(state, ancestors, es);
	ExplainBuckets(state, es);
	ExplainRouted(state, es);
	if (!es->analyze)
		return;
	JoinNodeCounters(state, &counters);
	JoinCountersAdd(&counters, &state->workers);
	/* never executed, here or in a worker */
	if (state->merge == NULL && counters.units == 0)
		return;

	ScanCounters(state, &runs, &memory);
	ExplainPropertyInteger("Max Runs per Bucket", NULL, runs, es);
	ExplainPropertyInteger("Units", NULL, counters.units, es);
	UnitMeterExplain(&state->queue.meter, es);
	ExplainPropertyInteger("Rows Compared", NULL, counters.merge.rows_compared, es);
	ExplainPropertyInteger("Memory", "kB", (int64) ((memory + counters.merge.peak_memory) / 1024), es);
	if (counters.merge.spilled > 0)
		ExplainPropertyInteger("Temp Written", "kB", counters.merge.spilled / 1024, es);
}
