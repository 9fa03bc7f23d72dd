/*
 * agg_counted.c
 *	  Aggregates over a join whose large groups come as rows instead of pairs.
 */
#include "postgres.h"

#include "exec/agg/agg_counted.h"

struct AggCounted
{
	int			naggs;
	const BatchAgg *aggs;
	AggCell    *cells;
	int		   *sides;
	bool		open;			/* there is a key that is not finished */
	int64		rows[2];		/* of it, left and right */
	AggCell    *parts;			/* per aggregate, over the rows of its side; min and max go to the cells at once */
};

AggCounted *
AggCountedCreate(int naggs, const BatchAgg *aggs, AggCell *cells, const int *sides)
{
	AggCounted *counted = palloc0(sizeof(AggCounted));

	counted->naggs = naggs;
	counted->aggs = aggs;
	counted->cells = cells;
	counted->sides = palloc(Max(naggs, 1) * sizeof(int));
	memcpy(counted->sides, sides, naggs * sizeof(int));
	counted->parts = palloc0(Max(naggs, 1) * sizeof(AggCell));
	return counted;
}

void
AggCountedAdd(AggCounted *counted, const AggVector *vectors, const Batch *batch, int number)
{
	const BatchStretch *stretch = &batch->stretches[number];
	int			from = number > 0 ? batch->stretches[number - 1].to : 0;
	int			side = stretch->left ? 0 : 1;

	Assert(!stretch->begins || !counted->open);
	counted->open = true;
	counted->rows[side] += BatchTimes(batch->times, NULL, from, stretch->to);
	for (int i = 0; i < counted->naggs; i++)
	{
		const BatchAgg *agg = &counted->aggs[i];

		if (counted->sides[i] == side)
			agg->fn->advance(agg, agg->fn->keeps_best ? &counted->cells[i] : &counted->parts[i],
							 &vectors[i], NULL, from, stretch->to);
	}
}

void
AggCountedFinish(AggCounted *counted)
{
	if (!counted->open)
		return;
	for (int i = 0; i < counted->naggs; i++)
	{
		if (!counted->aggs[i].fn->keeps_best)
			AggCellCombineTimes(&counted->aggs[i], &counted->cells[i], &counted->parts[i],
								counted->rows[1 - counted->sides[i]]);
	}
	AggCountedReset(counted);
}

void
AggCountedReset(AggCounted *counted)
{
	for (int i = 0; i < counted->naggs; i++)
	{
		if (!counted->aggs[i].fn->keeps_best)
			AggCellReset(&counted->aggs[i], &counted->parts[i]);
	}
	counted->rows[0] = counted->rows[1] = 0;
	counted->open = false;
}
