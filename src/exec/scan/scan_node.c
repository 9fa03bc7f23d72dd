/*
 * scan_node.c
 *	  State of a Foreign Scan on a bucketed table.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "exec/scan/scan_node.h"
#include "exec/unit/unit_cutter.h"
#include BF_EXPLAIN_HEADER
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define BUCKET_SCAN_MAGIC 0x62736373

List *
ScanQualDescribe(const LeafQual *qual)
{
	List	   *desc = NIL;

	/* a list of lists is an OR */
	if (qual->op == LEAF_OR)
	{
		for (int a = 0; a < qual->narms; a++)
			desc = lappend(desc, ScanQualDescribe(&qual->arms[a]));
		return desc;
	}
	/* Oids travel as integers: list_make of int reads them back bit for bit */
	desc = list_make3_int(qual->attnum, (int) qual->keyclass, (int) qual->coltype);
	desc = lappend_int(desc, (int) qual->op);
	desc = lappend_int(desc, (int) qual->valuetype);
	if (LeafQualIsBucket(qual))
	{
		desc = lappend_int(desc, qual->modulus);
		for (int h = 0; h < qual->nhash; h++)
		{
			desc = lappend_int(desc, qual->hashattnums[h]);
			desc = lappend_int(desc, (int) qual->hashtypes[h]);
		}
	}
	return desc;
}

/* Read the description of a qual back. */
static void
ReadQual(List *desc, LeafQual *qual)
{
	if (IsA(desc, List))
	{
		qual->op = LEAF_OR;
		qual->narms = list_length(desc);
		qual->arms = palloc0(qual->narms * sizeof(LeafQual));
		for (int a = 0; a < qual->narms; a++)
			ReadQual(list_nth(desc, a), &qual->arms[a]);
		qual->attnum = qual->arms[0].attnum;
		return;
	}
	qual->attnum = (AttrNumber) list_nth_int(desc, 0);
	qual->keyclass = (KeyClass) list_nth_int(desc, 1);
	qual->coltype = (Oid) list_nth_int(desc, 2);
	qual->op = (LeafQualOp) list_nth_int(desc, 3);
	qual->valuetype = (Oid) list_nth_int(desc, 4);
	qual->of_numeric = LeafQualIntOfNumeric(qual);
	if (qual->of_numeric)
		qual->valuetype = INT8OID;
	if (!LeafQualIsBucket(qual))
		return;
	qual->modulus = list_nth_int(desc, 5);
	qual->nhash = (list_length(desc) - 6) / 2;
	qual->hashattnums = palloc(qual->nhash * sizeof(AttrNumber));
	qual->hashtypes = palloc(qual->nhash * sizeof(Oid));
	for (int h = 0; h < qual->nhash; h++)
	{
		qual->hashattnums[h] = (AttrNumber) list_nth_int(desc, 6 + 2 * h);
		qual->hashtypes[h] = (Oid) list_nth_int(desc, 7 + 2 * h);
	}
}

/* Prepare the expressions of values, in the order in which quals and their arms want them. */
static void
InitQualValues(ScanState *ss, int nquals, const LeafQual *quals, List *exprs, List **states)
{
	for (int i = 0; i < nquals; i++)
	{
		if (quals[i].op == LEAF_OR)
			InitQualValues(ss, quals[i].narms, quals[i].arms, exprs, states);
		else if (LeafQualHasValue(&quals[i]))
			*states = lappend(*states, ExecInitExpr(list_nth(exprs, list_length(*states)), &ss->ps));
	}
}

/* Evaluate the values in the same order; *lc is the next expression. */
static void
SetQualValues(BucketScanState *scan, int nquals, LeafQual *quals, ListCell **lc)
{
	ExprContext *econtext = scan->ss->ps.ps_ExprContext;

	for (int i = 0; i < nquals; i++)
	{
		LeafQual   *qual = &quals[i];
		Datum		value;
		bool		isnull;

		if (qual->op == LEAF_OR)
		{
			SetQualValues(scan, qual->narms, qual->arms, lc);
			qual->never = true;
			for (int a = 0; a < qual->narms; a++)
				qual->never &= qual->arms[a].never;
			continue;
		}
		if (!LeafQualHasValue(qual))
			continue;
		value = ExecEvalExprSwitchContext(lfirst(*lc), econtext, &isnull);
		*lc = lnext(scan->qualexprs, *lc);
		if (LeafQualIsArray(qual))
			LeafQualSetArray(qual, value, isnull);
		else
			LeafQualSetValue(qual, value, isnull);
	}
}

