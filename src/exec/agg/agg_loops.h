/*
 * agg_loops.h
 *	  Loops over the values of a vector, with the work on one value inlined.
 */
#ifndef BF_AGG_LOOPS_H
#define BF_AGG_LOOPS_H

#include "common/int.h"
#include "exec/agg/vector_agg.h"

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

#define CELL(i) (&cells[(Size) groups[i] * stride])

#define ADD_EACH(add) \
	FOR_EACH_VALUE(0, n, add(agg, CELL(i_), vec->values[row]))

/* The two functions of a VectorAgg that does "add" with each value. */
#define DEFINE_LOOPS(name, add) \
static void \
name##Advance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows, \
			  int from, int to) \
{ \
	const ColumnVector *vec = vector->column; \
	ADD_ALL(add); \
} \
static void \
name##Scatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups, \
			  const AggVector *vector, const uint16 *rows, int n) \
{ \
	const ColumnVector *vec = vector->column; \
	ADD_EACH(add); \
} \
extern int	no_such_variable	/* takes the semicolon */

/* As int8inc. */
static inline void
AddCount(AggCell *cell, int64 n)
{
	if (pg_add_s64_overflow(cell->count, n, &cell->count))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

#endif							/* BF_AGG_LOOPS_H */
