/*
 * agg_kernels.h
 *	  Transition values of aggregates, advanced over rows of a batch.
 *
 * The closed list of aggregates gives bit for bit what core's give over the
 * same rows in the same order, errors included.
 */
#ifndef BF_AGG_KERNELS_H
#define BF_AGG_KERNELS_H

#include "nodes/primnodes.h"
#include "spec/key_class.h"
#include "vector/batch.h"

typedef enum BatchAggKind
{
	BATCH_AGG_NONE = 0,
	BATCH_AGG_COUNT_ROWS,		/* count(*) */
	BATCH_AGG_COUNT,			/* count(column) */
	BATCH_AGG_SUM_INT,			/* sum(int2), sum(int4): bigint */
	BATCH_AGG_SUM_FLOAT8,		/* sum(float8) */
	BATCH_AGG_MIN,				/* of integers, oids, dates, times, timestamps */
	BATCH_AGG_MAX
} BatchAggKind;

/* One aggregate and its transition value. */
typedef struct BatchAgg
{
	BatchAggKind kind;
	int			col;			/* batch column, -1 for count(*) */
	KeyClass	keyclass;		/* of the column, for min and max */
	Oid			type;
	bool		isnull;			/* no value yet */
	Datum		value;
	int64		value64;		/* KeySort64 of value, for min and max */
} BatchAgg;

/* The kind of an aggregate call, BATCH_AGG_NONE when core must do it. */
extern BatchAggKind BatchAggKindOf(const Aggref *aggref);

/* Make the value that of no rows. */
static inline void
BatchAggReset(BatchAgg *agg)
{
	agg->value = Int64GetDatum(0);
	agg->isnull = agg->kind != BATCH_AGG_COUNT_ROWS && agg->kind != BATCH_AGG_COUNT;
}

/*
 * Add entries from <= i < to, which are the rows rows[i], or the rows i where
 * rows is NULL.  vec: the vector of agg->col, NULL for count(*).
 */
extern void BatchAggAdvance(BatchAgg *agg, const ColumnVector *vec, const uint16 *rows,
							int from, int to);

#endif							/* BF_AGG_KERNELS_H */
