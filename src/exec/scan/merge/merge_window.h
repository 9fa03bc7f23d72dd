/*
 * merge_window.h
 *	  Rows of many runs in the order of a key that its image decides alone,
 *	  without comparing any two of them.
 *
 * Internal to src/exec/; used by run_merge.c.
 */
#ifndef BF_MERGE_WINDOW_H
#define BF_MERGE_WINDOW_H

#include "exec/scan/merge/window_state.h"

/*
 * keycol is the batch column of the key, whose class must be a fixed one; lives
 * in leaf->cxt.  Where the reader's rows may be counted, batches may have "times".
 */
extern MergeWindow *MergeWindowCreate(LeafReader *leaf, int keycol, KeyClass keyclass, Oid keytype);

/* Start on the reader's cursors, none of which has read a block. */
extern void MergeWindowOpen(MergeWindow *window);

/*
 * Make the next rows, from the bound on and limit at most, the rows of a batch;
 * 0: there are none but those with the image KEY64_NULL, to which all cursors
 * have come.
 */
extern int	MergeWindowNext(MergeWindow *window, Batch *batch, int limit, const KeyBound *bound);

/* Values of a column in the rows last returned; whether there is a NULL among them. */
extern bool MergeWindowGather(MergeWindow *window, int nrows, int col, Datum *values, bool *nulls);

/*
 * The same of a column of numerics as integers, into scaled->values and nulls,
 * which becomes NULL if there is none; false: not all blocks hold such, of one
 * scale.
 */
extern bool MergeWindowGatherScaled(MergeWindow *window, int nrows, int col, ScaledColumn *scaled);

#endif							/* BF_MERGE_WINDOW_H */
