/*
 * join_path.c
 *	  Adds bucket join paths to joins of bucketed relations.
 */
#include "postgres.h"

#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "plan/join/join_check.h"
#include "plan/join/join_cost.h"
#include "plan/join/join_path.h"
#include "plan/join/join_plan.h"
#include "plan/key/key_expr.h"
#include "plan/rel/scan_path.h"
#include "utils/lsyscache.h"

static const CustomPathMethods bucket_join_path_methods = {
	.CustomName = "BucketJoin",
	.PlanCustomPath = PlanBucketJoin,
};

/* What a process pays before it takes its first unit, however many processes there are. */
static Cost
InputStartup(CustomPath *path)
{
	Cost		startup = 0;
	ListCell   *lc;

	foreach(lc, path->custom_paths)
		startup += ((Path *) lfirst(lc))->startup_cost;
	return startup;
}

/* Does the query name the merged column of a join with USING, or did before a full join was made another? */
static bool
HasMergedColumns(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->parse->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_JOIN && rte->joinmergedcols > 0)
			return true;
	}
	return false;
}

/* The expressions of a key that are of a class. */
static List *
OfClass(const List *exprs, KeyClass keyclass)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (KeyClassOfType(getBaseType(exprType(lfirst(lc)))) == keyclass)
			result = lappend(result, lfirst(lc));
	}
	return result;
}

/*
 * What is equal to the keys in the join's result; NULL when there is no such
 * expression.
 */
static BucketInput *
JoinedInput(PlannerInfo *root, JoinType jointype, SpecialJoinInfo *sjinfo,
			const BucketInput *outer, const BucketInput *inner)
{
	BucketInput *input = palloc0(sizeof(BucketInput));
	/* core makes a left or inner join of a full one that a condition rules rows out of */
	bool		merge = jointype == JOIN_FULL ||
		((jointype == JOIN_LEFT || jointype == JOIN_INNER) && HasMergedColumns(root));
	int			ojrelid = IS_OUTER_JOIN(jointype) ? BfOuterJoinRelid(sjinfo) : 0;

	input->nkeys = outer->nkeys;
	input->classes = outer->classes;
	input->vars = palloc0(outer->nkeys * sizeof(List *));
	for (int k = 0; k < outer->nkeys; k++)
	{
		/* the inner key of an outer join may be NULL where the outer one is not */
		if (jointype == JOIN_INNER)
			input->vars[k] = list_concat_copy(outer->vars[k], inner->vars[k]);
		else if (jointype != JOIN_FULL)
			input->vars[k] = list_copy(outer->vars[k]);
		/* a merged value is made of the first expressions of both sides: all must be of their class */
		if (merge && outer->classes[k] == inner->classes[k])
			input->vars[k] = list_concat(input->vars[k],
										 MergedKeyExprs(OfClass(outer->vars[k], outer->classes[k]),
														jointype == JOIN_FULL ? ojrelid : 0,
														OfClass(inner->vars[k], inner->classes[k]),
														ojrelid));
		if (input->vars[k] == NIL)
			return NULL;
	}
	input->nbuckets = Min(outer->nbuckets, inner->nbuckets);
	input->holds_routed = outer->holds_routed || inner->holds_routed;
	/* it is opened bucket by bucket, and then read to its end */
	input->pieces = input->nbuckets;
	input->runs = 1;
	input->pages = outer->pages + inner->pages;
	return input;
}

/*
 * The path that joins a pair of inputs, for one process or, with workers > 0,
 * for each of several.  joined: it is read by another node of ours, as a way
 * to deliver the join; NULL: it gives rows.  split: one key may be joined in
 * several units, in several processes, since nobody above relies on finding
 * its rows together.
 */
