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

/* Positions in CustomPath.custom_private. */
enum JoinPathPrivateIndex
{
	PATH_TYPE,					/* integer list of one */
	PATH_OUTER_KEYS,			/* per key, the expression at the outer input that stands for it */
	PATH_INNER_KEYS,
	PATH_RESIDUAL,				/* RestrictInfos */
	PATH_OTHERQUALS,			/* RestrictInfos */
	PATH_OUTER_RELIDS,			/* integer list */
	PATH_OUTPUT_KEYS,			/* read by a node of ours: per key, the expression in the output */
	PATH_ROUTED,				/* integer list of two: is the side routed? */
	PATH_SPLIT					/* integer list of one: may one key be in several units? */
};

List *
FirstVars(const BucketInput *input)
{
	List	   *vars = NIL;

	for (int k = 0; k < input->nkeys; k++)
		vars = lappend(vars, linitial(input->vars[k]));
	return vars;
}

List *
JoinPathPrivate(JoinType jointype, const BucketInput *outer, const BucketInput *inner,
				const JoinClauses *clauses, RelOptInfo *outerrel, List *output_keys, bool split)
{
	List	   *relids = NIL;
	int			relid = -1;

	while ((relid = bms_next_member(outerrel->relids, relid)) >= 0)
		relids = lappend_int(relids, relid);
	return list_concat(list_make5(list_make1_int(jointype), FirstVars(outer), FirstVars(inner),
								  clauses->residual, clauses->otherquals),
					   list_make4(relids, output_keys, list_make2_int(outer->routed, inner->routed),
								  list_make1_int(split)));
}

JoinType
JoinPathType(const CustomPath *path)
{
	return linitial_int(list_nth(path->custom_private, PATH_TYPE));
}

bool
JoinPathKeysDecide(const CustomPath *path, List **outer_relids)
{
	*outer_relids = list_nth(path->custom_private, PATH_OUTER_RELIDS);
	return list_nth(path->custom_private, PATH_RESIDUAL) == NIL &&
		list_nth(path->custom_private, PATH_OTHERQUALS) == NIL;
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
	List	   *private = best_path->custom_private;
	List	   *outer_keys = list_nth(private, PATH_OUTER_KEYS);
	List	   *inner_keys = list_nth(private, PATH_INNER_KEYS);
	List	   *outer_relids = list_nth(private, PATH_OUTER_RELIDS);
	Plan	   *outer_plan = linitial(custom_plans);
	Plan	   *inner_plan = lsecond(custom_plans);
	List	   *routed = list_nth(private, PATH_ROUTED);
	BatchSourceKind outer_kind = linitial_int(routed) ? BATCH_SOURCE_ROUTED : KindOfChild(outer_plan);
	BatchSourceKind inner_kind = lsecond_int(routed) ? BATCH_SOURCE_ROUTED : KindOfChild(inner_plan);
	List	   *output_keys = list_nth(private, PATH_OUTPUT_KEYS);
	List	   *merged = NIL;
	List	   *joinquals = OrderedClauses(list_nth(private, PATH_RESIDUAL));
	List	   *otherquals = OrderedClauses(list_nth(private, PATH_OTHERQUALS));
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
	foreach(lc, output_keys)
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
		sides = lappend_int(sides, JoinPathType(best_path) == JOIN_FULL ? JOIN_SIDE_EITHER : 0);
		columns = lappend_int(columns, JoinPathType(best_path) == JOIN_FULL ?
							  foreach_current_index(lc) :
							  ColumnOfChild(outer_plan, outer_kind, lfirst(lc)));
	}
	foreach(lc, vars)
	{
		Var		   *var = lfirst_node(Var, lc);
		bool		outer = list_member_int(outer_relids, var->varno);

		cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
										   makeTargetEntry((Expr *) copyObject(var),
														   (AttrNumber) resno++, NULL, false));
		sides = lappend_int(sides, outer ? 0 : 1);
		columns = lappend_int(columns, outer ? ColumnOfChild(outer_plan, outer_kind, (Node *) var) :
							  ColumnOfChild(inner_plan, inner_kind, (Node *) var));
	}

	/* no range table index may stand in custom_private: setrefs does not adjust it */
	cscan->custom_private = list_concat(list_make5(list_nth(private, PATH_TYPE),
												   KeyColumns(outer_plan, outer_kind, outer_keys),
												   KeyColumns(inner_plan, inner_kind, inner_keys),
												   sides, columns),
										list_make2(list_make2_int(outer_kind, inner_kind),
												   list_nth(private, PATH_SPLIT)));
	return (Plan *) cscan;
}
