/*
 * vector_agg.h
 *	  Aggregates computed on whole batches: for each a table of functions, and
 *	  which of core's they stand for.
 *
 * The closed list of aggregates gives what core's give over the same rows,
 * bit for bit, display scales of numerics and errors included; sums of floats
 * over several processes within rounding.
 */
#ifndef BF_VECTOR_AGG_H
#define BF_VECTOR_AGG_H

#include "nodes/primnodes.h"
#include "spec/key_class.h"
#include "vector/batch.h"
#include "vector/decimal_vector.h"

struct VectorAgg;

/* An aggregate of a query. */
typedef struct BatchAgg
{
	const struct VectorAgg *fn;
	KeyClass	keyclass;		/* of the argument, for min and max */
	Oid			type;			/* of the argument, of a domain its base */
	int16		typlen;
	bool		typbyval;
	Oid			collation;		/* of texts, for min and max; InvalidOid: they are compared by bytes */
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

/*
 * How a function of core is computed.  To add one: a table like these in a file
 * of its own, or beside its like, and its line in vector_agg.c.  Functions
 * that may be NULL are marked.
 */
typedef struct VectorAgg
{
	/*
	 * Add entries from <= i < to, which are the rows rows[i], or the rows i
	 * where rows is NULL, to a cell; NULLs of the vector do not count.  It has
	 * no column for count(*) of all rows.
	 */
	void		(*advance) (const BatchAgg *agg, AggCell *cell, const AggVector *vector,
							const uint16 *rows, int from, int to);
	/* add each of n entries i to the cell at cells + groups[i] * stride */
	void		(*scatter) (const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
							const AggVector *vector, const uint16 *rows, int n);

	/* add the values of another cell, which has some; its count is added afterwards (NULL: multiply, by 1) */
	void		(*combine) (const BatchAgg *agg, AggCell *cell, const AggCell *other);
	/* the same so many times, at least once: that many rows for each of its own (NULL: the order of rows matters) */
	void		(*multiply) (const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times);
	Datum		(*result) (const BatchAgg *agg, AggCell *cell);

	bool		counts_rows;	/* count(*), count(1); with a filter as count(x) */
	bool		counts_values;	/* of its argument only which are NULL */
	bool		adds_numerics;	/* AggVector.decimals will do for the column */
	bool		keeps_best;		/* a value of the argument; how often it comes does not matter */
} VectorAgg;

extern const VectorAgg count_rows_agg,
			count_values_agg;	/* agg_count.c */
extern const VectorAgg sum_int_agg,
			sum_int8_agg,
			avg_int_agg,
			avg_int8_agg;		/* agg_sum.c */
extern const VectorAgg sum_float4_agg,
			sum_float8_agg,
			avg_float_agg;		/* agg_float.c */
extern const VectorAgg sum_numeric_agg,
			avg_numeric_agg;	/* agg_numeric.c */
extern const VectorAgg min_agg,
			max_agg;			/* agg_best.c */

/* How an aggregate call is computed; NULL when core must do it. */
extern const VectorAgg *VectorAggOf(const Aggref *aggref);

/* Raise an error if a table lacks a function; once, from _PG_init. */
extern void VectorAggsCheck(void);

/* Describe an aggregate call that can be computed. */
extern void BatchAggInit(BatchAgg *agg, const Aggref *aggref, MemoryContext cxt);

/* Give back what a cell holds and make it that of no rows; it may be all zeros, but not anything. */
extern void AggCellReset(const BatchAgg *agg, AggCell *cell);

/* Add what another cell of the same aggregate holds. */
extern void AggCellCombine(const BatchAgg *agg, AggCell *cell, const AggCell *other);

/* The same so many times; of aggregates that can be multiplied. */
extern void AggCellCombineTimes(const BatchAgg *agg, AggCell *cell, const AggCell *other,
								int64 times);

/* The result of the aggregate; by-reference ones in the current context or in the cell. */
extern Datum AggCellResult(const BatchAgg *agg, AggCell *cell, bool *isnull);

/* A cell as bytes that another process of the same server can read, in the current context. */
extern bytea *AggCellPack(const BatchAgg *agg, const AggCell *cell);

/* The way back, into a cell of no rows; what it refers to lies in the current context, or in the bytes. */
extern void AggCellUnpack(const BatchAgg *agg, const bytea *packed, AggCell *cell);

#endif							/* BF_VECTOR_AGG_H */
