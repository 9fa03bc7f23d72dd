/*
 * subplan_choice.h
 *	  How often the subqueries of a condition are asked.
 */
#ifndef BF_SUBPLAN_CHOICE_H
#define BF_SUBPLAN_CHOICE_H

#include "nodes/pathnodes.h"

/* How often core takes what a plan node of so many rows tests to be tested: its qual, and other expressions. */
#define TESTS_OF_QUAL(rows) ((rows) * 2.0)
#define TESTS_OF_EXPRS(rows) ((rows) * 1.0)

/*
 * Conditions that core takes to be tested so often, where "tests" is right: the
 * same, in which it will choose between computing a subquery each time and once
 * for all accordingly.
 */
extern List *SubPlansTestedOften(List *exprs, double assumed, double tests);

/* As cost_qual_eval, of RestrictInfos that are tested so often: with the subqueries that are chosen then. */
extern void QualCostOfTests(PlannerInfo *root, List *clauses, double tests, QualCost *cost);

#endif							/* BF_SUBPLAN_CHOICE_H */
