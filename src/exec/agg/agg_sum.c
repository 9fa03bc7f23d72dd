/*
 * agg_sum.c
 *	  Sums and averages of integers.
 *
 * All exact, so that the order of the rows does not matter.  Sums of smallint
 * and integer wrap around as core's, and a sum of bigints cannot leave 128
 * bits as long as their number is one of 63.
 */
#include "postgres.h"

#include "exec/agg/agg_loops.h"
#include "utils/fmgrprotos.h"
#include "vector/numeric_int.h"

static inline void
AddInt(const BatchAgg *agg, AggCell *cell, Datum value)
{
	cell->u.sum += DatumGetInt64(value);
	cell->count++;
}

/* AddInt of all, in 64 bits, which is all that is looked at in the end: the sums of most queries. */
static void
IntAdvance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
		   int from, int to)
{
	const ColumnVector *vec = vector->column;
	uint64		sum = (uint64) cell->u.sum;
	int64		n = 0;

	if (rows == NULL && vec->nulls == NULL)
	{
		for (int i = from; i < to; i++)
			sum += (uint64) vec->values[i];
		n = to - from;
	}
	else
		FOR_EACH_VALUE(from, to, sum += (uint64) vec->values[row]; n++);
	cell->u.sum = (int128) (int64) sum;
	cell->count += n;
}

DEFINE_LOOPS(Int8, AddInt);

static void
Multiply(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times)
{
	cell->u.sum += other->u.sum * times;
}

/* As int4_sum: a bigint that wraps around. */
static Datum
SumInt(const BatchAgg *agg, AggCell *cell)
{
	return Int64GetDatum((int64) cell->u.sum);
}

static Datum
SumInt8(const BatchAgg *agg, AggCell *cell)
{
	return NumericGetDatum(NumericFromInt128(cell->u.sum, 0));
}

static Datum
Average(const BatchAgg *agg, AggCell *cell)
{
	return DirectFunctionCall2(numeric_div, SumInt8(agg, cell),
							   NumericGetDatum(int64_to_numeric(cell->count)));
}

static Datum
AverageInt(const BatchAgg *agg, AggCell *cell)
{
	cell->u.sum = (int64) cell->u.sum;
	return Average(agg, cell);
}

const VectorAgg sum_int_agg = {
	.advance = IntAdvance,
	.scatter = Int8Scatter,
	.multiply = Multiply,
	.result = SumInt,
};

const VectorAgg sum_int8_agg = {
	.advance = Int8Advance,
	.scatter = Int8Scatter,
	.multiply = Multiply,
	.result = SumInt8,
};

const VectorAgg avg_int_agg = {
	.advance = IntAdvance,
	.scatter = Int8Scatter,
	.multiply = Multiply,
	.result = AverageInt,
};

const VectorAgg avg_int8_agg = {
	.advance = Int8Advance,
	.scatter = Int8Scatter,
	.multiply = Multiply,
	.result = Average,
};
