/*
 * scan.c
 *	  FDW callbacks for planning and executing scans.
 *
 * Execution is a thin wrapper over the scan node of src/exec/: the same node
 * is read batch by batch when a bucket join stands above it.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "compat.h"
#include "counters/counters.h"
#include "exec/scan/scan_node.h"
#include "executor/executor.h"
#include "fdw/explain_scan.h"
#include "fdw/scan.h"
#include "guc.h"
#include "load/change_check.h"
#include "load/change_manifest.h"
#include "load/load.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "parser/parsetree.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/implied_qual.h"
#include "plan/rel/pair_limit.h"
#include "plan/rel/rel_info.h"
#include "plan/rel/scan_path.h"
#include "plan/rel/subplan_choice.h"
#include "plan/why/plan_report.h"
#include "storage/row_id.h"
#include "utils/rel.h"

static void
GetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	BucketRelInfoBuild(root, baserel, foreigntableid);
}

static void
GetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	PairLimitsAdd(root, baserel);
	add_path(baserel, (Path *) BucketScanPath(root, baserel, false, NIL));
	BucketAddPartialPath(root, baserel);
	BucketAddOrderedPath(root, baserel);
	BucketAddLookupPaths(root, baserel);
}

/* Are rows of the relation updated or deleted? */
static bool
IsTarget(PlannerInfo *root, RelOptInfo *baserel)
{
	return bms_is_member(baserel->relid, root->leaf_result_relids);
}

static bool
UsesCtid(void *exprs, Index relid)
{
	Bitmapset  *used = NULL;

	pull_varattnos(exprs, relid, &used);
	return bms_is_member(SelfItemPointerAttributeNumber - FirstLowInvalidHeapAttributeNumber, used);
}

void
RefuseSystemColumn(const char *relname, int attno)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("bucketed table \"%s\" has no system column \"%s\"", relname,
					NameStr(SystemAttributeDefinition(attno)->attname)),
			 errhint("Only tableoid is there.")));
}

/* The relation that the statement names, of which this one is a partition or itself. */
static Index
NamedRelation(PlannerInfo *root, Index relid)
{
	const AppendRelInfo *parent;

	while (root->append_rel_array != NULL && (parent = root->append_rel_array[relid]) != NULL &&
		   planner_rt_fetch(parent->parent_relid, root)->rtekind == RTE_RELATION)
		relid = parent->parent_relid;
	return relid;
}

/* Does core ask for the ctid of the relation, for its own use? */
static bool
CoreWantsCtid(PlannerInfo *root, Index named)
{
	ListCell   *lc;

	if (bms_is_member(named, root->all_result_relids))
		return true;
	foreach(lc, root->rowMarks)
	{
		if (lfirst_node(PlanRowMark, lc)->rti == named)
			return true;
	}
	return false;
}

/*
 * Is ctid, which is asked for, more than what identifies rows that are changed
 * or locked?  That is a column at the end of the plan, which nothing sorts by
 * and no condition uses.  Partitions that are locked are asked for it, too, and
 * core does not look at it.
 */
static bool
UserWantsCtid(PlannerInfo *root, List *clauses, RelOptInfo *baserel)
{
	const Query *parse = root->parse;
	Index		named = NamedRelation(root, baserel->relid);
	const RelOptInfo *rel = find_base_rel(root, named);
	ListCell   *lc;

	if (!CoreWantsCtid(root, named))
		return true;
	/* relation 0 is the end of the plan; others: what joins need */
	if (!bms_is_subset(rel->attr_needed[SelfItemPointerAttributeNumber - rel->min_attr], bms_make_singleton(0)))
		return true;
	foreach(lc, clauses)
	{
		if (UsesCtid(lfirst_node(RestrictInfo, lc)->clause, baserel->relid))
			return true;
	}
	foreach(lc, parse->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if ((!entry->resjunk || entry->ressortgroupref != 0) && UsesCtid(entry->expr, named))
			return true;
	}
	return UsesCtid(parse->returningList, named);
}

/*
 * The columns a scan must read: those of the relation's target and of its
 * quals, plus the extra ones of the path.  Never those of the plan's target
 * list, which core may have made all columns.
 */
static List *
NeededColumns(PlannerInfo *root, RelOptInfo *baserel, Relation rel, List *clauses, List *extra)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *used = NULL;
	List	   *attnums = NIL;
	ListCell   *lc;
	bool		wholerow;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	foreach(lc, clauses)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, baserel->relid, &used);
	foreach(lc, extra)
		used = bms_add_member(used, lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber);

	for (int attno = FirstLowInvalidHeapAttributeNumber + 1; attno < 0; attno++)
	{
		if (attno != TableOidAttributeNumber &&
			bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, used) &&
			(attno != SelfItemPointerAttributeNumber || UserWantsCtid(root, clauses, baserel)))
			RefuseSystemColumn(RelationGetRelationName(rel), attno);
	}
	wholerow = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used);
	for (int attno = 1; attno <= desc->natts; attno++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

		if (att->attisdropped || BfAttributeIsVirtual(att))
			continue;
		if (wholerow || bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, used))
			attnums = lappend_int(attnums, attno);
	}
	/* the last one */
	if (IsTarget(root, baserel) ? UsesCtid(baserel->reltarget->exprs, baserel->relid) : ScanIdentifiesRows(root, baserel))
		attnums = lappend_int(attnums, SelfItemPointerAttributeNumber);
	return attnums;
}

