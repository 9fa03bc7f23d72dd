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

/* Positions in CustomScan.custom_private. */
enum AggPrivateIndex
{
	AGG_PRIVATE_KINDS,			/* per entry of custom_scan_tlist: BatchAggKind, NONE:
								 * a column */
	AGG_PRIVATE_COLUMNS,		/* per entry: column of the child, -1 for count(*) */
	AGG_PRIVATE_KEYS,			/* integer list: key columns of the child */
	AGG_PRIVATE_KIND,			/* integer list of one: BatchInputKind of the child */
	AGG_PRIVATE_GROUPED			/* integer list of one: is there a group per key? */
};

/* custom_plans is the one child; see bucket_join.h for what a column of it is. */

extern const CustomScanMethods bucket_agg_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketAggInit(void);

#endif							/* BF_BUCKET_AGG_H */
