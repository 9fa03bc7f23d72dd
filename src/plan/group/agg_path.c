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
#include "optimizer/prep.h"
#include "plan/join/join_check.h"
#include "plan/join/join_path.h"
#include "plan/group/agg_fused.h"
#include "plan/group/agg_path.h"
#include "plan/key/join_keys.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/scan_path.h"
#include "utils/selfuncs.h"

/*
 * Do the clauses (SortGroupClauses) name every key of an input, by the
 * equality of its class, and nothing else?  A key that conditions fix to a
 * value need not be named.
 */
static BucketReason
GroupsByKey(PlannerInfo *root, const BucketInput *input, List *clauses)
{
	Bitmapset  *found = NULL;
	bool		others = false;
	int			nfound;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		KeyClass	keyclass;
		int			k = BucketInputKey(input, expr);

		if (k < 0)
		{
			others = true;
			continue;
		}
		if (KeyOperatorStrategy(clause->eqop, &keyclass) != BTEqualStrategyNumber ||
			!KeyClassesMeet(keyclass, input->classes[k]))
			return REASON_TYPE_CLASS;
		if (!CollationAllows(keyclass, exprCollation(expr), false))
			return REASON_COLLATION;
		found = bms_add_member(found, k);
	}
	if (found == NULL)
		return REASON_KEY_NOT_GROUPED;
	nfound = bms_num_members(found);
	for (int k = 0; k < input->nkeys; k++)
		nfound += !bms_is_member(k, found) && KeyIsConstant(root, input, k);
	if (nfound < input->nkeys)
		return REASON_GROUP_KEY_SUBSET;
	return others ? REASON_GROUP_KEY_SUPERSET : REASON_NONE;
}

/* What the query asks for besides the keys. */
static BucketReason
CheckQuery(PlannerInfo *root, bool distinct)
{
	Query	   *parse = root->parse;

	if (!bf_enable || !bf_enable_bucketagg)
		return REASON_DISABLED;
	if (RowsAreRechecked(root))
		return REASON_ROW_MARKS;
	if (parse->hasTargetSRFs)
		return REASON_SET_RETURNING;
	if (distinct && (parse->hasAggs || parse->hasWindowFuncs || parse->groupClause != NIL ||
					 parse->groupingSets != NIL))
		return REASON_DISTINCT_OF_GROUPS;
	if (distinct && parse->hasDistinctOn)
		return REASON_DISTINCT_ON;
	if (!distinct && parse->groupingSets != NIL)
		return REASON_GROUPING_SETS;
	if (!distinct && BfAggregatesPresorted(root))
		return REASON_ORDERED_AGGREGATE;
	return GroupingClauses(root, distinct) == NIL ? REASON_CONSTANT_KEY : REASON_NONE;
}

BucketReason
GroupingCheck(PlannerInfo *root, RelOptInfo *input_rel, bool distinct, BucketInput **input)
{
	BucketReason result = CheckQuery(root, distinct);
	ListCell   *lc;

	*input = NULL;
	if (result != REASON_NONE)
		return result;
	if (IS_DUMMY_REL(input_rel))
		return REASON_PROVEN_EMPTY;
	result = REASON_NOT_BUCKETED;
	foreach(lc, BucketInputs(root, input_rel))
	{
		BucketInput *candidate = lfirst(lc);
		BucketReason reason = GroupsByKey(root, candidate, GroupingClauses(root, distinct));

		if (*input == NULL || reason == REASON_NONE || result == REASON_KEY_NOT_GROUPED)
		{
			*input = candidate;
			result = reason;
		}
		if (reason == REASON_NONE)
			break;
	}
	return result;
}

/* An Agg in sorted mode over rows of which those of a group stand together. */
static Path *
GroupedPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			bool distinct, Path *rows_path)
{
	List	   *clauses = GroupingClauses(root, distinct);
	List	   *exprs = get_sortgrouplist_exprs(clauses, root->processed_tlist);
	double		ngroups = estimate_num_groups(root, exprs, input_rel->rows, NULL, NULL);
	Path	   *path = (Path *) create_projection_path(root, input_rel, rows_path,
													   input_rel->reltarget);
	AggClauseCosts costs;

	/* one process of several sees its share of the keys */
	ngroups = clamp_row_est(ngroups * Min(1.0, rows_path->rows / Max(input_rel->rows, 1)));
	MemSet(&costs, 0, sizeof(costs));
	if (!distinct)
		get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	/* core leaves the distinct relation's own target empty */
	return (Path *)
		create_agg_path(root, output_rel, path,
						distinct ? input_rel->reltarget : output_rel->reltarget,
						AGG_SORTED, AGGSPLIT_SIMPLE, clauses,
						distinct ? NIL : (List *) root->parse->havingQual,
						&costs, ngroups);
}

List *
GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct,
			  const BucketInput *input, bool partial)
{
	Path	   *rows_path = BucketRowsPath(root, input, partial);
	Path	   *fused = FusedGroupingPath(root, input_rel, output_rel, distinct, input, partial);
	List	   *paths = NIL;

	if (rows_path != NULL)
	{
		Path	   *path = GroupedPath(root, input_rel, output_rel, distinct, rows_path);

		if (!partial || path->parallel_safe)
			paths = lappend(paths, path);
	}
	return fused ? lappend(paths, fused) : paths;
}

static void
AddGroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct)
{
	BucketInput *input;
	ListCell   *lc;

	if (output_rel->reloptkind != RELOPT_UPPER_REL ||
		GroupingCheck(root, input_rel, distinct, &input) != REASON_NONE)
		return;
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, false))
		add_path(output_rel, lfirst(lc));
	if (!output_rel->consider_parallel)
		return;
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, true))
	{
		Path	   *path = lfirst(lc);
		double		rows = path->rows * path->parallel_workers;

		add_path(output_rel, (Path *)
				 create_gather_path(root, output_rel, path, path->pathtarget, NULL, &rows));
	}
	/* others than those below Gather, since core frees the ones that are beaten */
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, true))
		add_partial_path(output_rel, lfirst(lc));
}

void
GroupPathsAdd(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
			  RelOptInfo *output_rel)
{
	if (stage == UPPERREL_GROUP_AGG)
	{
		AddGroupingPaths(root, input_rel, output_rel, false);
		FusedAggPath(root, input_rel, output_rel);
	}
	else if (stage == UPPERREL_DISTINCT)
		AddGroupingPaths(root, input_rel, output_rel, true);
}
