/*
 * row_pool.c
 *	  Memory for the rows that wait in a transaction.
 *
 * Hundreds of megabytes come from the system in pages of 4 kB, each with a
 * trap into it when the page is first touched, and go back to it when they are
 * freed.  So they are kept while rows go to temporary files and others take
 * their place.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "rows/row_pool.h"

/* slabs: the first is small, so that a statement of one row takes little; each one doubles what there is */
#define SLAB_MIN	1024
#define SLAB_MAX	(32 * 1024 * 1024)

/* no slab is more than this part of the budget, unless that is less than a piece */
#define SLAB_BUDGET_PART	16

struct RowSlab
{
	struct RowSlab *next;
	Size		size;			/* bytes of data */
	char		data[FLEXIBLE_ARRAY_MEMBER];
};

StaticAssertDecl(ROW_PIECE_MIN << (ROW_PIECE_SIZES - 1) == ROW_PIECE_MAX, "one list for each size");
StaticAssertDecl(offsetof(RowPiece, data) % 8 == 0 && offsetof(struct RowSlab, data) % 8 == 0,
				 "rows must be 8-byte aligned");

static inline int
SizeIndex(Size size)
{
	return pg_leftmost_one_pos64(size) - pg_leftmost_one_pos64(ROW_PIECE_MIN);
}

static inline void
PutFree(RowPool *pool, RowPiece *piece, Size size)
{
	int			index = SizeIndex(size);

	piece->size = size;
	piece->next = pool->free[index];
	pool->free[index] = piece;
}

/* What is left of the current slab becomes free pieces; go on to the next one. */
static void
NextSlab(RowPool *pool)
{
	RowSlab    *slab = pool->current;
	Size		size = SLAB_MIN;

	if (slab != NULL)
	{
		Size		left = slab->data + slab->size - pool->cut;

		for (Size part = ROW_PIECE_MAX / 2; part >= ROW_PIECE_MIN; part /= 2)
		{
			if (left & part)
			{
				PutFree(pool, (RowPiece *) pool->cut, part);
				pool->cut += part;
			}
		}
		slab = slab->next;
	}
	if (slab == NULL)
	{
		while (size < SLAB_MAX && size < pool->held &&
			   (size < ROW_PIECE_MAX || size * 2 <= pool->budget / SLAB_BUDGET_PART))
			size *= 2;
		slab = MemoryContextAllocHuge(pool->cxt, offsetof(RowSlab, data) + size);
		slab->next = NULL;
		slab->size = size;
		if (pool->last)
			pool->last->next = slab;
		else
			pool->slabs = slab;
		pool->last = slab;
		pool->held += size;
	}
	pool->current = slab;
	pool->cut = slab->data;
}

/* A free piece of the size, or a part of a larger one; NULL: there is none. */
static RowPiece *
TakeFree(RowPool *pool, Size size)
{
	for (int i = SizeIndex(size); i < ROW_PIECE_SIZES; i++)
	{
		RowPiece   *piece = pool->free[i];

		if (piece == NULL)
			continue;
		pool->free[i] = piece->next;
		for (Size half = piece->size / 2; half >= size; half /= 2)
			PutFree(pool, (RowPiece *) ((char *) piece + half), half);
		return piece;
	}
	return NULL;
}

RowPiece *
RowPoolTake(RowPool *pool, Size size)
{
	RowPiece   *piece;

	if (unlikely(size > ROW_PIECE_MAX))
		piece = MemoryContextAllocHuge(pool->cxt, size);
	else if ((piece = TakeFree(pool, size)) == NULL)
	{
		while (pool->current == NULL || (Size) (pool->current->data + pool->current->size - pool->cut) < size)
			NextSlab(pool);
		piece = (RowPiece *) pool->cut;
		pool->cut += size;
	}
	piece->next = NULL;
	piece->size = size;
	piece->end = piece->data;
	pool->used += size;
	return piece;
}

void
RowPoolGiveBack(RowPool *pool, RowPiece *piece)
{
	pool->used -= piece->size;
	if (piece->size > ROW_PIECE_MAX)
		pfree(piece);
	else
		PutFree(pool, piece, piece->size);
}

void
RowPoolRewind(RowPool *pool)
{
	Assert(pool->used == 0);
	if (RowPoolHoldsTooMuch(pool))
		RowPoolRelease(pool);
	memset(pool->free, 0, sizeof(pool->free));
	pool->current = pool->slabs;
	pool->cut = pool->slabs ? pool->slabs->data : NULL;
}

void
RowPoolRelease(RowPool *pool)
{
	RowSlab    *slab = pool->slabs;

	Assert(pool->used == 0);
	while (slab != NULL)
	{
		RowSlab    *next = slab->next;

		pfree(slab);
		slab = next;
	}
	pool->slabs = pool->last = pool->current = NULL;
	pool->cut = NULL;
	pool->held = 0;
	memset(pool->free, 0, sizeof(pool->free));
}
