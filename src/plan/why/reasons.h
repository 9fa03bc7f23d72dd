/*
 * reasons.h
 *	  Why a join, a grouping or a relation does without buckets, in words.
 */
#ifndef BF_REASONS_H
#define BF_REASONS_H

#include "plan/join/join_check.h"

/* Why a join is not made by buckets, in words.  rejection->code is REASON_NONE when a bucket join is possible. */
extern void JoinReason(JoinCandidate *join, Rejection *rejection);

/* Why a relation is not bucketed, in words. */
extern void NotBucketedReason(PlannerInfo *root, RelOptInfo *rel, JoinCandidate *join,
							  Rejection *rejection);

/*
 * Why a grouping that stands in the plan with this cost is not done so, in
 * words.
 */
extern void GroupingReason(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
						   bool distinct, const Path *chosen, Rejection *rejection);

/*
 * Say of a join or grouping of these tables, which is estimated to cost more by
 * buckets than as it was chosen, why that is.  rejection->detail says what was
 * chosen, "setting" switches that off.
 */
extern void CostReason(PlannerInfo *root, Relids relids, Cost chosen, Cost bucketed, const char *setting,
					   Rejection *rejection);

/*
 * Are all of these partitions (Oids, locked by the caller) bucketed by the
 * same columns?  If not, return true and say which one stands in the way;
 * label is the name of the partitioned table.
 */
extern bool PartitionsReason(const char *label, List *leaves, Rejection *rejection);

#endif							/* BF_REASONS_H */
