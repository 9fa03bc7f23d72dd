/*
 * row_buffer.h
 *	  Sets of collected rows, by bucket, partly in memory and partly in
 *	  temporary files.
 */
#ifndef BF_ROW_BUFFER_H
#define BF_ROW_BUFFER_H

#include "nodes/pg_list.h"
#include "rows/row_format.h"
#include "rows/row_pool.h"

typedef struct RowBucket
{
	RowPiece   *first;
	RowPiece   *last;
	char	   *next;			/* where the next row goes in the last piece */
	char	   *limit;			/* end of the last piece */
	int64		rows;
	int64		bytes;			/* of the rows */
} RowBucket;

#define ROW_CHUNK_BUCKETS 64

typedef struct RowSet
{
	RowPool    *pool;
	RowLayout  *layout;
	struct RowSet *next;		/* for the owner's use */
	int			nchunks;
	RowBucket **chunks;			/* of 64 buckets each, NULL: no rows in memory */
	Size		mem;			/* bytes of pieces and chunks */
	int64		nrows;			/* in memory and in temporary files */
	int64		max_bucket_rows;	/* in memory */
	CommandId	min_cid;
	CommandId	max_cid;
	List	   *runs;			/* SpillRun *, see spill.h */
} RowSet;

/* Sorting needs an array of entries and one of the same size to sort into. */
#define ROW_SORT_BYTES 32

static inline RowBucket *
RowSetBucket(const RowSet *set, int bucket)
{
	RowBucket  *chunk = set->chunks[bucket / ROW_CHUNK_BUCKETS];

	return chunk ? &chunk[bucket % ROW_CHUNK_BUCKETS] : NULL;
}

extern RowSet *RowSetCreate(RowPool *pool, RowLayout *layout);
extern char *RowSetReserve(RowSet *set, int bucket, Size size, CommandId cid);

/* Forget the rows in memory of the buckets from one on: they were spilled, or nobody wants them. */
extern void RowSetFreeMemory(RowSet *set, int from);
extern void RowSetMerge(RowSet *into, RowSet *from);

/* Walk over the rows of a bucket in memory, in the order they came. */
typedef struct RowWalk
{
	const RowBucket *bucket;
	RowPiece   *piece;
	char	   *row;
} RowWalk;

static inline void
RowWalkBegin(RowWalk *walk, const RowBucket *bucket)
{
	walk->bucket = bucket;
	walk->piece = bucket ? bucket->first : NULL;
	walk->row = walk->piece ? walk->piece->data : NULL;
}

static inline char *
RowWalkNext(RowWalk *walk)
{
	while (walk->piece != NULL)
	{
		char	   *end = walk->piece == walk->bucket->last ? walk->bucket->next : walk->piece->end;
		char	   *row = walk->row;

		if (row < end)
		{
			walk->row += RowSize(row);
			return row;
		}
		walk->piece = walk->piece->next;
		walk->row = walk->piece ? walk->piece->data : NULL;
	}
	return NULL;
}

#endif							/* BF_ROW_BUFFER_H */
