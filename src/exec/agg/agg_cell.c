/*
 * agg_cell.c
 *	  Results of aggregates, and transition values on their way between
 *	  processes or through temporary files.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"
#include "compat.h"
#include "exec/agg/agg_numeric.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "vector/numeric_int.h"

/* As float8_combine; n is the count of the cell that was, m of the other. */
static void
CombineDeviation(AggCell *cell, const AggCell *other, float8 n, float8 m)
{
	float8		d = cell->u.f.sx / n - other->u.f.sx / m;
	float8		sxx = cell->u.f.sxx + other->u.f.sxx + n * m * d * d / (n + m);

	if (isinf(sxx) && !isinf(cell->u.f.sxx) && !isinf(other->u.f.sxx))
		float_overflow_error();
	cell->u.f.sx = float8_pl(cell->u.f.sx, other->u.f.sx);
	cell->u.f.sxx = sxx;
}

/* Add so many times the rows of another cell. */
static void
AddCount(AggCell *cell, const AggCell *other, int64 times)
{
	int64		count;

	if (pg_mul_s64_overflow(other->count, times, &count) ||
		pg_add_s64_overflow(cell->count, count, &cell->count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

/*
 * All exact, so that the order of the rows does not matter.  Sums of smallint
 * and integer wrap around as core's, and a sum of bigints cannot leave 128
 * bits as long as their number is one of 63.
 */
void
AggCellCombineTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times)
{
	if (other->count == 0)
		return;
	AddCount(cell, other, times);
	switch (agg->kind)
	{
		case BATCH_AGG_COUNT_ROWS:
		case BATCH_AGG_COUNT:
			break;
		case BATCH_AGG_SUM_INT:
		case BATCH_AGG_AVG_INT:
			cell->u.sum = (int128) (int64) ((uint64) cell->u.sum + (uint64) other->u.sum * (uint64) times);
			break;
		case BATCH_AGG_SUM_INT8:
		case BATCH_AGG_AVG_INT8:
			cell->u.sum += other->u.sum * times;
			break;
		case BATCH_AGG_SUM_NUMERIC:
		case BATCH_AGG_AVG_NUMERIC:
			NumericSumAddTimes(agg, cell, other, times);
			break;
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
		case BATCH_AGG_SUM_FLOAT4:
		case BATCH_AGG_SUM_FLOAT8:
		case BATCH_AGG_AVG_FLOAT:
		case BATCH_AGG_NONE:
			elog(ERROR, "unexpected kind of aggregate");
	}
}

void
AggCellCombine(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	int64		before = cell->count;
	ColumnVector best = {.values = (Datum *) &other->u.best.value};
	AggVector	vector = {.column = &best};

	if (other->count == 0)
		return;
	switch (agg->kind)
	{
		case BATCH_AGG_SUM_FLOAT4:
			cell->u.f.sx = before == 0 ? other->u.f.sx :
				float4_pl((float4) cell->u.f.sx, (float4) other->u.f.sx);
			break;
		case BATCH_AGG_SUM_FLOAT8:
			cell->u.f.sx = before == 0 ? other->u.f.sx :
				float8_pl(cell->u.f.sx, other->u.f.sx);
			break;
		case BATCH_AGG_AVG_FLOAT:
			if (before == 0)
				cell->u.f = other->u.f;
			else
				CombineDeviation(cell, other, (float8) before, (float8) other->count);
			break;
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
			BatchAggAdvance(agg, cell, &vector, NULL, 0, 1);
			return;
		default:
			AggCellCombineTimes(agg, cell, other, 1);
			return;
	}
	AddCount(cell, other, 1);
}

static Datum
Divided(Numeric sum, int64 count)
{
	return DirectFunctionCall2(numeric_div, NumericGetDatum(sum),
							   NumericGetDatum(int64_to_numeric(count)));
}

Datum
AggCellResult(const BatchAgg *agg, AggCell *cell, bool *isnull)
{
	*isnull = cell->count == 0 && agg->kind != BATCH_AGG_COUNT_ROWS &&
		agg->kind != BATCH_AGG_COUNT;
	if (*isnull)
		return (Datum) 0;
	switch (agg->kind)
	{
		case BATCH_AGG_COUNT_ROWS:
		case BATCH_AGG_COUNT:
			return Int64GetDatum(cell->count);
		case BATCH_AGG_SUM_INT:
			return Int64GetDatum((int64) cell->u.sum);
		case BATCH_AGG_SUM_INT8:
			return NumericGetDatum(NumericFromInt128(cell->u.sum, 0));
		case BATCH_AGG_AVG_INT:
		case BATCH_AGG_AVG_INT8:
			return Divided(NumericFromInt128(cell->u.sum, 0), cell->count);
		case BATCH_AGG_SUM_NUMERIC:
			return NumericGetDatum(NumericSumResult(cell));
		case BATCH_AGG_AVG_NUMERIC:
			if (!NumericSumIsFinite(cell))
				return NumericGetDatum(NumericSumResult(cell));
			return Divided(NumericSumResult(cell), cell->count);
		case BATCH_AGG_SUM_FLOAT4:
			return Float4GetDatum((float4) cell->u.f.sx);
		case BATCH_AGG_SUM_FLOAT8:
			return Float8GetDatum(cell->u.f.sx);
		case BATCH_AGG_AVG_FLOAT:
			return Float8GetDatum(cell->u.f.sx / (float8) cell->count);
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
			return cell->u.best.value;
		case BATCH_AGG_NONE:
			elog(ERROR, "unexpected kind of aggregate");
	}
	return (Datum) 0;
}

/*
 * Packed, a cell is its struct, and behind it the value it refers to, if there
 * is one: the best value by reference, or NumericRest and its sum.
 */
bytea *
AggCellPack(const BatchAgg *agg, const AggCell *cell)
{
	Size		size = VARHDRSZ + sizeof(AggCell);
	Size		tail = 0;
	const void *value = NULL;
	char	   *at;
	bytea	   *packed;

	if (BatchAggIsMinMax(agg) && !agg->typbyval && cell->count > 0)
	{
		value = DatumGetPointer(cell->u.best.value);
		tail = datumGetSize(cell->u.best.value, agg->typbyval, agg->typlen);
	}
	else if (cell->rest != NULL)
	{
		size += sizeof(NumericRest);
		if (cell->rest->sum != NULL)
		{
			value = cell->rest->sum;
			tail = VARSIZE_ANY(value);
		}
	}
	packed = palloc(size + tail);
	SET_VARSIZE(packed, size + tail);
	at = VARDATA(packed);
	memcpy(at, cell, sizeof(AggCell));
	at += sizeof(AggCell);
	if (cell->rest != NULL)
	{
		memcpy(at, cell->rest, sizeof(NumericRest));
		at += sizeof(NumericRest);
	}
	if (tail > 0)
		memcpy(at, value, tail);
	return packed;
}

void
AggCellUnpack(const BatchAgg *agg, const bytea *packed, AggCell *cell)
{
	const char *at = VARDATA_ANY(packed);
	Size		tail = VARSIZE_ANY_EXHDR(packed) - sizeof(AggCell);

	memcpy(cell, at, sizeof(AggCell));
	at += sizeof(AggCell);
	if (cell->rest != NULL)
	{
		cell->rest = palloc(sizeof(NumericRest));
		memcpy(cell->rest, at, sizeof(NumericRest));
		at += sizeof(NumericRest);
		tail -= sizeof(NumericRest);
	}
	if (tail > 0)
	{
		char	   *value = palloc(tail);

		memcpy(value, at, tail);
		if (cell->rest != NULL)
			cell->rest->sum = (Numeric) value;
		else
			cell->u.best.value = PointerGetDatum(value);
	}
}
