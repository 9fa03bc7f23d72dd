/*
 * subplan_choice.c
 *	  How often the subqueries of a condition are asked.
 *
 * EXISTS below an OR is planned twice: to be computed for each row, and to be
 * computed once and hashed.  When the plan is finished core takes what costs
 * less for the rows of the plan node that tests it.  That is one run's rows: of
 * a lookup that a nested loop repeats a thousand times, a thousandth of what is
 * tested.  In paths core reckons with the first of the two, whose cost may be so
 * great that all other differences between plans are lost in it.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "plan/rel/subplan_choice.h"

static Node *
ScaleCalls(Node *node, void *context)
{
	double		times = *(double *) context;
	AlternativeSubPlan *choice;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (!IsA(node, AlternativeSubPlan))
		return expression_tree_mutator(node, ScaleCalls, context);
	choice = copyObject((AlternativeSubPlan *) node);
	foreach(lc, choice->subplans)
		lfirst_node(SubPlan, lc)->per_call_cost *= times;
	return (Node *) choice;
}

List *
SubPlansTestedOften(List *exprs, double assumed, double tests)
{
	double		times = tests / assumed;

	return contain_subplans((Node *) exprs) ? (List *) ScaleCalls((Node *) exprs, &times) : exprs;
}

/* Put the subquery that core will choose in the place of both. */
static Node *
Choose(Node *node, void *context)
{
	double		tests = *(double *) context;
	SubPlan    *best = NULL;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (!IsA(node, AlternativeSubPlan))
		return expression_tree_mutator(node, Choose, context);
	foreach(lc, ((AlternativeSubPlan *) node)->subplans)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		/* of equal ones the last, as core does */
		if (best == NULL || subplan->startup_cost + tests * subplan->per_call_cost <=
			best->startup_cost + tests * best->per_call_cost)
			best = subplan;
	}
	return (Node *) best;
}

void
QualCostOfTests(PlannerInfo *root, List *clauses, double tests, QualCost *cost)
{
	List	   *chosen = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		chosen = lappend(chosen, contain_subplans((Node *) rinfo->clause) ?
						 Choose((Node *) rinfo->clause, &tests) : (Node *) rinfo);
	}
	cost_qual_eval(cost, chosen, root);
	list_free(chosen);
}
