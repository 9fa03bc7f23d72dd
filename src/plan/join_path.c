/*
 * join_path.c
 *	  Adds bucket join paths to joins of two bucketed tables.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "compat.h"
#include "exec/bucket_join.h"
#include "guc.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "plan/join_keys.h"
#include "plan/join_path.h"
#include "plan/rel_info.h"

/* merging a row, in units of cpu_operator_cost */
#define MERGE_COST 0.25
/* handing a joined row to the executor, in units of cpu_tuple_cost */
#define PAIR_COST 0.5

static set_join_pathlist_hook_type prev_join_hook = NULL;

static Plan *PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_join_path_methods = {
	.CustomName = "BucketJoin",
	.PlanCustomPath = PlanBucketJoin,
};

/* Positions in CustomPath.custom_private. */
enum JoinPathPrivate
{
	PATH_OUTER_KEYS,
	PATH_INNER_KEYS,
	PATH_RESIDUAL,				/* RestrictInfos */
	PATH_OUTER_RELID,			/* integer list of one */
	PATH_INNER_RELID
};

/*
 * Can the output of these relations be put together from their columns?
 * Whole rows and tableoid can be made; other system columns and placeholder
 * expressions, which must be computed below the join that may null them,
 * cannot.
 */
static bool
TargetIsPlain(List *exprs)
{
	List	   *vars = pull_var_clause((Node *) exprs, PVC_INCLUDE_PLACEHOLDERS |
									   PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var))
			return false;
		if (var->varattno < 0 && var->varattno != TableOidAttributeNumber)
			return false;
	}
	return true;
}

/* Is one input usable: a bucketed table of its own, without parameters? */
static bool
InputIsUsable(PlannerInfo *root, RelOptInfo *rel)
{
	return BucketRelInfoGet(rel) != NULL &&
		rel->reloptkind == RELOPT_BASEREL &&
		bms_is_empty(rel->lateral_relids) &&
		!IS_DUMMY_REL(rel) &&
		!bms_is_member(rel->relid, root->all_result_relids) &&
		TargetIsPlain(rel->reltarget->exprs);
}

/* Volatile conditions keep core's order of evaluation. */
static bool
AnyVolatile(List *restrictlist)
{
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant || contain_volatile_functions((Node *) rinfo->clause))
			return true;
	}
	return false;
}

/* Selectivity of the key equality alone: pairs that reach the join filter. */
static double
CandidatePairs(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
			   List *restrictlist, List *residual, SpecialJoinInfo *sjinfo)
{
	List	   *keyclauses = NIL;
	ListCell   *lc;

	if (residual == NIL)
		return joinrel->rows;
	foreach(lc, restrictlist)
	{
		if (!list_member_ptr(residual, lfirst(lc)))
			keyclauses = lappend(keyclauses, lfirst(lc));
	}
	return clamp_row_est(outer->rows * inner->rows *
						 clauselist_selectivity(root, keyclauses, 0, JOIN_INNER, sjinfo));
}

static void
CostBucketJoin(PlannerInfo *root, CustomPath *path, RelOptInfo *joinrel,
			   RelOptInfo *outer, RelOptInfo *inner, JoinPathExtraData *extra, List *residual)
{
	Path	   *opath = linitial(path->custom_paths);
	Path	   *ipath = lsecond(path->custom_paths);
	BucketRelInfo *oinfo = BucketRelInfoGet(outer);
	double		pairs = CandidatePairs(root, joinrel, outer, inner, extra->restrictlist,
									   residual, extra->sjinfo);
	double		units = Max(1, oinfo->options->spec->nbuckets);
	QualCost	qual;
	Cost		run;

	cost_qual_eval(&qual, residual, root);
	run = (opath->total_cost - opath->startup_cost) + (ipath->total_cost - ipath->startup_cost);
	run += (outer->rows + inner->rows) * MERGE_COST * cpu_operator_cost;
	run += pairs * PAIR_COST * cpu_tuple_cost + pairs * qual.per_tuple;
	run += joinrel->rows * joinrel->reltarget->cost.per_tuple;

	/* the first row needs the first blocks of one unit */
	path->path.startup_cost = opath->startup_cost + ipath->startup_cost + qual.startup +
		joinrel->reltarget->cost.startup +
		Min(run / units, 2 * seq_page_cost * (1 + joinrel->reltarget->width / 8.0));
	path->path.total_cost = opath->startup_cost + ipath->startup_cost + qual.startup +
		joinrel->reltarget->cost.startup + run;
	path->path.rows = joinrel->rows;
}

