/*
 * replace.c
 *	  Files of a table replaced by a write of the same rows.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_collation_d.h"
#include "compat.h"
#include "counters/counters.h"
#include "format/stats/column_summary.h"
#include "miscadmin.h"
#include "plan/rel/stats_merge.h"
#include "storage/file_store.h"
#include "upkeep/replace.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

bool
MayMaintain(Oid relid)
{
	return BfIsTableOwner(relid, GetUserId()) || BfMayMaintain(GetUserId());
}

bool
StepOfTable(Oid relid, bool (*step) (void *state, Relation rel), void *state)
{
	MemoryContext cxt;
	MemoryContext old;
	Relation	rel;
	bool		more = false;

	/* the lock must come before what is read, whatever the session's default is */
	XactIsoLevel = XACT_READ_COMMITTED;
	rel = try_relation_open(relid, ShareUpdateExclusiveLock);
	if (rel == NULL)
		return false;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw step of upkeep", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	if (IsBucketTable(relid) && MayMaintain(relid))
		more = step(state, rel);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	relation_close(rel, NoLock);
	return more;
}

Manifest *
ManifestToReplace(Oid relid)
{
	Snapshot	snapshot;
	Manifest   *manifest;

	/* what earlier steps replaced: so there is no more of it than of one step */
	(void) StoreReclaimGarbage(relid);
	CommandCounterIncrement();

	/* the horizon need not wait for us */
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	manifest = ManifestRead(relid, snapshot);
	UnregisterSnapshot(snapshot);
	return manifest;
}

bool
GarbageHoldsUpkeep(const Manifest *manifest)
{
	int64		removable;

	return StoreGarbageBytes(manifest->relid, &removable) > manifest->bytes;
}

bool
TooMuchGarbage(Relation rel, const Manifest *manifest)
{
	if (!GarbageHoldsUpkeep(manifest))
		return false;
	ereport(NOTICE,
			(errmsg("\"%s\" is not rewritten further now", RelationGetRelationName(rel)),
			 errdetail("Replaced files of it that cannot be removed yet are larger than those it has."),
			 errhint("The column held_by of bucketfdw.garbage says what may still need them.")));
	return true;
}

static int
CompareAttnums(const void *a, const void *b)
{
	return *(const AttrNumber *) a - *(const AttrNumber *) b;
}

/*
 * What was known of the replaced files' rows is merged, not gathered anew: the
 * statistics of a write stand with one of its files and are of all of them.  So
 * those of all files of the table are of all its rows, whichever are replaced.
 */
static void
MergeStatistics(const RowLayout *layout, const ManifestStats *stats, int nstats, ManifestWrite *write)
{
	int			ncolumns = Min(layout->ncols, SUMMARY_COLUMNS);
	AttrNumber *attnums = palloc(Max(layout->ncols, 1) * sizeof(AttrNumber));
	ColumnSummary *summary = palloc(sizeof(ColumnSummary));
	SummaryLimits limits;
	ByteBuffer	out;

	if (nstats == 0)
		return;
	for (int c = 0; c < layout->ncols; c++)
		attnums[c] = layout->cols[c].attnum;
	qsort(attnums, layout->ncols, sizeof(AttrNumber), CompareAttnums);
	SummaryGetLimits(ncolumns, &limits);
	ByteBufferInit(&out, CurrentMemoryContext);
	SummaryBegin(&out, ncolumns);
	for (int c = 0; c < ncolumns; c++)
	{
		Oid			typid = TupleDescAttr(layout->desc, attnums[c] - 1)->atttypid;
		StatsMerge *merge = StatsMergeBegin(getBaseType(typid), C_COLLATION_OID);

		StatsMergeAdd(merge, stats, nstats, attnums[c]);
		StatsMergeSummary(merge, attnums[c], &limits, summary);
		SummaryAdd(&out, c, summary);
		StatsMergeFree(merge);
	}
	for (int i = 0; i < nstats; i++)
		write->stats_rows += stats[i].rows;
	write->column_stats = palloc(VARHDRSZ + out.len);
	SET_VARSIZE(write->column_stats, VARHDRSZ + out.len);
	memcpy(VARDATA(write->column_stats), out.data, out.len);
}

/* The times that go with the replaced files. */
static void
RememberTimes(const Manifest *replaced)
{
	UpkeepState state;

	UpkeepStateRead(replaced->relid, &state);
	state.last_write = Max(state.last_write, replaced->last_write);
	state.last_compaction = GetCurrentTimestamp();
	UpkeepStateWrite(replaced->relid, &state);
}

void
ReplaceFiles(Relation rel, const RowLayout *layout, const Manifest *inputs, ManifestWrite *write, char origin)
{
	ManifestStats *stats;
	int			nstats = ManifestTakeOut(inputs, &stats);
	int64		rewritten = inputs->rows;
	int64		written = 0;
	TableCounts counts = {0};

	for (int i = 0; i < inputs->nfiles; i++)
		rewritten += inputs->files[i].rewritten;
	for (int i = 0; write != NULL && i < write->nfiles; i++)
	{
		written += write->files[i].rows;
		if (origin == BF_ORIGIN_COMPACTION)
			write->files[i].rewritten = rewritten * ((double) write->files[i].rows / inputs->rows);
		counts.n[COUNT_UPKEEP_BYTES] += write->files[i].bytes;
	}
	RememberTimes(inputs);
	if (written != inputs->rows)
		elog(ERROR, "%lld rows of bucketed table \"%s\" were written anew instead of %lld",
			 (long long) written, RelationGetRelationName(rel), (long long) inputs->rows);
	if (write == NULL)
		return;
	MergeStatistics(layout, stats, nstats, write);
	write->origin = origin;
	ManifestInsert(rel, write, GetCurrentCommandId(true));
	counts.n[COUNT_UPKEEP_STEPS] = 1;
	counts.n[COUNT_UPKEEP_ROWS] = written;
	CountersAdd(RelationGetRelid(rel), &counts);
}
