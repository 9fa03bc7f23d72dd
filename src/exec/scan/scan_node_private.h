/*
 * scan_node_private.h
 *	  What reading a scan row by row and batch by batch have in common.
 */
#ifndef BF_SCAN_NODE_PRIVATE_H
#define BF_SCAN_NODE_PRIVATE_H

#include "exec/scan/scan_node.h"
#include "executor/executor.h"

/* Find the vectors of n columns of a batch, NULL: of all. */
static inline void
ScanFindColumns(BucketScanState *scan, Batch *batch, int n, const int *cols, RowSource *sources)
{
	for (int i = 0; i < n; i++)
	{
		int			c = cols ? cols[i] : i;
		ColumnVector *vec = BatchColumn(batch, c);

		sources[i].values = vec->values;
		sources[i].nulls = vec->nulls;
		sources[i].at = scan->attnums[c] - 1;
	}
}

/* Put n columns of a row into the slot. */
static inline void
ScanFillColumns(TupleTableSlot *slot, int n, const RowSource *sources, int row)
{
	Datum	   *values = slot->tts_values;
	bool	   *isnull = slot->tts_isnull;

	for (int i = 0; i < n; i++)
	{
		int			at = sources[i].at;

		values[at] = sources[i].values[row];
		isnull[at] = sources[i].nulls && sources[i].nulls[row];
	}
	RowSlotStore(slot);
}

/* Do the row quals hold for a row, of which the columns they use are put into the slot? */
static inline bool
ScanRowPasses(BucketScanState *scan, TupleTableSlot *slot, int row)
{
	ExprContext *econtext = scan->ss->ps.ps_ExprContext;

	ResetExprContext(econtext);
	RowSlotBegin(slot);
	ScanFillColumns(slot, scan->nqualcols, scan->qualsources, row);
	econtext->ecxt_scantuple = slot;
	return ExecQual(scan->rowqual, econtext);
}

#endif							/* BF_SCAN_NODE_PRIVATE_H */
