/*
 * merge_passes.h
 *	  Merges that take too much at once: of more than MERGE_FAN_IN runs, in
 *	  passes; and of runs with large blocks, of which as many as do not fit
 *	  work_mem are read by way of temporary files.
 */
#ifndef BF_MERGE_PASSES_H
#define BF_MERGE_PASSES_H

#include "exec/scan/block/block_cursor.h"

/* Open a merge of the reader's runs in passes. */
extern void MergePassesOpen(LeafReader *leaf);

/* To be called when the cursors have been started, and have read no block. */
extern void MergeSpoolWide(LeafReader *leaf);

extern void MergePassesClose(LeafReader *leaf);

#endif							/* BF_MERGE_PASSES_H */
