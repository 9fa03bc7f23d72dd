/*
 * agg_count.c
 *	  count(*) and count(x).
 */
#include "postgres.h"

#include "exec/agg/agg_loops.h"

static void
ValuesAdvance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
			  int from, int to)
{
	const ColumnVector *vec = vector->column;
	int64		n = 0;

	if (vec->nulls == NULL)
		n = to - from;
	else
		FOR_EACH_VALUE(from, to, n++);
	AddCount(cell, n);
}

static void
ValuesScatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
			  const AggVector *vector, const uint16 *rows, int n)
{
	const ColumnVector *vec = vector->column;

	FOR_EACH_VALUE(0, n, AddCount(CELL(i_), 1));
}

/* The column, if there is one, tells which rows a filter leaves. */
static void
RowsAdvance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
			int from, int to)
{
	if (vector->column != NULL)
		ValuesAdvance(agg, cell, vector, rows, from, to);
	else
		AddCount(cell, BatchTimes(vector->times, rows, from, to));
}

static void
RowsScatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
			const AggVector *vector, const uint16 *rows, int n)
{
	if (vector->column != NULL)
	{
		ValuesScatter(agg, cells, stride, groups, vector, rows, n);
		return;
	}
	for (int i = 0; i < n; i++)
		AddCount(CELL(i), 1);
}

/* The count is all there is. */
static void
Multiply(const BatchAgg *agg, AggCell *cell, const AggCell *other, int64 times)
{
}

static Datum
Result(const BatchAgg *agg, AggCell *cell)
{
	return Int64GetDatum(cell->count);
}

const VectorAgg count_rows_agg = {
	.advance = RowsAdvance,
	.scatter = RowsScatter,
	.multiply = Multiply,
	.result = Result,
	.counts_rows = true,
};

const VectorAgg count_values_agg = {
	.advance = ValuesAdvance,
	.scatter = ValuesScatter,
	.multiply = Multiply,
	.result = Result,
	.counts_values = true,
};
