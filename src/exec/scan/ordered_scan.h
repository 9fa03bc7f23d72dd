/*
 * ordered_scan.h
 *	  A scan whose rows come in the order of leading sort columns: all buckets
 *	  merged, or sorted where merging is not possible.
 */
#ifndef BF_ORDERED_SCAN_H
#define BF_ORDERED_SCAN_H

#include "compat.h"
#include BF_EXPLAIN_STATE_HEADER
#include "exec/scan/leaf_reader.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"

/* merging keeps every run open; beyond this rows are sorted instead */
#define BF_MAX_MERGE_RUNS 512

typedef struct OrderedScan OrderedScan;

/* The order for fdw_private: column number and flags (BF_SORT_*), one after the other. */
extern List *OrderedScanDescribe(int ncols, const SortColumn *cols);

/* Make the state from that list, for a scan of rel. */
extern OrderedScan *OrderedScanCreate(Relation rel, List *order);

/*
 * Open the reader, whose quals have their values.  True: its batches come in
 * order.  False: ask OrderedScanNext for the rows.
 */
extern bool OrderedScanOpen(OrderedScan *scan, LeafReader *leaf, ScanState *ss,
							int ncols, const AttrNumber *attnums);

/* Next sorted row into the slot; false at the end. */
extern bool OrderedScanNext(OrderedScan *scan, TupleTableSlot *slot);

/* Drop sorted rows; before a rescan and at the end. */
extern void OrderedScanClose(OrderedScan *scan);

/* How the order was made, for EXPLAIN ANALYZE. */
extern void OrderedScanExplain(const OrderedScan *scan, ExplainState *es);

/* The order in words, for EXPLAIN, palloc'd. */
extern char *OrderedScanText(Oid relid, List *order);

#endif							/* BF_ORDERED_SCAN_H */
