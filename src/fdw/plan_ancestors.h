/*
 * plan_ancestors.h
 *	  The nodes above a node of a plan, for printing parameters in EXPLAIN.
 */
#ifndef BF_PLAN_ANCESTORS_H
#define BF_PLAN_ANCESTORS_H

#include "nodes/plannodes.h"

/*
 * Plan and SubPlan nodes above a node, nearest first, as deparsing wants them;
 * a callback of an FDW is not told.  NIL when the node is not found.
 */
extern List *PlanAncestors(PlannedStmt *stmt, Plan *plan);

#endif							/* BF_PLAN_ANCESTORS_H */
