/*
 * join_keys.h
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 */
#ifndef BF_JOIN_KEYS_H
#define BF_JOIN_KEYS_H

#include "plan/key/bucketed.h"
#include "plan/words/reason.h"

/* A condition by which two relations can be merged that are sorted by its sides, in the view of a join of them. */
typedef struct KeyEquality
{
	int			place;			/* of the condition in the list */
	KeyClass	keyclass;		/* of the operator */
	Node	   *sides[2];		/* of the outer relation and of the inner one, without casts */
	EquivalenceClass *classes[2];	/* whose members equal the side in all rows of the join, or NULL */
} KeyEquality;

typedef struct JoinClauses
{
	List	   *joinquals;		/* RestrictInfos that decide what matches; may be the list that was divided */
	List	   *otherquals;		/* RestrictInfos on the joined row */
	List	   *residual;		/* of joinquals: those the merge does not say */
	int			nequalities;
	KeyEquality *equalities;	/* among joinquals */
} JoinClauses;

/* Divide the clauses of a join as core does, and find the equalities among them. */
extern void JoinClausesSplit(PlannerInfo *root, List *restrictlist, JoinType jointype, RelOptInfo *joinrel,
							 RelOptInfo *outerrel, RelOptInfo *innerrel, JoinClauses *clauses);

/*
 * Is the k-th key of one input equated with the k-th key of the other, or
 * the same constant in both, for every k?  Then REASON_NONE, and clauses->residual is filled.  Otherwise how
 * far it came: what is in the way of the keys is looked for by JoinReason.
 */
extern BucketReason JoinKeysMatch(PlannerInfo *root, const BucketInput *outer, const BucketInput *inner,
								  JoinClauses *clauses);

/* Do conditions on a table fix the k-th key to a value, the same in all rows? */
extern bool KeyIsConstant(PlannerInfo *root, const BucketInput *input, int k);

/* The column an expression is, under casts that do not change its value; NULL: none. */
extern Var *StripToColumn(Node *node);

/*
 * Is a side of an equality, 0 the outer one, the k-th key of an input of that
 * side?  *exactly: it is named, without a detour over equivalence classes.
 */
extern bool SideIsKey(const KeyEquality *equality, int side, const BucketInput *input, int k, bool *exactly);

/* Does it equate the k-th keys of two inputs? */
extern bool EqualityIsOfKeys(const KeyEquality *equality, const BucketInput *outer, const BucketInput *inner,
							 int k, bool *exactly);

/* The side of an equality that belongs to x where the other belongs to y; NULL: it is no such clause. */
extern Node *ClauseSide(RestrictInfo *rinfo, Relids x, Relids y);

#endif							/* BF_JOIN_KEYS_H */
