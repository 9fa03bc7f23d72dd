/*
 * scan_node.c
 *	  State of a Foreign Scan on a bucketed table.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "exec/scan/block/block_cursor.h"
#include "exec/scan/scan_node_private.h"
#include BF_EXPLAIN_HEADER
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Does an expression read a parameter, which another scan may find changed? */
static bool
ExprHasParams(Node *node, void *context)
{
	return node != NULL && (IsA(node, Param) || expression_tree_walker(node, ExprHasParams, context));
}

/*
 * Prepare the expressions of quals, in the order in which they and their arms
 * want them; those of values are kept.
 */
static void
InitQualExprs(BucketScanState *scan, int nquals, LeafQual *quals, ListCell **lc, List *exprs)
{
	ScanState  *ss = scan->ss;

	for (int i = 0; i < nquals; i++)
	{
		LeafQual   *qual = &quals[i];
		Expr	   *expr;

		if (LeafQualHasArms(qual))
			InitQualExprs(scan, qual->narms, qual->arms, lc, exprs);
		if (!LeafQualHasExpr(qual))
			continue;
		expr = lfirst(*lc);
		*lc = lnext(exprs, *lc);
		if (qual->op == LEAF_EVALUATE)
			LeafQualSetEvaluation(qual, ExecInitQual(list_make1(expr), &ss->ps), ss->ps.ps_ExprContext,
								  ss->ss_ScanTupleSlot, !ExprHasParams((Node *) expr, NULL));
		else
			scan->qualexprs = lappend(scan->qualexprs, ExecInitExpr(expr, &ss->ps));
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

		if (LeafQualHasArms(qual))
		{
			SetQualValues(scan, qual->narms, qual->arms, lc);
			LeafQualArmsSet(qual);
		}
		if (qual->op == LEAF_EVALUATE)
			LeafQualForget(qual);
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
	for (int c = 0; c < scan->nvalues; c++)
	{
		if (bms_is_member(whole, used) || bms_is_member(scan->attnums[c] + whole, used))
			scan->qualcols[scan->nqualcols++] = c;
	}
}

static const BatchSourceOps scan_source_ops;

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

	scan->source.ops = &scan_source_ops;
	scan->ss = ss;
	scan->manifest = manifest;
	scan->cxt = CurrentMemoryContext;
	scan->ncols = list_length(attnums);
	scan->attnums = palloc(scan->ncols * sizeof(AttrNumber));
	foreach(lc, attnums)
		scan->attnums[i++] = (AttrNumber) lfirst_int(lc);

	/* what identifies a row is no value of it, and comes last */
	scan->nvalues = scan->ncols;
	if (scan->ncols > 0 && scan->attnums[scan->ncols - 1] == SelfItemPointerAttributeNumber)
		scan->nvalues--;

	scan->nquals = list_length(quals);
	scan->quals = palloc0(scan->nquals * sizeof(LeafQual));
	i = 0;
	foreach(lc, quals)
		LeafQualRead(lfirst(lc), &scan->quals[i++]);
	lc = list_head(fdw_exprs);
	InitQualExprs(scan, scan->nquals, scan->quals, &lc, fdw_exprs);
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

/* Keep the selected rows of a batch for which the node's row quals hold. */
static void
ApplyRowQuals(BucketScanState *scan, Batch *batch)
{
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;
	int			n = 0;

	ScanFindColumns(scan, batch, scan->nqualcols, scan->qualcols, scan->qualsources);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = batch->selection ? batch->selection[i] : i;

		if (ScanRowPasses(scan, slot, row))
			scan->selection[n++] = (uint16) row;
	}
	/* core prints these as "Rows Removed by Filter" */
	InstrCountFiltered1(&scan->ss->ps, batch->nselected - n);
	batch->selection = scan->selection;
	batch->nselected = n;
}

/* The source */

static BucketScanState *
ScanOf(const BatchSource *source)
{
	return (BucketScanState *) unconstify(BatchSource *, source);
}

static void
Describe(BatchSource *source)
{
	BucketScanState *scan = ScanOf(source);
	TupleDesc	desc = RelationGetDescr(scan->ss->ss_currentRelation);

	BatchSourceSetColumns(source, scan->ncols);
	for (int c = 0; c < scan->ncols; c++)
	{
		const FormData_pg_attribute *att = LeafAttribute(desc, scan->attnums[c]);

		source->types[c] = att->atttypid;
		source->typlen[c] = att->attlen;
		source->typbyval[c] = att->attbyval;
	}
}

/* Whole rows and tableoid are none of the batches; ctid is where rows are to be changed. */
static int
Column(const BatchSource *source, int attnum)
{
	const BucketScanState *scan = ScanOf(source);

	for (int c = 0; c < scan->ncols; c++)
	{
		if (scan->attnums[c] == attnum)
			return c;
	}
	if (attnum > 0 || attnum == SelfItemPointerAttributeNumber)
		elog(ERROR, "column %d of a bucketed table is not read", attnum);
	return -1;
}

