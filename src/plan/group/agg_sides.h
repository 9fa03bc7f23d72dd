/*
 * agg_sides.h
 *	  Aggregates over a join for which the rows of frequent keys are counted
 *	  instead of paired.
 */
#ifndef BF_AGG_SIDES_H
#define BF_AGG_SIDES_H

#include "nodes/pathnodes.h"

/*
 * Can the aggregates among the outputs, of all rows or of each key of a join
 * (its path), be computed so?  Then per output the side of the join that it
 * reads, 0 outer or 1 inner, anything for one that is no aggregate; else NIL.
 */
extern List *CountedSides(const Path *path, List *outputs);

/* The join's path with what it costs then, as a copy. */
extern Path *CountedJoinPath(const Path *path);

/* Rows that it hands on then. */
extern double CountedRows(const Path *path);

#endif							/* BF_AGG_SIDES_H */
