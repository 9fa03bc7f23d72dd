/*
 * join_route.c
 *	  Joins of which one input only is bucketed by the key: the rows of the
 *	  other are routed to its buckets while the join runs.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "compat.h"
#include "guc.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "plan/join_check.h"
#include "plan/join_route.h"
#include "utils/tuplesort.h"

/* hashing and numbering a row, and copying it into a batch, in units of cpu_tuple_cost */
#define ROUTE_COST 0.5
/* comparing the numbers that rows are sorted by, in units of cpu_operator_cost */
#define NUMBER_COST 0.2
/* the same where many rows may have the number of others, so that keys are compared */
#define KEY_COST 1.0

/* Writing and reading back what does not fit into work_mem, as core's sort. */
static Cost
SpillCost(double bytes)
{
	double		memory = work_mem * 1024.0;
	double		pages = ceil(bytes / BLCKSZ);
	double		runs = bytes / memory;
	double		order = tuplesort_merge_order((int64) memory);
	double		passes = runs > order ? ceil(log(runs) / log(order)) : 1;

	if (bytes <= memory)
		return 0;
	return 2 * pages * passes * (0.75 * seq_page_cost + 0.25 * random_page_cost);
}

Cost
RoutingCost(const BucketInput *input)
{
	Path	   *path = input->path;
	double		rows = Max(path->rows, 2);
	bool		strings;
	double		width;

	if (!input->routed)
		return 0;
	strings = input->classes[0] == KEYCLASS_TEXT || input->classes[0] == KEYCLASS_BPCHAR ||
		input->classes[0] == KEYCLASS_BYTEA;
	width = MAXALIGN(path->pathtarget->width + sizeof(int64)) + MAXALIGN(SizeofHeapTupleHeader);
	return rows * (ROUTE_COST * cpu_tuple_cost +
				   log(rows) / log(2) * (strings ? KEY_COST : NUMBER_COST) * cpu_operator_cost) +
		SpillCost(rows * width);
}

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
		var = StripToColumn(ClauseSide(rinfo, rel->relids, other->relids));
		if (var == NULL || var->varattno <= 0)
			continue;
		route->vars[k] = list_make1(var);
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
	route->classes = input->classes;
	route->vars = palloc0(input->nkeys * sizeof(List *));
	route->nbuckets = input->nbuckets;
	route->path = path;
	route->routed = route->holds_routed = true;
	for (int k = 0; k < input->nkeys; k++)
	{
		Var		   *var = RouteColumn(join, other, input, rel, route, k);
		ListCell   *lc;
		bool		given = false;

		if (var == NULL)
			return NULL;
		foreach(lc, path->pathtarget->exprs)
		{
			Var		   *have = lfirst(lc);

			given |= IsA(have, Var) && have->varno == var->varno && have->varattno == var->varattno;
		}
		if (!given)
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
