/*
 * join_size.c
 *	  How many rows joins give, where core expects far too few.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "plan/join/join_size.h"
#include "plan/rel/partial_path.h"

/* part of the rows that an anti join with further conditions leaves, at least */
#define LEFT_OVER 0.01

static set_rel_pathlist_hook_type prev_rel_hook = NULL;

/* Are two relations an inner join's, as far as matching them to each other goes? */
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

/* Does something say already how two relations match? */
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

/*
 * Core multiplies the selectivities of equal columns, each one divided by a
 * number of values; but so many combinations of values there may not be: a
 * table has no more of them than rows.  Core takes one divided by the rows of
 * the larger table where it knows of a foreign key, and so that is how it is
 * told: the larger one is "referenced" by its columns.
 */
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

/* A base relation that holds a bucketed table, when the sizes of all base relations are known. */
static void
RelPathsHook(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (prev_rel_hook)
		prev_rel_hook(root, rel, rti, rte);
	if (!bf_enable || rel->reloptkind != RELOPT_BASEREL || !rel->has_eclass_joins ||
		!HoldsBucketedTable(root, rel))
		return;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other != NULL && other != rel && other->reloptkind == RELOPT_BASEREL &&
			other->has_eclass_joins && other->tuples > 0 && rel->tuples > 0 &&
			!PairIsKnown(root, rel->relid, other->relid) && JoinedInner(root, rel, other))
			LimitPair(root, rel, other);
	}
}

/*
 * With conditions beside the key, such as a.x <> b.x, core expects nearly
 * every row to have a match and an anti join to give one row.  A small part of
 * the rows is expected instead; where core's estimate is larger, it stands.
 * Core has made paths of its own by now, which say how many rows they give.
 */
void
JoinSizeOfAnti(const JoinCandidate *join)
{
	RelOptInfo *joinrel = join->joinrel;
	double		rows = clamp_row_est(join->outerrel->rows * LEFT_OVER);
	ListCell   *lc;

	if (join->jointype != JOIN_ANTI || join->clauses.residual == NIL || rows <= joinrel->rows)
		return;
	joinrel->rows = rows;
	foreach(lc, joinrel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL)
			path->rows = rows;
	}
	foreach(lc, joinrel->partial_pathlist)
	{
		Path	   *path = lfirst(lc);

		path->rows = clamp_row_est(rows / PartialDivisor(path->parallel_workers));
	}
}

void
JoinSizeInit(void)
{
	prev_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = RelPathsHook;
}