/* A whole row, as a composite Datum of the table's row type, or the tableoid. */
static Datum
Attribute(BatchSource *source, Batch *batch, int row, int attnum)
{
	BucketScanState *scan = ScanOf(source);
	TupleTableSlot *slot = scan->ss->ss_ScanTupleSlot;

	if (attnum != 0)
		return ObjectIdGetDatum(RelationGetRelid(scan->ss->ss_currentRelation));
	ScanFindColumns(scan, batch, scan->nvalues, NULL, scan->sources);
	ExecClearTuple(slot);
	ScanFillColumns(slot, scan->nvalues, scan->sources, row);
	return ExecFetchSlotHeapTupleDatum(slot);
}

static void
CheckOrder(BatchSource *source, List *keys)
{
	BucketScanState *scan = ScanOf(source);
	Manifest   *m = scan->manifest;

	for (int i = 0; i < m->nspecs; i++)
	{
		const BucketSpec *spec = m->specs[i];
		bool		same = spec->nkeys == source->nkeys && BucketSpecHashKnown(spec);

		for (int k = 0; same && k < source->nkeys; k++)
			same = (spec->sort[k].attnum == list_nth_int(keys, k) &&
					spec->sort[k].keyclass == source->keyclasses[k]);
		if (!same)
			ScanNodeLayoutError(scan);
	}
}

static void
Want(BatchSource *source, int wants)
{
	/* row quals are evaluated, and what they remove is counted, row by row */
	if ((wants & WANT_COUNTED_ROWS) != 0)
		ScanOf(source)->countable = ScanOf(source)->rowqual == NULL;
}

static void
Start(BatchSource *source)
{
	ScanNodeStart(ScanOf(source));
}

static int
Buckets(BatchSource *source)
{
	return ManifestBuckets(ScanOf(source)->manifest);
}

static int64
GroupRows(BatchSource *source, int ngroups, int group)
{
	BucketScanState *scan = ScanOf(source);

	return scan->never ? 0 : LeafGroupRows(scan->leaf, ngroups, group);
}

static bool
CutSources(BatchSource *source, UnitCutter *cutter, bool may_slice)
{
	CutSource	cut = {.nkeys = source->nkeys,.owner = source,.may_slice = may_slice};

	if (ScanOf(source)->never)
		return true;
	LeafCutSource(ScanOf(source)->leaf, &cut);
	UnitCutterAdd(cutter, &cut);
	return true;
}

static void
OpenUnit(BatchSource *source, int ngroups, const Unit *unit)
{
	BucketScanState *scan = ScanOf(source);
	UnitPart	part = BatchSourcePart(source, unit);

	ScanNodeStart(scan);
	LeafOpenGroup(scan->leaf, ngroups, unit->group, source->nkeys, &part);
}

static void
OpenAll(BatchSource *source, UnitClaim *claim)
{
	ScanNodeStart(ScanOf(source));
	/* what is not read claims nothing */
	if (!ScanOf(source)->never)
		LeafOpenAll(ScanOf(source)->leaf, claim);
}

