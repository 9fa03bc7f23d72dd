/*
 * join_explain.c
 *	  EXPLAIN lines of BucketJoin.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/bucket_join.h"
#include "exec/bucket_join_state.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* "alias.column" of a key of an input, as EXPLAIN names relations. */
static char *
KeyName(JoinInput *input, AttrNumber attnum, ExplainState *es)
{
	Scan	   *scan = (Scan *) input->scanstate->plan;
	Relation	rel = ((ScanState *) input->scanstate)->ss_currentRelation;
	const char *refname = NULL;
	char	   *attname = get_attname(RelationGetRelid(rel), attnum, false);

	if (es->rtable_names != NIL && scan->scanrelid <= list_length(es->rtable_names))
		refname = list_nth(es->rtable_names, scan->scanrelid - 1);
	if (refname == NULL)
		refname = RelationGetRelationName(rel);
	return psprintf("%s.%s", quote_identifier(refname), quote_identifier(attname));
}

static void
ExplainBucketCond(BucketJoinState *state, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List	   *okeys = list_nth(cscan->custom_private, JOIN_PRIVATE_OUTER_KEYS);
	List	   *ikeys = list_nth(cscan->custom_private, JOIN_PRIVATE_INNER_KEYS);
	StringInfoData buf;

	initStringInfo(&buf);
	for (int k = 0; k < list_length(okeys); k++)
	{
		if (k > 0)
			appendStringInfoString(&buf, " AND ");
		appendStringInfo(&buf, "(%s = %s)",
						 KeyName(&state->input[0], (AttrNumber) list_nth_int(okeys, k), es),
						 KeyName(&state->input[1], (AttrNumber) list_nth_int(ikeys, k), es));
	}
	ExplainPropertyText("Bucket Cond",
						list_length(okeys) > 1 ? psprintf("(%s)", buf.data) : buf.data, es);
}

static void
ExplainJoinFilter(BucketJoinState *state, List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List	   *context;
	Node	   *expr;

	if (cscan->custom_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) cscan, ancestors);
	expr = (Node *) make_ands_explicit(cscan->custom_exprs);
	ExplainPropertyText("Join Filter", deparse_expression(expr, context, true, false), es);
	if (es->analyze && state->rows_filtered > 0)
		ExplainPropertyInteger("Rows Removed by Join Filter", NULL, state->rows_filtered, es);
}

void
BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BucketJoinState *state = (BucketJoinState *) node;
	int			counts[2] = {state->nbuckets[0], state->nbuckets[1]};
	int			groups = state->ngroups;
	int			runs = 0;

	ExplainPropertyText("Join Type", "Inner", es);
	ExplainBucketCond(state, es);
	ExplainJoinFilter(state, ancestors, es);

	/* without ANALYZE: what the manifests say now */
	if (state->group < 0)
	{
		for (int i = 0; i < 2; i++)
		{
			Relation	rel = ((ScanState *) state->input[i].scanstate)->ss_currentRelation;
			Manifest   *m = ManifestRead(RelationGetRelid(rel), node->ss.ps.state->es_snapshot);

			counts[i] = ManifestBuckets(m);
			if (counts[i] == 0)
				counts[i] = TableOptionsGet(rel)->spec->nbuckets;
		}
		groups = GreatestCommonDivisor(counts[0], counts[1]);
	}
	if (counts[0] == counts[1] || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger("Buckets", NULL, groups, es);
	else
		ExplainPropertyText("Buckets",
							psprintf("%d (%d and %d by gcd)", groups, counts[0], counts[1]), es);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Outer Buckets", NULL, counts[0], es);
		ExplainPropertyInteger("Inner Buckets", NULL, counts[1], es);
	}
	if (!es->analyze || state->group < 0)
		return;

	for (int i = 0; i < 2; i++)
	{
		if (state->input[i].scan->leaf != NULL)
			runs = Max(runs, LeafReaderCounters(state->input[i].scan->leaf)->max_runs);
	}
	ExplainPropertyInteger("Max Runs per Bucket", NULL, runs, es);
	ExplainPropertyInteger("Units", NULL, state->units, es);
	if (state->merge != NULL)
	{
		MergeJoinCounters counters;
		Size		memory;

		MergeJoinGetCounters(state->merge, &counters);
		memory = counters.peak_memory;
		for (int i = 0; i < 2; i++)
			memory += LeafReaderCounters(state->input[i].scan->leaf)->peak_memory;
		ExplainPropertyInteger("Rows Compared", NULL, counters.rows_compared, es);
		ExplainPropertyInteger("Memory", "kB", (int64) (memory / 1024), es);
		if (counters.spilled > 0)
			ExplainPropertyInteger("Temp Written", "kB", counters.spilled / 1024, es);
	}
}
