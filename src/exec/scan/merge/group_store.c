/*
 * group_store.c
 *	  Rows of one key, kept in chunks in memory or in a temporary file.
 *
 * A chunk is one piece of memory: per column an array of values and one of
 * null flags, then the by-reference data, which the values name by offset.
 * The same bytes go to the file.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/scan/merge/group_store.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"


typedef struct Chunk
{
	int			nrows;
	Size		bytes;
	char	   *data;			/* NULL: in the file */
	int			fileno;
	off_t		offset;
} Chunk;

struct GroupStore
{
	int			ncols;
	int16	   *typlen;
	bool	   *typbyval;
	Size		limit;
	Size		chunk_limit;	/* bytes of a chunk; 0: rows alone limit it */
	MemoryContext cxt;			/* chunks; reset by Clear */
	int			nchunks;
	int			maxchunks;
	Chunk	   *chunks;
	Size		memory;
	Size		peak;
	int64		spilled;
	BufFile    *file;

	int			current;		/* chunk in batch, or -1 */
	Batch		batch;
	char	   *loaded;			/* its bytes, when they came from the file */
};

GroupStore *
GroupStoreCreate(int ncols, const int16 *typlen, const bool *typbyval, Size limit_bytes)
{
	GroupStore *store = palloc0(sizeof(GroupStore));

	store->ncols = ncols;
	store->typlen = palloc(ncols * sizeof(int16));
	store->typbyval = palloc(ncols * sizeof(bool));
	memcpy(store->typlen, typlen, ncols * sizeof(int16));
	memcpy(store->typbyval, typbyval, ncols * sizeof(bool));
	store->limit = limit_bytes;
	store->cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw key group",
									   ALLOCSET_SMALL_SIZES);
	store->current = -1;
	BatchInit(&store->batch, ncols, 0, NULL, NULL);
	memset(store->batch.loaded, true, ncols * sizeof(bool));
	return store;
}

void
GroupStoreLimitChunks(GroupStore *store, Size bytes)
{
	store->chunk_limit = bytes;
}

void
GroupStoreClear(GroupStore *store)
{
	if (store->nchunks == 0)
		return;
	if (store->file != NULL)
		BufFileClose(store->file);
	store->file = NULL;
	MemoryContextReset(store->cxt);
	store->chunks = NULL;
	store->nchunks = 0;
	store->maxchunks = 0;
	store->memory = 0;
	store->current = -1;
	store->loaded = NULL;
}

static inline Size
ValueSize(int16 typlen, Datum value)
{
	if (typlen == -1)
		return VARSIZE_ANY(DatumGetPointer(value));
	if (typlen == -2)
		return strlen(DatumGetCString(value)) + 1;
	return typlen;
}

static inline Size
ColumnBytes(int nrows)
{
	return MAXALIGN(nrows * sizeof(Datum)) + MAXALIGN(nrows * sizeof(bool));
}

static void
AddChunk(GroupStore *store, const KeyVector *kv, int from, int nrows)
{
	Batch	   *batch = kv->batch;
	Size		bytes = store->ncols * ColumnBytes(nrows);
	Size		at = bytes;
	char	   *data;
	Chunk	   *chunk;
	MemoryContext old;

	for (int c = 0; c < store->ncols; c++)
	{
		ColumnVector *vec = BatchColumn(batch, c);

		if (store->typbyval[c])
			continue;
		for (int i = 0; i < nrows; i++)
		{
			int			row = KeyVectorRow(kv, from + i);

			if (!(vec->nulls && vec->nulls[row]))
				bytes += MAXALIGN(ValueSize(store->typlen[c], vec->values[row]));
		}
	}

	old = MemoryContextSwitchTo(store->cxt);
	data = MemoryContextAllocHuge(store->cxt, bytes);
	for (int c = 0; c < store->ncols; c++)
	{
		ColumnVector *vec = &batch->cols[c];
		Datum	   *values = (Datum *) (data + c * ColumnBytes(nrows));
		bool	   *nulls = (bool *) ((char *) values + MAXALIGN(nrows * sizeof(Datum)));

		for (int i = 0; i < nrows; i++)
		{
			int			row = KeyVectorRow(kv, from + i);

			nulls[i] = vec->nulls && vec->nulls[row];
			if (nulls[i])
				values[i] = (Datum) 0;
			else if (store->typbyval[c])
				values[i] = vec->values[row];
			else
			{
				Size		size = ValueSize(store->typlen[c], vec->values[row]);

				memcpy(data + at, DatumGetPointer(vec->values[row]), size);
				values[i] = (Datum) at;
				at += MAXALIGN(size);
			}
		}
	}

	if (store->nchunks == store->maxchunks)
	{
		store->maxchunks = Max(16, store->maxchunks * 2);
		store->chunks = store->chunks == NULL ?
			palloc(store->maxchunks * sizeof(Chunk)) :
			repalloc_huge(store->chunks, store->maxchunks * sizeof(Chunk));
	}
	chunk = &store->chunks[store->nchunks++];
	chunk->nrows = nrows;
	chunk->bytes = bytes;
	chunk->data = data;
	if (store->memory + bytes > store->limit)
	{
		/* a group is written whole before it is read: the position is the end */
		if (store->file == NULL)
			store->file = BufFileCreateTemp(false);
		BufFileTell(store->file, &chunk->fileno, &chunk->offset);
		BufFileWrite(store->file, data, bytes);
		store->spilled += bytes;
		pfree(data);
		chunk->data = NULL;
	}
	else
	{
		store->memory += bytes;
		store->peak = Max(store->peak, store->memory);
	}
	MemoryContextSwitchTo(old);
}

