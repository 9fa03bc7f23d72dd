/*
 * join_plan.h
 *	  From a bucket join path to its plan.
 */
#ifndef BF_JOIN_PLAN_H
#define BF_JOIN_PLAN_H

#include "plan/join_keys.h"

/*
 * What the path must carry for PlanBucketJoin.  as_input: the join is read
 * by another one, so that its keys stand first in its output.
 */
extern List *JoinPathPrivate(JoinType jointype, const BucketInput *outer,
							 const BucketInput *inner, const JoinClauses *clauses,
							 RelOptInfo *outerrel, bool as_input);

/*
 * The column of a child plan that holds a Var: its attribute number where the
 * child is a Foreign Scan, its place in the output where it is a BucketJoin.
 */
extern int	ColumnOfChild(Plan *child, Var *var);

/* The type of the join a path made with JoinPathPrivate is. */
extern JoinType JoinPathType(const CustomPath *path);

/* The same of a list of Vars. */
extern List *KeyColumns(Plan *child, List *vars);

/* Is the child an Append of partitions? */
extern bool IsAppendPlan(Plan *child);

/* Per key, the Var that stands for it. */
extern List *FirstVars(const BucketInput *input);

/* PlanCustomPath */
extern Plan *PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

#endif							/* BF_JOIN_PLAN_H */
