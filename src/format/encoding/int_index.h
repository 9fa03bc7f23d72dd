/*
 * int_index.h
 *	  Single integers of an int stream, found by their number, and searched.
 */
#ifndef BF_INT_INDEX_H
#define BF_INT_INDEX_H

#include "format/encoding/int_stream.h"
#include "format/file_io.h"
#include "port/pg_bitutils.h"

/* the number of bits set is kept for so many bits: those of a word */
#define RANK_STEP		64

typedef struct IntIndex
{
	MemoryContext cxt;
	DiskIntStream head;			/* of repeats: of the stream inside */
	int			n;				/* values */
	int			nints;			/* values of that stream */
	const uint8 *distinct;		/* a bit per value, set where it is the next of the stream; NULL: each is */
	uint16	   *distinct_ranks; /* bits set before every RANK_STEP'th value */
	int			npatches;
	uint16	   *patch_at;		/* which of the packed bits, ascending */
	uint64	   *patches;		/* what is added there */
	const char *bits;			/* the packed bits; NULL: they are left in the file */
	size_t		nbits;			/* their bytes */
	FileSource *source;			/* this file */
	uint64		offset;			/* where in it */
	int64	   *sums;			/* every so many'th value, or NULL */
	Size		memory;
} IntIndex;

/* How many bits are set before one of them. */
static inline int
RankOf(const uint8 *bits, const uint16 *ranks, int i)
{
	int			at = i - i % RANK_STEP;
	int			count = ranks[i / RANK_STEP];

	for (; at + 8 <= i; at += 8)
		count += pg_number_of_ones[bits[at / 8]];
	if (at < i)
		count += pg_number_of_ones[bits[at / 8] & ((1 << (i - at)) - 1)];
	return count;
}

/* Bytes of the ranks of n bits. */
#define RANKS_SIZE(n) (((n) / RANK_STEP + 1) * sizeof(uint16))

/* How many of n bits are set before every RANK_STEP'th one and before the end; *total of all. */
extern uint16 *BitRanks(MemoryContext cxt, const uint8 *bits, int n, int *total);

extern void IntIndexInit(IntIndex *index, MemoryContext cxt);

/*
 * Prepare to look into the stream of n >= 1 values at in, which stays there.
 * Sets *used to its length.  NULL, or what is wrong.
 */
extern const char *IntIndexOpen(IntIndex *index, const char *in, size_t len, int n, ByteBuffer *space,
								size_t *used);
extern void IntIndexFree(IntIndex *index);

/* Have every so many'th value, so that a search reads the bits of one group only. */
extern void IntIndexKeepSums(IntIndex *index);

/* Can it be searched? */
static inline bool
IntIndexSearchable(const IntIndex *index)
{
	return index->head.kind != INT_STREAM_TRIPLES && (index->bits != NULL || index->sums != NULL);
}

/* Integers number "at" (ascending) of the values. */
extern void IntIndexTake(const IntIndex *index, int n, const uint16 *at, int64 *out, uint64 *bytes_read);

/* Of integers that ascend in [from, to): the first that is at least want, or to. */
extern int	IntIndexSearch(const IntIndex *index, int from, int to, int64 want, uint64 *bytes_read);

#endif							/* BF_INT_INDEX_H */
