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

/*
 * The column of the relation on a side that the join equates with key k of an
 * input of the other side, or NULL.
 */
static Var *
RouteColumn(const JoinClauses *clauses, int side, const BucketInput *input, int k)
{
	for (int i = 0; i < clauses->nequalities; i++)
	{
		const KeyEquality *equality = &clauses->equalities[i];
		Var		   *var = StripToColumn(equality->sides[side]);
		bool		exactly;

		if (var != NULL && var->varattno > 0 && KeyClassesMeet(input->classes[k], equality->keyclass) &&
			SideIsKey(equality, 1 - side, input, k, &exactly) &&
			KeyClassesMeet(KeyClassOfType(getBaseType(var->vartype)), equality->keyclass))
			return var;
	}
	return NULL;
}

/*
 * A way to give the relation on a side by the keys of an input of the other
 * side; NULL when the join does not equate all of them.
 */
static BucketInput *
RouteTo(const JoinClauses *clauses, int side, RelOptInfo *rel, const BucketInput *input)
{
	Path	   *path = rel->cheapest_total_path;
	BucketInput *route = NULL;

	if (path == NULL || path->param_info != NULL || !bms_is_empty(PATH_REQ_OUTER(path)))
		return NULL;
	for (int k = 0; k < input->nkeys; k++)
	{
		Var		   *var = RouteColumn(clauses, side, input, k);

		if (var == NULL || !TargetHasColumn(path->pathtarget, var))
			return NULL;
		if (route == NULL)
		{
			route = palloc0(sizeof(BucketInput));
			route->nkeys = input->nkeys;
			route->classes = palloc0(input->nkeys * sizeof(KeyClass));
			route->vars = palloc0(input->nkeys * sizeof(List *));
		}
		route->vars[k] = list_make1(var);
		route->classes[k] = KeyClassOfType(getBaseType(var->vartype));
	}
	route->nbuckets = input->nbuckets;
	route->path = path;
	route->routed = route->holds_routed = true;
	route->fixed = true;
	return route;
}

bool
JoinRoutes(JoinCandidate *join)
{
	List	   *outers = BucketInputs(join->root, join->outerrel);
	List	   *inners = BucketInputs(join->root, join->innerrel);
	ListCell   *lc;

	if (!bf_enable_routing || (outers == NIL && inners == NIL) || JoinCheckForm(join) != REASON_NONE ||
		join->clauses.nequalities == 0)
		return false;
	join->outers = NIL;
	join->inners = NIL;
	for (int side = 0; side < 2; side++)
	{
		foreach(lc, side == 0 ? outers : inners)
		{
			BucketInput *input = lfirst(lc);
			BucketInput *route = RouteTo(&join->clauses, 1 - side, side == 0 ? join->innerrel : join->outerrel,
										 input);

			if (route == NULL)
				continue;
			join->outers = lappend(join->outers, side == 0 ? input : route);
			join->inners = lappend(join->inners, side == 0 ? route : input);
		}
	}
	return join->outers != NIL;
}
