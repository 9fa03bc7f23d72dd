/*
 * merge_spool.h
 *	  Rows of a merge that wait in temporary files: of blocks that are too large
 *	  to be held, and of runs that were merged before.
 */
#ifndef BF_MERGE_SPOOL_H
#define BF_MERGE_SPOOL_H

#include "exec/scan/block/block_cursor.h"
#include "exec/scan/merge/group_store.h"

/* A store for rows of the reader, which keeps limit bytes of them in memory; in the current context. */
extern GroupStore *MergeStoreMake(LeafReader *leaf, Size limit);

/* Let a cursor read a store; in the current context. */
extern void MergeReadStore(LeafReader *leaf, BlockCursor *cursor, GroupStore *store);

/* Copy the entries of a cursor's block, from the present one on, to its store, which is read next; and release the block. */
extern void MergeSpoolBlock(LeafReader *leaf, BlockCursor *cursor);

/* Give up the stores of all cursors; the reader has a spool_cxt. */
extern void MergeSpoolClose(LeafReader *leaf);

#endif							/* BF_MERGE_SPOOL_H */
