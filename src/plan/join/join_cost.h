/*
 * join_cost.h
 *	  What a bucket join costs.
 */
#ifndef BF_JOIN_COST_H
#define BF_JOIN_COST_H

#include "plan/key/bucketed.h"
#include "plan/key/join_keys.h"

/* The costs of a bucket join, whatever becomes of its rows. */
typedef struct JoinCosts
{
	double		rows;
	Cost		startup;		/* before the first unit */
	Cost		run;			/* of the join */
	Cost		output;			/* of handing its rows to the executor */
	double		units;
	int			width;			/* of a row, in bytes */
	int			disabled_nodes;	/* below; 0 before 18 */
} JoinCosts;

/* Find the costs of joining two inputs. */
extern void CostBucketJoin(PlannerInfo *root, RelOptInfo *joinrel,
						   RelOptInfo *outerrel, RelOptInfo *innerrel, JoinType jointype,
						   SpecialJoinInfo *sjinfo, const JoinClauses *clauses,
						   const BucketInput *outer, const BucketInput *inner, JoinCosts *costs);

/*
 * Set rows and costs of a path.  as_input: its rows go to a bucket join above as
 * batches, not through the executor.
 */
extern void SetJoinCosts(Path *path, const JoinCosts *costs, bool as_input);

/* What making so many pairs is of that, where no further condition is tested on them. */
extern Cost PairsCost(double pairs);

#endif							/* BF_JOIN_COST_H */
