/*
 * explain_scan.c
 *	  What EXPLAIN says of a scan.
 *
 * Scans of many partitions would say nearly the same hundreds of times: in text
 * format, unless VERBOSE, the first of them says what was planned and the last
 * one what all of them read.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include BF_EXPLAIN_STATE_HEADER
#include "exec/scan/scan_node.h"
#include "fdw/explain_scan.h"
#include "fdw/plan_ancestors.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* scans of an Append that speak for themselves, at most */
#define FEW_PARTITIONS 10

/* What the scans of the Append being explained have read so far. */
static ScanFigures partitions;

static void
ExplainRejection(List *strings, ExplainState *es)
{
	const char *code;
	const char *detail;
	const char *costs;

	if (list_length(strings) < 2)
		return;
	code = strVal(linitial(strings));
	detail = strVal(lthird(strings));
	costs = strVal(lfourth(strings));
	if (es->costs && costs[0] != '\0')
		detail = psprintf("%s (%s)", detail, costs);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Bucket Join",
							es->verbose ? psprintf("not used (%s: %s)", code, detail) :
							psprintf("not used (%s)", (char *) strVal(lsecond(strings))), es);
	else
	{
		ExplainPropertyText("Bucket Join", "not used", es);
		ExplainPropertyText("Bucket Join Reason", code, es);
		ExplainPropertyText("Bucket Join Detail", detail, es);
	}
}

/* The scans of an Append, if this is one of them and they are many; all of them are executed, or none. */
static List *
Siblings(ForeignScan *plan, ExplainState *es)
{
	List	   *above;
	Append	   *append;
	ListCell   *lc;

	if (es->format != EXPLAIN_FORMAT_TEXT || es->verbose)
		return NIL;
	above = PlanAncestors(es->pstmt, (Plan *) plan);
	append = above != NIL && IsA(linitial(above), Append) ? linitial(above) : NULL;
	if (append == NULL || list_length(append->appendplans) <= FEW_PARTITIONS || BfAppendIsPruned(append))
		return NIL;
	foreach(lc, append->appendplans)
	{
		ForeignScan *scan = lfirst(lc);

		if (!IsA(scan, ForeignScan) || scan->fs_server != plan->fs_server)
			return NIL;
	}
	return append->appendplans;
}

/* The quals that are applied to batches do not stand in plan.qual. */
static void
ExplainBatchFilter(ForeignScan *plan, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan,
												   PlanAncestors(es->pstmt, (Plan *) plan));
	Node	   *expr = (Node *) make_ands_explicit(plan->fdw_recheck_quals);
	bool		useprefix = list_length(es->rtable) > 1 || es->verbose;

	ExplainPropertyText("Batch Filter", deparse_expression(expr, context, useprefix, false), es);
}

void
ExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	BucketScanState *scan = node->fdw_state;
	List	   *order = list_nth(plan->fdw_private, SCAN_PRIVATE_ORDER);
	List	   *siblings = Siblings(plan, es);

	if (siblings == NIL || linitial(siblings) == plan)
	{
		if (order != NIL)
			ExplainPropertyText("Order", OrderedScanText(RelationGetRelid(node->ss.ss_currentRelation), order), es);
		if (plan->fdw_recheck_quals != NIL)
			ExplainBatchFilter(plan, es);
		ExplainRejection(list_nth(plan->fdw_private, SCAN_PRIVATE_REJECTION), es);
		memset(&partitions, 0, sizeof(partitions));
	}
	if (scan == NULL)
		return;
	if (siblings == NIL)
		ScanNodeExplain(scan, es);
	else if (es->analyze)
	{
		ScanFiguresAdd(&partitions, scan);
		partitions.nsiblings = list_length(siblings);
		if (llast(siblings) == plan)
			ScanFiguresExplain(&partitions, NULL, es);
	}
}
