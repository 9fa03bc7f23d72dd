/*
 * agg_fused.h
 *	  Aggregates computed on batches: BucketAggregate.
 */
#ifndef BF_AGG_FUSED_H
#define BF_AGG_FUSED_H

#include "plan/key/bucketed.h"

/*
 * Add BucketAggregate paths without GROUP BY, or with groups found by a hash
 * of any columns, to grouped_rel if input_rel is bucketed and all aggregates of
 * the query can be computed on batches.
 */
extern void FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel);

/* What is grouped by, or what DISTINCT compares, without what is redundant. */
extern List *GroupingClauses(PlannerInfo *root, bool distinct);

/*
 * The BucketAggregate path of a GROUP BY or DISTINCT by exactly the keys of
 * an input, not added to anything; partial: in several processes, each with
 * the groups of its own keys.  NULL when an aggregate is core's, or one process
 * is enough.
 */
extern Path *FusedGroupingPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
							   bool distinct, const BucketInput *input, bool partial);

/* Is it such a path? */
extern bool FusedByKey(const Path *path);

/* Is it a BucketAggregate that groups by a hash, the upper one if there are two? */
extern bool FusedHashed(const Path *path);

#endif							/* BF_AGG_FUSED_H */
