/*
 * agg_numeric.h
 *	  What sums of numerics have besides 128 bits.
 */
#ifndef BF_AGG_NUMERIC_H
#define BF_AGG_NUMERIC_H

#include "exec/agg/vector_agg.h"
#include "utils/numeric.h"

/* Numerics that 128 bits cannot hold, and those that are no number. */
struct NumericRest
{
	Numeric		sum;			/* NULL: none */
	int64		nans;
	int64		plus_infs;
	int64		minus_infs;
};

#endif							/* BF_AGG_NUMERIC_H */