/* As SCAN_PRIVATE_REJECTION. */
static List *
RejectionStrings(PlannerInfo *root, RelOptInfo *baserel)
{
	Rejection	rejection;

	if (!ScanRejection(root, baserel, &rejection))
		return BucketRelInfoGet(baserel)->in_bucket_join ? list_make1(makeString(pstrdup(""))) : NIL;
	return list_make4(makeString(pstrdup(ReasonName(rejection.code))),
					  makeString(RejectionShort(&rejection)),
					  makeString(rejection.detail ? rejection.detail : pstrdup("")),
					  makeString(rejection.costs ? rejection.costs : pstrdup("")));
}

/* How often row quals are tested, about; a lookup in each of its repetitions. */
static double
RowQualTests(PlannerInfo *root, RelOptInfo *baserel, const ForeignPath *path)
{
	Relids		outer = PATH_REQ_OUTER(&path->path);

	if (bms_is_empty(outer))
		return Max(BucketPassedRows(BucketRelInfoGet(baserel)), path->path.rows);
	return ScanLoops(root, outer) * path->path.rows;
}

static ForeignScan *
GetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
			   ForeignPath *best_path, List *tlist, List *scan_clauses, Plan *outer_plan)
{
	List	   *row_quals = NIL;
	List	   *batch_quals = NIL;
	List	   *descs = NIL;
	List	   *values = NIL;
	List	   *order = lsecond(best_path->fdw_private);
	List	   *cluster = lthird(best_path->fdw_private);
	List	   *attnums;
	Relation	rel = RelationIdGetRelation(foreigntableid);
	ListCell   *lc;

	/*
	 * Clauses come in the order in which core would evaluate them, those of row
	 * security first.  What raises no error, and so tells nobody what it saw, is
	 * tested on batches before others; what may raise one stays where it stands.
	 * Of sorted rows the first ones may be all that is wanted.
	 */
	attnums = NeededColumns(root, baserel, rel, scan_clauses, linitial(best_path->fdw_private));
	RelationClose(rel);
	foreach(lc, scan_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		LeafQual	qual;
		List	   *qual_values;
		Expr	   *implied;
		bool		batch;

		/* one-time filters stand in a Result above the scan */
		if (rinfo->pseudoconstant)
			continue;
		batch = BatchQualFromClause(rinfo->clause, baserel->relid, &qual, &qual_values) &&
			(!LeafQualMayFail(&qual) || (row_quals == NIL && order == NIL));
		if (batch)
		{
			batch_quals = lappend(batch_quals, rinfo->clause);
			descs = lappend(descs, LeafQualDescribe(&qual));
			values = list_concat(values, qual_values);
		}
		else
			row_quals = lappend(row_quals, rinfo->clause);
		implied = ImpliedClause(rinfo->clause, baserel->relid, batch);
		if (implied != NULL && BatchQualFromClause(implied, baserel->relid, &qual, &qual_values))
		{
			batch_quals = lappend(batch_quals, implied);
			descs = lappend(descs, LeafQualDescribe(&qual));
			values = list_concat(values, qual_values);
		}
	}
	row_quals = SubPlansTestedOften(row_quals, TESTS_OF_QUAL(best_path->path.rows), RowQualTests(root, baserel, best_path));
	return make_foreignscan(tlist, row_quals, baserel->relid,
							values, list_make5(attnums, descs, order, cluster,
											   RejectionStrings(root, baserel)),
							NIL, batch_quals, outer_plan);
}

/* Does FOR UPDATE or its like lock the rows that a scan finds?  The table is locked already (change_start.c). */
static bool
RowsAreLocked(const ForeignScanState *node)
{
	ExecRowMark **marks = node->ss.ps.state->es_rowmarks;
	const ExecRowMark *mark = marks != NULL ? marks[((Scan *) node->ss.ps.plan)->scanrelid - 1] : NULL;

	return mark != NULL && mark->strength != LCS_NONE;
}

static void
BeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Oid			relid = RelationGetRelid(node->ss.ss_currentRelation);
	Manifest   *manifest;
	BucketScanState *scan;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	/* rows that may be changed are told apart within the manifest of the statement */
	if (list_member_int(linitial(plan->fdw_private), SelfItemPointerAttributeNumber))
		manifest = ChangeManifest(node->ss.ps.state, relid);
	else
		manifest = LoadManifestToRead(relid, node->ss.ps.state->es_snapshot);
	scan = ScanNodeCreate(&node->ss, plan->fdw_private, plan->fdw_exprs, manifest);
	if (IsolationUsesXactSnapshot() && RowsAreLocked(node))
		scan->check = ChangeCheckBegin(relid, true);
	node->fdw_state = scan;
}

