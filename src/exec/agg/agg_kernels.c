/*
 * agg_kernels.c
 *	  Transition values of aggregates, advanced over rows of a batch.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"
#include "exec/agg/agg_numeric.h"
#include "spec/collation.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Is the order of the class the one in which core's min and max compare? */
static BatchAggKind
MinMaxKind(const Aggref *aggref, BatchAggKind kind)
{
	KeyClass	keyclass = KeyClassOfType(getBaseType(linitial_oid(aggref->aggargtypes)));

	if (keyclass == KEYCLASS_TEXT || keyclass == KEYCLASS_BPCHAR)
		return CollationIsC(aggref->inputcollid) ? kind : BATCH_AGG_NONE;
	return kind;
}

/* count(1) is count(*) */
static bool
CountsRows(const Aggref *aggref)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;

	return IsA(arg, Const) && !((Const *) arg)->constisnull;
}

BatchAggKind
BatchAggKindOf(const Aggref *aggref)
{
	if (aggref->aggorder != NIL || aggref->aggdistinct != NIL || aggref->aggdirectargs != NIL ||
		aggref->aggvariadic || aggref->agglevelsup != 0)
		return BATCH_AGG_NONE;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
			return BATCH_AGG_COUNT_ROWS;
		case F_COUNT_ANY:
			return CountsRows(aggref) ? BATCH_AGG_COUNT_ROWS : BATCH_AGG_COUNT;
		case F_SUM_INT2:
		case F_SUM_INT4:
			return BATCH_AGG_SUM_INT;
		case F_SUM_INT8:
			return BATCH_AGG_SUM_INT8;
		case F_SUM_NUMERIC:
			return BATCH_AGG_SUM_NUMERIC;
		case F_SUM_FLOAT4:
			return BATCH_AGG_SUM_FLOAT4;
		case F_SUM_FLOAT8:
			return BATCH_AGG_SUM_FLOAT8;
		case F_AVG_INT2:
		case F_AVG_INT4:
			return BATCH_AGG_AVG_INT;
		case F_AVG_INT8:
			return BATCH_AGG_AVG_INT8;
		case F_AVG_NUMERIC:
			return BATCH_AGG_AVG_NUMERIC;
		case F_AVG_FLOAT4:
		case F_AVG_FLOAT8:
			return BATCH_AGG_AVG_FLOAT;
		case F_MIN_INT2:
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_OID:
		case F_MIN_DATE:
		case F_MIN_TIME:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
		case F_MIN_FLOAT4:
		case F_MIN_FLOAT8:
		case F_MIN_NUMERIC:
		case F_BOOL_AND:
		case F_EVERY:
			return BATCH_AGG_MIN;
		case F_MAX_INT2:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_OID:
		case F_MAX_DATE:
		case F_MAX_TIME:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
		case F_MAX_FLOAT4:
		case F_MAX_FLOAT8:
		case F_MAX_NUMERIC:
		case F_BOOL_OR:
			return BATCH_AGG_MAX;
		case F_MIN_TEXT:
		case F_MIN_BPCHAR:
			return MinMaxKind(aggref, BATCH_AGG_MIN);
		case F_MAX_TEXT:
		case F_MAX_BPCHAR:
			return MinMaxKind(aggref, BATCH_AGG_MAX);
		default:
			return BATCH_AGG_NONE;
	}
}

void
BatchAggInit(BatchAgg *agg, const Aggref *aggref, MemoryContext cxt)
{
	memset(agg, 0, sizeof(*agg));
	agg->kind = BatchAggKindOf(aggref);
	agg->cxt = cxt;
	if (agg->kind == BATCH_AGG_COUNT_ROWS)
		return;
	agg->type = getBaseType(linitial_oid(aggref->aggargtypes));
	agg->keyclass = KeyClassOfType(agg->type);
	get_typlenbyval(agg->type, &agg->typlen, &agg->typbyval);
}

void
AggCellReset(const BatchAgg *agg, AggCell *cell)
{
	if (BatchAggIsMinMax(agg) && !agg->typbyval && cell->count > 0)
		pfree(DatumGetPointer(cell->u.best.value));
	if (cell->rest != NULL)
	{
		if (cell->rest->sum != NULL)
			pfree(cell->rest->sum);
		pfree(cell->rest);
	}
	memset(cell, 0, sizeof(*cell));
}

/*
 * One value.  Each of these is inlined into the loops below.
 */

