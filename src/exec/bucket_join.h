/*
 * bucket_join.h
 *	  Custom Scan (BucketJoin): per-bucket merge join of two bucketed tables.
 */
#ifndef BF_BUCKET_JOIN_H
#define BF_BUCKET_JOIN_H

#include "nodes/extensible.h"
#include "nodes/pg_list.h"

/* Positions in CustomScan.custom_private. */
enum JoinPrivateIndex
{
	JOIN_PRIVATE_OUTER_KEYS,	/* integer list: attnums, in bucket_by order */
	JOIN_PRIVATE_INNER_KEYS,
	JOIN_PRIVATE_SIDES,			/* per entry of custom_scan_tlist: 0 outer, 1 inner */
	JOIN_PRIVATE_ATTNUMS		/* per entry of custom_scan_tlist: attnum there */
};

/* custom_exprs holds the residual join quals; custom_plans are outer, inner. */

extern const CustomScanMethods bucket_join_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketJoinInit(void);

#endif							/* BF_BUCKET_JOIN_H */
