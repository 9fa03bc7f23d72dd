/*
 * bucket_rows.h
 *	  Custom Scan (BucketRows): the rows of a bucketed input, all rows of a key
 *	  together, and if wanted those of each key in an order of their own.
 */
#ifndef BF_BUCKET_ROWS_H
#define BF_BUCKET_ROWS_H

#include "nodes/extensible.h"
#include "nodes/pg_list.h"

/* Positions in CustomScan.custom_private. */
enum RowsPrivateIndex
{
	ROWS_PRIVATE_KIND,			/* integer list of one: BatchSourceKind of the child */
	ROWS_PRIVATE_COLUMNS,		/* per entry of custom_scan_tlist: column of the child */
	ROWS_PRIVATE_KEYS,			/* columns of the child, in bucket_by order */
	ROWS_PRIVATE_PLACES,		/* per order column: entry of custom_scan_tlist, or -1: the next of custom_exprs */
	ROWS_PRIVATE_OPERATORS,		/* per order column: the operator it is sorted by */
	ROWS_PRIVATE_NULLS_FIRST,	/* per order column */
	ROWS_PRIVATE_FILE_ORDER		/* see OrderedScanDescribe: files in this order need no sort; NIL: none */
};

extern const CustomScanMethods bucket_rows_scan_methods;

/* Register the node; once, from _PG_init. */
extern void BucketRowsInit(void);

#endif							/* BF_BUCKET_ROWS_H */
