/*
 * vector_agg.c
 *	  Which aggregates of core are computed on batches, and transition values
 *	  on their way between processes or through temporary files.
 */
#include "postgres.h"

#include "common/int.h"
#include "exec/agg/agg_numeric.h"
#include "spec/collation.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

static const struct
{
	Oid			aggfnoid;
	const VectorAgg *fn;
}			vector_aggs[] =
{
	{F_COUNT_, &count_rows_agg},
	{F_COUNT_ANY, &count_values_agg},
	{F_SUM_INT2, &sum_int_agg},
	{F_SUM_INT4, &sum_int_agg},
	{F_SUM_INT8, &sum_int8_agg},
	{F_SUM_NUMERIC, &sum_numeric_agg},
	{F_SUM_FLOAT4, &sum_float4_agg},
	{F_SUM_FLOAT8, &sum_float8_agg},
	{F_AVG_INT2, &avg_int_agg},
	{F_AVG_INT4, &avg_int_agg},
	{F_AVG_INT8, &avg_int8_agg},
	{F_AVG_NUMERIC, &avg_numeric_agg},
	{F_AVG_FLOAT4, &avg_float_agg},
	{F_AVG_FLOAT8, &avg_float_agg},
	{F_MIN_INT2, &min_agg},
	{F_MIN_INT4, &min_agg},
	{F_MIN_INT8, &min_agg},
	{F_MIN_OID, &min_agg},
	{F_MIN_DATE, &min_agg},
	{F_MIN_TIME, &min_agg},
	{F_MIN_TIMESTAMP, &min_agg},
	{F_MIN_TIMESTAMPTZ, &min_agg},
	{F_MIN_FLOAT4, &min_agg},
	{F_MIN_FLOAT8, &min_agg},
	{F_MIN_NUMERIC, &min_agg},
	{F_BOOL_AND, &min_agg},
	{F_EVERY, &min_agg},
	{F_MAX_INT2, &max_agg},
	{F_MAX_INT4, &max_agg},
	{F_MAX_INT8, &max_agg},
	{F_MAX_OID, &max_agg},
	{F_MAX_DATE, &max_agg},
	{F_MAX_TIME, &max_agg},
	{F_MAX_TIMESTAMP, &max_agg},
	{F_MAX_TIMESTAMPTZ, &max_agg},
	{F_MAX_FLOAT4, &max_agg},
	{F_MAX_FLOAT8, &max_agg},
	{F_MAX_NUMERIC, &max_agg},
	{F_BOOL_OR, &max_agg},
	{F_MIN_TEXT, &min_agg},
	{F_MIN_BPCHAR, &min_agg},
	{F_MAX_TEXT, &max_agg},
	{F_MAX_BPCHAR, &max_agg},
};

/* Is the order of the argument that of its class?  That of texts depends on their collation. */
static bool
OrderIsOfClass(const Aggref *aggref)
{
	KeyClass	keyclass = KeyClassOfType(getBaseType(linitial_oid(aggref->aggargtypes)));

	return (keyclass != KEYCLASS_TEXT && keyclass != KEYCLASS_BPCHAR) || CollationIsC(aggref->inputcollid);
}

/*
 * Does the result not depend on which of two equal values comes first?  Under a
 * nondeterministic collation equal texts can differ.
 */
static bool
BestIsDefinite(const Aggref *aggref)
{
	return OrderIsOfClass(aggref) ||
		(OidIsValid(aggref->inputcollid) && get_collation_isdeterministic(aggref->inputcollid));
}

/* count(1) is count(*) */
static bool
CountsRows(const Aggref *aggref)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;

	return IsA(arg, Const) && !((Const *) arg)->constisnull;
}

const VectorAgg *
VectorAggOf(const Aggref *aggref)
{
	if (aggref->aggorder != NIL || aggref->aggdistinct != NIL || aggref->aggdirectargs != NIL ||
		aggref->aggvariadic || aggref->agglevelsup != 0)
		return NULL;
	for (int i = 0; i < lengthof(vector_aggs); i++)
	{
		const VectorAgg *fn = vector_aggs[i].fn;

		if (vector_aggs[i].aggfnoid != aggref->aggfnoid)
			continue;
		if (fn->keeps_best && !BestIsDefinite(aggref))
			return NULL;
		return fn->counts_values && CountsRows(aggref) ? &count_rows_agg : fn;
	}
	return NULL;
}

void
VectorAggsCheck(void)
{
	for (int i = 0; i < lengthof(vector_aggs); i++)
	{
		const VectorAgg *fn = vector_aggs[i].fn;

		if (!fn->advance || !fn->scatter || !fn->result || !(fn->combine || fn->multiply))
			elog(ERROR, "a function is missing for aggregate %u", vector_aggs[i].aggfnoid);
	}
}

void
BatchAggInit(BatchAgg *agg, const Aggref *aggref, MemoryContext cxt)
{
	memset(agg, 0, sizeof(*agg));
	agg->fn = VectorAggOf(aggref);
	if (agg->fn == NULL)
		elog(ERROR, "aggregate %u is not computed on batches", aggref->aggfnoid);
	agg->cxt = cxt;
	if (agg->fn->counts_rows)
		return;
	agg->type = getBaseType(linitial_oid(aggref->aggargtypes));
	agg->keyclass = KeyClassOfType(agg->type);
	get_typlenbyval(agg->type, &agg->typlen, &agg->typbyval);
	if (agg->fn->keeps_best && !OrderIsOfClass(aggref))
		agg->collation = aggref->inputcollid;
}

void
AggCellReset(const BatchAgg *agg, AggCell *cell)
{
	if (agg->fn->keeps_best && !agg->typbyval && cell->count > 0)
		pfree(DatumGetPointer(cell->u.best.value));
	if (cell->rest != NULL)
	{
		if (cell->rest->sum != NULL)
			pfree(cell->rest->sum);
		pfree(cell->rest);
	}
	memset(cell, 0, sizeof(*cell));
}

/* Add so many times the rows of another cell. */
static void
AddCounts(AggCell *cell, const AggCell *other, int64 times)
{
	int64		count;

	if (pg_mul_s64_overflow(other->count, times, &count) ||
		pg_add_s64_overflow(cell->count, count, &cell->count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

void
AggCellCombineTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times)
{
	if (other->count == 0)
		return;
	AddCounts(cell, other, times);
	agg->fn->multiply(agg, cell, other, times);
}

void
AggCellCombine(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	if (agg->fn->combine == NULL)
		AggCellCombineTimes(agg, cell, other, 1);
	else if (other->count > 0)
	{
		agg->fn->combine(agg, cell, other);
		/* of a best value it does not matter how many there were */
		if (!agg->fn->keeps_best)
			AddCounts(cell, other, 1);
	}
}

Datum
AggCellResult(const BatchAgg *agg, AggCell *cell, bool *isnull)
{
	*isnull = cell->count == 0 && !agg->fn->counts_rows && !agg->fn->counts_values;
	return *isnull ? (Datum) 0 : agg->fn->result(agg, cell);
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

	if (agg->fn->keeps_best && !agg->typbyval && cell->count > 0)
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
