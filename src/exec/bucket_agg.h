/*
 * bucket_agg.h
 *	  Custom Scan (BucketAggregate): aggregates computed on whole batches.
 *
 * For aggregates without GROUP BY over a bucketed table or a bucket join.  The
 * closed list of aggregates gives bit for bit what core's give over the same
 * rows in the same order, errors included.
 */
#ifndef BF_BUCKET_AGG_H
#define BF_BUCKET_AGG_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

typedef enum BatchAggKind
{
	BATCH_AGG_NONE = 0,
	BATCH_AGG_COUNT_ROWS,		/* count(*) */
	BATCH_AGG_COUNT,			/* count(column) */
	BATCH_AGG_SUM_INT,			/* sum(int2), sum(int4): bigint */
	BATCH_AGG_SUM_FLOAT8,		/* sum(float8) */
	BATCH_AGG_MIN,				/* of integers, oids, dates, times, timestamps */
	BATCH_AGG_MAX
} BatchAggKind;

/* Positions in CustomScan.custom_private. */
enum AggPrivateIndex
{
	AGG_PRIVATE_KINDS,			/* per entry of custom_scan_tlist: BatchAggKind */
	AGG_PRIVATE_COLUMNS,		/* per entry: column of the child, -1 for count(*) */
	AGG_PRIVATE_KEYS,			/* integer list: key columns of the child */
	AGG_PRIVATE_APPEND			/* integer list of one: is the child an Append of partitions? */
};

/* custom_plans is the one child; see bucket_join.h for what a column of it is. */

/* The kind of an aggregate call, BATCH_AGG_NONE when core must do it. */
extern BatchAggKind BatchAggKindOf(const Aggref *aggref);

extern const CustomScanMethods bucket_agg_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketAggInit(void);

#endif							/* BF_BUCKET_AGG_H */
