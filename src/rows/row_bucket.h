/*
 * row_bucket.h
 *	  The rows of one bucket in memory: a chain of pieces.
 */
#ifndef BF_ROW_BUCKET_H
#define BF_ROW_BUCKET_H

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

/* Bytes of the next piece, with room for a row of that size; and append it, empty. */
extern Size RowBucketPiece(const RowBucket *bucket, Size rowsize);
extern void RowBucketGrow(RowBucket *bucket, RowPool *pool, Size size);

/* Room for one row at the end, to be filled in at once.  There must be so much. */
static inline char *
RowBucketTake(RowBucket *bucket, Size size)
{
	char	   *row = bucket->next;

	bucket->next += size;
	bucket->rows++;
	bucket->bytes += size;
	return row;
}

static inline bool
RowBucketHasRoom(const RowBucket *bucket, Size size)
{
	return (Size) (bucket->limit - bucket->next) >= size;
}

/* Link the pieces of a bucket behind those of another. */
extern void RowBucketAppend(RowBucket *to, const RowBucket *from);

/* Bytes of its pieces. */
extern Size RowBucketMemory(const RowBucket *bucket);

/* Give its pieces back. */
extern void RowBucketFree(RowBucket *bucket, RowPool *pool);

/* Walk over the rows of a bucket in memory, in the order they came. */
typedef struct RowWalk
{
	const RowLayout *layout;
	const RowBucket *bucket;
	RowPiece   *piece;
	char	   *row;
} RowWalk;

static inline void
RowWalkBegin(RowWalk *walk, const RowLayout *layout, const RowBucket *bucket)
{
	walk->layout = layout;
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
			walk->row += RowLayoutSize(walk->layout, row);
			return row;
		}
		walk->piece = walk->piece->next;
		walk->row = walk->piece ? walk->piece->data : NULL;
	}
	return NULL;
}

#endif							/* BF_ROW_BUCKET_H */
