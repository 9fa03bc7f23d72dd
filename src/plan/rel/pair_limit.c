/*
 * pair_limit.c
 *	  An upper bound on the distinct keys of joins between two bucketed tables.
 *
 * Core multiplies the selectivities of equal columns, each of them one divided
 * by a number of distinct values.  But a table has no more distinct
 * combinations of values than rows, and how many rows a bucketed table has
 * stands in its manifest.  Core divides by the rows of a table where it knows
 * of a foreign key that references it, and so it is told of one.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "plan/rel/pair_limit.h"
#include "plan/rel/rel_info.h"

/* Do all outer and semijoins of the query have both relations on the same side? */
static bool
JoinedInner(PlannerInfo *root, const RelOptInfo *a, const RelOptInfo *b)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (bms_overlap(a->relids, sjinfo->syn_righthand) !=
			bms_overlap(b->relids, sjinfo->syn_righthand))
			return false;
	}
	return true;
}

/* Is there a foreign key between two relations, or one told before? */
static bool
PairIsKnown(PlannerInfo *root, Index a, Index b)
{
	ListCell   *lc;

	foreach(lc, root->fkey_list)
	{
		ForeignKeyOptInfo *known = lfirst_node(ForeignKeyOptInfo, lc);

		if ((known->con_relid == a && known->ref_relid == b) ||
			(known->con_relid == b && known->ref_relid == a))
			return true;
	}
	return false;
}

/* The part of all pairs of rows that core expects to satisfy the clauses. */
static Selectivity
PairSelectivity(PlannerInfo *root, List *clauses, RelOptInfo *a, RelOptInfo *b)
{
	SpecialJoinInfo *sjinfo = makeNode(SpecialJoinInfo);

	sjinfo->min_lefthand = sjinfo->syn_lefthand = a->relids;
	sjinfo->min_righthand = sjinfo->syn_righthand = b->relids;
	sjinfo->jointype = JOIN_INNER;
	return clauselist_selectivity(root, clauses, 0, JOIN_INNER, sjinfo);
}

/* The larger table is "referenced" by the joined columns of the other one. */
static void
LimitPair(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b)
{
	List	   *clauses = BfJoinEqualities(root, bms_union(a->relids, b->relids), a->relids, b);
	RelOptInfo *larger = a->tuples > b->tuples ? a : b;
	ForeignKeyOptInfo *limit;
	ListCell   *lc;

	if (list_length(clauses) < 2 || list_length(clauses) > INDEX_MAX_KEYS)
		return;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->parent_ec == NULL || rinfo->parent_ec->ec_has_const)
			return;
	}
	if (PairSelectivity(root, clauses, a, b) * larger->tuples >= 1.0)
		return;
	limit = makeNode(ForeignKeyOptInfo);
	limit->con_relid = (larger == a ? b : a)->relid;
	limit->ref_relid = larger->relid;
	foreach(lc, clauses)
		limit->eclass[limit->nkeys++] = lfirst_node(RestrictInfo, lc)->parent_ec;
	limit->nmatched_ec = limit->nkeys;
	root->fkey_list = lappend(root->fkey_list, limit);
}

/* A bucketed table that is joined as such, not as a partition, and has rows. */
static bool
IsCounted(RelOptInfo *rel)
{
	return rel != NULL && rel->reloptkind == RELOPT_BASEREL && rel->has_eclass_joins &&
		BucketRelInfoGet(rel) != NULL && rel->tuples > 0;
}

/* May core join two relations by several columns?  It makes one equality out of a class of equal expressions. */
static bool
ShareClasses(const RelOptInfo *a, const RelOptInfo *b)
{
	Bitmapset  *shared = bms_intersect(a->eclass_indexes, b->eclass_indexes);
	bool		several = bms_membership(shared) == BMS_MULTIPLE;

	bms_free(shared);
	return several;
}

void
PairLimitsAdd(PlannerInfo *root, RelOptInfo *rel)
{
	if (!bf_enable || !IsCounted(rel))
		return;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other != rel && IsCounted(other) && ShareClasses(rel, other) &&
			!PairIsKnown(root, rel->relid, other->relid) && JoinedInner(root, rel, other))
			LimitPair(root, rel, other);
	}
}
