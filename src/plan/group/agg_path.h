/*
 * agg_path.h
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 */
#ifndef BF_AGG_PATH_H
#define BF_AGG_PATH_H

#include "plan/group/rows_path.h"
#include "plan/key/bucketed.h"
#include "plan/reason.h"

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

/*
 * Do the clauses (SortGroupClauses) name every key of an input, by the
 * equality of its class?  A key that conditions fix to a value need not be
 * named.  *others: they name more.
 */
extern BucketReason GroupsByKey(PlannerInfo *root, const BucketInput *input, List *clauses,
								bool *others);

/*
 * Rows of an input key by key, those of each key in the order; for one process
 * or, with workers > 0, for each of several.  NULL when they cannot be given.
 */
extern Path *RowsForGroups(PlannerInfo *root, RelOptInfo *input_rel, const BucketInput *input,
						   const RowOrder *order, int workers);

/* The paths of a grouping that GroupingCheck allows; not added to anything. */
extern List *GroupingPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						   bool distinct, const BucketInput *input, const RowOrder *order);

#endif							/* BF_AGG_PATH_H */
