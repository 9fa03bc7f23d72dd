/*
 * join_path.h
 *	  Adds bucket join paths to joins of two bucketed tables.
 */
#ifndef BF_JOIN_PATH_H
#define BF_JOIN_PATH_H

#include "plan/key/bucketed.h"

/* Is it a bucket join, and of which type? */
extern bool IsBucketJoinPath(Path *path, JoinType *jointype);

/*
 * The rows of a way to deliver a relation, for the executor, with all rows of a
 * key together; partial: each key in one process.  NULL: there is no such path.
 */
extern Path *BucketRowsPath(PlannerInfo *root, const BucketInput *input, bool partial);

/* Add the bucket join paths of a pair of relations that core joins. */
extern void JoinPathsAdd(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
						 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra);

#endif							/* BF_JOIN_PATH_H */
