/*
 * agg_numeric.h
 *	  Exact sums of numerics.
 */
#ifndef BF_AGG_NUMERIC_H
#define BF_AGG_NUMERIC_H

#include "exec/agg/agg_kernels.h"
#include "utils/numeric.h"
#include "vector/decimal_vector.h"

/* Numerics that 128 bits cannot hold, and those that are no number. */
struct NumericRest
{
	Numeric		sum;			/* NULL: none */
	int64		nans;
	int64		plus_infs;
	int64		minus_infs;
};

/* Add a numeric (not compressed, maybe with a short header); memory is the aggregate's. */
extern void NumericSumAdd(const BatchAgg *agg, AggCell *cell, Datum value);

/* Add values, as BatchAggAdvance and BatchAggScatter do. */
extern void NumericSumAddAll(const BatchAgg *agg, AggCell *cell, const DecimalVector *vec,
							 const uint16 *rows, int from, int to);
extern void NumericSumAddEach(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
							  const DecimalVector *vec, const uint16 *rows, int n);

/* Add the sum of another cell so many times, but not its count. */
extern void NumericSumAddTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times);

/* What core's sum gives for the cell; only if values were added. */
extern Numeric NumericSumResult(const AggCell *cell);

/* Are all of the values numbers? */
extern bool NumericSumIsFinite(const AggCell *cell);

#endif							/* BF_AGG_NUMERIC_H */