/*
 * Take over the quals that batches cannot test.  Before the other columns of a
 * row are wanted, they tell whether they are: a column is decoded only where a
 * row passes.  In a plan that checks rows again after a concurrent update, a row
 * may come from elsewhere: there the node tests the quals, too.
 */
static void
TakeRowQuals(BucketScanState *scan)
{
	ScanState  *ss = scan->ss;
	Bitmapset  *used = NULL;
	const int	whole = 0 - FirstLowInvalidHeapAttributeNumber;

	scan->qualcols = palloc(Max(scan->ncols, 1) * sizeof(int));
	scan->rowqual = ss->ps.qual;
	if (scan->rowqual == NULL)
		return;
	if (ss->ps.state->es_epq_active == NULL)
		ss->ps.qual = NULL;
	pull_varattnos((Node *) ss->ps.plan->qual, ((Scan *) ss->ps.plan)->scanrelid, &used);
	for (int c = 0; c < scan->ncols; c++)
	{
		if (bms_is_member(whole, used) || bms_is_member(scan->attnums[c] + whole, used))
			scan->qualcols[scan->nqualcols++] = c;
	}
}

BucketScanState *
ScanNodeCreate(ScanState *ss, List *fdw_private, List *fdw_exprs, Manifest *manifest)
{
	BucketScanState *scan = palloc0(sizeof(BucketScanState));
	List	   *attnums = list_nth(fdw_private, SCAN_PRIVATE_ATTNUMS);
	List	   *quals = list_nth(fdw_private, SCAN_PRIVATE_QUALS);
	List	   *order = list_nth(fdw_private, SCAN_PRIVATE_ORDER);
	List	   *cluster = list_nth(fdw_private, SCAN_PRIVATE_CLUSTER);
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	ListCell   *lc;
	int			i = 0;

	scan->magic = BUCKET_SCAN_MAGIC;
	scan->ss = ss;
	scan->manifest = manifest;
	scan->cxt = CurrentMemoryContext;
	scan->ncols = list_length(attnums);
	scan->attnums = palloc(scan->ncols * sizeof(AttrNumber));
	foreach(lc, attnums)
		scan->attnums[i++] = (AttrNumber) lfirst_int(lc);

	scan->nquals = list_length(quals);
	scan->quals = palloc0(scan->nquals * sizeof(LeafQual));
	i = 0;
	foreach(lc, quals)
		ReadQual(lfirst(lc), &scan->quals[i++]);
	InitQualValues(ss, scan->nquals, scan->quals, fdw_exprs, &scan->qualexprs);
	scan->qualcxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw qual values",
										  ALLOCSET_SMALL_SIZES);
	scan->queue.parent = scan->cxt;
	if (cluster != NIL)
		scan->cluster = linitial_int(cluster);
	if (order != NIL)
		scan->order = OrderedScanCreate(ss->ss_currentRelation, order);
	scan->selection = palloc(BF_BATCH_ROWS * sizeof(uint16));
	scan->sources = palloc(Max(scan->ncols, 1) * sizeof(RowSource));
	scan->qualsources = palloc(Max(scan->ncols, 1) * sizeof(RowSource));
	TakeRowQuals(scan);

	slot->tts_tableOid = RelationGetRelid(ss->ss_currentRelation);
	/* columns that are not read stay NULL in the slot for good */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	return scan;
}

BucketScanState *
ScanNodeOf(PlanState *planstate)
{
	BucketScanState *scan;

	if (!IsA(planstate, ForeignScanState))
		return NULL;
	scan = ((ForeignScanState *) planstate)->fdw_state;
	if (scan == NULL || scan->magic != BUCKET_SCAN_MAGIC)
		return NULL;
	return scan;
}

void
ScanNodeCountRows(BucketScanState *scan)
{
	/* row quals are evaluated, and what they remove is counted, row by row */
	scan->countable = scan->rowqual == NULL;
}

void
ScanNodeStart(BucketScanState *scan)
{
	MemoryContext old;
	ListCell   *lc = list_head(scan->qualexprs);

	if (scan->started)
		return;
	old = MemoryContextSwitchTo(scan->cxt);
	if (scan->leaf == NULL)
	{
		scan->leaf = LeafReaderCreate(scan->ss->ss_currentRelation, scan->manifest,
									  scan->ncols, scan->attnums,
									  scan->nquals, scan->quals);
		if (scan->countable)
			LeafReaderCountRows(scan->leaf);
	}
	MemoryContextReset(scan->qualcxt);
	MemoryContextSwitchTo(scan->qualcxt);
	SetQualValues(scan, scan->nquals, scan->quals, &lc);
	scan->never = false;
	for (int i = 0; i < scan->nquals; i++)
		scan->never |= scan->quals[i].never;
	MemoryContextSwitchTo(old);
	LeafReaderPrune(scan->leaf);
	scan->started = true;
}

