/*
 * merge_spool.c
 *	  Rows of a merge that wait in temporary files.
 *
 * A merge holds a block of each run.  What that may take says merge_memory.h.
 * A block for which there is no room (wide texts, up to 8 MB) is copied to the
 * store of its cursor, in small chunks, when its turn comes, and is merged from
 * there.  So one block at a time is held for that, the file of a run is never
 * larger than a block, and who stops after the first rows has copied those
 * blocks only from which they came.
 */
#include "postgres.h"

#include "exec/scan/merge/merge_memory.h"
#include "exec/scan/merge/merge_spool.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* of what a column of a run has, a store takes this for the buffer of its file and for pointers to values */
#define STORE_EXTRA_BYTES (16 * 1024)

GroupStore *
MergeStoreMake(LeafReader *leaf, Size limit)
{
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	int16	   *typlen = palloc(Max(leaf->ncols, 1) * sizeof(int16));
	bool	   *typbyval = palloc(Max(leaf->ncols, 1) * sizeof(bool));
	Size		extra = (Size) leaf->ncols * STORE_EXTRA_BYTES;
	GroupStore *store;

	for (int c = 0; c < leaf->ncols; c++)
	{
		const FormData_pg_attribute *att = LeafAttribute(desc, leaf->attnums[c]);

		typlen[c] = att->attlen;
		typbyval[c] = att->attbyval;
	}
	store = GroupStoreCreate(leaf->ncols, typlen, typbyval, limit);
	GroupStoreLimitChunks(store, leaf->run_memory > extra + MERGE_LEAST_PIECE ?
						  leaf->run_memory - extra : MERGE_LEAST_PIECE);
	pfree(typlen);
	pfree(typbyval);
	return store;
}

void
MergeReadStore(LeafReader *leaf, BlockCursor *cursor, GroupStore *store)
{
	if (cursor->spooled == NULL)
	{
		cursor->spooled = palloc0(sizeof(LeafBlock));
		cursor->spooled->leaf = leaf;
	}
	cursor->store = store;
	cursor->chunk = 0;
	cursor->nchunks = GroupStoreChunks(store);
}

void
MergeSpoolBlock(LeafReader *leaf, BlockCursor *cursor)
{
	MemoryContext old;

	if (leaf->spool_cxt == NULL)
		leaf->spool_cxt = AllocSetContextCreate(leaf->cxt, "bucketfdw wide blocks", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(leaf->spool_cxt);
	if (cursor->store == NULL)
		cursor->store = MergeStoreMake(leaf, 0);
	else
		GroupStoreClear(cursor->store);
	GroupStoreAdd(cursor->store, &cursor->block->keys, cursor->pos, cursor->block->keys.n);
	MergeReadStore(leaf, cursor, cursor->store);
	MemoryContextSwitchTo(old);
	LeafBlockRelease(leaf, cursor->block);
	cursor->block = NULL;
}

void
MergeSpoolClose(LeafReader *leaf)
{
	for (int i = 0; i < leaf->ncursors; i++)
	{
		BlockCursor *cursor = &leaf->cursors[i];

		if (cursor->store == NULL)
			continue;
		GroupStoreClear(cursor->store);
		if (BlockIsChunk(cursor))
			cursor->block = NULL;
		cursor->store = NULL;
		cursor->spooled = NULL;
		cursor->chunk = cursor->nchunks = 0;
	}
	MemoryContextDelete(leaf->spool_cxt);
	leaf->spool_cxt = NULL;
}
