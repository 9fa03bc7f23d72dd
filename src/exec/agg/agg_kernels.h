/*
 * agg_kernels.h
 *	  Transition values of aggregates, advanced over rows of a batch.
 *
 * The closed list of aggregates gives what core's give over the same rows,
 * bit for bit, display scales of numerics and errors included; sums of floats
 * over several processes within rounding.
 */
#ifndef BF_AGG_KERNELS_H
#define BF_AGG_KERNELS_H

#include "nodes/primnodes.h"
#include "spec/key_class.h"
#include "vector/batch.h"
#include "vector/decimal_vector.h"

typedef enum BatchAggKind
{
	BATCH_AGG_NONE = 0,
	BATCH_AGG_COUNT_ROWS,		/* count(*), count(1); with a filter as count(x) */
	BATCH_AGG_COUNT,			/* count(x) */
	BATCH_AGG_SUM_INT,			/* sum(int2), sum(int4): bigint */
	BATCH_AGG_SUM_INT8,			/* sum(int8): numeric */
	BATCH_AGG_AVG_INT,			/* avg(int2), avg(int4) */
	BATCH_AGG_AVG_INT8,
	BATCH_AGG_SUM_NUMERIC,
	BATCH_AGG_AVG_NUMERIC,
	BATCH_AGG_SUM_FLOAT4,
	BATCH_AGG_SUM_FLOAT8,
	BATCH_AGG_AVG_FLOAT,		/* avg(float4), avg(float8) */
	BATCH_AGG_MIN,				/* of types with a key class; bool_and */
	BATCH_AGG_MAX				/* and bool_or */
} BatchAggKind;

/* An aggregate. */
typedef struct BatchAgg
{
	BatchAggKind kind;
	KeyClass	keyclass;		/* of the argument, for min and max */
	Oid			type;			/* of the argument, of a domain its base */
	int16		typlen;
	bool		typbyval;
	MemoryContext cxt;			/* holds by-reference values of cells */
} BatchAgg;

/* What does not fit the 128 bits of a sum of numerics, see agg_numeric.c. */
typedef struct NumericRest NumericRest;

/* The transition value of an aggregate. */
typedef struct AggCell
{
	int64		count;			/* rows, or values */
	union
	{
		int128		sum;		/* of integers; of numerics, in units of 10^-scale */
		struct
		{
			float8		sx;		/* sum */
			float8		sxx;	/* sum of squared deviations, for core's overflow errors */
		}			f;
		struct
		{
			Datum		value;	/* by reference: in the aggregate's context */
			int64		image;	/* KeySort64, for fixed classes */
		}			best;
	}			u;
	NumericRest *rest;			/* NULL: all is in the sum */
	int			scale;
} AggCell;

/* What an aggregate is advanced with. */
typedef struct AggVector
{
	const ColumnVector *column; /* NULL: it reads none */
	const DecimalVector *decimals;	/* sums of numerics: instead of the column, unless NULL */
	const int64 *times;			/* count(*): of how many rows each is, as Batch.times; NULL: of one */
} AggVector;

/* The kind of an aggregate call, BATCH_AGG_NONE when core must do it. */
extern BatchAggKind BatchAggKindOf(const Aggref *aggref);

/* Describe an aggregate call that has a kind. */
extern void BatchAggInit(BatchAgg *agg, const Aggref *aggref, MemoryContext cxt);

static inline bool
BatchAggAddsNumerics(const BatchAgg *agg)
{
	return agg->kind == BATCH_AGG_SUM_NUMERIC || agg->kind == BATCH_AGG_AVG_NUMERIC;
}

static inline bool
BatchAggIsMinMax(const BatchAgg *agg)
{
	return agg->kind == BATCH_AGG_MIN || agg->kind == BATCH_AGG_MAX;
}

/* Give back what a cell holds and make it that of no rows; it may be all zeros, but not anything. */
extern void AggCellReset(const BatchAgg *agg, AggCell *cell);

/*
 * Add entries from <= i < to, which are the rows rows[i], or the rows i where
 * rows is NULL, to a cell; NULLs of the vector do not count.  It has no column
 * for count(*) of all rows.
 */
extern void BatchAggAdvance(const BatchAgg *agg, AggCell *cell, const AggVector *vector,
							const uint16 *rows, int from, int to);

/* Add each of n entries i to the cell at cells + groups[i] * stride. */
extern void BatchAggScatter(const BatchAgg *agg, AggCell *cells, int stride,
							const uint32 *groups, const AggVector *vector, const uint16 *rows,
							int n);

/* agg_cell.c: results, and cells on their way between processes or through files */

/* Add what another cell of the same aggregate holds. */
extern void AggCellCombine(const BatchAgg *agg, AggCell *cell, const AggCell *other);

/*
 * The same of what another cell holds, so many times (at least once): that
 * many rows for each of its own.  Not of sums of floats.
 */
extern void AggCellCombineTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other,
								int64 times);

/* The result of the aggregate; by-reference ones in the current context or in the cell. */
extern Datum AggCellResult(const BatchAgg *agg, AggCell *cell, bool *isnull);

/* A cell as bytes that another process of the same server can read, in the current context. */
extern bytea *AggCellPack(const BatchAgg *agg, const AggCell *cell);

/* The way back, into a cell of no rows; what it refers to lies in the current context, or in the bytes. */
extern void AggCellUnpack(const BatchAgg *agg, const bytea *packed, AggCell *cell);

#endif							/* BF_AGG_KERNELS_H */
