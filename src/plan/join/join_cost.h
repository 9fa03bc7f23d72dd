/*
 * join_cost.h
 *	  What a bucket join costs.
 */
#ifndef BF_JOIN_COST_H
#define BF_JOIN_COST_H

#include "plan/key/bucketed.h"
#include "plan/key/join_keys.h"

/*
 * Set rows and costs of a bucket join path.  as_input: its rows go to a bucket
 * join above as batches, not through the executor.
 */
extern void CostBucketJoin(PlannerInfo *root, CustomPath *path,
						   RelOptInfo *outerrel, RelOptInfo *innerrel, JoinType jointype,
						   SpecialJoinInfo *sjinfo, const JoinClauses *clauses,
						   const BucketInput *outer, const BucketInput *inner, bool as_input);

/* What making so many pairs is of that, where no further condition is tested on them. */
extern Cost PairsCost(double pairs);

#endif							/* BF_JOIN_COST_H */
