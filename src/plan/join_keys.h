/*
 * join_keys.h
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 */
#ifndef BF_JOIN_KEYS_H
#define BF_JOIN_KEYS_H

#include "plan/bucketed.h"

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
 * Is the k-th key of one input equated with the k-th key of the other for
 * every k?  Fills clauses->residual.  Returns false when some key has no
 * clause, or when the keys differ in number or class.
 */
extern bool JoinKeysMatch(PlannerInfo *root, JoinType jointype,
						  RelOptInfo *outerrel, const BucketInput *outer,
						  RelOptInfo *innerrel, const BucketInput *inner,
						  JoinClauses *clauses);

#endif							/* BF_JOIN_KEYS_H */
