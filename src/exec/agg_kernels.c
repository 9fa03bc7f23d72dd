/*
 * agg_kernels.c
 *	  Transition values of aggregates, advanced over rows of a batch.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"
#include "exec/agg_kernels.h"
#include "utils/float.h"
#include "utils/fmgroids.h"

BatchAggKind
BatchAggKindOf(const Aggref *aggref)
{
	if (aggref->aggorder != NIL || aggref->aggdistinct != NIL || aggref->aggfilter != NULL ||
		aggref->aggdirectargs != NIL || aggref->aggvariadic || aggref->agglevelsup != 0)
		return BATCH_AGG_NONE;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
			return BATCH_AGG_COUNT_ROWS;
		case F_COUNT_ANY:
			return BATCH_AGG_COUNT;
		case F_SUM_INT2:
		case F_SUM_INT4:
			return BATCH_AGG_SUM_INT;
		case F_SUM_FLOAT8:
			return BATCH_AGG_SUM_FLOAT8;
		case F_MIN_INT2:
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_OID:
		case F_MIN_DATE:
		case F_MIN_TIME:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
			return BATCH_AGG_MIN;
		case F_MAX_INT2:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_OID:
		case F_MAX_DATE:
		case F_MAX_TIME:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
			return BATCH_AGG_MAX;
		default:
			return BATCH_AGG_NONE;
	}
}

/* Run a statement for the number of each row that is not NULL in vec. */
#define FOR_EACH_VALUE(row, stmt) \
	do { \
		for (int i_ = from; i_ < to; i_++) \
		{ \
			int			row = rows ? rows[i_] : i_; \
			if (vec->nulls && vec->nulls[row]) \
				continue; \
			stmt; \
		} \
	} while (0)

static void
AddCount(BatchAgg *agg, int64 n)
{
	int64		count;

	if (pg_add_s64_overflow(DatumGetInt64(agg->value), n, &count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
	agg->value = Int64GetDatum(count);
}

/* As float8pl: the order of the additions is that of the rows. */
static void
SumFloat8(BatchAgg *agg, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
	float8		sum = DatumGetFloat8(agg->value);
	bool		isnull = agg->isnull;

	FOR_EACH_VALUE(row,
				   {
					   float8		x = DatumGetFloat8(vec->values[row]);
					   float8		old = sum;

					   sum = isnull ? x : old + x;
					   if (unlikely(isinf(sum)) && !isnull && !isinf(old) && !isinf(x))
						   float_overflow_error();
					   isnull = false;
				   });
	agg->value = Float8GetDatum(sum);
	agg->isnull = isnull;
}

/* As int4_sum: a bigint that wraps around. */
static void
SumInt(BatchAgg *agg, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
	uint64		sum = (uint64) DatumGetInt64(agg->value);
	bool		isnull = agg->isnull;

	FOR_EACH_VALUE(row,
				   {
					   sum += (uint64) vec->values[row];
					   isnull = false;
				   });
	agg->value = Int64GetDatum((int64) sum);
	agg->isnull = isnull;
}

static void
MinMax(BatchAgg *agg, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
	bool		want_max = agg->kind == BATCH_AGG_MAX;

	FOR_EACH_VALUE(row,
				   {
					   int64		x = KeySort64(agg->keyclass, agg->type, vec->values[row]);

					   if (agg->isnull || (want_max ? x > agg->value64 : x < agg->value64))
					   {
						   agg->value64 = x;
						   agg->value = vec->values[row];
						   agg->isnull = false;
					   }
				   });
}

void
BatchAggAdvance(BatchAgg *agg, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
	switch (agg->kind)
	{
		case BATCH_AGG_COUNT_ROWS:
			AddCount(agg, to - from);
			break;
		case BATCH_AGG_COUNT:
			if (vec->nulls == NULL)
				AddCount(agg, to - from);
			else
			{
				int64		n = 0;

				FOR_EACH_VALUE(row, n++);
				AddCount(agg, n);
			}
			break;
		case BATCH_AGG_SUM_INT:
			SumInt(agg, vec, rows, from, to);
			break;
		case BATCH_AGG_SUM_FLOAT8:
			SumFloat8(agg, vec, rows, from, to);
			break;
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
			MinMax(agg, vec, rows, from, to);
			break;
		case BATCH_AGG_NONE:
			elog(ERROR, "unexpected kind of aggregate");
	}
}