static Batch *
Next(BatchSource *source, const KeyBound *bound)
{
	BucketScanState *scan = ScanOf(source);
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

static void
Close(BatchSource *source)
{
	if (ScanOf(source)->leaf != NULL)
		LeafClose(ScanOf(source)->leaf);
}

/* What a worker read. */
typedef struct ScanReport
{
	LeafCounters counters;
	bool		touched[FLEXIBLE_ARRAY_MEMBER]; /* per bucket */
} ScanReport;

static Size
ReportSize(BatchSource *source)
{
	return offsetof(ScanReport, touched) + ManifestBuckets(ScanOf(source)->manifest) * sizeof(bool);
}

static void
Report(BatchSource *source, void *arg)
{
	BucketScanState *scan = ScanOf(source);
	ScanReport *report = arg;

	if (scan->leaf == NULL)
		return;
	LeafCountersAdd(&report->counters, LeafReaderCounters(scan->leaf));
	LeafReaderMarkTouched(scan->leaf, report->touched);
}

static void
Collect(BatchSource *source, const void *arg)
{
	BucketScanState *scan = ScanOf(source);
	const ScanReport *report = arg;
	int			nbuckets = ManifestBuckets(scan->manifest);

	if (scan->worker_touched == NULL)
		scan->worker_touched = MemoryContextAllocZero(scan->cxt, Max(nbuckets, 1));
	for (int b = 0; b < nbuckets; b++)
		scan->worker_touched[b] |= report->touched[b];
	LeafCountersAdd(&scan->workers, &report->counters);
}

static char *
KeyName(BatchSource *source, int key, int k, ExplainState *es)
{
	Index		scanrelid = ((Scan *) source->node->plan)->scanrelid;
	Relation	rel = ScanOf(source)->ss->ss_currentRelation;
	const char *refname = NULL;

	if (es->rtable_names != NIL && scanrelid <= list_length(es->rtable_names))
		refname = list_nth(es->rtable_names, scanrelid - 1);
	if (refname == NULL)
		refname = RelationGetRelationName(rel);
	return psprintf("%s.%s", quote_identifier(refname),
					quote_identifier(get_attname(RelationGetRelid(rel), (AttrNumber) key, false)));
}

static List *
BucketCounts(BatchSource *source, List *counts)
{
	BucketScanState *scan = ScanOf(source);
	Relation	rel = scan->ss->ss_currentRelation;
	int			n = ManifestBuckets(scan->manifest ? scan->manifest :
									ManifestReadSizes(RelationGetRelid(rel),
													  source->node->state->es_snapshot, false));

	/* a table without files: what its options say */
	return lappend_int(counts, n > 0 ? n : TableOptionsGet(rel)->spec->nbuckets);
}

/* What this process and its workers read. */
static void
ScanCounters(const BucketScanState *scan, LeafCounters *counters)
{
	*counters = scan->workers;
	if (scan->leaf != NULL)
		LeafCountersAdd(counters, LeafReaderCounters(scan->leaf));
}

static void
AddCounters(BatchSource *source, SourceCounters *counters)
{
	LeafCounters own;

	ScanCounters(ScanOf(source), &own);
	counters->runs = Max(counters->runs, own.max_runs);
	counters->memory += own.peak_memory;
}

static const BatchSourceOps scan_source_ops = {
	.describe = Describe,
	.column = Column,
	.attribute = Attribute,
	.check_order = CheckOrder,
	.want = Want,
	.start = Start,
	.buckets = Buckets,
	.group_rows = GroupRows,
	.cut_sources = CutSources,
	.open_unit = OpenUnit,
	.open_all = OpenAll,
	.next = Next,
	.close = Close,
	.report_size = ReportSize,
	.report = Report,
	.collect = Collect,
	.key_name = KeyName,
	.bucket_counts = BucketCounts,
	.add_counters = AddCounters,
};

/* BatchSourceFinder; a scan that is only explained has no state, but is asked for names and counts */
static BatchSource *
FindScan(PlanState *planstate)
{
	BucketScanState *scan = ((ForeignScanState *) planstate)->fdw_state;

	if (scan == NULL && (planstate->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		scan = palloc0(sizeof(BucketScanState));
		scan->source.ops = &scan_source_ops;
		scan->ss = (ScanState *) planstate;
	}
	return scan != NULL && scan->source.ops == &scan_source_ops ? &scan->source : NULL;
}

void
ScanNodeInit(void)
{
	BatchSourceRegister(T_ForeignScanState, FindScan);
}

void
ScanNodeReScan(BucketScanState *scan)
{
	Close(&scan->source);
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
ScanFiguresAdd(ScanFigures *figures, const BucketScanState *scan)
{
	Instrumentation *instrument = scan->ss->ps.instrument;
	LeafCounters counters;
	int			nread;
	int			ntotal;

	if (scan->manifest == NULL || (scan->leaf == NULL && scan->worker_touched == NULL))
		return;
	ScanCounters(scan, &counters);
	ScanBucketsRead(scan, &nread, &ntotal);
	figures->nscans++;
	figures->buckets_read += nread;
	figures->buckets += ntotal;
	LeafCountersAdd(&figures->counters, &counters);
	figures->quals |= scan->nquals > 0;
	figures->row_quals |= scan->ss->ps.plan->qual != NIL;
	/* per loop, as core does */
	figures->rows_removed += (double) counters.rows_removed /
		(instrument && instrument->nloops > 0 ? instrument->nloops : 1);
}

void
ScanFiguresExplain(const ScanFigures *figures, const OrderedScan *order, ExplainState *es)
{
	const char *scans = figures->nsiblings > 0 ?
		psprintf(", in %d of %d partitions", figures->nscans, figures->nsiblings) : "";

	if (figures->nscans == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Buckets Read",
							psprintf("%d of %d%s", figures->buckets_read, figures->buckets, scans), es);
	else
	{
		ExplainPropertyInteger("Buckets Read", NULL, figures->buckets_read, es);
		ExplainPropertyInteger("Buckets Total", NULL, figures->buckets, es);
	}
	if (order != NULL)
		OrderedScanExplain(order, es);
	ExplainPropertyInteger("Blocks Read", NULL, figures->counters.blocks_read, es);
	ExplainPropertyInteger("Blocks Skipped", NULL, figures->counters.blocks_skipped, es);
	if (figures->quals)
		ExplainPropertyFloat(figures->row_quals ? "Rows Removed by Batch Filter" : "Rows Removed by Filter",
							 NULL, figures->rows_removed, 0, es);
	ExplainPropertyInteger("Bytes Read", "bytes", (int64) figures->counters.bytes_read, es);
}

void
ScanNodeExplain(BucketScanState *scan, ExplainState *es)
{
	ScanFigures figures = {0};

	ScanFiguresAdd(&figures, scan);
	if (!es->analyze || figures.nscans == 0)
		return;
	ScanFiguresExplain(&figures, scan->order, es);
	UnitMeterExplain(&scan->queue.meter, es);
}
