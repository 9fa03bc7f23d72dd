/*
 * merge_single.h
 *	  Merging sorted arrays of key images without a branch on each: pairs where
 *	  one array has each key once, and what outer, semi and anti joins make of
 *	  that.
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

/*
 * The functions below make entries of a join that is to give rows of left; they
 * write numbers of left and of right, or MERGE_NONE for "no partner", room of
 * them at most, and return how many.  *l and *r move on to what is left.
 */

/*
 * Entries of left that have an equal one in right, each once, with the first
 * of those; or, without "found", those that certainly have none.
 */
extern int	MergeExists(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
						uint16 *left_out, uint16 *right_out, int room, bool found);

/*
 * All of left, each with its partner or none, where right has each image once;
 * stops before what may belong to the last entry of right.
 */
extern int	MergeOuterOfSingle(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
							   uint16 *left_out, uint16 *right_out, int room);

/*
 * All of left, which has each image once, each with all its partners or none;
 * stops before the last entry of left.  *matched: entry *l has had a partner.
 */
extern int	MergeOuterOfMany(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
							 uint16 *left_out, uint16 *right_out, int room, bool *matched);

#endif							/* BF_MERGE_SINGLE_H */
