/*
 * scan_rows.c
 *	  A scan read row by row by the executor: in any order, bucket after bucket,
 *	  or sorted.
 */
#include "postgres.h"

#include "exec/scan/scan_node_private.h"
#include "miscadmin.h"

/*
 * Equal keys stand together only if all files were laid out by one hash of the
 * keys that the table has now, as the plan knows: a snapshot may see files of
 * others.
 */
static void
CheckClusterLayout(const BucketScanState *scan)
{
	const BucketSpec *now = TableOptionsGet(scan->ss->ss_currentRelation)->spec;

	for (int i = 0; i < scan->manifest->nspecs; i++)
	{
		const BucketSpec *spec = scan->manifest->specs[i];
		bool		same = spec->nkeys == scan->cluster && now->nkeys == scan->cluster && BucketSpecHashKnown(spec);

		for (int k = 0; same && k < scan->cluster; k++)
			same = spec->sort[k].attnum == now->sort[k].attnum && spec->sort[k].keyclass == now->sort[k].keyclass;
		if (!same)
			ScanNodeLayoutError(scan);
	}
}

/* Start reading row by row. */
static void
OpenRows(BucketScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->cxt);
	UnitShared *shared = ParallelStateUnits(scan->parallel);

	scan->sorted = false;
	if (scan->cluster > 0)
	{
		CheckClusterLayout(scan);
		scan->queue.shared = shared;
		scan->queue.meter.instrument = scan->ss->ps.instrument;
		/* equal keys must stay together: the queue does not split them */
		scan->source.nkeys = scan->cluster;
		BatchSourceStartUnits(&scan->source, &scan->queue);
	}
	else if (scan->order == NULL)
	{
		scan->claim = (UnitClaim) {.shared = shared};
		LeafOpenAll(scan->leaf, &scan->claim);
	}
	else
		scan->sorted = !OrderedScanOpen(scan->order, scan->leaf, scan->ss,
										scan->nvalues, scan->attnums);
	MemoryContextSwitchTo(old);
}

/* The next batch of a clustered scan: bucket after bucket, each sorted by key. */
static Batch *
NextClusteredBatch(BucketScanState *scan)
{
	for (;;)
	{
		Batch	   *batch = scan->batch ? LeafNextBatch(scan->leaf, NULL) : NULL;
		const Unit *unit;

		if (batch != NULL)
			return batch;
		LeafClose(scan->leaf);
		unit = UnitQueueNext(&scan->queue);
		if (unit == NULL)
			return NULL;
		LeafOpenGroup(scan->leaf, scan->queue.ngroups, unit->group, scan->cluster, &unit->part);
		batch = LeafNextBatch(scan->leaf, NULL);
		if (batch != NULL)
			return batch;
	}
}

/* The next row of a sorted stream for which the row quals hold. */
static bool
NextSortedRow(BucketScanState *scan)
{
	ExprContext *econtext = scan->ss->ps.ps_ExprContext;
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;

	while (OrderedScanNext(scan->order, slot))
	{
		if (scan->rowqual == NULL)
			return true;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (ExecQual(scan->rowqual, econtext))
			return true;
		InstrCountFiltered1(&scan->ss->ps, 1);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* Start on the next batch; false at the end, also when asked again. */
static bool
NextRowBatch(BucketScanState *scan)
{
	if (scan->pos < 0)
		return false;
	scan->batch = scan->cluster > 0 ? NextClusteredBatch(scan) : LeafNextBatch(scan->leaf, NULL);
	scan->pos = scan->batch == NULL ? -1 : 0;
	scan->found = scan->qualfound = false;
	return scan->batch != NULL;
}

bool
ScanNodeNextRow(BucketScanState *scan)
{
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;

	if (!scan->started)
	{
		ScanNodeStart(scan);
		if (!scan->never)
			OpenRows(scan);
	}
	if (scan->never)
		return false;
	if (scan->sorted)
		return NextSortedRow(scan);
	for (;;)
	{
		int			row;

		while (scan->batch == NULL || scan->pos >= scan->batch->nselected)
		{
			if (!NextRowBatch(scan))
				return false;
		}
		row = scan->batch->selection ? scan->batch->selection[scan->pos] : scan->pos;
		scan->pos++;
		if (scan->rowqual != NULL)
		{
			if (!scan->qualfound)
				ScanFindColumns(scan, scan->batch, scan->nqualcols, scan->qualcols, scan->qualsources);
			scan->qualfound = true;
			if (!ScanRowPasses(scan, slot, row))
			{
				InstrCountFiltered1(&scan->ss->ps, 1);
				CHECK_FOR_INTERRUPTS();
				continue;
			}
		}
		if (!scan->found)
			ScanFindColumns(scan, scan->batch, scan->nvalues, NULL, scan->sources);
		scan->found = true;
		RowSlotBegin(slot);
		ScanFillColumns(slot, scan->nvalues, scan->sources, row);
		if (scan->nvalues < scan->ncols)
			slot->tts_tid = *(ItemPointer) DatumGetPointer(BatchColumn(scan->batch, scan->nvalues)->values[row]);
		return true;
	}
}
