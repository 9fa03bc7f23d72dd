/*
 * row_merge.h
 *	  The rows of sets in order: those in memory, and those in sorted runs.
 */
#ifndef BF_ROW_MERGE_H
#define BF_ROW_MERGE_H

#include "rows/row_buffer.h"
#include "rows/row_sort.h"
#include "rows/spill_file.h"

/* stands before the rows of a bucket in a run */
typedef struct SegmentHeader
{
	int64		bucket;
	int64		rows;
	int64		bytes;			/* of the rows */
} SegmentHeader;

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

/*
 * A merge of runs and of the rows that some sets have in memory; of those of
 * buckets from one on.
 */
extern RowMerge *RowMergeBeginParts(RowPool *pool, const RowLayout *layout, RowSet **sets, int nsets,
									List *runs, int from_bucket);

/* What stands before the rows of the present bucket in a run. */
extern SegmentHeader RowMergeSegment(const RowMerge *merge);

#endif							/* BF_ROW_MERGE_H */
