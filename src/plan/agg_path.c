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

/*
 * Do the grouping clauses name every key and nothing else, by the equality
 * of the key's class?
 */
static BucketReason
GroupsByKey(const BucketInput *input, List *clauses, List *targetlist)
{
	Bitmapset  *found = NULL;
	bool		others = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, targetlist);
		KeyClass	keyclass;
		int			k = BucketInputKey(input, expr);

		if (k < 0)
		{
			others = true;
			continue;
		}
		if (KeyOperatorStrategy(clause->eqop, &keyclass) != BTEqualStrategyNumber ||
			keyclass != input->classes[k])
			return REASON_TYPE_CLASS;
		if (!CollationAllows(keyclass, exprCollation(expr), false))
			return REASON_COLLATION;
		found = bms_add_member(found, k);
	}
	if (found == NULL)
		return REASON_KEY_NOT_GROUPED;
	if (bms_num_members(found) < input->nkeys)
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
	if (root->rowMarks != NIL)
		return REASON_ROW_MARKS;
	if (parse->hasTargetSRFs)
		return REASON_SET_RETURNING;
	if (distinct)
	{
		if (parse->hasDistinctOn)
			return REASON_DISTINCT_ON;
		if (parse->hasAggs || parse->hasWindowFuncs || parse->groupClause != NIL ||
			parse->groupingSets != NIL)
			return REASON_DISTINCT_OF_GROUPS;
		return BfDistinctClause(root) == NIL ? REASON_CONSTANT_KEY : REASON_NONE;
	}
	if (parse->groupingSets != NIL)
		return REASON_GROUPING_SETS;

	/*
	 * With ordered or distinct aggregates core may have decided that the input
	 * comes sorted for them, and would skip their own sort.
	 */
	if (root->numOrderedAggs > 0)
		return REASON_ORDERED_AGGREGATE;
	return BfGroupClause(root) == NIL ? REASON_CONSTANT_KEY : REASON_NONE;
}

BucketReason
GroupingCheck(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct,
			  BucketInput **input)
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
		BucketReason reason = GroupsByKey(candidate,
										  distinct ? BfDistinctClause(root) : BfGroupClause(root),
										  root->processed_tlist);

		/* partitions are merged as batches only */
		if (reason == REASON_NONE && candidate->rows_path == NULL &&
			FusedGroupingPath(root, input_rel, output_rel, distinct, candidate) == NULL)
			reason = REASON_PARTITIONED;

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

/* An Agg in sorted mode over the clustered rows. */
static Path *
SortedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			  bool distinct, Path *rows_path)
{
	List	   *clauses = distinct ? BfDistinctClause(root) : BfGroupClause(root);
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
GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			  bool distinct, BucketInput *input)
{
	Path	   *fused = FusedGroupingPath(root, input_rel, output_rel, distinct, input);
	List	   *paths = NIL;

	if (input->rows_path != NULL)
		paths = lappend(paths, SortedAggPath(root, input_rel, output_rel, distinct,
											   input->rows_path));
	return fused ? lappend(paths, fused) : paths;
}

/*
 * The paths of which every process does a share.  All rows of a key are in one
 * process, so its groups are complete: they can be gathered, or go on in the
 * workers when the query is a subquery.
 */
static List *
PartialGroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
					 bool distinct, BucketInput *input)
{
	Path	   *fused = FusedPartialGroupingPath(root, input_rel, output_rel, distinct, input);
	List	   *paths = NIL;

	if (input->partial_rows_path != NULL)
	{
		Path	   *sorted = SortedAggPath(root, input_rel, output_rel, distinct,
										   input->partial_rows_path);

		if (sorted->parallel_safe)
			paths = lappend(paths, sorted);
	}
	return fused ? lappend(paths, fused) : paths;
}

static void
AddGroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct)
{
	BucketInput *input;
	ListCell   *lc;

	if (output_rel->reloptkind != RELOPT_UPPER_REL ||
		GroupingCheck(root, input_rel, output_rel, distinct, &input) != REASON_NONE)
		return;
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input))
		add_path(output_rel, lfirst(lc));
	if (!output_rel->consider_parallel)
		return;
	foreach(lc, PartialGroupingPaths(root, input_rel, output_rel, distinct, input))
	{
		Path	   *path = lfirst(lc);
		double		rows = path->rows * path->parallel_workers;

		add_path(output_rel, (Path *)
				 create_gather_path(root, output_rel, path, path->pathtarget, NULL, &rows));
	}
	/* others than those below Gather, since core frees the ones that are beaten */
	foreach(lc, PartialGroupingPaths(root, input_rel, output_rel, distinct, input))
		add_partial_path(output_rel, lfirst(lc));
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
		AddGroupingPaths(root, input_rel, output_rel, false);
		FusedAggPath(root, input_rel, output_rel);
	}
	else if (stage == UPPERREL_DISTINCT)
		AddGroupingPaths(root, input_rel, output_rel, true);
}

void
AggPathInit(void)
{
	prev_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = UpperPathsHook;
}
