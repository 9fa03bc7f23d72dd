/*
 * agg_fused.c
 *	  Aggregates without GROUP BY, computed on batches.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/bucket_agg.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "plan/agg_fused.h"
#include "plan/bucketed.h"
#include "plan/join_plan.h"

/* advancing an aggregate by a row, in units of cpu_operator_cost */
#define ADVANCE_COST 0.1

static Plan *PlanBucketAgg(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
						   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_agg_path_methods = {
	.CustomName = "BucketAggregate",
	.PlanCustomPath = PlanBucketAgg,
};

/* The column an aggregate reads, NULL when it reads none or something else than a column. */
static Var *
AggColumn(const Aggref *aggref)
{
	Node	   *arg;

	if (list_length(aggref->args) != 1)
		return NULL;
	arg = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	while (arg && IsA(arg, RelabelType))
		arg = (Node *) ((RelabelType *) arg)->arg;
	if (arg == NULL || !IsA(arg, Var) || ((Var *) arg)->varattno <= 0)
		return NULL;
	return (Var *) arg;
}

/* All aggregate calls of the query, each once; NIL when one of them is core's. */
static List *
BatchAggrefs(List *exprs)
{
	List	   *found = pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
										PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	List	   *aggrefs = NIL;
	ListCell   *lc;

	foreach(lc, found)
	{
		Aggref	   *aggref = lfirst(lc);
		BatchAggKind kind;

		if (!IsA(aggref, Aggref))
			return NIL;
		kind = BatchAggKindOf(aggref);
		if (kind == BATCH_AGG_NONE ||
			(kind != BATCH_AGG_COUNT_ROWS && AggColumn(aggref) == NULL))
			return NIL;
		aggrefs = list_append_unique(aggrefs, aggref);
	}
	return aggrefs;
}

void
FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			 GroupPathExtraData *extra)
{
	Query	   *parse = root->parse;
	List	   *aggrefs;
	BucketInput *best = NULL;
	CustomPath *path;
	QualCost	having;
	ListCell   *lc;

	if (!parse->hasAggs || parse->groupClause != NIL || parse->groupingSets != NIL ||
		parse->hasTargetSRFs || root->rowMarks != NIL || IS_DUMMY_REL(input_rel) ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL ||
		!bms_is_empty(input_rel->lateral_relids))
		return;
	foreach(lc, BucketInputs(root, input_rel))
	{
		BucketInput *input = lfirst(lc);

		if (best == NULL || input->path->total_cost < best->path->total_cost)
			best = input;
	}
	if (best == NULL)
		return;
	aggrefs = BatchAggrefs(list_concat_copy(grouped_rel->reltarget->exprs,
											(List *) extra->havingQual));
	if (aggrefs == NIL)
		return;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = grouped_rel;
	path->path.pathtarget = grouped_rel->reltarget;
	path->path.rows = 1;
	cost_qual_eval(&having, (List *) extra->havingQual, root);
	path->path.startup_cost = best->path->total_cost +
		input_rel->rows * list_length(aggrefs) * ADVANCE_COST * cpu_operator_cost +
		having.startup + having.per_tuple;
	path->path.total_cost = path->path.startup_cost + cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_agg_path_methods;
	path->custom_paths = list_make1(best->path);
	path->custom_private = list_make3(aggrefs, extra->havingQual, FirstVars(best));
	add_path(grouped_rel, (Path *) path);
}

static Plan *
PlanBucketAgg(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *aggrefs = linitial(best_path->custom_private);
	List	   *kinds = NIL;
	List	   *columns = NIL;
	ListCell   *lc;
	int			resno = 1;

	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		Var		   *var = AggColumn(aggref);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(aggref),
														   (AttrNumber) resno++, NULL, false));
		kinds = lappend_int(kinds, BatchAggKindOf(aggref));
		columns = lappend_int(columns, var ? ColumnOfChild(linitial(custom_plans), var) : -1);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = (List *) lsecond(best_path->custom_private);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_make4(kinds, columns,
									   KeyColumns(linitial(custom_plans), lthird(best_path->custom_private)),
									   list_make1_int(IsAppendPlan(linitial(custom_plans))));
	cscan->methods = &bucket_agg_scan_methods;
	return (Plan *) cscan;
}
