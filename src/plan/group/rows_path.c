/*
 * rows_path.c
 *	  Rows of a bucketed input key by key, those of each key in an order.
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "compat.h"
#include "exec/keyed/bucket_rows.h"
#include "exec/keyed/run_sort.h"
#include "exec/scan/ordered_scan.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "plan/group/rows_path.h"
#include "plan/join/join_plan.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/scan_path.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

/* handing a row to the executor, in units of cpu_tuple_cost */
#define ROW_COST 0.5
/* comparing the numbers of two keys, in units of cpu_operator_cost */
#define NUMBER_COST 0.2

/* Positions in CustomPath.custom_private. */
enum RowsPathPrivateIndex
{
	PATH_KEYS,					/* per key, the expression that stands for it in the child */
	PATH_EXPRS,					/* see RowOrder */
	PATH_OPERATORS,
	PATH_NULLS_FIRST,
	PATH_FILE_ORDER				/* see ROWS_PRIVATE_FILE_ORDER */
};

static Plan *PlanBucketRows(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_rows_path_methods = {
	.CustomName = "BucketRows",
	.PlanCustomPath = PlanBucketRows,
};

/* Sort by an expression too; nothing to do when it is there. */
static bool
RowOrderAdd(RowOrder *order, Node *expr, Oid sortop, bool nulls_first)
{
	if (!OidIsValid(sortop) || contain_volatile_functions(expr) || contain_subplans(expr) ||
		expression_returns_set(expr))
		return false;
	if (list_member(order->exprs, expr))
		return true;
	order->exprs = lappend(order->exprs, expr);
	order->operators = lappend_oid(order->operators, sortop);
	order->nulls_first = lappend_int(order->nulls_first, nulls_first);
	return true;
}

bool
RowOrderAddClauses(RowOrder *order, const BucketInput *input, List *clauses, List *targetlist)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, targetlist);

		if (BucketInputKey(input, expr) < 0 &&
			!RowOrderAdd(order, expr, clause->sortop, clause->nulls_first))
			return false;
	}
	return true;
}

/* The sort column of the files that an expression is, further than the key; NULL: none. */
static const SortColumn *
FileSortColumn(RelOptInfo *rel, const BucketSpec *spec, int i, Node *expr)
{
	const SortColumn *col = i < spec->nsort ? &spec->sort[i] : NULL;
	Var		   *var = BatchQualColumn(expr, rel->relid);

	if (col == NULL || var == NULL || var->varattno != col->attnum ||
		!CollationAllows(col->keyclass, var->varcollid, true))
		return NULL;
	return col;
}

bool
RowOrderAddGroups(PlannerInfo *root, RelOptInfo *rel, const BucketInput *input,
				  RowOrder *order, List *clauses, List *targetlist)
{
	BucketRelInfo *info = rel->reloptkind == RELOPT_BASEREL ? BucketRelInfoGet(rel) : NULL;
	ListCell   *lc;

	/* the columns that follow the key in the files, as far as they are grouped by */
	for (int i = input->nkeys; info != NULL && i < info->options->spec->nsort; i++)
	{
		const SortColumn *col = NULL;

		foreach(lc, clauses)
		{
			Node	   *expr = get_sortgroupclause_expr(lfirst(lc), targetlist);
			TypeCacheEntry *type;
			bool		descending;

			col = FileSortColumn(rel, info->options->spec, i, expr);
			if (col == NULL || BucketInputKey(input, expr) >= 0)
				continue;
			descending = (col->flags & BF_SORT_DESC) != 0;
			type = lookup_type_cache(exprType(expr), descending ? TYPECACHE_GT_OPR : TYPECACHE_LT_OPR);
			if (!RowOrderAdd(order, expr, descending ? type->gt_opr : type->lt_opr,
							 (col->flags & BF_SORT_NULLS_FIRST) != 0))
				return false;
			break;
		}
		if (col == NULL)
			break;
	}
	return RowOrderAddClauses(order, input, clauses, targetlist);
}

/* Can it be computed from columns that stand in a target? */
static bool
ComputableFrom(Node *expr, List *columns)
{
	List	   *vars = pull_var_clause(expr, PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS |
									   PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		if (!list_member(columns, lfirst(lc)))
			return false;
	}
	return true;
}

bool
RowOrderAddPathkeys(RelOptInfo *rel, RowOrder *order, List *pathkeys)
{
	List	   *columns = pull_var_clause((Node *) rel->reltarget->exprs, PVC_INCLUDE_PLACEHOLDERS |
										  PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS);
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		ListCell   *lm;
		bool		found = false;

		foreach(lm, pathkey->pk_eclass->ec_members)
		{
			EquivalenceMember *em = lfirst(lm);
			Oid			sortop;

			if (em->em_is_const || em->em_is_child || !ComputableFrom((Node *) em->em_expr, columns))
				continue;
			sortop = get_opfamily_member(pathkey->pk_opfamily, em->em_datatype, em->em_datatype,
										 BfPathkeyStrategy(pathkey));
			found = RowOrderAdd(order, (Node *) em->em_expr, sortop, pathkey->pk_nulls_first);
			if (found)
				break;
		}
		if (!found)
			return false;
	}
	return true;
}

