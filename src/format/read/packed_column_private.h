/*
 * packed_column_private.h
 *	  What a packed column is, for the files that look into it.
 *
 * packed_ints.c has the integers, packed_front.c what is front-coded,
 * packed_column.c all the rest.
 */
#ifndef BF_PACKED_COLUMN_PRIVATE_H
#define BF_PACKED_COLUMN_PRIVATE_H

#include "format/read/packed_column.h"
#include "format/read/reader_private.h"
#include "format/varlena_pack.h"
#include "port/pg_bitutils.h"

/* of deltas the value at every so many is kept, and so many are read at a time; a multiple of 8 */
#define GROUP_VALUES	64
/* the number of NULLs, or repeats, before a row is kept for so many rows: the bits of a word */
#define RANK_STEP		64

typedef enum PackedForm
{
	PACKED_INT,					/* integers are the values, or numerics or floats are made of them */
	PACKED_DICT,				/* integers are positions in a dictionary */
	PACKED_FIXED,				/* values of one length */
	PACKED_ONE,					/* one value for all rows */
	PACKED_VARLENA,				/* packed varlenas */
	PACKED_FRONT,				/* front-coded ones */
	PACKED_DECODED				/* decoded as a whole */
} PackedForm;

struct PackedColumn
{
	FileReader *reader;
	int			block;
	int			col;
	MemoryContext cxt;
	PackedForm	form;
	ChunkEncoding encoding;
	int			nrows;
	int			nvalues;		/* rows that are not null */
	const uint8 *nullbits;		/* one per row; NULL: no row is null */
	uint16	   *ranks;			/* nulls before every RANK_STEP'th row */

	ByteBuffer	raw;			/* what is below points into it */
	const char *values;
	size_t		len;			/* of the values; dictionary: of its values */

	DiskIntStream head;			/* of repeats: of the stream inside */
	int			nints;			/* values of that stream */
	const uint8 *distinct;		/* a bit per value, set where it is the next of the stream; NULL: each is */
	uint16	   *distinct_ranks; /* bits set before every RANK_STEP'th value */
	int			npatches;
	uint16	   *patch_at;		/* which of the packed bits, ascending */
	uint64	   *patches;		/* what is added there */
	size_t		bits;			/* where in raw they begin */
	size_t		nbits;			/* their bytes */
	uint64		offset;			/* of raw in the file, if it is not compressed; else 0 */
	bool		thin;			/* the bits are left there */
	int64	   *sums;			/* every GROUP_VALUES'th value, or NULL */
	int64		low;			/* integers that are allowed; span 0: all */
	uint64		span;
	int			scale;			/* of numerics and floats */

	size_t		stride;			/* values of one length: from one to the next */
	VarlenaForm varlena;
	uint32	   *offsets;		/* of all values of the dictionary, or of every so many'th one */
	struct PackedFront *front;	/* packed_front.c */
	ByteBuffer	made;			/* a value that is compared */

	ColumnBuffer *buffer;		/* decoded as a whole */
	ColumnVector vector;
	Size		memory;
};

/* Room for so many bytes more. */
static inline void *
MakeRoom(PackedColumn *column, Size size)
{
	column->memory += size;
	return MemoryContextAlloc(column->cxt, size);
}

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

/* How many of n bits are set before every RANK_STEP'th one and before the end; *total of all. */
extern uint16 *PackedRanks(PackedColumn *column, const uint8 *bits, int n, int *total);

/*
 * Prepare to look into an int stream of n >= 1 values at in.  Sets *used to
 * its length.  NULL, or what is wrong.
 */
extern const char *PackedIntsOpen(PackedColumn *column, const char *in, size_t len, int n,
								  ColumnScratch *scratch, size_t *used);

/* Give back what PackedIntsOpen took. */
extern void PackedIntsFree(PackedColumn *column);

/* Have every GROUP_VALUES'th value, so that a search reads the bits of one group only. */
extern void PackedIntsKeepSums(PackedColumn *column);

/* Integers number "at" (ascending) of the values. */
extern void PackedIntsGather(const PackedColumn *column, int n, const uint16 *at, int64 *out, uint64 *bytes_read);

/* PackedColumnSearch of integers without nulls: the first row whose value is at least want. */
extern int	PackedIntsSearch(const PackedColumn *column, int from, int to, int64 want, uint64 *bytes_read);

/* Prepare to look into the len bytes at in of front-coded values, which are no numerics. NULL, or what is wrong. */
extern const char *PackedFrontOpen(PackedColumn *column, const char *in, size_t len, ColumnScratch *scratch);
extern void PackedFrontFree(struct PackedFront *front);

/* Bytes it takes, besides those that count as the column's. */
extern Size PackedFrontMemory(const struct PackedFront *front);

/* Values number "at" (ascending), in made. */
extern void PackedFrontGather(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made);

/* PackedColumnSearch of values without nulls. */
extern int	PackedFrontSearch(const PackedColumn *column, int from, int to, Oid coltype,
							  Oid valuetype, Datum value, bool above);

#endif							/* BF_PACKED_COLUMN_PRIVATE_H */
