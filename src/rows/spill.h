/*
 * spill.h
 *	  Rows of sets go to temporary files, as sorted runs over all buckets.
 */
#ifndef BF_SPILL_H
#define BF_SPILL_H

#include "rows/row_merge.h"

/* runs merged at once; more are merged in passes */
#define SPILL_FAN_IN 256

/*
 * Write the rows that the last buckets of a set have in memory to a run, of as
 * many buckets as makes the set take no more than "keep" bytes of memory then.
 */
extern void SpillSet(RowSet *set, Size keep);

/* Merge runs of a set in passes until no more than max_runs are left. */
extern void SpillReduceRuns(RowSet *set, int max_runs);

#endif							/* BF_SPILL_H */