/* The file order that makes a sort needless, NIL when the table's is another. */
static List *
FileOrder(RelOptInfo *rel, const BucketInput *input, const RowOrder *order)
{
	BucketRelInfo *info = rel->reloptkind == RELOPT_BASEREL ? BucketRelInfoGet(rel) : NULL;
	const BucketSpec *spec;
	int			n = input->nkeys;
	ListCell   *le;
	ListCell   *lo;
	ListCell   *ln;

	if (info == NULL)
		return NIL;
	spec = info->options->spec;
	forthree(le, order->exprs, lo, order->operators, ln, order->nulls_first)
	{
		const SortColumn *col = FileSortColumn(rel, spec, n, lfirst(le));
		KeyClass	keyclass;
		int			strategy = KeyOperatorStrategy(lfirst_oid(lo), &keyclass);

		if (col == NULL || keyclass != col->keyclass ||
			strategy != ((col->flags & BF_SORT_DESC) ? BTGreaterStrategyNumber : BTLessStrategyNumber) ||
			(lfirst_int(ln) != 0) != ((col->flags & BF_SORT_NULLS_FIRST) != 0))
			return NIL;
		n++;
	}
	return OrderedScanDescribe(n, spec->sort);
}

/* Columns and nothing else? */
static bool
OnlyColumns(List *exprs)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) exprs, PVC_INCLUDE_PLACEHOLDERS |
								PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS))
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varattno <= 0)
			return false;
	}
	return true;
}

Path *
BucketRowsPath(PlannerInfo *root, RelOptInfo *rel, const BucketInput *input,
			   const RowOrder *order, int workers)
{
	CustomPath *path;
	PathTarget *target = rel->reltarget;
	List	   *file_order;

	if (!bms_is_empty(rel->lateral_relids) || !OnlyColumns(target->exprs) ||
		!OnlyColumns(order->exprs))
		return NULL;
	path = makeNode(CustomPath);
	file_order = order->exprs != NIL ? FileOrder(rel, input, order) : NIL;
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = rel->consider_parallel && !input->holds_routed;
	path->path.rows = rel->rows;
	path->path.startup_cost = input->path->startup_cost + target->cost.startup;
	path->path.total_cost = input->path->total_cost + target->cost.startup +
		rel->rows * (ROW_COST * cpu_tuple_cost + target->cost.per_tuple);
	BfAddDisabledNodes(&path->path, input->path);
	if (order->exprs != NIL && file_order == NIL)
	{
		double		keys = estimate_num_groups(root, FirstVars(input), rel->rows, NULL, NULL);
		double		key_rows = Max(1.0, rel->rows / Max(keys, 1.0));
		double		rows = Max(2.0, Min(rel->rows, Max(key_rows, RUN_SORT_ROWS)));
		Cost		row_cost;

		/* most comparisons are of the numbers of keys; of rows of a key as core reckons them */
		row_cost = (log2(rows) * NUMBER_COST + log2(key_rows) * 2.0 + 1.0) * cpu_operator_cost;
		path->path.startup_cost += rows * row_cost;
		path->path.total_cost += rel->rows * row_cost;
	}
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_rows_path_methods;
	path->custom_paths = list_make1(input->path);
	path->custom_private = list_make5(FirstVars(input), order->exprs, order->operators,
									  order->nulls_first, file_order);
	if (workers > 0)
		MakePartial((Path *) path, path->path.startup_cost, workers);
	return (Path *) path;
}

bool
IsBucketRowsPath(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &bucket_rows_path_methods;
}

/* Add the columns of an expression that are not in the list. */
static List *
AddColumns(List *columns, Node *expr)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS))
		columns = list_append_unique(columns, lfirst(lc));
	return columns;
}

static Plan *
PlanBucketRows(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	BatchSourceKind kind = KindOfChild(child);
	List	   *private = best_path->custom_private;
	List	   *exprs = list_nth(private, PATH_EXPRS);
	List	   *columns = AddColumns(AddColumns(NIL, (Node *) rel->reltarget->exprs), (Node *) exprs);
	List	   *places = NIL;
	ListCell   *lc;

	foreach(lc, columns)
		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(lfirst(lc)),
														   (AttrNumber) (foreach_current_index(lc) + 1),
														   NULL, false));
	foreach(lc, exprs)
	{
		int			place = -1;
		ListCell   *lv;

		foreach(lv, columns)
		{
			if (equal(lfirst(lv), lfirst(lc)))
				place = foreach_current_index(lv);
		}
		places = lappend_int(places, place);
		if (place < 0)
			cscan->custom_exprs = lappend(cscan->custom_exprs, copyObject(lfirst(lc)));
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_concat(list_make5(list_make1_int(kind), KeyColumns(child, kind, columns),
												   KeyColumns(child, kind, list_nth(private, PATH_KEYS)),
												   places, list_nth(private, PATH_OPERATORS)),
										list_make2(list_nth(private, PATH_NULLS_FIRST),
												   list_nth(private, PATH_FILE_ORDER)));
	cscan->methods = &bucket_rows_scan_methods;
	return (Plan *) cscan;
}
