/*
 * agg_numeric.c
 *	  Exact sums of numerics.
 *
 * Almost all numerics are small integers in units of their last displayed
 * digit: they are added as such, in 128 bits, the sum being in units of the
 * smallest of those units.  What does not fit is added by core's numeric_add,
 * which is exact too.  The display scale of a sum is that of the addend that
 * has the largest, as core's.
 *
 * The stored form is described in spec/numeric_form.h.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/agg/agg_loops.h"
#include "exec/agg/agg_numeric.h"
#include "spec/numeric_form.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "vector/numeric_int.h"

static NumericRest *
RestOf(const BatchAgg *agg, AggCell *cell)
{
	if (cell->rest == NULL)
		cell->rest = MemoryContextAllocZero(agg->cxt, sizeof(NumericRest));
	return cell->rest;
}

/* Add by core's function. */
static void
AddToRest(const BatchAgg *agg, AggCell *cell, Numeric value)
{
	NumericRest *rest = RestOf(agg, cell);
	MemoryContext old = MemoryContextSwitchTo(agg->cxt);
	Numeric		sum;

	if (rest->sum == NULL)
		sum = DatumGetNumericCopy(NumericGetDatum(value));
	else
	{
		sum = DatumGetNumeric(DirectFunctionCall2(numeric_add, NumericGetDatum(rest->sum),
												  NumericGetDatum(value)));
		pfree(rest->sum);
	}
	rest->sum = sum;
	MemoryContextSwitchTo(old);
}

/* Move the sum to the rest. */
static void
FlushSum(const BatchAgg *agg, AggCell *cell)
{
	Numeric		sum = NumericFromInt128(cell->u.sum, cell->scale);

	AddToRest(agg, cell, sum);
	pfree(sum);
	cell->u.sum = 0;
}

/* value * 10^decimals, unless it is too large */
static inline bool
Upscale(int128 *value, int decimals)
{
	int128		result;

	return decimals == 0 ||
		(!__builtin_mul_overflow(*value, PowerOfTen(decimals), &result) && DecimalInLimit(result) &&
		 ((*value = result), true));
}

/* Add a value in units of 10^-scale. */
static inline void
AddScaled(const BatchAgg *agg, AggCell *cell, int128 value, int scale)
{
	if (unlikely(scale != cell->scale))
	{
		if (scale > cell->scale)
		{
			if (!Upscale(&cell->u.sum, scale - cell->scale))
				FlushSum(agg, cell);
			cell->scale = scale;
		}
		else if (!Upscale(&value, cell->scale - scale))
		{
			Numeric		copy = NumericFromInt128(value, scale);

			AddToRest(agg, cell, copy);
			pfree(copy);
			return;
		}
	}
	/* both are below 2^126 */
	cell->u.sum += value;
	if (unlikely(!DecimalInLimit(cell->u.sum)))
		FlushSum(agg, cell);
}

/* Add a value that is no number, or not a small one. */
static void
AddOther(const BatchAgg *agg, AggCell *cell, Datum value)
{
	uint16		header;
	Numeric		plain;

	memcpy(&header, VARDATA_ANY(DatumGetPointer(value)), sizeof(header));
	if ((header & NUMERIC_HEADER_KIND) == NUMERIC_HEADER_SPECIAL)
	{
		NumericRest *rest = RestOf(agg, cell);

		if (header == NUMERIC_HEADER_PLUS_INF)
			rest->plus_infs++;
		else if (header == NUMERIC_HEADER_MINUS_INF)
			rest->minus_infs++;
		else
			rest->nans++;
		return;
	}
	plain = DatumGetNumeric(value);
	AddToRest(agg, cell, plain);
	if ((Pointer) plain != DatumGetPointer(value))
		pfree(plain);
}

static inline void
NumericSumAdd(const BatchAgg *agg, AggCell *cell, Datum value)
{
	int128		x;
	int			scale;

	cell->count++;
	if (likely(NumericToInt128(value, &x, &scale)))
		AddScaled(agg, cell, x, scale);
	else
		AddOther(agg, cell, value);
}

/* Can n of the values be added in 64 bits? */
static inline bool
SumFitsInt64(const DecimalVector *vec, int n)
{
	return vec->narrow != NULL && vec->min >= PG_INT64_MIN / BF_BATCH_ROWS &&
		vec->max <= PG_INT64_MAX / BF_BATCH_ROWS && n <= BF_BATCH_ROWS;
}

