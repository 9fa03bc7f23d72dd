/*
 * row_buffer.c
 *	  Rows in memory, by bucket.
 */
#include "postgres.h"

#include "rows/row_buffer.h"
#include "rows/row_sort.h"
#include "rows/spill_file.h"

#define CHUNK_SIZE	(sizeof(RowBucket) * ROW_CHUNK_BUCKETS)

/* An empty set.  It lives until RowSetFree, in the pool's context. */
RowSet *
RowSetCreate(RowPool *pool, RowLayout *layout)
{
	RowSet	   *set = MemoryContextAllocZero(pool->cxt, sizeof(RowSet));

	set->pool = pool;
	set->layout = layout;
	set->nchunks = (layout->spec->nbuckets + ROW_CHUNK_BUCKETS - 1) / ROW_CHUNK_BUCKETS;
	set->chunks = MemoryContextAllocZero(pool->cxt, sizeof(RowBucket *) * set->nchunks);
	set->min_cid = InvalidCommandId;
	set->max_cid = FirstCommandId;
	return set;
}

/*
 * Room for one row at the end of a bucket; the caller packs the row there at
 * once.  May go over the pool's budget by one piece: the caller looks.
 */
char *
RowSetReserve(RowSet *set, int bucketno, Size size, CommandId cid)
{
	RowBucket  *bucket = RowSetBucket(set, bucketno);
	char	   *row;

	if (unlikely(bucket == NULL))
	{
		set->chunks[bucketno / ROW_CHUNK_BUCKETS] =
			MemoryContextAllocZero(set->pool->cxt, CHUNK_SIZE);
		set->mem += CHUNK_SIZE;
		set->pool->used += CHUNK_SIZE;
		bucket = RowSetBucket(set, bucketno);
	}
	if (unlikely(!RowBucketHasRoom(bucket, size)))
	{
		Size		piece = RowBucketPiece(bucket, size);

		RowBucketGrow(bucket, set->pool, piece);
		set->mem += piece;
	}

	row = RowBucketTake(bucket, size);
	if (bucket->rows > set->max_bucket_rows)
	{
		set->max_bucket_rows = bucket->rows;
		if ((Size) set->max_bucket_rows * ROW_SORT_BYTES > set->pool->sort)
			set->pool->sort = (Size) set->max_bucket_rows * ROW_SORT_BYTES;
	}
	set->nrows++;
	if (cid < set->min_cid)
		set->min_cid = cid;
	if (cid > set->max_cid)
		set->max_cid = cid;
	return row;
}

static void
FreeBucket(RowSet *set, RowBucket *bucket)
{
	set->mem -= RowBucketMemory(bucket);
	RowBucketFree(bucket, set->pool);
}

static void
FreeChunk(RowSet *set, int c)
{
	pfree(set->chunks[c]);
	set->chunks[c] = NULL;
	set->mem -= CHUNK_SIZE;
	set->pool->used -= CHUNK_SIZE;
}

void
RowSetFreeMemory(RowSet *set, int from)
{
	set->max_bucket_rows = 0;
	for (int c = 0; c < set->nchunks; c++)
	{
		if (set->chunks[c] == NULL)
			continue;
		for (int b = 0; b < ROW_CHUNK_BUCKETS; b++)
		{
			RowBucket  *bucket = &set->chunks[c][b];

			if (c * ROW_CHUNK_BUCKETS + b >= from)
				FreeBucket(set, bucket);
			set->max_bucket_rows = Max(set->max_bucket_rows, bucket->rows);
		}
		if (c * ROW_CHUNK_BUCKETS >= from)
			FreeChunk(set, c);
	}
	if (set->pool->used == 0)
	{
		set->pool->sort = 0;
		RowPoolRewind(set->pool);
	}
}

/* Move the rows of one bucket; those that fit into the free end are copied. */
static void
MergeBucket(RowSet *into, RowBucket *to, RowSet *from, RowBucket *source)
{
	if (RowBucketHasRoom(to, (Size) source->bytes))
	{
		RowWalk		walk;
		char	   *row;

		RowWalkBegin(&walk, into->layout, source);
		while ((row = RowWalkNext(&walk)) != NULL)
			memcpy(RowBucketTake(to, RowSize(row)), row, RowSize(row));
		FreeBucket(from, source);
	}
	else
	{
		Size		memory = RowBucketMemory(source);

		from->mem -= memory;
		into->mem += memory;
		RowBucketAppend(to, source);
	}
	into->max_bucket_rows = Max(into->max_bucket_rows, to->rows);
}

/*
 * Move all rows of one set into another with the same layout; "from" is freed.
 * Takes no memory worth mentioning, so that it may be called when a
 * subtransaction ends.
 */
void
RowSetMerge(RowSet *into, RowSet *from)
{
	RowPool    *pool = into->pool;

	Assert(into->layout == from->layout);

	/* walk over the smaller one */
	if (from->nrows > into->nrows)
	{
		RowSet		swap = *into;
		RowSet	   *next = into->next;

		*into = *from;
		into->next = next;
		*from = swap;
	}

	for (int c = 0; c < from->nchunks; c++)
	{
		if (from->chunks[c] == NULL)
			continue;
		if (into->chunks[c] == NULL)
		{
			into->chunks[c] = from->chunks[c];
			from->chunks[c] = NULL;
			from->mem -= CHUNK_SIZE;
			into->mem += CHUNK_SIZE;
			for (int b = 0; b < ROW_CHUNK_BUCKETS; b++)
			{
				RowBucket  *moved = &into->chunks[c][b];
				Size		memory = RowBucketMemory(moved);

				from->mem -= memory;
				into->mem += memory;
				into->max_bucket_rows = Max(into->max_bucket_rows, moved->rows);
			}
			continue;
		}
		for (int b = 0; b < ROW_CHUNK_BUCKETS; b++)
		{
			RowBucket  *source = &from->chunks[c][b];

			if (source->rows > 0)
				MergeBucket(into, &into->chunks[c][b], from, source);
		}
		FreeChunk(from, c);
	}
	pool->sort = Max(pool->sort, (Size) into->max_bucket_rows * ROW_SORT_BYTES);
	into->nrows += from->nrows;
	into->min_cid = Min(into->min_cid, from->min_cid);
	into->max_cid = Max(into->max_cid, from->max_cid);
	if (from->runs != NIL)
	{
		MemoryContext old = MemoryContextSwitchTo(pool->cxt);

		into->runs = list_concat(into->runs, from->runs);
		list_free(from->runs);
		MemoryContextSwitchTo(old);
	}
	pfree(from->chunks);
	pfree(from);
}

void
RowSetFree(RowSet *set)
{
	ListCell   *lc;

	RowSetFreeMemory(set, 0);
	if (set->pool->used == 0)
		RowPoolRelease(set->pool);
	pfree(set->chunks);
	foreach(lc, set->runs)
		SpillRunFree(lfirst(lc));
	list_free(set->runs);
	pfree(set);
}
