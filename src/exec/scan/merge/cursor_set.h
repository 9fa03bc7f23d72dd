/*
 * cursor_set.h
 *	  The cursors of a merge: each stands in a run, or in rows of runs that were
 *	  copied to a store.
 */
#ifndef BF_CURSOR_SET_H
#define BF_CURSOR_SET_H

#include "exec/scan/block/block_cursor.h"
#include "exec/scan/merge/group_store.h"

/* Room for n cursors of a unit, and back. */
extern void CursorSetAllocate(LeafReader *leaf, int n);
extern void CursorSetFree(LeafReader *leaf);

/* Let a cursor read a store; in the current context. */
extern void CursorReadStore(LeafReader *leaf, BlockCursor *cursor, GroupStore *store);

/*
 * Read the next block of a cursor, which has none, and prepare its keys; false
 * at the end of the run.  A chunk of a store that was read before it is gone.
 */
extern bool CursorReadBlock(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound);

/* Bytes of a block with all columns that are read. */
extern Size MergeBlockMemory(LeafReader *leaf, const LeafFile *file, int blockno);

#endif							/* BF_CURSOR_SET_H */
