/*
 * agg_path.h
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 */
#ifndef BF_AGG_PATH_H
#define BF_AGG_PATH_H

#include "plan/bucketed.h"
#include "plan/reason.h"
#include "plan/rows_path.h"

/* Install the planner hook; once, from _PG_init. */
extern void AggPathInit(void);

/*
 * Can the rows of input_rel be grouped in the order in which buckets give
 * them?  *input is then the way to deliver them, else the one that came
 * nearest, or NULL; *order how the rows of each key must be sorted for it.
 */
extern BucketReason GroupingCheck(PlannerInfo *root, RelOptInfo *input_rel,
								  bool distinct, BucketInput **input, RowOrder *order);

/*
 * Why a grouping that stands in the plan with this cost is not done so, in
 * words.
 */
extern void GroupingReason(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						   bool distinct, const Path *chosen, Rejection *rejection);

/* The paths of a grouping that GroupingCheck allows; not added to anything. */
extern List *GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						   bool distinct, const BucketInput *input, const RowOrder *order);

#endif							/* BF_AGG_PATH_H */
