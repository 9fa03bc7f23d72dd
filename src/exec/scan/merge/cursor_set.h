/*
 * cursor_set.h
 *	  The cursors of a merge: each stands in a run, or in rows that were copied
 *	  to a store.
 */
#ifndef BF_CURSOR_SET_H
#define BF_CURSOR_SET_H

#include "exec/scan/block/block_cursor.h"

/* Room for n cursors of a unit, and back. */
extern void CursorSetAllocate(LeafReader *leaf, int n);
extern void CursorSetFree(LeafReader *leaf);

/*
 * Read the next block of a cursor, which has none, and prepare its keys; false
 * at the end of the run.  A piece of a block that was read before it is gone.
 * In a scan in order it must be settled before columns but the keys are loaded.
 */
extern bool CursorReadBlock(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound);

/*
 * Find room for all columns of a cursor's block, from its present entry on.  If
 * there is none, the block becomes the first of the pieces of it, of which that
 * entry is the first.
 */
extern void CursorMakeRoom(LeafReader *leaf, BlockCursor *cursor);

static inline void
CursorSettle(LeafReader *leaf, BlockCursor *cursor)
{
	if (!cursor->block->settled)
		CursorMakeRoom(leaf, cursor);
}

/* Bytes of a block with all columns that are read. */
extern Size MergeBlockMemory(LeafReader *leaf, const LeafFile *file, int blockno);

#endif							/* BF_CURSOR_SET_H */
