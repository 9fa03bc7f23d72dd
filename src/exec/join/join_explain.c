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
#include "utils/ruleutils.h"

/* The name of the k-th key of a side of a join. */
static char *
SideKeyName(BatchSource *source, int side, int k, ExplainState *es)
{
	List	   *keys = list_nth(((CustomScan *) source->node->plan)->custom_private,
								side == 0 ? JOIN_PRIVATE_OUTER_KEYS : JOIN_PRIVATE_INNER_KEYS);

	return BatchSourceKeyName(JoinOf(source)->child[side], list_nth_int(keys, k), k, es);
}

/* Entry "key" of the output comes from one of the sides, or from both. */
char *
JoinKeyName(BatchSource *source, int key, int k, ExplainState *es)
{
	List	   *sides = list_nth(((CustomScan *) source->node->plan)->custom_private, JOIN_PRIVATE_SIDES);
	int			side = list_nth_int(sides, key);

	if (side == JOIN_SIDE_EITHER)
		return psprintf("COALESCE(%s, %s)", SideKeyName(source, 0, k, es), SideKeyName(source, 1, k, es));
	return SideKeyName(source, side, k, es);
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
						 SideKeyName(&state->source, 0, k, es),
						 SideKeyName(&state->source, 1, k, es));
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
List *
JoinBucketCounts(BatchSource *source, List *counts)
{
	for (int i = 0; i < 2; i++)
	{
		BatchSource *child = JoinOf(source)->child[i];

		counts = child->ops->bucket_counts(child, counts);
	}
	return counts;
}

static void
ExplainBuckets(BucketJoinState *state, ExplainState *es)
{
	List	   *counts = JoinBucketCounts(&state->source, NIL);
	List	   *distinct = NIL;
	ListCell   *lc;
	StringInfoData buf;
	int			groups = 0;

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

void
JoinAddCounters(BatchSource *source, SourceCounters *counters)
{
	JoinCounters own;

	JoinNodeCounters(JoinOf(source), &own);
	JoinCountersAdd(&own, &JoinOf(source)->workers);
	counters->pairs_counted += own.merge.pairs_counted;
}

void
BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketJoinState *state = (BucketJoinState *) node;
	JoinCounters counters;
	SourceCounters below = {0};

	ExplainPropertyText("Join Type", JoinTypeName(state->jointype), es);
	ExplainBucketCond(state, es);
	ExplainJoinFilter(state, ancestors, es);
	ExplainBuckets(state, es);
	for (int i = 0; i < 2; i++)
	{
		BatchSource *child = state->child[i];

		if (child->ops->explain)
			child->ops->explain(child, i == 0 ? "Outer" : "Inner", es);
		if (es->analyze && child->ops->add_counters)
			child->ops->add_counters(child, &below);
	}
	if (!es->analyze)
		return;
	JoinNodeCounters(state, &counters);
	JoinCountersAdd(&counters, &state->workers);
	/* never executed, here or in a worker */
	if (state->merge == NULL && counters.units == 0)
		return;

	ExplainPropertyInteger("Max Runs per Bucket", NULL, below.runs, es);
	ExplainPropertyInteger("Units", NULL, counters.units, es);
	UnitMeterExplain(&state->queue.meter, es);
	ExplainPropertyInteger("Rows Compared", NULL, counters.merge.rows_compared, es);
	ExplainPropertyInteger("Memory", "kB", (int64) ((below.memory + counters.merge.peak_memory) / 1024), es);
	if (counters.merge.spilled > 0)
		ExplainPropertyInteger("Temp Written", "kB", counters.merge.spilled / 1024, es);
}
