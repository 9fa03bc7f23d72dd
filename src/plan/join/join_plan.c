/*
 * join_plan.c
 *	  From a bucket join path to its plan.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/join/bucket_join.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "plan/join/join_plan.h"
#include "plan/rel/subplan_choice.h"

List *
FirstVars(const BucketInput *input)
{
	List	   *vars = NIL;

	for (int k = 0; k < input->nkeys; k++)
		vars = lappend(vars, linitial(input->vars[k]));
	return vars;
}

/* Cheap clauses first, but never one of a higher security level before one of a lower. */
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

static List *
OrderedClauses(List *rinfos)
{
	List	   *sorted = list_copy(rinfos);

	list_sort(sorted, CompareClauses);
	return extract_actual_clauses(sorted, false);
}

/* The Var of the same column in a list, or NULL. */
static Var *
FindColumn(List *vars, Var *var)
{
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *have = lfirst_node(Var, lc);

		if (have->varno == var->varno && have->varattno == var->varattno)
			return have;
	}
	return NULL;
}

/* Add the columns of an expression that are not in the list. */
static List *
AddVars(List *vars, Node *node)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								PVC_RECURSE_PLACEHOLDERS))
	{
		if (FindColumn(vars, lfirst_node(Var, lc)) == NULL)
			vars = lappend(vars, lfirst(lc));
	}
	return vars;
}

/* How often the conditions of a join are tested, about. */
static double
ConditionTests(const CustomPath *path)
{
	double		rows = Max(((Path *) linitial(path->custom_paths))->rows, ((Path *) lsecond(path->custom_paths))->rows);

	return Max(rows, path->path.rows);
}

/* Name the columns of an expression as they stand in the list (context). */
static Node *
AsListed(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return (Node *) copyObject(FindColumn((List *) context, (Var *) node));
	return expression_tree_mutator(node, AsListed, context);
}

/*
 * The column of a child that holds a Var: its attribute number in a Foreign
 * Scan, its place in the output of a BucketJoin, an Append or a plan that is
 * routed.  Which outer joins may have nulled it does not matter: the child
 * delivers it as it is there.  A merged key stands in the output as the key
 * expression itself.
 */
int
ColumnOfChild(Plan *child, BatchSourceKind kind, Node *expr)
{
	Var		   *var = (Var *) expr;
	List	   *tlist;
	ListCell   *lc;
	int			i = 0;

	/* a one-time filter on a scan, see BatchSourceFind */
	if (IsA(child, Result) && kind != BATCH_SOURCE_ROUTED)
		child = outerPlan(child);
	if (IsA(child, Append) || kind == BATCH_SOURCE_ROUTED)
		tlist = child->targetlist;
	else if (IsA(child, CustomScan))
		tlist = ((CustomScan *) child)->custom_scan_tlist;
	else
		return castNode(Var, expr)->varattno;
	foreach(lc, tlist)
	{
		Var		   *have = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(have, Var) && IsA(expr, Var) ?
			have->varno == var->varno && have->varattno == var->varattno : equal(have, expr))
			return i;
		i++;
	}
	elog(ERROR, "a column is not in the output of a bucket join");
	return -1;
}

BatchSourceKind
KindOfChild(Plan *child)
{
	if (IsA(child, Append) ||
		(IsA(child, Result) && outerPlan(child) && IsA(outerPlan(child), Append)))
		return BATCH_SOURCE_APPEND;
	return BATCH_SOURCE_NODE;
}

List *
KeyColumns(Plan *child, BatchSourceKind kind, List *exprs)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		columns = lappend_int(columns, ColumnOfChild(child, kind, lfirst(lc)));
	return columns;
}

Plan *
PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	const BucketJoinPath *path = (const BucketJoinPath *) best_path;
	Relids		outer_relids = path->outer->path->parent->relids;
	Plan	   *outer_plan = linitial(custom_plans);
	Plan	   *inner_plan = lsecond(custom_plans);
	BatchSourceKind outer_kind = path->outer->routed ? BATCH_SOURCE_ROUTED : KindOfChild(outer_plan);
	BatchSourceKind inner_kind = path->inner->routed ? BATCH_SOURCE_ROUTED : KindOfChild(inner_plan);
	List	   *merged = NIL;
	List	   *joinquals = OrderedClauses(path->residual);
	List	   *otherquals = OrderedClauses(path->otherquals);
	List	   *vars = NIL;
	List	   *sides = NIL;
	List	   *columns = NIL;
	ListCell   *lc;
	int			resno = 1;

	/*
	 * The output is made of the columns of the join's target and of the
	 * conditions.  Not of the plan's target list: core may put one in later
	 * that computes from these.
	 *
	 * From 16 on a Var tells which outer joins may have set it to NULL, and
	 * core insists that an expression over the output has it as the output
	 * has.  A column stands there once, as it is after the join.  The
	 * conditions on pairs, which are tested before anything is set to NULL,
	 * are made to say the same.
	 */
	foreach(lc, path->output_keys)
	{
		/* what a full join, here or below, merged of the keys of its sides is one column */
		if (IsA(lfirst(lc), Var))
			vars = AddVars(vars, lfirst(lc));
		else
			merged = lappend(merged, lfirst(lc));
	}
	vars = AddVars(vars, (Node *) rel->reltarget->exprs);
	vars = AddVars(vars, (Node *) otherquals);
	vars = AddVars(vars, (Node *) joinquals);
	joinquals = SubPlansTestedOften((List *) AsListed((Node *) joinquals, vars),
									TESTS_OF_EXPRS(best_path->path.rows), ConditionTests(best_path));
	otherquals = SubPlansTestedOften(otherquals, TESTS_OF_QUAL(best_path->path.rows), ConditionTests(best_path));

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = otherquals;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = joinquals;
	cscan->methods = &bucket_join_scan_methods;
	foreach(lc, merged)
	{
		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(lfirst(lc)),
														   (AttrNumber) resno++, NULL, false));
		sides = lappend_int(sides, path->jointype == JOIN_FULL ? JOIN_SIDE_EITHER : 0);
		columns = lappend_int(columns, path->jointype == JOIN_FULL ?
							  foreach_current_index(lc) :
							  ColumnOfChild(outer_plan, outer_kind, lfirst(lc)));
	}
	foreach(lc, vars)
	{
		Var		   *var = lfirst_node(Var, lc);
		bool		outer = bms_is_member(var->varno, outer_relids);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(var),
														   (AttrNumber) resno++, NULL, false));
		sides = lappend_int(sides, outer ? 0 : 1);
		columns = lappend_int(columns, outer ? ColumnOfChild(outer_plan, outer_kind, (Node *) var) :
							  ColumnOfChild(inner_plan, inner_kind, (Node *) var));
	}

	/* no range table index may stand in custom_private: setrefs does not adjust it */
	cscan->custom_private = list_concat(list_make5(list_make1_int(path->jointype),
												   KeyColumns(outer_plan, outer_kind, FirstVars(path->outer)),
												   KeyColumns(inner_plan, inner_kind, FirstVars(path->inner)),
												   sides, columns),
										list_make2(list_make2_int(outer_kind, inner_kind),
												   list_make1_int(path->split)));
	return (Plan *) cscan;
}
