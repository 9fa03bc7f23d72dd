/*
 * agg_groups.h
 *	  The groups of a bucketed input, one after the other: all rows of a key
 *	  stand together in its batches, maybe in several of them.
 */
#ifndef BF_AGG_GROUPS_H
#define BF_AGG_GROUPS_H

#include "exec/agg/agg_counted.h"
#include "exec/agg/agg_args.h"
#include "exec/agg/vector_agg.h"
#include "exec/source/batch_source.h"

typedef struct AggGroups AggGroups;

/*
 * Group the batches of an input by its keys, which are described.  cells, one
 * per aggregate, are advanced in place; columns are the ncolumns batch columns
 * of which a group shows the values of its first row.  The units of the input
 * come from the queue.  counted: of an input that is a join that counts, the
 * same aggregates and cells; else NULL.
 */
extern AggGroups *AggGroupsCreate(BatchSource *input, UnitQueue *queue, const BatchAgg *aggs,
								  AggCell *cells, AggArgs *args, AggCounted *counted,
								  int ncolumns, const int *columns);

/*
 * The next group: cells hold its values, values and nulls (one per column) are
 * filled in.  By-reference values live until the next call.  False at the end.
 * The first call starts the queue; where it is shared, a group of rows is
 * complete in the process that gives it.
 */
extern bool AggGroupsNext(AggGroups *groups, Datum *values, bool *nulls);

/* Close what is open and begin anew at the next call. */
extern void AggGroupsReset(AggGroups *groups);

#endif							/* BF_AGG_GROUPS_H */