/* Rows that FOR UPDATE or its like locks must be those that are there now. */
static void
CheckLockedRow(const BucketScanState *scan)
{
	int			file;
	int64		row;
	bool		inlined;
	uint64		file_id = ChangeManifestRow(scan->manifest, RowIdGet(&scan->ss->ss_ScanTupleSlot->tts_tid), &file, &row,
											&inlined);

	ChangeCheckRow(scan->check, file_id, row);
}

static TupleTableSlot *
IterateForeignScan(ForeignScanState *node)
{
	BucketScanState *scan = node->fdw_state;

	if (!ScanNodeNextRow(scan))
		return ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (scan->check != NULL)
		CheckLockedRow(scan);
	return node->ss.ss_ScanTupleSlot;
}

static void
ReScanForeignScan(ForeignScanState *node)
{
	if (node->fdw_state != NULL)
		ScanNodeReScan(node->fdw_state);
}

/*
 * Parallel scans.  A worker reads the manifest under the leader's snapshot;
 * rows that waited in the leader were sealed before any worker started.
 */

static bool
IsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	/* one process decides which files are damaged */
	return !bf_ignore_damaged_files;
}

/* What its processes share. */
static ParallelWork
WorkOf(BucketScanState *scan)
{
	ParallelWork work = {&scan->source, &scan->queue.meter};

	return work;
}

static Size
EstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	ParallelWork work = WorkOf(node->fdw_state);

	return ParallelStateSize(&work, pcxt->nworkers);
}

static void
InitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	BucketScanState *scan = node->fdw_state;
	ParallelWork work = WorkOf(scan);

	scan->parallel = coordinate;
	ParallelStateInit(scan->parallel, &work, pcxt->nworkers);
}

static void
ReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	UnitSharedReset(ParallelStateUnits(coordinate));
}

static void
InitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	((BucketScanState *) node->fdw_state)->parallel = coordinate;
}

static void
ShutdownForeignScan(ForeignScanState *node)
{
	BucketScanState *scan = node->fdw_state;
	ParallelWork work;

	if (scan == NULL || scan->parallel == NULL)
		return;
	work = WorkOf(scan);
	ParallelStateShutdown(&scan->parallel, &work);
}

StaticAssertDecl(REASON_DISTINCT_OF_GROUPS < COUNTER_REASONS, "there are more reasons than counters");

/* Each process counts what it read, and the leader the scan. */
static void
CountScan(ForeignScanState *node, BucketScanState *scan)
{
	List	   *join = list_nth(((ForeignScan *) node->ss.ps.plan)->fdw_private, SCAN_PRIVATE_REJECTION);
	TableCounts counts = {0};

	if (scan->leaf == NULL && scan->worker_touched == NULL)
		return;
	if (scan->leaf != NULL)
	{
		const LeafCounters *leaf = LeafReaderCounters(scan->leaf);

		counts.n[COUNT_BLOCKS_READ] = leaf->blocks_read;
		counts.n[COUNT_BLOCKS_SKIPPED] = leaf->blocks_skipped;
		counts.n[COUNT_BYTES_READ] = leaf->bytes_read;
	}
	if (!IsParallelWorker())
	{
		counts.n[COUNT_SCANS] = 1;
		counts.n[COUNT_BUCKET_JOINS] = list_length(join) == 1;
		if (list_length(join) > 1)
			counts.n[COUNT_FALLBACKS + ReasonOfName(strVal(linitial(join)))] = 1;
	}
	CountersAdd(RelationGetRelid(node->ss.ss_currentRelation), &counts);
}

static void
EndForeignScan(ForeignScanState *node)
{
	if (node->fdw_state == NULL)
		return;
	if (CountersKept())
		CountScan(node, node->fdw_state);
	ScanNodeEnd(node->fdw_state);
}

void
ScanRoutine(FdwRoutine *routine)
{
	routine->GetForeignRelSize = GetForeignRelSize;
	routine->GetForeignPaths = GetForeignPaths;
	routine->GetForeignPlan = GetForeignPlan;
	routine->BeginForeignScan = BeginForeignScan;
	routine->IterateForeignScan = IterateForeignScan;
	routine->ReScanForeignScan = ReScanForeignScan;
	routine->EndForeignScan = EndForeignScan;
	routine->ExplainForeignScan = ExplainForeignScan;
	routine->IsForeignScanParallelSafe = IsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = EstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = InitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = ReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = InitializeWorkerForeignScan;
	routine->ShutdownForeignScan = ShutdownForeignScan;
}
