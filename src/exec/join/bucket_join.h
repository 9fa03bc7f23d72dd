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
	JOIN_PRIVATE_SIDES,			/* per entry of custom_scan_tlist: 0 outer, 1 inner, or JOIN_SIDE_EITHER */
	JOIN_PRIVATE_COLUMNS,		/* per entry of custom_scan_tlist: column of that side, or number of the key */
	JOIN_PRIVATE_KINDS,			/* integer list of two: BatchSourceKind of each side */
	JOIN_PRIVATE_SPLIT			/* integer list of one: may one key be in several units? */
};

/* the key of the outer row, or of the inner row where there is no outer one */
#define JOIN_SIDE_EITHER 2

/*
 * A column of a side is an attribute number where the child is a Foreign
 * Scan, and an index from 0 in its output where it is a BucketJoin
 * (custom_scan_tlist), an Append or a plan that is routed (target list).
 *
 * custom_exprs holds the residual join quals, plan.qual the conditions on the
 * joined row; custom_plans are outer, inner.
 */

extern const CustomScanMethods bucket_join_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketJoinInit(void);

#endif							/* BF_BUCKET_JOIN_H */
