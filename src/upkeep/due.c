/*
 * due.c
 *	  What upkeep would do for a table.
 *
 * The commit that may leave a table in need, the worker, maintain() and the
 * view of tables ask here.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "guc.h"
#include "load/inline_rows.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "upkeep/compact_choose.h"
#include "upkeep/due.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* as autovacuum_analyze_threshold: below it a table is not worth the trouble */
#define ANALYZE_BASE_ROWS 50

/* a file of which more is deleted is written anew also while rows are appended */
#define DELETED_AT_ONCE 0.5

/* without an append in so much time more runs are merged */
#define QUIET_MS 30000

double
UpkeepAnalyzeThreshold(double analyzed_rows)
{
	return ANALYZE_BASE_ROWS + bf_upkeep_analyze * Max(analyzed_rows, 0);
}

double
UpkeepDeletedPart(bool quiet)
{
	return quiet ? bf_upkeep_deleted : Max(bf_upkeep_deleted, DELETED_AT_ONCE);
}

/* The most runs that a bucket has; specs that are not alike have their own buckets. */
static int
MaxRuns(const Manifest *manifest)
{
	int			result = Min(manifest->nruns, 1);

	/* most tables have one file */
	for (int s = 0; s < manifest->nspecs && manifest->nfiles > 1; s++)
	{
		int		   *runs = palloc0(manifest->specs[s]->nbuckets * sizeof(int));

		for (int r = 0; r < manifest->nruns; r++)
		{
			const ManifestRun *run = &manifest->runs[r];

			if (BucketSpecAlike(manifest->specs[manifest->files[run->file].spec], manifest->specs[s]) &&
				++runs[run->bucket] > result)
				result = runs[run->bucket];
		}
		pfree(runs);
	}
	return result;
}

double
UpkeepAnalyzedRows(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	double		rows = -1;

	if (HeapTupleIsValid(tuple))
	{
		rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
		ReleaseSysCache(tuple);
	}
	return rows;
}

/*
 * Are there runs to merge, or deleted rows to be taken out, or will there be when
 * nothing has been appended for a while?
 */
static void
LookAtRuns(UpkeepDue *due)
{
	CompactLimits limits = {.runs = bf_upkeep_runs, .deleted = UpkeepDeletedPart(false)};
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz quiet_at = TimestampTzPlusMilliseconds(Max(due->state.last_write, due->manifest->last_write), QUIET_MS);
	int			what = CompactDue(due->manifest, due->spec, &limits);

	if (what == 0)
	{
		limits.quiet = true;
		limits.deleted = UpkeepDeletedPart(true);
		what = CompactDue(due->manifest, due->spec, &limits);
		due->quiet = what != 0 && quiet_at <= now;
		due->quiet_at = what != 0 && quiet_at > now ? quiet_at : 0;
		if (!due->quiet)
			return;
	}
	due->compact = what != 0;
	due->clean = (what & COMPACT_CLEAN) != 0;
	due->merge = (what & COMPACT_MERGE) != 0;
}

void
UpkeepLook(Oid relid, Snapshot snapshot, const CatalogCensus *census, UpkeepDue *due)
{
	Snapshot	registered = RegisterSnapshot(snapshot ? snapshot : GetLatestSnapshot());
	const Manifest *manifest = CatalogCensusHas(census, CENSUS_DELETES, relid) ?
		ManifestRead(relid, registered) : ManifestReadStored(relid, registered);

	memset(due, 0, sizeof(UpkeepDue));
	if (CatalogCensusHas(census, CENSUS_INLINE, relid))
		InlineCount(relid, registered, &due->inlined);
	UnregisterSnapshot(registered);
	due->manifest = manifest;
	due->rows = manifest->rows + due->inlined.rows;
	if (CatalogCensusHas(census, CENSUS_UPKEEP, relid))
		UpkeepStateRead(relid, &due->state);
	due->max_runs = MaxRuns(manifest);
	due->analyzed_rows = UpkeepAnalyzedRows(relid);
	if (CatalogCensusHas(census, CENSUS_GARBAGE, relid))
		due->garbage_bytes = StoreGarbageBytes(relid, &due->removable);
	due->cleanup = due->removable > 0;
	due->analyze = fabs(due->rows - Max(due->analyzed_rows, 0)) > UpkeepAnalyzeThreshold(due->analyzed_rows);
	due->spec = SpecNewestRow(relid, NULL, NULL, &due->version, &due->tablespace);
	if (due->spec != NULL && (due->max_runs > 1 || manifest->deleted > 0))
		LookAtRuns(due);
	due->unite = DeletesMostVectors(manifest->deletes) >= DELETES_MANY;
	due->flush = InlineAreMany(&due->inlined, 1);
	due->blocked = due->compact && due->garbage_bytes > manifest->bytes && !due->cleanup;
}

bool
UpkeepIsDue(const UpkeepDue *due)
{
	return due->flush || due->unite || (due->compact && !due->blocked) || due->analyze || due->cleanup;
}
