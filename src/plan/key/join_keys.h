/*
 * join_keys.h
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 */
#ifndef BF_JOIN_KEYS_H
#define BF_JOIN_KEYS_H

#include "plan/key/bucketed.h"
#include "plan/words/reason.h"

typedef struct JoinClauses
{
	List	   *joinquals;		/* RestrictInfos that decide what matches */
	List	   *otherquals;		/* RestrictInfos on the joined row */
	List	   *residual;		/* of joinquals: those the merge does not say */
} JoinClauses;

/* Divide the clauses of a join as core does. */
extern void JoinClausesSplit(List *restrictlist, JoinType jointype, RelOptInfo *joinrel,
							 JoinClauses *clauses);

/*
 * Is the k-th key of one input equated with the k-th key of the other, or
 * the same constant in both, for every k?  Then REASON_NONE, and clauses->residual is filled.  Otherwise how
 * far it came: what is in the way of the keys is looked for by JoinReason.
 */
extern BucketReason JoinKeysMatch(PlannerInfo *root, JoinType jointype,
								  RelOptInfo *outerrel, const BucketInput *outer,
								  RelOptInfo *innerrel, const BucketInput *inner,
								  JoinClauses *clauses);

/* Do conditions on a table fix the k-th key to a value, the same in all rows? */
extern bool KeyIsConstant(PlannerInfo *root, const BucketInput *input, int k);

/* The column an expression is, under casts that do not change its value; NULL: none. */
extern Var *StripToColumn(Node *node);

/* The same, also of an integer that is cast to numeric to be compared as such. */
extern Var *StripToKey(Node *node);

/*
 * Does a clause equate the k-th keys of two inputs?  *exactly: by naming
 * them, without a detour over equivalence classes.
 */
extern bool ClauseEquates(PlannerInfo *root, RestrictInfo *rinfo, JoinType jointype,
						  RelOptInfo *x, const BucketInput *xinput,
						  RelOptInfo *y, const BucketInput *yinput, int k, bool *exactly);

/* The side of an equality that belongs to x where the other belongs to y; NULL: it is no such clause. */
extern Node *ClauseSide(RestrictInfo *rinfo, Relids x, Relids y);

#endif							/* BF_JOIN_KEYS_H */
