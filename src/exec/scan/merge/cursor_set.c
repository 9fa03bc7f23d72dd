/*
 * cursor_set.c
 *	  The cursors of a merge.
 */
#include "postgres.h"

#include "exec/scan/merge/cursor_set.h"

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

void
CursorReadStore(LeafReader *leaf, BlockCursor *cursor, GroupStore *store)
{
	cursor->run = -1;
	cursor->store = store;
	cursor->next = 0;
	cursor->end = GroupStoreChunks(store);
	cursor->spooled = palloc0(sizeof(LeafBlock));
	cursor->spooled->leaf = leaf;
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

/* As BlockCursorNext. */
static bool
SpooledCursorNext(BlockCursor *cursor)
{
	cursor->block = NULL;
	if (cursor->next >= cursor->end)
		return false;
	cursor->block = cursor->spooled;
	cursor->block->batch = *GroupStoreChunk(cursor->store, cursor->next++);
	cursor->pos = 0;
	return true;
}

bool
CursorReadBlock(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound)
{
	LeafBlock  *block;

	if (!(cursor->store ? SpooledCursorNext(cursor) : BlockCursorNext(leaf, cursor, bound)))
		return false;
	block = cursor->block;
	if (cursor->store == NULL)
		block->expected = MergeBlockMemory(leaf, cursor->file, block->blockno);
	if (block->keys.cols == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->store ? leaf->spool_cxt : leaf->cxt);

		KeyVectorInit(&block->keys, leaf->nkeys, leaf->keycols, leaf->keyclasses, leaf->keytypes);
		MemoryContextSwitchTo(old);
	}
	KeyVectorFill(&block->keys, &block->batch, true);
	return true;
}
