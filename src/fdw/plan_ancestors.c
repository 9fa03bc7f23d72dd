/*
 * plan_ancestors.c
 *	  The nodes above a node of a plan, for printing parameters in EXPLAIN.
 */
#include "postgres.h"

#include "fdw/plan_ancestors.h"
#include "miscadmin.h"

typedef struct AncestorSearch
{
	PlannedStmt *stmt;
	Plan	   *wanted;
	List	   *path;			/* nodes above the present one, nearest first */
} AncestorSearch;

static bool SearchPlan(AncestorSearch *search, Plan *plan);

static bool
SearchList(AncestorSearch *search, List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
	{
		if (SearchPlan(search, lfirst(lc)))
			return true;
	}
	return false;
}

/* Is the wanted node this one or below it?  Then search->path leads to it. */
static bool
SearchPlan(AncestorSearch *search, Plan *plan)
{
	ListCell   *lc;
	bool		found;

	if (plan == NULL)
		return false;
	if (plan == search->wanted)
		return true;
	check_stack_depth();

	search->path = lcons(plan, search->path);
	found = SearchPlan(search, plan->lefttree) || SearchPlan(search, plan->righttree);
	if (!found && IsA(plan, Append))
		found = SearchList(search, ((Append *) plan)->appendplans);
	if (!found && IsA(plan, MergeAppend))
		found = SearchList(search, ((MergeAppend *) plan)->mergeplans);
	if (!found && IsA(plan, SubqueryScan))
		found = SearchPlan(search, ((SubqueryScan *) plan)->subplan);
	if (!found && IsA(plan, CustomScan))
		found = SearchList(search, ((CustomScan *) plan)->custom_plans);
	foreach(lc, plan->initPlan)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		if (found)
			break;
		search->path = lcons(subplan, search->path);
		found = SearchPlan(search, list_nth(search->stmt->subplans, subplan->plan_id - 1));
		if (!found)
			search->path = list_delete_first(search->path);
	}
	if (!found)
		search->path = list_delete_first(search->path);
	return found;
}

List *
PlanAncestors(PlannedStmt *stmt, Plan *plan)
{
	AncestorSearch search = {stmt, plan, NIL};
	ListCell   *lc;

	if (SearchPlan(&search, stmt->planTree))
		return search.path;

	/* in a subquery of an expression; what lies above that is not looked for */
	foreach(lc, stmt->subplans)
	{
		search.path = NIL;
		if (SearchPlan(&search, lfirst(lc)))
			return search.path;
	}
	return NIL;
}
