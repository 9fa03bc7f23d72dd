/*
 * run_merge.h
 *	  Merge the runs of a bucket group into one sorted stream.
 */
#ifndef BF_RUN_MERGE_H
#define BF_RUN_MERGE_H

#include "exec/scan/block/block_cursor.h"

/* Start on the reader's cursors, none of which has read a block. */
extern void RunMergeOpen(LeafReader *leaf);

/* As LeafNextBatch. */
extern Batch *RunMergeNext(LeafReader *leaf, const KeyBound *bound);

extern void RunMergeClose(LeafReader *leaf);

#endif							/* BF_RUN_MERGE_H */
