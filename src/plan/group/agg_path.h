/*
 * agg_path.h
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 */
#ifndef BF_AGG_PATH_H
#define BF_AGG_PATH_H

#include "plan/key/bucketed.h"
#include "plan/words/reason.h"

/* Add the paths of grouping or DISTINCT to the result of such a stage. */
extern void GroupPathsAdd(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						  RelOptInfo *output_rel);

/*
 * Can the rows of input_rel be grouped in the order in which buckets give
 * them?  *input is then the way to deliver them, else the one that came
 * nearest, or NULL.
 */
extern BucketReason GroupingCheck(PlannerInfo *root, RelOptInfo *input_rel,
								  bool distinct, BucketInput **input);

/*
 * The paths of a grouping that GroupingCheck allows, not added to anything;
 * partial: those of which every process does a share.  All rows of a key are
 * in one process, so its groups are complete: they can be gathered, or go on
 * in the workers when the query is a subquery.
 */
extern List *GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						   bool distinct, const BucketInput *input, bool partial);

#endif							/* BF_AGG_PATH_H */
