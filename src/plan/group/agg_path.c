/*
 * agg_path.c
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 *
 * Rows that come bucket by bucket, sorted inside, have all rows of a key next
 * to each other.  They are not sorted as a whole, so no order is claimed; but
 * core's Agg in sorted mode compares neighbouring rows only, which is all
 * that is needed.  (Never core's Incremental Sort over such a stream: it
 * believes that an open group sorts last.)  Where groups are smaller than a
 * key, or their rows are wanted in an order, the rows of each key are sorted
 * among themselves (BucketRows).
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "guc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "plan/group/agg_fused.h"
#include "plan/group/agg_path.h"
#include "plan/key/join_keys.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/scan_path.h"
#include "utils/selfuncs.h"

/*
 * Do the clauses (SortGroupClauses) name every key of an input, by the
 * equality of its class?  A key that conditions fix to a value need not be
 * named.  *others: they name more.
 */
static BucketReason
GroupsByKey(PlannerInfo *root, const BucketInput *input, List *clauses, bool *others)
{
	Bitmapset  *found = NULL;
	int			nfound;
	ListCell   *lc;

	*others = false;
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		KeyClass	keyclass;
		int			k = BucketInputKey(input, expr);

		if (k < 0)
		{
			*others = true;
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
	return nfound < input->nkeys ? REASON_GROUP_KEY_SUBSET : REASON_NONE;
}

/*
 * Rows of an input key by key, those of each key in the order; for one process
 * or, with workers > 0, for each of several.  NULL when they cannot be given.
 */
static Path *
RowsForGroups(PlannerInfo *root, RelOptInfo *input_rel, const BucketInput *input,
			  const RowOrder *order, int workers)
{
	Path	   *ready = workers > 0 ? input->partial_rows_path : input->rows_path;

	if (order->exprs == NIL && ready != NULL)
		return ready;
	return BucketRowsPath(root, input_rel, input, order, workers);
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
		if (parse->hasAggs || parse->hasWindowFuncs || parse->groupClause != NIL ||
			parse->groupingSets != NIL)
			return REASON_DISTINCT_OF_GROUPS;
		return BfDistinctClause(root) == NIL ? REASON_CONSTANT_KEY : REASON_NONE;
	}
	if (parse->groupingSets != NIL)
		return REASON_GROUPING_SETS;
	return BfGroupClause(root) == NIL ? REASON_CONSTANT_KEY : REASON_NONE;
}

/*
 * How the rows of a key must be sorted so that groups stand together in it,
 * and come as the query wants them: DISTINCT ON takes the first row by ORDER
 * BY, and aggregates with DISTINCT or ORDER BY, of which core may have decided
 * that the input comes sorted for them, do not sort themselves then.
 */
static BucketReason
OrderInKey(PlannerInfo *root, RelOptInfo *input_rel, bool distinct, const BucketInput *input,
		   bool others, RowOrder *order)
{
	List	   *clauses = distinct ? BfDistinctClause(root) : BfGroupClause(root);

	memset(order, 0, sizeof(*order));
	if (others && !RowOrderAddGroups(root, input_rel, input, order, clauses, root->processed_tlist))
		return REASON_GROUP_KEY_SUPERSET;
	if (!distinct)
		return RowOrderAddPathkeys(input_rel, order, BfAggregatePathkeys(root)) ?
			REASON_NONE : REASON_ORDERED_AGGREGATE;
	if (!root->parse->hasDistinctOn)
		return REASON_NONE;
	return RowOrderAddClauses(order, input, root->parse->sortClause, root->processed_tlist) ?
		REASON_NONE : REASON_DISTINCT_ON;
}

BucketReason
GroupingCheck(PlannerInfo *root, RelOptInfo *input_rel, bool distinct,
			  BucketInput **input, RowOrder *order)
{
	BucketReason result = CheckQuery(root, distinct);
	ListCell   *lc;

	*input = NULL;
	memset(order, 0, sizeof(*order));
	if (result != REASON_NONE)
		return result;
	if (IS_DUMMY_REL(input_rel))
		return REASON_PROVEN_EMPTY;
	result = REASON_NOT_BUCKETED;
	foreach(lc, BucketInputs(root, input_rel))
	{
		BucketInput *candidate = lfirst(lc);
		bool		others;
		RowOrder	wanted;
		BucketReason reason = GroupsByKey(root, candidate, distinct ? BfDistinctClause(root) :
										  BfGroupClause(root), &others);

		if (reason == REASON_NONE)
			reason = OrderInKey(root, input_rel, distinct, candidate, others, &wanted);
		if (*input == NULL || reason == REASON_NONE || result == REASON_KEY_NOT_GROUPED)
		{
			*input = candidate;
			result = reason;
		}
		if (reason == REASON_NONE)
		{
			*order = wanted;
			break;
		}
	}
	return result;
}

/*
 * The first row of each group, or an Agg in sorted mode, over rows of which
 * those of a group stand together.
 */
static Path *
GroupedPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
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
	if (distinct && root->parse->hasDistinctOn)
	{
		GroupPath  *group = create_group_path(root, output_rel, path, clauses, NIL, ngroups);

		/* core leaves the distinct relation's own target empty */
		group->path.pathtarget = input_rel->reltarget;
		return (Path *) group;
	}
	MemSet(&costs, 0, sizeof(costs));
	if (!distinct)
		get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	return (Path *)
		create_agg_path(root, output_rel, path,
						distinct ? input_rel->reltarget : output_rel->reltarget,
						AGG_SORTED, AGGSPLIT_SIMPLE, clauses,
						distinct ? NIL : (List *) root->parse->havingQual,
						&costs, ngroups);
}

List *
GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct,
			  const BucketInput *input, const RowOrder *order, bool partial)
{
	int			workers = partial ?
		Min(PartialWorkers(root, input_rel, input->pages), (int) input->nbuckets) : 0;
	Path	   *path = partial && (workers == 0 || input->holds_routed) ? NULL :
		RowsForGroups(root, input_rel, input, order, workers);
	List	   *paths = NIL;

	if (path != NULL)
		path = GroupedPath(root, input_rel, output_rel, distinct, path);
	if (path != NULL && (!partial || path->parallel_safe))
		paths = lappend(paths, path);
	if (order->exprs != NIL || (distinct && root->parse->hasDistinctOn))
		return paths;
	path = FusedGroupingPath(root, input_rel, output_rel, distinct, input, partial);
	return path ? lappend(paths, path) : paths;
}

static void
AddGroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct)
{
	BucketInput *input;
	RowOrder	order;
	ListCell   *lc;

	if (output_rel->reloptkind != RELOPT_UPPER_REL ||
		GroupingCheck(root, input_rel, distinct, &input, &order) != REASON_NONE)
		return;
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, &order, false))
		add_path(output_rel, lfirst(lc));
	if (!output_rel->consider_parallel)
		return;
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, &order, true))
	{
		Path	   *path = lfirst(lc);
		double		rows = path->rows * path->parallel_workers;

		add_path(output_rel, (Path *)
				 create_gather_path(root, output_rel, path, path->pathtarget, NULL, &rows));
	}
	/* others than those below Gather, since core frees the ones that are beaten */
	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, &order, true))
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
