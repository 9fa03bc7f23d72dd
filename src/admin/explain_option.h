/*
 * explain_option.h
 *	  EXPLAIN (BUCKETING): which joins and aggregations use buckets.
 */
#ifndef BF_EXPLAIN_OPTION_H
#define BF_EXPLAIN_OPTION_H

/* Register the option, where this version of PostgreSQL can; once, from _PG_init. */
extern void ExplainOptionInit(void);

#endif							/* BF_EXPLAIN_OPTION_H */