TupleTableSlot *
ScanNodeFillSlot(BucketScanState *scan, Batch *batch, int row)
{
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;

	ExecClearTuple(slot);
	for (int c = 0; c < scan->ncols; c++)
	{
		ColumnVector *vec = BatchColumn(batch, c);
		int			at = scan->attnums[c] - 1;

		slot->tts_values[at] = vec->values[row];
		slot->tts_isnull[at] = vec->nulls ? vec->nulls[row] : false;
	}
	return ExecStoreVirtualTuple(slot);
}

void
ScanNodeLayoutError(const BucketScanState *scan)
{
	/* the plan knows the table as it is, the snapshot of the transaction its old files */
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("The files of bucketed table \"%s\" that the transaction sees were bucketed otherwise than the table is now.",
						   RelationGetRelationName(scan->ss->ss_currentRelation)),
				 errhint("The transaction might succeed if retried.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("files of bucketed table \"%s\" are not laid out as the plan expects",
					RelationGetRelationName(scan->ss->ss_currentRelation)),
			 errhint("Run the statement again; a prepared one must be prepared anew.")));
}

/* Equal keys stand together only if all files were laid out by one hash of the same number of keys. */
static void
CheckClusterLayout(const BucketScanState *scan)
{
	for (int i = 0; i < scan->manifest->nspecs; i++)
	{
		if (scan->manifest->specs[i]->nkeys != scan->cluster ||
			!BucketSpecHashKnown(scan->manifest->specs[i]))
			ScanNodeLayoutError(scan);
	}
}

/* Find the vectors of n columns of a batch, NULL: of all. */
static void
FindSources(BucketScanState *scan, Batch *batch, int n, const int *cols, RowSource *sources)
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
FillColumns(TupleTableSlot *slot, int n, const RowSource *sources, int row)
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
RowPasses(BucketScanState *scan, TupleTableSlot *slot, int row)
{
	ExprContext *econtext = scan->ss->ps.ps_ExprContext;

	ResetExprContext(econtext);
	RowSlotBegin(slot);
	FillColumns(slot, scan->nqualcols, scan->qualsources, row);
	econtext->ecxt_scantuple = slot;
	return ExecQual(scan->rowqual, econtext);
}

/* UnitRows */
static int64
GroupRows(void *arg, int ngroups, int group)
{
	return LeafGroupRows(((BucketScanState *) arg)->leaf, ngroups, group);
}

/* UnitInputs; equal keys must stay together, so nothing is sliced */
static bool
CutInputs(void *arg, UnitCutter *cutter)
{
	BucketScanState *scan = arg;

	UnitCutterAdd(cutter, scan->leaf, scan->cluster, scan, false);
	return true;
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
		UnitQueueStart(&scan->queue, ManifestBuckets(scan->manifest), GroupRows, CutInputs, scan);
	}
	else if (scan->order == NULL)
		LeafOpenAll(scan->leaf, shared);
	else
		scan->sorted = !OrderedScanOpen(scan->order, scan->leaf, scan->ss,
										scan->ncols, scan->attnums);
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
				FindSources(scan, scan->batch, scan->nqualcols, scan->qualcols, scan->qualsources);
			scan->qualfound = true;
			if (!RowPasses(scan, slot, row))
			{
				InstrCountFiltered1(&scan->ss->ps, 1);
				CHECK_FOR_INTERRUPTS();
				continue;
			}
		}
		if (!scan->found)
			FindSources(scan, scan->batch, scan->ncols, NULL, scan->sources);
		scan->found = true;
		RowSlotBegin(slot);
		FillColumns(slot, scan->ncols, scan->sources, row);
		return true;
	}
}

void
ScanNodeOpenGroup(BucketScanState *scan, int ngroups, int group, int nkeys, const UnitPart *part)
{
	ScanNodeStart(scan);
	LeafOpenGroup(scan->leaf, ngroups, group, nkeys, part);
}

void
ScanNodeOpenAll(BucketScanState *scan, UnitShared *shared)
{
	ScanNodeStart(scan);
	LeafOpenAll(scan->leaf, shared);
}

