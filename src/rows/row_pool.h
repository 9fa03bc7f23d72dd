/*
 * row_pool.h
 *	  Memory for the rows that wait in a transaction, handed out in pieces.
 */
#ifndef BF_ROW_POOL_H
#define BF_ROW_POOL_H

/* pieces are of 256 bytes, twice as much and so on, up to 64 kB; larger ones are allocated one by one */
#define ROW_PIECE_MIN	256
#define ROW_PIECE_MAX	(64 * 1024)
#define ROW_PIECE_SIZES	9

/* A piece of memory with rows of one bucket, one after the other. */
typedef struct RowPiece
{
	struct RowPiece *next;
	Size		size;			/* with this header */
	char	   *end;			/* end of the rows, valid once the piece is not the last */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} RowPiece;

typedef struct RowSlab RowSlab;

/*
 * Memory shared by all sets of a transaction.  Pieces are cut from slabs,
 * which are kept when the rows in them are spilled: the system would have to
 * clear every page of them again.
 */
typedef struct RowPool
{
	MemoryContext cxt;
	Size		used;			/* bytes of pieces and chunks in use */
	Size		held;			/* bytes of slabs */
	Size		sort;			/* what sorting the largest bucket needs */
	Size		budget;
	RowSlab    *slabs;			/* in the order they came */
	RowSlab    *last;
	RowSlab    *current;		/* is being cut up; those behind it are whole */
	char	   *cut;			/* up to here */
	RowPiece   *free[ROW_PIECE_SIZES];	/* pieces that were given back */
} RowPool;

/*
 * Slabs may be more than what is used when pieces of one size were given back
 * and those of another are wanted; there is a limit to that.
 */
static inline bool
RowPoolHoldsTooMuch(const RowPool *pool)
{
	return pool->held > pool->budget + pool->budget / 4;
}

static inline bool
RowPoolIsFull(const RowPool *pool)
{
	return pool->used + pool->sort > pool->budget || RowPoolHoldsTooMuch(pool);
}

/* A piece of a size that is a power of two up to ROW_PIECE_MAX, or any larger size. */
extern RowPiece *RowPoolTake(RowPool *pool, Size size);
extern void RowPoolGiveBack(RowPool *pool, RowPiece *piece);

/* When no piece is in use: cut the slabs up anew. */
extern void RowPoolRewind(RowPool *pool);

/* The same, without keeping the slabs. */
extern void RowPoolRelease(RowPool *pool);

#endif							/* BF_ROW_POOL_H */
