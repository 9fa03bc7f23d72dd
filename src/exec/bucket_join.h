/*
 * bucket_join.h
 *	  Custom Scan (BucketJoin): per-bucket merge join of bucketed inputs.
 */
#ifndef BF_BUCKET_JOIN_H
#define BF_BUCKET_JOIN_H

#include "nodes/extensible.h"
#include "nodes/pg_list.h"

/* Positions in CustomScan.custom_private. */
enum JoinPrivateIndex
{
	JOIN_PRIVATE_TYPE,			/* integer list of one: JoinType */
	JOIN_PRIVATE_OUTER_KEYS,	/* integer list: columns, in bucket_by order */
	JOIN_PRIVATE_INNER_KEYS,
	JOIN_PRIVATE_SIDES,			/* per entry of custom_scan_tlist: 0 outer, 1 inner */
	JOIN_PRIVATE_COLUMNS,		/* per entry of custom_scan_tlist: column of that side */
	JOIN_PRIVATE_APPENDS		/* integer list of two: is the side an Append of partitions? */
};

/*
 * A column of a side is an attribute number where the child is a Foreign
 * Scan, and an index from 0 in its output where it is a BucketJoin
 * (custom_scan_tlist) or an Append (target list).
 *
 * custom_exprs holds the residual join quals, plan.qual the conditions on the
 * joined row; custom_plans are outer, inner.
 */

extern const CustomScanMethods bucket_join_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketJoinInit(void);

#endif							/* BF_BUCKET_JOIN_H */
