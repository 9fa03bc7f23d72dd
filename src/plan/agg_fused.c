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
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "plan/agg_fused.h"
#include "plan/bucketed.h"
#include "plan/join_plan.h"
#include "plan/partial_path.h"

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

/* A BucketAggregate over an input, complete or (partial) for core to finish. */
static CustomPath *
MakeAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			const BucketInput *input, List *aggrefs, PathTarget *target, List *having)
{
	CustomPath *path = makeNode(CustomPath);
	QualCost	cost;

	path->path.pathtype = T_CustomScan;
	path->path.parent = grouped_rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = grouped_rel->consider_parallel;
	path->path.rows = 1;
	cost_qual_eval(&cost, having, root);
	path->path.startup_cost = input->path->total_cost +
		input_rel->rows * list_length(aggrefs) * ADVANCE_COST * cpu_operator_cost +
		cost.startup + cost.per_tuple;
	path->path.total_cost = path->path.startup_cost + cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_agg_path_methods;
	path->custom_paths = list_make1(input->path);
	path->custom_private = list_make3(aggrefs, having, FirstVars(input));
	return path;
}

/*
 * The same in several processes: what each computes is a transition value of
 * the aggregate, which core combines.  Only for aggregates whose result is
 * their transition value.
 */
static void
AddPartialAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				  const BucketInput *input, List *aggrefs, List *having)
{
	PathTarget *target = create_empty_pathtarget();
	List	   *partial = NIL;
	CustomPath *path;
	Path	   *gather;
	AggClauseCosts costs;
	Cost		run;
	double		rows;
	int			workers;
	ListCell   *lc;

	if (!grouped_rel->consider_parallel)
		return;
	workers = PartialWorkers(root, input_rel, input->pages);
	if (input_rel->reloptkind == RELOPT_JOINREL)
		workers = Min(workers, (int) input->nbuckets);
	if (workers == 0)
		return;
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = copyObject(lfirst_node(Aggref, lc));

		if (aggref->aggtranstype != aggref->aggtype)
			return;
		mark_partial_aggref(aggref, AGGSPLIT_INITIAL_SERIAL);
		partial = lappend(partial, aggref);
		add_column_to_pathtarget(target, (Expr *) aggref, 0);
	}
	set_pathtarget_cost_width(root, target);
	path = MakeAggPath(root, input_rel, grouped_rel, input, partial, target, NIL);
	/* all of its cost stands before its one row */
	run = path->path.startup_cost;
	path->path.startup_cost = 0;
	path->path.total_cost = run;
	MakePartial((Path *) path, workers);
	path->path.startup_cost = path->path.total_cost;
	rows = workers + 1;
	gather = (Path *) create_gather_path(root, grouped_rel, (Path *) path, target, NULL, &rows);
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
	add_path(grouped_rel, (Path *)
			 create_agg_path(root, grouped_rel, gather, grouped_rel->reltarget, AGG_PLAIN,
							 AGGSPLIT_FINAL_DESERIAL, NIL, having, &costs, 1));
}

void
FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			 GroupPathExtraData *extra)
{
	Query	   *parse = root->parse;
	List	   *aggrefs;
	BucketInput *best = NULL;
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

	add_path(grouped_rel, (Path *)
			 MakeAggPath(root, input_rel, grouped_rel, best, aggrefs, grouped_rel->reltarget,
						 (List *) extra->havingQual));
	AddPartialAggPath(root, input_rel, grouped_rel, best, aggrefs, (List *) extra->havingQual);
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
