/*
 * row_bucket.c
 *	  The rows of one bucket in memory.
 *
 * Pieces start small, so that a few rows take little, and grow with the bucket
 * up to 64 kB.
 */
#include "postgres.h"

#include "rows/row_bucket.h"

#define PIECE_HEADER	offsetof(RowPiece, data)

Size
RowBucketPiece(const RowBucket *bucket, Size rowsize)
{
	Size		size = ROW_PIECE_MIN;

	while (size < ROW_PIECE_MAX && (size < (Size) bucket->bytes / 4 || size < PIECE_HEADER + rowsize))
		size *= 2;
	return Max(size, PIECE_HEADER + rowsize);
}

void
RowBucketGrow(RowBucket *bucket, RowPool *pool, Size size)
{
	RowPiece   *piece = RowPoolTake(pool, size);

	if (bucket->last)
	{
		bucket->last->end = bucket->next;
		bucket->last->next = piece;
	}
	else
		bucket->first = piece;
	bucket->last = piece;
	bucket->next = piece->data;
	bucket->limit = (char *) piece + size;
}

void
RowBucketAppend(RowBucket *to, const RowBucket *from)
{
	if (to->last)
	{
		to->last->end = to->next;
		to->last->next = from->first;
	}
	else
		to->first = from->first;
	to->last = from->last;
	to->next = from->next;
	to->limit = from->limit;
	to->rows += from->rows;
	to->bytes += from->bytes;
}

Size
RowBucketMemory(const RowBucket *bucket)
{
	Size		size = 0;

	for (const RowPiece *piece = bucket->first; piece != NULL; piece = piece->next)
		size += piece->size;
	return size;
}

void
RowBucketFree(RowBucket *bucket, RowPool *pool)
{
	RowPiece   *piece = bucket->first;

	while (piece != NULL)
	{
		RowPiece   *next = piece->next;

		RowPoolGiveBack(pool, piece);
		piece = next;
	}
	memset(bucket, 0, sizeof(*bucket));
}
