/*
 * agg_path.h
 *	  GROUP BY and DISTINCT on the bucket key without hash and sort.
 */
#ifndef BF_AGG_PATH_H
#define BF_AGG_PATH_H

/* Install the planner hook; once, from _PG_init. */
extern void AggPathInit(void);

#endif							/* BF_AGG_PATH_H */
