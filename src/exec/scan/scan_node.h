/*
 * scan_node.h
 *	  State of a Foreign Scan on a bucketed table, read row by row by the
 *	  executor or batch by batch by a bucket join above it.
 */
#ifndef BF_SCAN_NODE_H
#define BF_SCAN_NODE_H

#include "compat.h"
#include BF_EXPLAIN_STATE_HEADER
#include "exec/scan/leaf_reader.h"
#include "exec/scan/ordered_scan.h"
#include "exec/source/parallel_state.h"
#include "nodes/execnodes.h"
#include "rows/row_slot.h"

/* Positions in ForeignScan.fdw_private. */
enum ScanPrivateIndex
{
	SCAN_PRIVATE_ATTNUMS,		/* integer list: columns to read */
	SCAN_PRIVATE_QUALS,			/* list of integer lists: see LeafQualDescribe */
	SCAN_PRIVATE_ORDER,			/* see OrderedScanDescribe; NIL: rows come in any order */
	SCAN_PRIVATE_CLUSTER,		/* integer list of one: number of key columns whose equal values
								 * stand together, bucket by bucket; NIL: none */
	SCAN_PRIVATE_REJECTION		/* why no bucket join reads it: code, short form, detail, costs; a list of one: it
								 * does; NIL: there is none to read it */
};

typedef struct BucketScanState
{
	BatchSource source;			/* must be first */
	ScanState  *ss;
	int			ncols;			/* that are read */
	int			nvalues;		/* the first of them: without ctid */
	AttrNumber *attnums;
	int			nquals;
	LeafQual   *quals;
	ExprState  *rowqual;		/* quals that are evaluated row by row, taken over from the node; or NULL */
	int			nqualcols;		/* columns of batches they use */
	int		   *qualcols;
	List	   *qualexprs;		/* values of the quals that have one, those of the arms of an OR too */
	MemoryContext qualcxt;		/* holds the values; reset when they change */
	MemoryContext cxt;			/* lives as long as the node */

	Manifest   *manifest;		/* NULL under EXPLAIN without ANALYZE */
	struct ChangeCheck *check;	/* fdw/scan.c: of rows that are locked; NULL: they need none */
	LeafReader *leaf;			/* made at first use */
	bool		started;		/* quals have their values */
	bool		never;			/* a qual's value is NULL: no row */
	OrderedScan *order;			/* NULL: rows come in any order */
	bool		sorted;			/* rows come from it, not from batches */

	bool		countable;		/* batch by batch: as LeafReaderCountRows */

	int			cluster;		/* key columns whose equal values stand together; 0: none */
	UnitQueue	queue;			/* then, the buckets */
	UnitClaim	claim;			/* rows in any order, of all processes */

	Batch	   *batch;			/* row by row: the batch being handed out */
	int			pos;
	RowSource  *sources;		/* of its columns, those of the row quals, as far as they are found */
	RowSource  *qualsources;
	bool		found;
	bool		qualfound;
	uint16	   *selection;		/* batch by batch: rows that passed row quals */

	ParallelState *parallel;	/* of a parallel-aware scan, NULL: this process reads all */
	LeafCounters workers;		/* what parallel workers read */
	bool	   *worker_touched; /* per bucket: by a worker; NULL: there was none */
} BucketScanState;

/*
 * scan_pins.c: the buckets of a spec that a scan would read, as far as the
 * plan's constants and the parameters of its execution tell: a bitmap, or NULL
 * when none can be left out.
 */
extern uint8 *ScanBucketsAtStart(const ForeignScan *plan, const BucketSpec *spec, ParamListInfo params);

/*
 * Make the state from the plan's private lists.  manifest is what the
 * executor's snapshot sees, or NULL when nothing will be read.
 */
extern BucketScanState *ScanNodeCreate(ScanState *ss, List *fdw_private, List *fdw_exprs,
									   Manifest *manifest);

/* Register the source; once, from _PG_init. */
extern void ScanNodeInit(void);

/* Raise the error that the files are not laid out by the keys the plan was made for. */
extern void ScanNodeLayoutError(const BucketScanState *scan);

/* Give quals their values and prune, unless that is done. */
extern void ScanNodeStart(BucketScanState *scan);

/* scan_rows.c: next row for which the row quals hold into the scan slot; false at the end. */
extern bool ScanNodeNextRow(BucketScanState *scan);

extern void ScanNodeReScan(BucketScanState *scan);
extern void ScanNodeEnd(BucketScanState *scan);

/* What one scan, or several, read. */
typedef struct ScanFigures
{
	int			nscans;
	int			nsiblings;		/* scans that could be among these; 0: it is a scan alone */
	int			buckets_read;
	int			buckets;
	bool		quals;			/* on batches */
	bool		row_quals;		/* and others */
	double		rows_removed;
	LeafCounters counters;
} ScanFigures;

/* Add those of a scan, if it was executed; and the lines of EXPLAIN ANALYZE about them (order may be NULL). */
extern void ScanFiguresAdd(ScanFigures *figures, const BucketScanState *scan);
extern void ScanFiguresExplain(const ScanFigures *figures, const OrderedScan *order, ExplainState *es);

/* EXPLAIN lines of the node. */
extern void ScanNodeExplain(BucketScanState *scan, ExplainState *es);

#endif							/* BF_SCAN_NODE_H */
