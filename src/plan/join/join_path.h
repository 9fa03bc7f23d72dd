/*
 * join_path.h
 *	  Adds bucket join paths to joins of two bucketed tables.
 */
#ifndef BF_JOIN_PATH_H
#define BF_JOIN_PATH_H

#include "nodes/pathnodes.h"

/* Is it a bucket join, and of which type? */
extern bool IsBucketJoinPath(Path *path, JoinType *jointype);

/* Install the planner hook; once, from _PG_init. */
extern void JoinPathInit(void);

#endif							/* BF_JOIN_PATH_H */
