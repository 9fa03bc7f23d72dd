/*
 * join_plan.h
 *	  From a bucket join path to its plan.
 */
#ifndef BF_JOIN_PLAN_H
#define BF_JOIN_PLAN_H

#include "exec/bucket_join.h"
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
 * child is a Foreign Scan, else its place in the output.
 */
extern int	ColumnOfChild(Plan *child, BatchInputKind kind, Var *var);

/* The type of the join a path made with JoinPathPrivate is. */
extern JoinType JoinPathType(const CustomPath *path);

/* The same of a list of Vars. */
extern List *KeyColumns(Plan *child, BatchInputKind kind, List *vars);

/* What a bucketed child is read as. */
extern BatchInputKind KindOfChild(Plan *child);

/* Per key, the Var that stands for it. */
extern List *FirstVars(const BucketInput *input);

/* PlanCustomPath */
extern Plan *PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

#endif							/* BF_JOIN_PLAN_H */