/* As int8inc. */
static inline void
AddCount(AggCell *cell, int64 n)
{
	if (pg_add_s64_overflow(cell->count, n, &cell->count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

/* As int4_sum: a bigint that wraps around; the high half of the sum is not looked at. */
static inline void
AddInt(const BatchAgg *agg, AggCell *cell, Datum value)
{
	cell->u.sum = (int128) (int64) ((uint64) cell->u.sum + (uint64) value);
	cell->count++;
}

static inline void
AddInt8(const BatchAgg *agg, AggCell *cell, Datum value)
{
	cell->u.sum += DatumGetInt64(value);
	cell->count++;
}

/* As float4pl and float8pl: the order of the additions is that of the rows. */
static inline void
AddFloat4(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float4		x = DatumGetFloat4(value);

	cell->u.f.sx = cell->count == 0 ? x : float4_pl((float4) cell->u.f.sx, x);
	cell->count++;
}

static inline void
AddFloat8(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float8		x = DatumGetFloat8(value);

	cell->u.f.sx = cell->count == 0 ? x : float8_pl(cell->u.f.sx, x);
	cell->count++;
}

/* As float8_accum. */
static inline void
AddDeviation(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float8		x = agg->type == FLOAT4OID ? (float8) DatumGetFloat4(value) :
		DatumGetFloat8(value);
	float8		n = (float8) cell->count + 1.0;
	float8		sx = cell->u.f.sx + x;

	if (cell->count > 0)
	{
		float8		d = x * n - sx;

		cell->u.f.sxx += d * d / (n * (float8) cell->count);
		if (unlikely(isinf(sx) || isinf(cell->u.f.sxx)))
		{
			if (!isinf(cell->u.f.sx) && !isinf(x))
				float_overflow_error();
			cell->u.f.sxx = get_float8_nan();
		}
	}
	else if (isnan(x) || isinf(x))
		cell->u.f.sxx = get_float8_nan();
	cell->u.f.sx = sx;
	cell->count++;
}

/* Keep a value that is greater (or less) than the best so far, or equal and later, as core does. */
static inline void
KeepFixed(const BatchAgg *agg, AggCell *cell, Datum value)
{
	int64		image = KeySort64(agg->keyclass, agg->type, value);

	if (cell->count == 0 || (agg->kind == BATCH_AGG_MAX ? image >= cell->u.best.image :
							 image <= cell->u.best.image))
	{
		cell->u.best.image = image;
		cell->u.best.value = value;
	}
	cell->count = 1;
}

static inline bool
SameBytes(Datum a, Datum b)
{
	const void *x = DatumGetPointer(a);
	const void *y = DatumGetPointer(b);
	size_t		len = VARSIZE_ANY_EXHDR(x);

	return VARSIZE_ANY_EXHDR(y) == len && memcmp(VARDATA_ANY(x), VARDATA_ANY(y), len) == 0;
}

/*
 * The same by reference, which are varlena all.  "owned" says whether the cell's value is its own:
 * one that points into the batch costs nothing when the next one is better.
 */
static inline void
KeepPointer(const BatchAgg *agg, AggCell *cell, Datum value, bool *owned)
{
	int			c;

	if (cell->count > 0)
	{
		if (value == cell->u.best.value)
			return;
		c = KeyCompare(agg->keyclass, agg->type, value, agg->type, cell->u.best.value);
		if (agg->kind == BATCH_AGG_MAX ? c < 0 : c > 0)
			return;
		if (c == 0 && SameBytes(value, cell->u.best.value))
			return;
		if (*owned)
			pfree(DatumGetPointer(cell->u.best.value));
	}
	cell->u.best.value = value;
	cell->count = 1;
	*owned = false;
}

/* Make a value that points into a batch the cell's own. */
static inline void
OwnBest(const BatchAgg *agg, AggCell *cell)
{
	MemoryContext old = MemoryContextSwitchTo(agg->cxt);

	cell->u.best.value = datumCopy(cell->u.best.value, agg->typbyval, agg->typlen);
	MemoryContextSwitchTo(old);
}

/*
 * Loops
 */

/* Run a statement for each entry i_ that is not NULL, whose row is "row". */
#define FOR_EACH_VALUE(from, to, stmt) \
	do { \
		for (int i_ = (from); i_ < (to); i_++) \
		{ \
			int			row = rows ? rows[i_] : i_; \
			if (vec->nulls && vec->nulls[row]) \
				continue; \
			stmt; \
		} \
	} while (0)

/* All to one cell.  A local copy of it can live in registers. */
#define ADD_ALL(add) \
	do { \
		AggCell		local = *cell; \
		FOR_EACH_VALUE(from, to, add(agg, &local, vec->values[row])); \
		*cell = local; \
	} while (0)

static void
CountValues(AggCell *cell, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
	int64		n = 0;

	if (vec->nulls == NULL)
		n = to - from;
	else
		FOR_EACH_VALUE(from, to, n++);
	AddCount(cell, n);
}

/* AddInt of all: the sums of most queries. */
static void
SumInts(AggCell *cell, const ColumnVector *vec, const uint16 *rows, int from, int to)
{
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

static void
KeepAllPointers(const BatchAgg *agg, AggCell *cell, const ColumnVector *vec, const uint16 *rows,
				int from, int to)
{
	bool		owned = cell->count > 0;

	FOR_EACH_VALUE(from, to, KeepPointer(agg, cell, vec->values[row], &owned));
	if (!owned && cell->count > 0)
		OwnBest(agg, cell);
}

void
BatchAggAdvance(const BatchAgg *agg, AggCell *cell, const AggVector *vector,
				const uint16 *rows, int from, int to)
{
	const ColumnVector *vec = vector->column;

	switch (agg->kind)
	{
		case BATCH_AGG_COUNT_ROWS:
			if (vec != NULL)
				CountValues(cell, vec, rows, from, to);
			else
				AddCount(cell, BatchTimes(vector->times, rows, from, to));
			break;
		case BATCH_AGG_COUNT:
			CountValues(cell, vec, rows, from, to);
			break;
		case BATCH_AGG_SUM_INT:
		case BATCH_AGG_AVG_INT:
			SumInts(cell, vec, rows, from, to);
			break;
		case BATCH_AGG_SUM_INT8:
		case BATCH_AGG_AVG_INT8:
			ADD_ALL(AddInt8);
			break;
		case BATCH_AGG_SUM_NUMERIC:
		case BATCH_AGG_AVG_NUMERIC:
			if (vector->decimals != NULL)
				NumericSumAddAll(agg, cell, vector->decimals, rows, from, to);
			else
				ADD_ALL(NumericSumAdd);
			break;
		case BATCH_AGG_SUM_FLOAT4:
			ADD_ALL(AddFloat4);
			break;
		case BATCH_AGG_SUM_FLOAT8:
			ADD_ALL(AddFloat8);
			break;
		case BATCH_AGG_AVG_FLOAT:
			ADD_ALL(AddDeviation);
			break;
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
			if (KeyClassIsFixed(agg->keyclass))
				ADD_ALL(KeepFixed);
			else
				KeepAllPointers(agg, cell, vec, rows, from, to);
			break;
		case BATCH_AGG_NONE:
			elog(ERROR, "unexpected kind of aggregate");
	}
}

#define CELL(i) (&cells[(Size) groups[i] * stride])

#define ADD_EACH(add) \
	FOR_EACH_VALUE(0, n, add(agg, CELL(i_), vec->values[row]))

void
BatchAggScatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
				const AggVector *vector, const uint16 *rows, int n)
{
	const ColumnVector *vec = vector->column;

	switch (agg->kind)
	{
		case BATCH_AGG_COUNT_ROWS:
			if (vec == NULL)
			{
				for (int i = 0; i < n; i++)
					AddCount(CELL(i), 1);
				break;
			}
			/* FALLTHROUGH */
		case BATCH_AGG_COUNT:
			FOR_EACH_VALUE(0, n, AddCount(CELL(i_), 1));
			break;
		case BATCH_AGG_SUM_INT:
		case BATCH_AGG_AVG_INT:
			ADD_EACH(AddInt);
			break;
		case BATCH_AGG_SUM_INT8:
		case BATCH_AGG_AVG_INT8:
			ADD_EACH(AddInt8);
			break;
		case BATCH_AGG_SUM_NUMERIC:
		case BATCH_AGG_AVG_NUMERIC:
			if (vector->decimals != NULL)
				NumericSumAddEach(agg, cells, stride, groups, vector->decimals, rows, n);
			else
				ADD_EACH(NumericSumAdd);
			break;
		case BATCH_AGG_SUM_FLOAT4:
			ADD_EACH(AddFloat4);
			break;
		case BATCH_AGG_SUM_FLOAT8:
			ADD_EACH(AddFloat8);
			break;
		case BATCH_AGG_AVG_FLOAT:
			ADD_EACH(AddDeviation);
			break;
		case BATCH_AGG_MIN:
		case BATCH_AGG_MAX:
			if (KeyClassIsFixed(agg->keyclass))
				ADD_EACH(KeepFixed);
			else
				FOR_EACH_VALUE(0, n,
							   {
								   AggCell    *cell = CELL(i_);
								   Datum		before = cell->u.best.value;
								   bool		owned = cell->count > 0;

								   KeepPointer(agg, cell, vec->values[row], &owned);
								   if (cell->u.best.value != before)
									   OwnBest(agg, cell);
							   });
			break;
		case BATCH_AGG_NONE:
			elog(ERROR, "unexpected kind of aggregate");
	}
}
