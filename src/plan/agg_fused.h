/*
 * agg_fused.h
 *	  Aggregates without GROUP BY, computed on batches.
 */
#ifndef BF_AGG_FUSED_H
#define BF_AGG_FUSED_H

#include "nodes/pathnodes.h"

/*
 * Add a BucketAggregate path to grouped_rel if input_rel is bucketed and all
 * aggregates of the query can be computed on batches.
 */
extern void FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						 GroupPathExtraData *extra);

#endif							/* BF_AGG_FUSED_H */
