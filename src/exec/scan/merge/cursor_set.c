/*
 * cursor_set.c
 *	  The cursors of a merge.
 */
#include "postgres.h"

#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/merge_memory.h"
#include "exec/scan/merge/merge_spool.h"

void
CursorSetAllocate(LeafReader *leaf, int n)
{
	leaf->cursors = MemoryContextAllocZero(leaf->cxt, Max(n, 1) * sizeof(BlockCursor));
	leaf->ncursors = 0;
}

void
CursorSetFree(LeafReader *leaf)
{
	for (int i = 0; i < leaf->ncursors; i++)
		BlockCursorStop(leaf, &leaf->cursors[i]);
	pfree(leaf->cursors);
	leaf->cursors = NULL;
	leaf->ncursors = 0;
}

Size
MergeBlockMemory(LeafReader *leaf, const LeafFile *file, int blockno)
{
	const Manifest *m = leaf->manifest;
	Size		row_bytes = (Size) (m->raw_bytes / Max(ManifestStoredRows(m), 1)) + 1;
	Size		memory = 0;

	for (int c = 0; c < leaf->ncols; c++)
	{
		if (file->filecols[c] == FILECOL_ROW_ID)
			memory += file->reader->blocks[blockno].nrows * (sizeof(Datum) + sizeof(ItemPointerData));
		else if (file->filecols[c] >= 0)
			memory += FileReaderColumnMemory(file->reader, blockno, file->filecols[c], row_bytes);
	}
	/* images of keys that are not numbers */
	if (!file->reader->cols[file->sortcols[0]].typbyval)
		memory += file->reader->blocks[blockno].nrows * sizeof(int64);
	return memory;
}

/* Step to the next chunk of the cursor's store. */
static void
ReadChunk(BlockCursor *cursor)
{
	cursor->block = cursor->spooled;
	cursor->block->settled = true;
	cursor->block->batch = *GroupStoreChunk(cursor->store, cursor->chunk++);
	cursor->pos = 0;
}

static void
PrepareKeys(LeafReader *leaf, BlockCursor *cursor)
{
	LeafBlock  *block = cursor->block;

	if (block->keys.cols == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(BlockIsChunk(cursor) ? leaf->spool_cxt : leaf->cxt);

		KeyVectorInit(&block->keys, leaf->nkeys, leaf->keycols, leaf->keyclasses, leaf->keytypes);
		MemoryContextSwitchTo(old);
	}
	KeyVectorFill(&block->keys, &block->batch, true);
}

void
CursorMakeRoom(LeafReader *leaf, BlockCursor *cursor)
{
	LeafBlock  *block = cursor->block;
	Size		excess = MergeExcess(block->expected, leaf->run_memory);

	if (MergeHolds(excess, leaf->wide_memory))
	{
		block->settled = true;
		block->excess = excess;
		leaf->wide_memory += excess;
		return;
	}
	MergeSpoolBlock(leaf, cursor);
	ReadChunk(cursor);
	PrepareKeys(leaf, cursor);
}

bool
CursorReadBlock(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound)
{
	if (cursor->chunk < cursor->nchunks)
		ReadChunk(cursor);
	else if (cursor->file == NULL || !BlockCursorNext(leaf, cursor, bound))
		return false;
	else
		cursor->block->expected = MergeBlockMemory(leaf, cursor->file, cursor->block->blockno);
	PrepareKeys(leaf, cursor);
	/* where perhaps no row of it will be taken, that can wait; but a condition may have loaded a column that is large */
	if (leaf->ramp == 0 || LeafBlockMemory(leaf, cursor->block) > leaf->run_memory)
		CursorSettle(leaf, cursor);
	return true;
}
