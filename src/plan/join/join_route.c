/*
 * join_route.c
 *	  Joins of which one input only is bucketed by the key: the rows of the
 *	  other are routed to its buckets while the join runs.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "plan/join/join_check.h"
#include "utils/lsyscache.h"

/* The column of rel that the join equates with key k of the input of other, or NULL. */
static Var *
RouteColumn(JoinCandidate *join, RelOptInfo *other, const BucketInput *input,
			RelOptInfo *rel, BucketInput *route, int k)
{
	ListCell   *lc;

	foreach(lc, join->clauses.joinquals)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Var		   *var;
		bool		exactly;

		if (!IsJoinEquality(rinfo))
			continue;
		var = StripToKey(ClauseSide(rinfo, rel->relids, other->relids));
		if (var == NULL || var->varattno <= 0)
			continue;
		route->vars[k] = list_make1(var);
		route->classes[k] = KeyClassOfType(getBaseType(var->vartype));
		if (ClauseEquates(join->root, rinfo, join->jointype, other, input, rel, route, k, &exactly))
			return var;
	}
	return NULL;
}

/* A way to give rel by the keys of an input of other; NULL when the join does not equate all of them. */
static BucketInput *
RouteTo(JoinCandidate *join, RelOptInfo *other, const BucketInput *input, RelOptInfo *rel)
{
	Path	   *path = rel->cheapest_total_path;
	BucketInput *route;

	if (path == NULL || path->param_info != NULL || !bms_is_empty(PATH_REQ_OUTER(path)))
		return NULL;
	route = palloc0(sizeof(BucketInput));
	route->nkeys = input->nkeys;
	route->classes = palloc0(input->nkeys * sizeof(KeyClass));
	route->vars = palloc0(input->nkeys * sizeof(List *));
	route->nbuckets = input->nbuckets;
	route->path = path;
	route->routed = route->holds_routed = true;
	for (int k = 0; k < input->nkeys; k++)
	{
		Var		   *var = RouteColumn(join, other, input, rel, route, k);

		if (var == NULL || !TargetHasColumn(path->pathtarget, var))
			return NULL;
	}
	return route;
}

bool
JoinRoutes(JoinCandidate *join)
{
	List	   *outers = BucketInputs(join->root, join->outerrel);
	List	   *inners = BucketInputs(join->root, join->innerrel);
	bool		found = false;
	ListCell   *lc;

	if (!bf_enable_routing || (outers == NIL && inners == NIL) || JoinCheckForm(join) != REASON_NONE)
		return false;
	join->outers = list_copy(outers);
	join->inners = list_copy(inners);
	for (int side = 0; side < 2; side++)
	{
		foreach(lc, side == 0 ? outers : inners)
		{
			BucketInput *input = lfirst(lc);
			BucketInput *route = side == 0 ?
				RouteTo(join, join->outerrel, input, join->innerrel) :
				RouteTo(join, join->innerrel, input, join->outerrel);

			if (route == NULL)
				continue;
			if (side == 0)
				join->inners = lappend(join->inners, route);
			else
				join->outers = lappend(join->outers, route);
			found = true;
		}
	}
	return found;
}
