/*
 * bucket_agg.h
 *	  Custom Scan (BucketAggregate): aggregates computed on whole batches.
 *
 * Over a bucketed table, partitions, or a bucket join: one group of all rows,
 * or one per bucket key, in the order in which the buckets give them.
 */
#ifndef BF_BUCKET_AGG_H
#define BF_BUCKET_AGG_H

#include "nodes/extensible.h"

/* How rows are grouped; stands in plans. */
typedef enum BucketAggMode
{
	BUCKET_AGG_ALL,				/* one group of all rows */
	BUCKET_AGG_BY_KEY,			/* one per key, complete in the process that gives it */
	BUCKET_AGG_HASHED			/* by any columns */
} BucketAggMode;

/* What is read and given; stands in plans. */
typedef enum BucketAggStage
{
	BUCKET_AGG_COMPLETE,		/* rows to results */
	BUCKET_AGG_PARTIAL,			/* rows to packed cells, as bytea; one group may be given several times */
	BUCKET_AGG_FINAL			/* packed cells to results; for ALL and HASHED */
} BucketAggStage;

/* Positions in CustomScan.custom_private. */
enum AggPrivateIndex
{
	AGG_PRIVATE_ROLES,			/* per entry of custom_scan_tlist: BucketAggRole */
	AGG_PRIVATE_COLUMNS,		/* per entry: column of the child, -1: none, or an expression */
	AGG_PRIVATE_ARGS,			/* per entry: place of the aggregate's argument in custom_exprs, or of what is
								 * grouped by in AGG_PRIVATE_COMPUTED, -1: it is a column, or there is none */
	AGG_PRIVATE_FILTERS,		/* per entry: place of the aggregate's filter there, -1: none */
	AGG_PRIVATE_KEYS,			/* integer list: key columns of the child */
	AGG_PRIVATE_KIND,			/* integer list of one: BatchSourceKind of the child */
	AGG_PRIVATE_MODE,			/* integer list of two: BucketAggMode, BucketAggStage */
	AGG_PRIVATE_SIDES,			/* where large groups of a join are counted: per entry, for aggregates
								 * the side they read, 0 outer or 1 inner; else NIL */
	AGG_PRIVATE_COMPUTED		/* expressions that are grouped by, of Vars that are entries of custom_scan_tlist;
								 * in custom_exprs they would be taken for the entry that they are */
};

typedef enum BucketAggRole
{
	BUCKET_AGG_COLUMN,			/* a column, or an expression, that is grouped by */
	BUCKET_AGG_AGGREGATE,
	BUCKET_AGG_INPUT			/* a column that expressions read; NULL in the result */
} BucketAggRole;

/*
 * custom_plans is the one child; see bucket_join.h for what a column of it is,
 * of a FINAL stage's its place in the target list.  custom_exprs are filters
 * and arguments of aggregates.
 */

extern const CustomScanMethods bucket_agg_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketAggInit(void);

#endif							/* BF_BUCKET_AGG_H */