static void
NumericSumAddAll(const BatchAgg *agg, AggCell *cell, const DecimalVector *vec, const uint16 *rows,
				 int from, int to)
{
	int64		sum = 0;
	int64		n = 0;

	if (vec->scales != NULL || !SumFitsInt64(vec, to - from))
	{
		for (int i = from; i < to; i++)
		{
			int			row = rows ? rows[i] : i;

			if (DecimalIsNull(vec, row))
				continue;
			cell->count++;
			AddScaled(agg, cell, DecimalAt(vec, row), DecimalScaleAt(vec, row));
		}
		return;
	}
	if (vec->nulls == NULL && rows == NULL)
	{
		for (int i = from; i < to; i++)
			sum += vec->narrow[i];
		n = to - from;
	}
	else
		FOR_EACH_VALUE(from, to, sum += vec->narrow[row]; n++);
	if (n == 0)
		return;
	cell->count += n;
	AddScaled(agg, cell, sum, vec->min_scale);
}

static void
NumericSumAddEach(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
				  const DecimalVector *vec, const uint16 *rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;
		AggCell    *cell = &cells[(Size) groups[i] * stride];

		if (DecimalIsNull(vec, row))
			continue;
		cell->count++;
		AddScaled(agg, cell, DecimalAt(vec, row), DecimalScaleAt(vec, row));
	}
}

/* Add value * times: the value, twice the value and so on, for the bits of times. */
static void
AddToRestTimes(const BatchAgg *agg, AggCell *cell, Numeric value, int64 times)
{
	Numeric		power = DatumGetNumericCopy(NumericGetDatum(value));

	for (;;)
	{
		Numeric		twice;

		if (times & 1)
			AddToRest(agg, cell, power);
		times >>= 1;
		if (times == 0)
			break;
		twice = DatumGetNumeric(DirectFunctionCall2(numeric_add, NumericGetDatum(power),
													NumericGetDatum(power)));
		pfree(power);
		power = twice;
	}
	pfree(power);
}

static void
NumericSumAddTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times)
{
	int128		sum;

	if (!__builtin_mul_overflow(other->u.sum, (int128) times, &sum) && DecimalInLimit(sum))
		AddScaled(agg, cell, sum, other->scale);
	else
	{
		Numeric		once = NumericFromInt128(other->u.sum, other->scale);

		AddToRestTimes(agg, cell, once, times);
		pfree(once);
	}
	if (other->rest != NULL)
	{
		NumericRest *rest = RestOf(agg, cell);

		/* not more than the count, which fits */
		rest->nans += other->rest->nans * times;
		rest->plus_infs += other->rest->plus_infs * times;
		rest->minus_infs += other->rest->minus_infs * times;
		if (other->rest->sum != NULL)
			AddToRestTimes(agg, cell, other->rest->sum, times);
	}
}

/* Are all of the values numbers? */
static bool
NumericSumIsFinite(const AggCell *cell)
{
	const NumericRest *rest = cell->rest;

	return rest == NULL || (rest->nans == 0 && rest->plus_infs == 0 && rest->minus_infs == 0);
}

static Numeric
SpecialNumeric(const char *name)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(name),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* What core's sum gives; only if values were added. */
static Numeric
NumericSumResult(const AggCell *cell)
{
	const NumericRest *rest = cell->rest;
	Numeric		sum;

	if (!NumericSumIsFinite(cell))
	{
		if (rest->nans > 0 || (rest->plus_infs > 0 && rest->minus_infs > 0))
			return SpecialNumeric("NaN");
		return SpecialNumeric(rest->plus_infs > 0 ? "Infinity" : "-Infinity");
	}
	sum = NumericFromInt128(cell->u.sum, cell->scale);
	if (rest == NULL || rest->sum == NULL)
		return sum;
	return DatumGetNumeric(DirectFunctionCall2(numeric_add, NumericGetDatum(sum),
											   NumericGetDatum(rest->sum)));
}

static void
Advance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
		int from, int to)
{
	const ColumnVector *vec = vector->column;

	if (vector->decimals != NULL)
		NumericSumAddAll(agg, cell, vector->decimals, rows, from, to);
	else
		ADD_ALL(NumericSumAdd);
}

static void
Scatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
		const AggVector *vector, const uint16 *rows, int n)
{
	const ColumnVector *vec = vector->column;

	if (vector->decimals != NULL)
		NumericSumAddEach(agg, cells, stride, groups, vector->decimals, rows, n);
	else
		ADD_EACH(NumericSumAdd);
}

static Datum
Sum(const BatchAgg *agg, AggCell *cell)
{
	return NumericGetDatum(NumericSumResult(cell));
}

static Datum
Average(const BatchAgg *agg, AggCell *cell)
{
	if (!NumericSumIsFinite(cell))
		return Sum(agg, cell);
	return DirectFunctionCall2(numeric_div, Sum(agg, cell),
							   NumericGetDatum(int64_to_numeric(cell->count)));
}

const VectorAgg sum_numeric_agg = {
	.advance = Advance,
	.scatter = Scatter,
	.multiply = NumericSumAddTimes,
	.result = Sum,
	.adds_numerics = true,
};

const VectorAgg avg_numeric_agg = {
	.advance = Advance,
	.scatter = Scatter,
	.multiply = NumericSumAddTimes,
	.result = Average,
	.adds_numerics = true,
};
