/*
 * merge_passes.h
 *	  Merges of more than MERGE_FAN_IN runs, in passes.
 */
#ifndef BF_MERGE_PASSES_H
#define BF_MERGE_PASSES_H

#include "exec/scan/block/block_cursor.h"

/* Open a merge of the reader's runs in passes; MergeSpoolClose ends it. */
extern void MergePassesOpen(LeafReader *leaf);

#endif							/* BF_MERGE_PASSES_H */