/* Keep the selected rows of a batch for which the node's row quals hold. */
static void
ApplyRowQuals(BucketScanState *scan, Batch *batch)
{
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;
	int			n = 0;

	FindSources(scan, batch, scan->nqualcols, scan->qualcols, scan->qualsources);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = batch->selection ? batch->selection[i] : i;

		if (RowPasses(scan, slot, row))
			scan->selection[n++] = (uint16) row;
	}
	/* core prints these as "Rows Removed by Filter" */
	InstrCountFiltered1(&scan->ss->ps, batch->nselected - n);
	batch->selection = scan->selection;
	batch->nselected = n;
}

Batch *
ScanNodeNextBatch(BucketScanState *scan, const KeyBound *bound)
{
	PlanState  *ps = &scan->ss->ps;
	Batch	   *batch;

	if (ps->instrument)
		InstrStartNode(ps->instrument);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		batch = scan->never ? NULL : LeafNextBatch(scan->leaf, bound);
		if (batch == NULL || scan->rowqual == NULL)
			break;
		ApplyRowQuals(scan, batch);
		if (batch->nselected > 0)
			break;
	}
	if (ps->instrument)
		InstrStopNode(ps->instrument, batch ?
					  BatchTimes(batch->times, batch->selection, 0, batch->nselected) : 0);
	return batch;
}

void
ScanNodeClose(BucketScanState *scan)
{
	if (scan->leaf != NULL)
		LeafClose(scan->leaf);
}

int
ScanNodeColumn(const BucketScanState *scan, AttrNumber attnum)
{
	for (int c = 0; c < scan->ncols; c++)
	{
		if (scan->attnums[c] == attnum)
			return c;
	}
	return -1;
}

void
ScanNodeReScan(BucketScanState *scan)
{
	ScanNodeClose(scan);
	if (scan->order != NULL)
		OrderedScanClose(scan->order);
	if (scan->leaf != NULL)
		LeafReaderRescanned(scan->leaf);
	scan->batch = NULL;
	scan->pos = 0;
	scan->started = false;
}

void
ScanNodeEnd(BucketScanState *scan)
{
	if (scan->order != NULL)
		OrderedScanClose(scan->order);
	if (scan->leaf != NULL)
		LeafReaderEnd(scan->leaf);
	scan->leaf = NULL;
}

void
ScanNodeCounters(const BucketScanState *scan, LeafCounters *counters)
{
	*counters = scan->workers;
	if (scan->leaf != NULL)
		LeafCountersAdd(counters, LeafReaderCounters(scan->leaf));
}

/* Buckets of which this process or a worker read a block, and all. */
static void
ScanBucketsRead(const BucketScanState *scan, int *nread, int *ntotal)
{
	bool	   *touched;

	*ntotal = ManifestBuckets(scan->manifest);
	touched = palloc0(Max(*ntotal, 1) * sizeof(bool));
	if (scan->worker_touched != NULL)
		memcpy(touched, scan->worker_touched, *ntotal * sizeof(bool));
	if (scan->leaf != NULL)
		LeafReaderMarkTouched(scan->leaf, touched);
	*nread = 0;
	for (int b = 0; b < *ntotal; b++)
		*nread += touched[b];
	pfree(touched);
}

void
ScanNodeExplain(BucketScanState *scan, ExplainState *es)
{
	LeafCounters counters;
	int			nread;
	int			ntotal;

	if (!es->analyze || scan->manifest == NULL)
		return;
	if (scan->leaf == NULL && scan->worker_touched == NULL)
	{
		/* never executed */
		return;
	}
	ScanNodeCounters(scan, &counters);
	ScanBucketsRead(scan, &nread, &ntotal);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Buckets Read", psprintf("%d of %d", nread, ntotal), es);
	else
	{
		ExplainPropertyInteger("Buckets Read", NULL, nread, es);
		ExplainPropertyInteger("Buckets Total", NULL, ntotal, es);
	}
	if (scan->order != NULL)
		OrderedScanExplain(scan->order, es);
	ExplainPropertyInteger("Blocks Read", NULL, counters.blocks_read, es);
	ExplainPropertyInteger("Blocks Skipped", NULL, counters.blocks_skipped, es);
	if (scan->nquals > 0)
	{
		Instrumentation *instrument = scan->ss->ps.instrument;

		/* per loop, as core does */
		ExplainPropertyFloat(scan->ss->ps.plan->qual == NIL ?
							 "Rows Removed by Filter" : "Rows Removed by Batch Filter", NULL,
							 (double) counters.rows_removed /
							 (instrument && instrument->nloops > 0 ? instrument->nloops : 1),
							 0, es);
	}
	ExplainPropertyInteger("Bytes Read", "bytes", (int64) counters.bytes_read, es);
	UnitMeterExplain(&scan->queue.meter, es);
}
