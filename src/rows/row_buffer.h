/*
 * row_buffer.h
 *	  Sets of collected rows, by bucket, partly in memory and partly in
 *	  temporary files.
 */
#ifndef BF_ROW_BUFFER_H
#define BF_ROW_BUFFER_H

#include "nodes/pg_list.h"
#include "rows/row_bucket.h"

#define ROW_CHUNK_BUCKETS 64

typedef struct RowSet
{
	RowPool    *pool;
	RowLayout  *layout;
	struct RowSet *next;		/* for the owner's use */
	uint64		id;				/* the same */
	int			nchunks;
	RowBucket **chunks;			/* of 64 buckets each, NULL: no rows in memory */
	Size		mem;			/* bytes of pieces and chunks */
	int64		nrows;			/* in memory and in temporary files */
	int64		max_bucket_rows;	/* in memory */
	CommandId	min_cid;
	CommandId	max_cid;
	List	   *runs;			/* SpillRun *, see spill_file.h */
} RowSet;

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

/* Free a set with its memory and its runs. */
extern void RowSetFree(RowSet *set);

#endif							/* BF_ROW_BUFFER_H */
