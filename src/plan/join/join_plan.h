/*
 * join_plan.h
 *	  From a bucket join path to its plan.
 */
#ifndef BF_JOIN_PLAN_H
#define BF_JOIN_PLAN_H

#include "exec/join/bucket_join.h"
#include "exec/source/source_of.h"
#include "plan/join/join_cost.h"
#include "plan/key/join_keys.h"

/* A bucket join as a path. */
typedef struct BucketJoinPath
{
	CustomPath	path;
	JoinType	jointype;
	const BucketInput *outer;
	const BucketInput *inner;
	List	   *residual;		/* RestrictInfos that are tested on pairs */
	List	   *otherquals;		/* RestrictInfos that are tested on joined rows */
	List	   *output_keys;	/* where another node of ours reads it: the expressions that are the keys of its
								 * result, which stand first in its output; else NIL */
	bool		split;			/* one key may be joined in several units */
	JoinCosts	costs;
} BucketJoinPath;

/*
 * The column of a child plan that holds a Var, or the merged key of a full
 * join: its attribute number where the child is a Foreign Scan, else its
 * place in the output.
 */
extern int	ColumnOfChild(Plan *child, BatchSourceKind kind, Node *expr);

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
