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
InputStartup(const BucketInput *outer, const BucketInput *inner)
{
	return outer->path->startup_cost + inner->path->startup_cost;
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

/* Are the keys of both sides keys of the result?  The inner one of an outer join may be NULL where the outer one is not. */
static bool
KeysOfBoth(JoinType jointype)
{
	return jointype == JOIN_INNER;
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
		if (KeysOfBoth(jointype))
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
	input->fixed = outer->fixed || inner->fixed;
	return input;
}

/*
 * The path that joins a pair of inputs, for one process or, with workers > 0,
 * for each of several.  output_keys: see BucketJoinPath.  split: one key may be
 * joined in several units, in several processes, since nobody above relies on
 * finding its rows together.
 */
static Path *
MakeJoinPath(JoinCandidate *join, const BucketInput *outer, const BucketInput *inner,
			 const JoinCosts *costs, List *output_keys, bool split, int workers)
{
	BucketJoinPath *result = palloc0(sizeof(BucketJoinPath));
	CustomPath *path = &result->path;

	NodeSetTag(path, T_CustomPath);
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
	result->jointype = join->jointype;
	result->outer = outer;
	result->inner = inner;
	result->residual = join->clauses.residual;
	result->otherquals = join->clauses.otherquals;
	result->output_keys = output_keys;
	result->split = split;
	result->costs = *costs;
	SetJoinCosts(&path->path, costs, output_keys != NIL);
	if (workers > 0)
		MakePartial(&path->path, InputStartup(outer, inner), workers);
	return &path->path;
}

/* How many processes can each join some of the groups, or parts of them; 0: it is for one. */
static int
JoinWorkers(PlannerInfo *root, RelOptInfo *joinrel, const BucketInput *outer, const BucketInput *inner)
{
	return outer->holds_routed || inner->holds_routed ? 0 :
		PartialWorkers(root, joinrel, outer->pages + inner->pages);
}

Path *
BucketRowsPath(PlannerInfo *root, const BucketInput *input, bool partial)
{
	BucketJoinPath *join = (BucketJoinPath *) input->path;
	BucketJoinPath *rows;
	JoinType	jointype;
	int			workers;

	if (!IsBucketJoinPath(input->path, &jointype))
		return BaseRowsPath(root, input, partial);
	workers = partial ? JoinWorkers(root, input->path->parent, join->outer, join->inner) : 0;
	if (partial && workers == 0)
		return NULL;
	rows = palloc(sizeof(BucketJoinPath));
	memcpy(rows, join, sizeof(BucketJoinPath));
	rows->output_keys = NIL;
	SetJoinCosts(&rows->path.path, &rows->costs, false);
	if (partial)
		MakePartial(&rows->path.path, InputStartup(join->outer, join->inner), workers);
	return &rows->path.path;
}

/*
 * Add the ways to join a pair of inputs whose keys match.  Of many tables there
 * are many pairs, and few of them cost less than what is there: costs are
 * reckoned before anything is made.
 */
static void
AddJoinPaths(JoinCandidate *join, JoinPathExtraData *extra, const BucketInput *outer,
			 const BucketInput *inner)
{
	RelOptInfo *joinrel = join->joinrel;
	int			workers = JoinWorkers(join->root, joinrel, outer, inner);
	JoinCosts	costs;
	Path		path = {0};
	BucketInput *joined;

	CostBucketJoin(join->root, joinrel, join->outerrel, join->innerrel, join->jointype, extra->sjinfo,
				   &join->clauses, outer, inner, &costs);
	SetJoinCosts(&path, &costs, false);
	BucketedNoteCost(joinrel, path.total_cost);
	if (BfAddPathPrecheck(joinrel, costs.disabled_nodes, path.startup_cost, path.total_cost))
		add_path(joinrel, MakeJoinPath(join, outer, inner, &costs, NIL, true, 0));
	if (workers > 0)
	{
		MakePartial(&path, InputStartup(outer, inner), workers);
		if (BfAddPartialPathPrecheck(joinrel, costs.disabled_nodes, path.total_cost))
			add_partial_path(joinrel, MakeJoinPath(join, outer, inner, &costs, NIL, true, workers));
	}

	SetJoinCosts(&path, &costs, true);
	if (!BucketInputWanted(joinrel, outer, KeysOfBoth(join->jointype) ? inner : NULL, path.total_cost))
		return;
	joined = JoinedInput(join->root, join->jointype, extra->sjinfo, outer, inner);
	if (joined == NULL)
		return;
	joined->path = MakeJoinPath(join, outer, inner, &costs, FirstVars(joined), false, 0);
	BucketInputAdd(joinrel, joined);
}

/* The same if they do. */
static bool
AddPair(JoinCandidate *join, JoinPathExtraData *extra, const BucketInput *outer, const BucketInput *inner)
{
	if (JoinKeysMatch(join->root, outer, inner, &join->clauses) != REASON_NONE)
		return false;
	AddJoinPaths(join, extra, outer, inner);
	return true;
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
		foreach(li, join->inners)
			found |= AddPair(join, extra, lfirst(lo), lfirst(li));
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
	ListCell   *lo;
	ListCell   *li;

	/*
	 * The mirrored types are tried with their inputs exchanged.  JOIN_UNIQUE_*
	 * promise that core makes a side unique first.
	 */
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_FULL &&
		jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		return;
	if (BucketInputs(root, outerrel) == NIL && BucketInputs(root, innerrel) == NIL)
		return;
	/* core asks for each of these twice, and there is nothing that is cheaper the other way round */
	if ((jointype == JOIN_INNER || jointype == JOIN_FULL) && BucketedAllowed(joinrel) &&
		BucketedSeenMirrored(joinrel, outerrel, innerrel))
		return;
	if (JoinCheck(&join) == REASON_NONE && AddPairs(&join, extra))
		return;
	if (JoinRoutes(&join))
	{
		forboth(lo, join.outers, li, join.inners)
			(void) AddPair(&join, extra, lfirst(lo), lfirst(li));
	}
}

bool
IsBucketJoinPath(Path *path, JoinType *jointype)
{
	if (!IsA(path, CustomPath) || ((CustomPath *) path)->methods != &bucket_join_path_methods)
		return false;
	*jointype = ((BucketJoinPath *) path)->jointype;
	return true;
}