/* How many of the entries from .. to-1 go to one chunk. */
static int
ChunkRows(GroupStore *store, const KeyVector *kv, int from, int to)
{
	int			most = Min(GROUP_CHUNK_ROWS, to - from);
	Size		bytes = 0;

	if (store->chunk_limit == 0)
		return most;
	for (int i = 0; i < most; i++)
	{
		int			row = KeyVectorRow(kv, from + i);

		for (int c = 0; c < store->ncols; c++)
		{
			ColumnVector *vec = BatchColumn(kv->batch, c);

			bytes += sizeof(Datum) + sizeof(bool);
			if (!store->typbyval[c] && !(vec->nulls && vec->nulls[row]))
				bytes += MAXALIGN(ValueSize(store->typlen[c], vec->values[row]));
		}
		if (bytes > store->chunk_limit)
			return Max(i, 1);
	}
	return most;
}

void
GroupStoreAdd(GroupStore *store, const KeyVector *kv, int from, int to)
{
	while (from < to)
	{
		int			n = ChunkRows(store, kv, from, to);

		CHECK_FOR_INTERRUPTS();
		AddChunk(store, kv, from, n);
		from += n;
	}
}

int
GroupStoreChunks(const GroupStore *store)
{
	return store->nchunks;
}

Batch *
GroupStoreChunk(GroupStore *store, int chunkno)
{
	Chunk	   *chunk = &store->chunks[chunkno];
	Batch	   *batch = &store->batch;
	char	   *data = chunk->data;

	if (store->current == chunkno)
		return batch;
	if (store->loaded != NULL)
		pfree(store->loaded);
	store->loaded = NULL;
	if (data == NULL)
	{
		data = store->loaded = MemoryContextAllocHuge(store->cxt, chunk->bytes);
		if (BufFileSeek(store->file, chunk->fileno, chunk->offset, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not seek in a temporary file of a bucket join")));
		BfBufFileReadExact(store->file, data, chunk->bytes);
	}
	for (int c = 0; c < store->ncols; c++)
	{
		ColumnVector *vec = &batch->cols[c];
		Datum	   *values = (Datum *) (data + c * ColumnBytes(chunk->nrows));

		vec->nulls = (bool *) ((char *) values + MAXALIGN(chunk->nrows * sizeof(Datum)));
		if (store->typbyval[c])
		{
			vec->values = values;
			continue;
		}
		/* offsets stay in the chunk; pointers go to a scratch array */
		if (vec->values == NULL || store->current < 0)
			vec->values = MemoryContextAlloc(store->cxt, GROUP_CHUNK_ROWS * sizeof(Datum));
		for (int i = 0; i < chunk->nrows; i++)
			vec->values[i] = PointerGetDatum(data + values[i]);
	}
	batch->nrows = chunk->nrows;
	batch->nselected = chunk->nrows;
	batch->selection = NULL;
	store->current = chunkno;
	return batch;
}

Size
GroupStorePeakMemory(const GroupStore *store)
{
	return store->peak;
}

int64
GroupStoreSpilled(const GroupStore *store)
{
	return store->spilled;
}
