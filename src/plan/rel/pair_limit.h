/*
 * pair_limit.h
 *	  An upper bound on the distinct keys of joins between two bucketed tables.
 */
#ifndef BF_PAIR_LIMIT_H
#define BF_PAIR_LIMIT_H

#include "nodes/pathnodes.h"

/*
 * Before joins are looked at, when the sizes of all relations are known: tell
 * core about equality joins of a bucketed table with other bucketed tables by
 * several columns.  Estimates of joins with any other relation stay as they
 * are.
 */
extern void PairLimitsAdd(PlannerInfo *root, RelOptInfo *rel);

#endif							/* BF_PAIR_LIMIT_H */
