/*
 * agg_fused.c
 *	  Aggregates computed on batches, of all rows or of each bucket key.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/agg_kernels.h"
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
#include "plan/key_expr.h"
#include "plan/join_plan.h"
#include "plan/partial_path.h"
#include "utils/selfuncs.h"

/* advancing an aggregate by a row, or comparing a key with the one before, in units of cpu_operator_cost */
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

/*
 * What the expressions are computed from: aggregate calls and keys of the
 * input, each once, in the order of their first use.  False when anything of
 * it is core's to compute.
 */
static bool
BatchOutputs(const BucketInput *input, List *exprs, List **outputs)
{
	List	   *found = pull_var_clause((Node *) exprs, PVC_INCLUDE_AGGREGATES |
										PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *lc;

	*outputs = NIL;
	foreach(lc, found)
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, Aggref))
		{
			BatchAggKind kind = BatchAggKindOf((Aggref *) node);

			if (kind == BATCH_AGG_NONE ||
				(kind != BATCH_AGG_COUNT_ROWS && AggColumn((Aggref *) node) == NULL))
				return false;
		}
		else if (!IsA(node, Var) || BucketInputKey(input, node) < 0)
			return false;
		*outputs = list_append_unique(*outputs, node);
	}
	return true;
}

/*
 * The path that computes the outputs from an input; keys are the Vars to
 * group by, NIL: one group of all rows.
 */
static CustomPath *
MakeAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, PathTarget *target,
			const BucketInput *input, List *outputs, List *having, List *keys, double ngroups)
{
	CustomPath *path = makeNode(CustomPath);
	Cost		work = input_rel->rows * ADVANCE_COST * cpu_operator_cost;
	QualCost	having_cost;

	path->path.pathtype = T_CustomScan;
	path->path.parent = output_rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = output_rel->consider_parallel && !input->holds_routed;
	path->path.rows = ngroups;
	path->path.total_cost = input->path->total_cost +
		work * (list_length(outputs) + list_length(keys)) + ngroups * cpu_tuple_cost;
	path->path.startup_cost = keys != NIL ? input->path->startup_cost :
		path->path.total_cost - cpu_tuple_cost;
	if (having != NIL)
	{
		cost_qual_eval(&having_cost, having, root);
		path->path.startup_cost += having_cost.startup + (keys == NIL ? having_cost.per_tuple : 0);
		path->path.total_cost += having_cost.startup + ngroups * having_cost.per_tuple;
		if (keys != NIL)
			path->path.rows = clamp_row_est(ngroups * clauselist_selectivity(root, having, 0,
																			 JOIN_INNER, NULL));
	}
	path->path.startup_cost += target->cost.startup;
	path->path.total_cost += target->cost.startup + target->cost.per_tuple * path->path.rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_agg_path_methods;
	path->custom_paths = list_make1(input->path);
	path->custom_private = list_make4(outputs, having, keys != NIL ? keys : FirstVars(input),
									  list_make1_int(keys != NIL));
	return path;
}

/* How many processes can share the work of a path over the input; 0: it is for one. */
static int
AggWorkers(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
		   const BucketInput *input)
{
	if (!output_rel->consider_parallel || input->holds_routed)
		return 0;
	return PartialWorkers(root, input_rel, input->pages);
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
	double		rows;
	int			workers = AggWorkers(root, input_rel, grouped_rel, input);
	ListCell   *lc;

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
	path = MakeAggPath(root, input_rel, grouped_rel, target, input, partial, NIL, NIL, 1);
	/* all of its cost stands before its one row */
	path->path.total_cost = path->path.startup_cost;
	MakePartial((Path *) path, 0, workers);
	rows = workers + 1;
	gather = (Path *) create_gather_path(root, grouped_rel, (Path *) path, target, NULL, &rows);
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
	add_path(grouped_rel, (Path *)
			 create_agg_path(root, grouped_rel, gather, grouped_rel->reltarget, AGG_PLAIN,
							 AGGSPLIT_FINAL_DESERIAL, NIL, having, &costs, 1));
}

void
FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	Query	   *parse = root->parse;
	List	   *having = (List *) parse->havingQual;
	List	   *outputs;
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
	if (best == NULL ||
		!BatchOutputs(best, list_concat_copy(grouped_rel->reltarget->exprs, having), &outputs) ||
		outputs == NIL)
		return;
	add_path(grouped_rel, (Path *) MakeAggPath(root, input_rel, grouped_rel,
											   grouped_rel->reltarget, best, outputs, having,
											   NIL, 1));
	AddPartialAggPath(root, input_rel, grouped_rel, best, outputs, having);
}

/* The column that stands for each key in the grouping clauses, or in the input, in the order of the keys. */
static List *
GroupedVars(const BucketInput *input, List *exprs)
{
	List	   *vars = NIL;

	for (int k = 0; k < input->nkeys; k++)
	{
		/* of a merged key, and of one that is fixed to a value and not grouped by */
		Node	   *column = linitial(input->vars[k]);
		ListCell   *lc;

		foreach(lc, exprs)
		{
			Node	   *expr = StripCasts(lfirst(lc));

			if (BucketInputKey(input, expr) != k)
				continue;
			if (IsA(expr, Var))
				column = expr;
			break;
		}
		vars = lappend(vars, column);
	}
	return vars;
}

Path *
FusedGroupingPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
				  bool distinct, const BucketInput *input)
{
	/* core leaves the distinct relation's own target empty */
	PathTarget *target = distinct ? input_rel->reltarget : output_rel->reltarget;
	List	   *having = distinct ? NIL : (List *) root->parse->havingQual;
	List	   *exprs = get_sortgrouplist_exprs(distinct ? BfDistinctClause(root) : BfGroupClause(root),
												root->processed_tlist);
	List	   *outputs;

	if (!bms_is_empty(input_rel->lateral_relids) ||
		!BatchOutputs(input, list_concat_copy(target->exprs, having), &outputs) || outputs == NIL)
		return NULL;
	return (Path *) MakeAggPath(root, input_rel, output_rel, target, input, outputs, having,
								GroupedVars(input, exprs),
								estimate_num_groups(root, exprs, input_rel->rows, NULL, NULL));
}

Path *
FusedPartialGroupingPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						 bool distinct, const BucketInput *input)
{
	int			workers = AggWorkers(root, input_rel, output_rel, input);
	Path	   *path = workers == 0 ? NULL :
		FusedGroupingPath(root, input_rel, output_rel, distinct, input);

	if (path != NULL)
		MakePartial(path, path->startup_cost, workers);
	return path;
}

static Plan *
PlanBucketAgg(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	BatchInputKind kind = KindOfChild(child);
	List	   *kinds = NIL;
	List	   *columns = NIL;
	ListCell   *lc;
	int			resno = 1;

	foreach(lc, (List *) linitial(best_path->custom_private))
	{
		Node	   *output = lfirst(lc);
		Var		   *var = IsA(output, Var) ? (Var *) output : AggColumn((Aggref *) output);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(output),
														   (AttrNumber) resno++, NULL, false));
		kinds = lappend_int(kinds, IsA(output, Var) ? BATCH_AGG_NONE :
							BatchAggKindOf((Aggref *) output));
		columns = lappend_int(columns, var ? ColumnOfChild(child, kind, (Node *) var) : -1);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = (List *) lsecond(best_path->custom_private);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_make5(kinds, columns,
									   KeyColumns(child, kind, lthird(best_path->custom_private)),
									   list_make1_int(kind),
									   lfourth(best_path->custom_private));
	cscan->methods = &bucket_agg_scan_methods;
	return (Plan *) cscan;
}
