/*
 * agg_path.c
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 *
 * Rows that come bucket by bucket, sorted inside, have all rows of a key next
 * to each other.  They are not sorted as a whole, so no order is claimed; but
 * core's Agg in sorted mode compares neighbouring rows only, which is all
 * that is needed.  (Never core's Incremental Sort over such a stream: it
 * believes that an open group sorts last.)
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "guc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "plan/agg_fused.h"
#include "plan/agg_path.h"
#include "plan/batch_qual.h"
#include "plan/bucketed.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

static create_upper_paths_hook_type prev_upper_hook = NULL;

/* Which key an expression is, or -1.  The Var must not be nulled above the input. */
static int
KeyOf(const BucketInput *input, Node *expr)
{
	while (expr && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var) || BfVarIsNullable((Var *) expr))
		return -1;
	for (int k = 0; k < input->nkeys; k++)
	{
		ListCell   *lc;

		foreach(lc, input->vars[k])
		{
			Var		   *key = lfirst_node(Var, lc);

			if (key->varno == ((Var *) expr)->varno && key->varattno == ((Var *) expr)->varattno)
				return k;
		}
	}
	return -1;
}

/*
 * Do the grouping clauses name every key and nothing else, by the equality
 * of the key's class?
 */
static bool
GroupsByKey(const BucketInput *input, List *clauses, List *targetlist)
{
	Bitmapset  *found = NULL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, targetlist);
		KeyClass	keyclass;
		int			k = KeyOf(input, expr);

		if (k < 0 ||
			KeyOperatorStrategy(clause->eqop, &keyclass) != BTEqualStrategyNumber ||
			keyclass != input->classes[k] ||
			!CollationAllows(keyclass, exprCollation(expr), false))
			return false;
		found = bms_add_member(found, k);
	}
	return bms_num_members(found) == input->nkeys;
}

/* The way to deliver input_rel that a grouping can use, or NULL. */
static BucketInput *
InputForGrouping(PlannerInfo *root, RelOptInfo *input_rel, List *clauses)
{
	ListCell   *lc;

	if (clauses == NIL || root->rowMarks != NIL || IS_DUMMY_REL(input_rel))
		return NULL;
	foreach(lc, BucketInputs(root, input_rel))
	{
		BucketInput *input = lfirst(lc);

		if (input->rows_path != NULL &&
			GroupsByKey(input, clauses, root->processed_tlist))
			return input;
	}
	return NULL;
}

/* An Agg in sorted mode over the clustered rows. */
static void
AddSortedAgg(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			 BucketInput *input, PathTarget *target, List *clauses, List *having,
			 const AggClauseCosts *costs)
{
	List	   *exprs = get_sortgrouplist_exprs(clauses, root->processed_tlist);
	double		ngroups = estimate_num_groups(root, exprs, input->rows_path->rows, NULL, NULL);
	Path	   *path = (Path *) create_projection_path(root, input_rel, input->rows_path,
													   input_rel->reltarget);

	add_path(output_rel, (Path *)
			 create_agg_path(root, output_rel, path, target, AGG_SORTED, AGGSPLIT_SIMPLE,
							 clauses, having, costs, ngroups));
}

static void
GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
			  GroupPathExtraData *extra)
{
	Query	   *parse = root->parse;
	List	   *clauses = BfGroupClause(root);
	AggClauseCosts costs;
	BucketInput *input;

	/*
	 * With ordered or distinct aggregates core may have decided that the input
	 * comes sorted for them, and would skip their own sort.
	 */
	if (parse->groupingSets != NIL || parse->hasTargetSRFs || root->numOrderedAggs > 0 ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL)
		return;
	input = InputForGrouping(root, input_rel, clauses);
	if (input == NULL)
		return;
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	AddSortedAgg(root, input_rel, grouped_rel, input, grouped_rel->reltarget, clauses,
				 (List *) extra->havingQual, &costs);
}

static void
DistinctPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *distinct_rel)
{
	Query	   *parse = root->parse;
	List	   *clauses = BfDistinctClause(root);
	BucketInput *input;

	if (parse->hasDistinctOn || parse->hasTargetSRFs || parse->hasAggs ||
		parse->hasWindowFuncs || parse->groupClause != NIL || parse->groupingSets != NIL)
		return;
	input = InputForGrouping(root, input_rel, clauses);
	if (input == NULL)
		return;
	/* core leaves the distinct relation's own target empty */
	AddSortedAgg(root, input_rel, distinct_rel, input, input_rel->reltarget, clauses, NIL, NULL);
}

static void
UpperPathsHook(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
			   RelOptInfo *output_rel, void *extra)
{
	if (prev_upper_hook)
		prev_upper_hook(root, stage, input_rel, output_rel, extra);
	if (!bf_enable || !bf_enable_bucketagg)
		return;
	if (stage == UPPERREL_GROUP_AGG)
	{
		GroupingPaths(root, input_rel, output_rel, extra);
		FusedAggPath(root, input_rel, output_rel, extra);
	}
	else if (stage == UPPERREL_DISTINCT)
		DistinctPaths(root, input_rel, output_rel);
}

void
AggPathInit(void)
{
	prev_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = UpperPathsHook;
}