static void
TryBucketJoin(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
			  JoinType jointype, JoinPathExtraData *extra)
{
	JoinKeys	keys;
	CustomPath *path;

	if (jointype != JOIN_INNER)
		return;

	/*
	 * Under a row mark EvalPlanQual re-runs the join for one marked row; this
	 * node would return all rows again.
	 */
	if (root->rowMarks != NIL)
		return;
	if (!InputIsUsable(root, outer) || !InputIsUsable(root, inner) ||
		!bms_is_empty(joinrel->lateral_relids) ||
		!TargetIsPlain(joinrel->reltarget->exprs) ||
		AnyVolatile(extra->restrictlist) ||
		!JoinKeysFind(root, outer, inner, extra->restrictlist, &keys))
		return;

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.param_info = NULL;
	path->path.parallel_aware = false;
	path->path.parallel_safe = false;
	path->path.pathkeys = NIL;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_join_path_methods;
	path->custom_paths = list_make2(BucketScanPath(root, outer, true, keys.outer_attnums),
									BucketScanPath(root, inner, true, keys.inner_attnums));
	BfSetCustomRestrictInfo(path, extra->restrictlist);
	path->custom_private = list_make5(keys.outer_attnums, keys.inner_attnums, keys.residual,
									  list_make1_int(outer->relid), list_make1_int(inner->relid));
	CostBucketJoin(root, path, joinrel, outer, inner, extra, keys.residual);
	add_path(joinrel, (Path *) path);
}

static void
JoinPathHook(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_join_hook)
		prev_join_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!bf_enable || !bf_enable_bucketjoin)
		return;
	TryBucketJoin(root, joinrel, outerrel, innerrel, jointype, extra);
}

/*
 * Columns of the join's target and of the residual quals, each once.  Not of
 * the plan's target list: core may put one in later that computes from these.
 */
static List *
OutputVars(List *target, List *residual)
{
	List	   *all = pull_var_clause((Node *) target, PVC_RECURSE_AGGREGATES |
									  PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	List	   *vars = NIL;
	ListCell   *lc;

	all = list_concat(all, pull_var_clause((Node *) residual, PVC_RECURSE_AGGREGATES |
										   PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS));
	foreach(lc, all)
		vars = list_append_unique(vars, lfirst(lc));
	return vars;
}

/* Cheap clauses first, but never a clause of a lower security level after one of a higher. */
static int
CompareClauses(const ListCell *a, const ListCell *b)
{
	RestrictInfo *x = lfirst(a);
	RestrictInfo *y = lfirst(b);

	if (x->security_level != y->security_level)
		return x->security_level < y->security_level ? -1 : 1;
	if (x->eval_cost.per_tuple != y->eval_cost.per_tuple)
		return x->eval_cost.per_tuple < y->eval_cost.per_tuple ? -1 : 1;
	return 0;
}

static Plan *
PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *residual = list_copy(list_nth(best_path->custom_private, PATH_RESIDUAL));
	Index		outer_relid = linitial_int(list_nth(best_path->custom_private, PATH_OUTER_RELID));
	List	   *quals;
	List	   *sides = NIL;
	List	   *attnums = NIL;
	ListCell   *lc;
	int			resno = 1;

	list_sort(residual, CompareClauses);
	quals = extract_actual_clauses(residual, false);

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = NIL;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = quals;
	cscan->methods = &bucket_join_scan_methods;
	foreach(lc, OutputVars(rel->reltarget->exprs, quals))
	{
		Var		   *var = lfirst_node(Var, lc);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(var),
														   (AttrNumber) resno++, NULL, false));
		sides = lappend_int(sides, var->varno == outer_relid ? 0 : 1);
		attnums = lappend_int(attnums, var->varattno);
	}
	/* no range table index may stand in custom_private: setrefs does not adjust it */
	cscan->custom_private = list_make4(list_nth(best_path->custom_private, PATH_OUTER_KEYS),
									   list_nth(best_path->custom_private, PATH_INNER_KEYS),
									   sides, attnums);
	return (Plan *) cscan;
}

void
JoinPathInit(void)
{
	prev_join_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = JoinPathHook;
}
