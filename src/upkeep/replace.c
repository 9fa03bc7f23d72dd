/*
 * replace.c
 *	  Files of a table replaced by a write of the same rows.
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_collation_d.h"
#include "compat.h"
#include "counters/counters.h"
#include "format/stats/column_summary.h"
#include "miscadmin.h"
#include "plan/rel/stats_merge.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "upkeep/lock_out.h"
#include "upkeep/replace.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* what a step has read of the manifest, registered; NULL: nothing yet */
static Snapshot step_snapshot = NULL;

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

	/* an error ended the last step, and the snapshot with it */
	step_snapshot = NULL;

	/* the lock must come before what is read, whatever the session's default is */
	XactIsoLevel = XACT_READ_COMMITTED;
	rel = try_relation_open(relid, ShareUpdateExclusiveLock);
	if (rel == NULL)
		return false;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw step of upkeep", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	if (IsBucketTable(relid) && MayMaintain(relid))
		more = step(state, rel);
	if (step_snapshot != NULL)
		UnregisterSnapshot(step_snapshot);
	step_snapshot = NULL;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	relation_close(rel, NoLock);
	return more;
}

Manifest *
ManifestToReplace(Oid relid)
{
	/* what earlier steps replaced: so there is no more of it than of one step */
	(void) StoreReclaimGarbage(relid);
	CommandCounterIncrement();

	if (step_snapshot != NULL)
		UnregisterSnapshot(step_snapshot);
	step_snapshot = RegisterSnapshot(GetLatestSnapshot());
	return ManifestRead(relid, step_snapshot);
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
 * Of rows that were deleted and are gone now they know nothing but the number.
 */
static void
MergeStatistics(const RowLayout *layout, const ManifestStats *stats, int nstats, int64 deleted,
				ManifestWrite *write)
{
	double		left;
	int			ncolumns = Min(layout->ncols, SUMMARY_COLUMNS);
	AttrNumber *attnums = palloc(Max(layout->ncols, 1) * sizeof(AttrNumber));
	ColumnSummary *summary = palloc(sizeof(ColumnSummary));
	SummaryLimits limits;
	ByteBuffer	out;

	if (nstats == 0)
		return;
	for (int i = 0; i < nstats; i++)
		write->stats_rows += stats[i].rows;
	left = 1 - Min((double) deleted / Max(write->stats_rows, 1), 1);
	write->stats_rows = (int64) rint(write->stats_rows * left);
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

		StatsMergeAdd(merge, layout->relid, stats, nstats, attnums[c]);
		StatsMergeSummary(merge, attnums[c], &limits, summary);
		summary->nulls = (int64) rint(summary->nulls * left);
		summary->values = (int64) rint(summary->values * left);
		summary->bytes = (int64) rint(summary->bytes * left);
		SummaryAdd(&out, c, summary);
		StatsMergeFree(merge);
	}
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

static int
CompareFiles(const void *a, const void *b)
{
	return CompareFileIds(&(*(const ManifestFile *const *) a)->file_id, &(*(const ManifestFile *const *) b)->file_id);
}

/* The files of a manifest as they are in a newer one; NULL: one is not there any more. */
static const ManifestFile **
FindFiles(const Manifest *manifest, const Manifest *newer)
{
	const ManifestFile **all = palloc_extended(Max(newer->nfiles, 1) * sizeof(ManifestFile *), MCXT_ALLOC_HUGE);
	const ManifestFile **result = palloc_extended(Max(manifest->nfiles, 1) * sizeof(ManifestFile *), MCXT_ALLOC_HUGE);

	for (int f = 0; f < newer->nfiles; f++)
		all[f] = &newer->files[f];
	qsort(all, newer->nfiles, sizeof(ManifestFile *), CompareFiles);
	for (int f = 0; f < manifest->nfiles; f++)
	{
		const ManifestFile *key = &manifest->files[f];
		const ManifestFile **found = bsearch(&key, all, newer->nfiles, sizeof(ManifestFile *), CompareFiles);

		result[f] = found ? *found : NULL;
	}
	pfree(all);
	return result;
}

/* Take the files out of the manifest of the table, those that are still there; the statistics they had. */
static int
TakeOut(const Manifest *inputs, const ManifestFile *const *now, ManifestStats **stats)
{
	Manifest	there = {.relid = inputs->relid};

	there.files = palloc_extended(Max(inputs->nfiles, 1) * sizeof(ManifestFile), MCXT_ALLOC_HUGE);
	for (int f = 0; f < inputs->nfiles; f++)
	{
		if (now == NULL || now[f] != NULL)
			there.files[there.nfiles++] = inputs->files[f];
	}
	return ManifestTakeOut(&there, stats);
}

/* The files of a write are not needed. */
static void
DropWrite(const ManifestWrite *write)
{
	for (int f = 0; write != NULL && f < write->nfiles; f++)
		(void) StoreDrop(write->files[f].locator, write->files[f].file_id);
}

/*
 * Rows written and the files of the write are those of the inputs; what each
 * file was rewritten before is what its rows that are left were.
 */
static void
CountRewritten(Relation rel, const Manifest *inputs, ManifestWrite *write, char origin, TableCounts *counts)
{
	double		rewritten = inputs->rows;

	for (int f = 0; f < inputs->nfiles; f++)
	{
		const ManifestFile *file = &inputs->files[f];

		rewritten += file->rewritten * ((double) ManifestFileLive(file) / Max(file->rows, 1));
	}
	for (int f = 0; write != NULL && f < write->nfiles; f++)
	{
		ManifestFile *file = &write->files[f];

		counts->n[COUNT_UPKEEP_ROWS] += file->rows;
		counts->n[COUNT_UPKEEP_BYTES] += file->bytes;
		if (origin == BF_ORIGIN_COMPACTION)
			file->rewritten = rewritten * ((double) file->rows / inputs->rows);
	}
	if (counts->n[COUNT_UPKEEP_ROWS] != inputs->rows)
		elog(ERROR, "%lld rows of bucketed table \"%s\" were written anew instead of %lld",
			 (long long) counts->n[COUNT_UPKEEP_ROWS], RelationGetRelationName(rel), (long long) inputs->rows);
	counts->n[COUNT_UPKEEP_STEPS] = 1;
}

bool
ReplaceFiles(Relation rel, const RowLayout *layout, const Manifest *inputs, ManifestWrite *write, char origin,
			 RowSources *sources)
{
	const ManifestFile **now = NULL;
	Snapshot	snapshot = NULL;
	TableCounts counts = {0};
	ManifestStats *stats;
	int			nstats;

	CountRewritten(rel, inputs, write, origin, &counts);
	if (sources != NULL)
	{
		/* who holds us here holds nobody else */
		table_close(table_open(BucketCatalogOid("manifest"), RowExclusiveLock), NoLock);
		if (!LockOutChangers(rel))
		{
			DropWrite(write);
			return false;
		}
		snapshot = RegisterSnapshot(GetLatestSnapshot());
		now = FindFiles(inputs, ManifestRead(inputs->relid, snapshot));
	}
	nstats = TakeOut(inputs, now, &stats);
	RememberTimes(inputs);
	if (write != NULL && write->nfiles > 0)
	{
		CommandId	cid = GetCurrentCommandId(true);
		int64		deleted = 0;

		MergeStatistics(layout, stats, nstats, inputs->deleted, write);
		write->origin = origin;
		ManifestInsert(rel, write, cid);
		if (sources != NULL)
			deleted = RowSourcesTranslate(sources, now, write, cid);
		if (deleted > 0)
			ereport(DEBUG1,
					(errmsg_internal("%lld rows of \"%s\" were deleted while they were written anew",
									 (long long) deleted, RelationGetRelationName(rel))));
	}
	if (snapshot != NULL)
		UnregisterSnapshot(snapshot);
	CountersAdd(RelationGetRelid(rel), &counts);
	return true;
}
