/*
 * join_plan.h
 *	  From a bucket join path to its plan.
 */
#ifndef BF_JOIN_PLAN_H
#define BF_JOIN_PLAN_H

#include "exec/join/bucket_join.h"
#include "exec/source/source_of.h"
#include "plan/key/join_keys.h"

/*
 * What the path must carry for PlanBucketJoin.  output_keys: where the join is
 * read by another node of ours, the expressions that are the keys of its
 * result, which stand first in its output; else NIL.  split: one key may be
 * joined in several units.
 */
extern List *JoinPathPrivate(JoinType jointype, const BucketInput *outer,
							 const BucketInput *inner, const JoinClauses *clauses,
							 RelOptInfo *outerrel, List *output_keys, bool split);

/*
 * The column of a child plan that holds a Var, or the merged key of a full
 * join: its attribute number where the child is a Foreign Scan, else its
 * place in the output.
 */
extern int	ColumnOfChild(Plan *child, BatchSourceKind kind, Node *expr);

/* The type of the join a path made with JoinPathPrivate is. */
extern JoinType JoinPathType(const CustomPath *path);

/*
 * Does nothing but the keys decide what such a path gives?  *outer_relids:
 * range table indexes of its outer side.
 */
extern bool JoinPathKeysDecide(const CustomPath *path, List **outer_relids);

/* The same of a list of such expressions. */
extern List *KeyColumns(Plan *child, BatchSourceKind kind, List *exprs);

/* What a bucketed child is read as. */
extern BatchSourceKind KindOfChild(Plan *child);

/* Per key, the expression that stands for it. */
extern List *FirstVars(const BucketInput *input);

/* PlanCustomPath */
extern Plan *PlanBucketJoin(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
							List *tlist, List *clauses, List *custom_plans);

#endif							/* BF_JOIN_PLAN_H */