static Path *
MakeJoinPath(JoinCandidate *join, JoinPathExtraData *extra, const BucketInput *outer,
			 const BucketInput *inner, const BucketInput *joined, bool split, int workers)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = join->joinrel;
	path->path.pathtarget = join->joinrel->reltarget;
	/* what is routed may not be safe, and each process would route all rows */
	path->path.parallel_safe = join->joinrel->consider_parallel &&
		!outer->holds_routed && !inner->holds_routed;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_join_path_methods;
	path->custom_paths = list_make2(outer->path, inner->path);
	BfSetCustomRestrictInfo(path, join->restrictlist);
	path->custom_private = JoinPathPrivate(join->jointype, outer, inner, &join->clauses,
										   join->outerrel, joined ? FirstVars(joined) : NIL, split);
	CostBucketJoin(join->root, path, join->outerrel, join->innerrel, join->jointype, extra->sjinfo,
				   &join->clauses, outer, inner, joined != NULL);
	if (workers > 0)
		MakePartial(&path->path, InputStartup(path), workers);
	return &path->path;
}

/* Add the ways to join a pair of inputs whose keys match. */
static void
AddJoinPaths(JoinCandidate *join, JoinPathExtraData *extra, const BucketInput *outer,
			 const BucketInput *inner)
{
	Path	   *path;
	BucketInput *joined = JoinedInput(join->root, join->jointype, extra->sjinfo, outer, inner);
	/* each process joins some of the groups, or parts of them */
	int			workers = outer->holds_routed || inner->holds_routed ? 0 :
		PartialWorkers(join->root, join->joinrel, outer->pages + inner->pages);

	path = MakeJoinPath(join, extra, outer, inner, NULL, true, 0);
	BucketedNoteCost(join->joinrel, path);
	add_path(join->joinrel, path);
	if (workers > 0)
		add_partial_path(join->joinrel, MakeJoinPath(join, extra, outer, inner, NULL, true, workers));
	if (joined == NULL)
		return;
	joined->path = MakeJoinPath(join, extra, outer, inner, joined, false, 0);
	joined->rows_path = MakeJoinPath(join, extra, outer, inner, NULL, false, 0);
	if (workers > 0)
		joined->partial_rows_path = MakeJoinPath(join, extra, outer, inner, NULL, false, workers);
	BucketInputAdd(join->joinrel, joined);
}

/* Add the ways to join each pair of inputs whose keys match; false: there is none. */
static bool
AddPairs(JoinCandidate *join, JoinPathExtraData *extra)
{
	bool		found = false;
	ListCell   *lo;
	ListCell   *li;

	foreach(lo, join->outers)
	{
		BucketInput *outer = lfirst(lo);

		foreach(li, join->inners)
		{
			BucketInput *inner = lfirst(li);

			if ((outer->routed && inner->routed) ||
				JoinKeysMatch(join->root, join->jointype, join->outerrel, outer,
							  join->innerrel, inner, &join->clauses) != REASON_NONE)
				continue;
			AddJoinPaths(join, extra, outer, inner);
			found = true;
		}
	}
	return found;
}

void
JoinPathsAdd(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
			 JoinType jointype, JoinPathExtraData *extra)
{
	JoinCandidate join = {
		.root = root,
		.joinrel = joinrel,
		.outerrel = outerrel,
		.innerrel = innerrel,
		.jointype = jointype,
		.restrictlist = extra->restrictlist
	};

	/*
	 * The mirrored types are tried with their inputs exchanged.  JOIN_UNIQUE_*
	 * promise that core makes a side unique first.
	 */
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_FULL &&
		jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		return;
	if ((JoinCheck(&join) != REASON_NONE || !AddPairs(&join, extra)) && JoinRoutes(&join))
		(void) AddPairs(&join, extra);
}

bool
IsBucketJoinPath(Path *path, JoinType *jointype)
{
	if (!IsA(path, CustomPath) || ((CustomPath *) path)->methods != &bucket_join_path_methods)
		return false;
	*jointype = JoinPathType((CustomPath *) path);
	return true;
}
