/*
 * decimal_vector.h
 *	  Integers and numerics of the rows of a batch as integers in units of
 *	  their last displayed digit.
 */
#ifndef BF_DECIMAL_VECTOR_H
#define BF_DECIMAL_VECTOR_H

#include "vector/batch.h"

/* decimals of a value, at most: so many more powers of ten there are in 128 bits */
#define DECIMAL_MAX_SCALE	36

/* values stay below this, so that adding two cannot overflow */
#define DECIMAL_LIMIT		((int128) 1 << 126)

static inline bool
DecimalInLimit(int128 value)
{
	return value < DECIMAL_LIMIT && value > -DECIMAL_LIMIT;
}

static inline int128
PowerOfTen(int n)
{
	int128		power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/*
 * Entries of rows that were not asked for, or are NULL, hold anything.  The
 * value of a row is an integer times 10^-scale, and scale is its display
 * scale; integers have scale 0.
 */
typedef struct DecimalVector
{
	const int64 *narrow;		/* one of the two, BF_BATCH_ROWS entries */
	const int128 *wide;
	const bool *nulls;			/* NULL: no null here */
	const uint8 *scales;		/* per row; NULL: all are min_scale */
	int			min_scale;		/* of the rows */
	int			max_scale;
	int128		min;			/* no integer is below, or above */
	int128		max;
} DecimalVector;

static inline bool
DecimalIsNull(const DecimalVector *vec, int row)
{
	return vec->nulls != NULL && vec->nulls[row];
}

static inline int128
DecimalAt(const DecimalVector *vec, int row)
{
	return vec->wide != NULL ? vec->wide[row] : vec->narrow[row];
}

static inline int
DecimalScaleAt(const DecimalVector *vec, int row)
{
	return vec->scales != NULL ? vec->scales[row] : vec->min_scale;
}

#endif							/* BF_DECIMAL_VECTOR_H */
