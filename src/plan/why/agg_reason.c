/*
 * agg_reason.c
 *	  Why a GROUP BY or DISTINCT is not done bucket by bucket, in words.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "optimizer/optimizer.h"
#include "plan/group/agg_fused.h"
#include "plan/group/agg_path.h"
#include "plan/why/key_side.h"
#include "plan/why/reasons.h"
#include "utils/lsyscache.h"

/* What the query groups by. */
static char *
GroupNames(PlannerInfo *root, List *exprs)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Var		   *column = StripToColumn(lfirst(lc));

		names = lappend(names, column ? ColumnLabel(root, column) : "an expression");
	}
	return names == NIL ? "nothing" : WordList(names);
}

/*
 * A copy bucketed by what is grouped by, when these are columns of one table;
 * else NULL.
 */
static char *
CopyForGroups(PlannerInfo *root, List *exprs, int nbuckets)
{
	List	   *columns = NIL;
	Index		varno = 0;
	Oid			relid = InvalidOid;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Var		   *column = StripToColumn(lfirst(lc));

		relid = TableOfColumn(root, column);
		if (!OidIsValid(relid) || (varno != 0 && column->varno != varno) ||
			KeyClassOfType(getBaseType(column->vartype)) == KEYCLASS_NONE)
			return NULL;
		varno = column->varno;
		columns = lappend(columns, makeString(get_attname(relid, column->varattno, false)));
	}
	return columns == NIL ? NULL :
		psprintf("Make a copy bucketed by what is grouped by: %s",
				 BucketedCopyStatement(relid, columns, NIL, nbuckets, 0));
}

/* No key is named by the grouping: is one hidden in an expression, or lost in an outer join? */
static void
NotGroupedReason(PlannerInfo *root, const BucketInput *input, List *exprs, Rejection *rejection)
{
	ListCell   *lc;

	rejection->detail = psprintf("rows are bucketed by %s, grouped by %s", KeyNames(root, input),
								 GroupNames(root, exprs));
	rejection->hint = CopyForGroups(root, exprs, (int) input->nbuckets);
	foreach(lc, exprs)
	{
		KeySide		side;

		LookAtSide(root, lfirst(lc), input, &side);
		if (side.lost)
		{
			rejection->code = REASON_OUTER_JOIN_POSITION;
			rejection->detail = psprintf("%s comes out of an outer join that may have set it to NULL; rows are bucketed by %s",
										 ColumnLabel(root, side.column), KeyNames(root, input));
			rejection->hint = psprintf("Group by %s, if that is what is meant.", KeyNames(root, input));
		}
		else if (!side.inside && side.key < 0 && side.column != NULL && IsBucketColumn(root, side.column))
			rejection->hint = "Rows come to the join distributed to other buckets; if the aggregates can be computed before it, group in a subquery below the join.";
		else if (side.inside || side.key >= 0)
		{
			rejection->code = REASON_EXPRESSION_ON_KEY;
			rejection->detail = psprintf("bucket column %s stands inside an expression that is grouped by",
										 ColumnLabel(root, side.column));
			rejection->hint = "Store the expression as a column and bucket by it.";
		}
	}
}

static bool
IsHashed(const Path *path)
{
	return FusedHashed(path) ||
		(IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_HASHED);
}

/* The rows can be grouped by buckets: what is there against it? */
static void
GroupedReason(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, bool distinct,
			  List *exprs, const BucketInput *input, const Path *chosen, Rejection *rejection)
{
	Cost		cheapest = -1;
	ListCell   *lc;

	foreach(lc, GroupingPaths(root, input_rel, output_rel, distinct, input, false))
	{
		Path	   *path = lfirst(lc);

		if (cheapest < 0 || path->total_cost < cheapest)
			cheapest = path->total_cost;
	}
	if (cheapest < 0)
	{
		rejection->code = REASON_PARTITIONED;
		rejection->detail = "rows of partitions are grouped together by BucketAggregate only, which does not take an aggregate of this query";
		rejection->hint = CopyForGroups(root, exprs, (int) input->nbuckets);
		return;
	}
	rejection->detail = psprintf("%s is estimated to cost less",
								 IsHashed(chosen) ? "a hashed aggregation" :
								 IsA(chosen, AggPath) ? "a sorted aggregation" : "a sort");
	rejection->costs = psprintf("%.2f against %.2f", chosen->total_cost, cheapest);
	CostReason(root, input_rel->relids, chosen->total_cost, cheapest,
			   IsHashed(chosen) ? "enable_hashagg" : "enable_sort", rejection);
}

void
GroupingReason(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
			   bool distinct, const Path *chosen, Rejection *rejection)
{
	List	   *exprs = get_sortgrouplist_exprs(distinct ? root->parse->distinctClause :
												root->parse->groupClause, root->processed_tlist);
	BucketInput *input;

	memset(rejection, 0, sizeof(*rejection));
	rejection->code = GroupingCheck(root, input_rel, distinct, &input);
	switch (rejection->code)
	{
		case REASON_NONE:
			GroupedReason(root, input_rel, output_rel, distinct, exprs, input, chosen, rejection);
			break;
		case REASON_DISABLED:
			ReasonSay(rejection, REASON_DISABLED, bf_enable ? "bucketfdw.enable_bucketagg" : "bucketfdw.enable");
			break;
		case REASON_NOT_BUCKETED:
			NotBucketedReason(root, input_rel, NULL, rejection);
			break;
		case REASON_KEY_NOT_GROUPED:
			NotGroupedReason(root, input, exprs, rejection);
			break;
		case REASON_GROUP_KEY_SUBSET:
			rejection->detail = psprintf("rows are bucketed by %s, grouped by %s: a group lies in several buckets",
										 KeyNames(root, input), GroupNames(root, exprs));
			rejection->hint = CopyForGroups(root, exprs, (int) input->nbuckets);
			break;
		case REASON_GROUP_KEY_SUPERSET:
			rejection->detail = psprintf("rows are bucketed by %s, grouped by %s: a key may have rows of several groups",
										 KeyNames(root, input), GroupNames(root, exprs));
			rejection->hint = psprintf("If all rows of a key are of one group, group by %s alone, and show max() of the rest.",
									   KeyNames(root, input));
			break;
		default:
			ReasonSay(rejection, rejection->code, "the input");
	}
}
