/*
 * int_index.h
 *	  Single integers of an int stream, found by their number, and searched.
 */
#ifndef BF_INT_INDEX_H
#define BF_INT_INDEX_H

#include "format/encoding/int_stream.h"
#include "port/pg_bitutils.h"

/* A bitmap, and how many bits are set in it before every 64th one. */
typedef struct RankedBits
{
	const char *bits;			/* whole words; NULL: there is no bitmap */
	uint16	   *ranks;
} RankedBits;

static inline bool
RankedBitIsSet(const RankedBits *bitmap, int i)
{
	return (bitmap->bits[i / 8] >> (i % 8)) & 1;
}

/* How many bits are set before one of them. */
static inline int
RankedBitsBefore(const RankedBits *bitmap, int i)
{
	uint64		word;

	memcpy(&word, bitmap->bits + i / 64 * sizeof(word), sizeof(word));
	return bitmap->ranks[i / 64] + pg_popcount64(word & ((UINT64CONST(1) << (i % 64)) - 1));
}

/* Make it one of n >= 1 bits, which stay where they are; how many are set. */
extern int	RankedBitsOpen(RankedBits *bitmap, MemoryContext cxt, const char *bits, int n);

typedef struct IntIndex
{
	DiskIntStream head;			/* of repeats: of the stream inside */
	int			n;				/* values */
	int			nints;			/* values of that stream */
	RankedBits	distinct;		/* of repeats: a bit per value, set where it is the next of the stream */
	int			npatches;
	int64	   *patch_at;		/* which of the packed bits, ascending */
	int64	   *patches;		/* what is above them there */
	const char *bits;			/* the packed bits */
	int64	   *starts;			/* the first value of each group; NULL: each value is decoded by itself */
	struct IntGroup *last;		/* then, the group last decoded */
} IntIndex;

/*
 * Prepare to look into the stream of n >= 1 values at in, which stays there.
 * NULL, or what is wrong.
 */
extern const char *IntIndexOpen(IntIndex *index, MemoryContext cxt, const char *in, size_t len, int n,
								ByteBuffer *space);

/* Integers number "at" (ascending) of the values. */
extern void IntIndexTake(const IntIndex *index, int n, const uint16 *at, int64 *out);

/* Of integers that ascend in [from, to), from < to: the first that is at least want, or to. */
extern int	IntIndexSearch(const IntIndex *index, int from, int to, int64 want);

#endif							/* BF_INT_INDEX_H */
