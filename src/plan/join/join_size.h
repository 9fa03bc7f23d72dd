/*
 * join_size.h
 *	  How many rows joins give, where core expects far too few.
 *
 * A join thought to give a handful of rows makes whatever costs little per
 * row look good above it, lookups and scans of whole tables, and when it gives
 * millions that takes for ever.
 */
#ifndef BF_JOIN_SIZE_H
#define BF_JOIN_SIZE_H

#include "plan/join/join_check.h"

/* Raise what core expects of an anti join that a bucket join can make. */
extern void JoinSizeOfAnti(const JoinCandidate *join);

/* Install the planner hook for joins by several columns; once, from _PG_init. */
extern void JoinSizeInit(void);

#endif							/* BF_JOIN_SIZE_H */
