/*
 * column_stats.h
 *	  What writing a column shows of it: how many nulls and bytes, minimum and
 *	  maximum, and how many distinct values.
 *
 * Distinct values are counted by a sketch: the smallest hashes of all values.
 * If the k smallest of them lie below t, there are about k / t as many as
 * hashes there can be.  Sketches of several writes are merged exactly.
 */
#ifndef BF_COLUMN_STATS_H
#define BF_COLUMN_STATS_H

#include "format/encoding/encoding.h"

/* the most hashes a sketch returns */
#define SKETCH_HASHES 128

#define SKETCH_SLOTS (8 * SKETCH_HASHES)

typedef struct ColumnSketch
{
	uint64		below;			/* hashes from here on do not count */
	int			nhashes;
	uint32		slots[SKETCH_SLOTS];	/* a hash table; 0: empty, no hash is 0 */
} ColumnSketch;

typedef struct ColumnStats
{
	int64		nulls;
	int64		values;			/* not null */
	int64		bytes;			/* of them, before encoding */
	bool		has_minmax;		/* of a key class, and a value was seen */
	StatValue	min;			/* by-reference values point to the buffers */
	StatValue	max;
	union
	{
		char		bytes[BF_STAT_BYTES + VARHDRSZ_SHORT];
		int64		align;
	}			min_buffer, max_buffer;
	ColumnSketch sketch;
} ColumnStats;

extern void ColumnSketchInit(ColumnSketch *sketch);

/* Add another sketch, as ColumnSketchRead returned it. */
extern void ColumnSketchMerge(ColumnSketch *sketch, const uint32 *hashes, int n, uint64 below);

/* Add one value, as vectors have it. */
extern void ColumnSketchAddValue(ColumnSketch *sketch, int typlen, bool typbyval, Datum value);

/*
 * The smallest hashes, ascending, at most max (<= SKETCH_HASHES) of them;
 * returns their number.  *below is set: all hashes below it are among them.
 */
extern int	ColumnSketchRead(const ColumnSketch *sketch, int max, uint32 *hashes, uint64 *below);

/* About how many values there are when n distinct hashes lie below a bound. */
extern double ColumnSketchDistinct(int n, uint64 below);

extern void ColumnStatsInit(ColumnStats *stats);

/* Add the values of a column of a block that was encoded. */
extern void ColumnStatsAdd(ColumnStats *stats, const ColumnValues *values, const EncodedColumn *encoded);

#endif							/* BF_COLUMN_STATS_H */
