/*
 * merge_single.h
 *	  Pairs of two sorted arrays of key images, one of which has each key once.
 *
 * Includes no planner or executor header.
 */
#ifndef BF_MERGE_SINGLE_H
#define BF_MERGE_SINGLE_H

#include "postgres.h"

/* Is each of the n images, sorted, there only once? */
extern bool ImagesDiffer(const int64 *k64, int n);

/*
 * Write the pairs of equal images from many[*m] and single[*s] on, room of
 * them at most, as entry numbers; returns how many.  *m and *s move on to what
 * is left: because there is no more room, or the last entry of single, which
 * may stand for rows of the next batch too, would come next.
 */
extern int	MergeSingle(const int64 *many, int nmany, int *m, const int64 *single, int nsingle, int *s,
						uint16 *many_out, uint16 *single_out, int room);

#endif							/* BF_MERGE_SINGLE_H */
