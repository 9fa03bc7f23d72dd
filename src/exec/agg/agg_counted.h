/*
 * agg_counted.h
 *	  Aggregates over a join whose large groups come as rows instead of pairs,
 *	  see BatchStretch.
 *
 * An aggregate reads one side of the join.  Over the n by m pairs of a key it
 * is what it is over the n rows of its side, m times.
 */
#ifndef BF_AGG_COUNTED_H
#define BF_AGG_COUNTED_H

#include "exec/agg/agg_args.h"
#include "exec/agg/vector_agg.h"

typedef struct AggCounted AggCounted;

/*
 * sides: per aggregate, the side it reads, 0 left or 1 right; its cell in
 * cells is what a finished key goes to.
 */
extern AggCounted *AggCountedCreate(int naggs, const BatchAgg *aggs, AggCell *cells,
									const int *sides);

/* Add a stretch of a batch.  What the one before it began must be finished if it begins a key. */
extern void AggCountedAdd(AggCounted *counted, const AggVector *vectors, const Batch *batch, int number);

/* The key is finished, if there is one: add it to the cells. */
extern void AggCountedFinish(AggCounted *counted);

/* Forget it. */
extern void AggCountedReset(AggCounted *counted);

#endif							/* BF_AGG_COUNTED_H */
