/*
 * spill.h
 *	  Rows in temporary files: sorted runs over all buckets, and the merge of
 *	  runs and rows in memory.
 */
#ifndef BF_SPILL_H
#define BF_SPILL_H

#include "rows/row_sort.h"
#include "storage/fd.h"

/* runs merged at once; more are merged in passes */
#define SPILL_FAN_IN 256

/* A temporary file, shared by the runs written to it. */
typedef struct SpillFile
{
	File		vfd;
	int			nruns;			/* runs that refer to it */
	off_t		end;			/* where the next run begins */
} SpillFile;

/*
 * A sorted run: for each bucket that has rows, ascending, a segment: header
 * and packed rows in order.
 */
typedef struct SpillRun
{
	SpillFile  *file;
	off_t		offset;			/* where it begins */
	int64		bytes;
} SpillRun;

/*
 * Write the rows that the last buckets of a set have in memory to a run, of as
 * many buckets as makes the set take no more than "keep" bytes of memory then.
 */
extern void SpillSet(RowSet *set, Size keep);

/* Free a set with its memory and its runs. */
extern void RowSetFree(RowSet *set);

/*
 * Close the temporary files nobody refers to any more.  RowSetFree only puts
 * them aside, because it is called when a subtransaction aborts and closing
 * may have to write.
 */
extern void SpillCloseUnused(void);

/* Forget all temporary files: the transaction aborts and its resource owner closes them. */
extern void SpillForget(void);

/* Merge runs of a set in passes until no more than max_runs are left. */
extern void SpillReduceRuns(RowSet *set, int max_runs);

/* All rows of some sets of the same layout, by bucket and in order. */
typedef struct RowMerge RowMerge;

/* The sets stay as they are, and must not change while the merge goes on. */
extern RowMerge *RowMergeBegin(RowSet **sets, int nsets);

/* The next bucket that has rows, or -1. */
extern int	RowMergeNextBucket(RowMerge *merge);

/* Bytes of the rows of that bucket, as packed. */
extern int64 RowMergeBucketBytes(const RowMerge *merge);

/*
 * The next rows of the bucket, in order; returns their number, 0 at the end of
 * the bucket.  Valid until the next call.
 */
extern int64 RowMergeNextRows(RowMerge *merge, const SortEntry **entries);
extern void RowMergeEnd(RowMerge *merge);

#endif							/* BF_SPILL_H */
