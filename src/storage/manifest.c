/*
 * manifest.c
 *	  The file manifest: one row a file.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "format/file_format.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/inline_catalog.h"
#include "storage/manifest.h"
#include "storage/written.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* Index of a spec in the manifest, added when it is new; cxt is where it is kept. */
static int
ManifestSpecIndex(Manifest *manifest, const BucketSpec *spec, MemoryContext cxt)
{
	MemoryContext old;

	/* newest last: usually the one before is the same */
	for (int i = manifest->nspecs - 1; i >= 0; i--)
		if (BucketSpecEqual(manifest->specs[i], spec))
			return i;

	old = MemoryContextSwitchTo(cxt);
	if (manifest->specs == NULL)
		manifest->specs = palloc(sizeof(BucketSpec *));
	else
		manifest->specs = repalloc(manifest->specs,
								   sizeof(BucketSpec *) * (manifest->nspecs + 1));
	manifest->specs[manifest->nspecs] = BucketSpecCopy(spec);
	MemoryContextSwitchTo(old);
	return manifest->nspecs++;
}

static void
MalformedRow(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("malformed manifest row of bucketed table with OID %u", relid)));
}

FileLocator
ManifestLocator(const Datum *values)
{
	FileLocator locator;

	locator.tablespace = DatumGetObjectId(values[Anum_manifest_tablespace - 1]);
	locator.number = DatumGetObjectId(values[Anum_manifest_filenode - 1]);
	return locator;
}

/* Sizes of the arrays of a manifest that is being read. */
typedef struct ManifestRoom
{
	int			files;
	int			runs;
	int			stats;
} ManifestRoom;

/* Add the file of one row, and its runs. */
static void
ManifestAddRow(Manifest *manifest, ManifestRoom *room, const Datum *values, int spec, MemoryContext cxt)
{
	int			n[3];
	const int32 *buckets = CatalogArray(values[Anum_manifest_run_buckets - 1], INT4OID, &n[0]);
	const int64 *rows = CatalogArray(values[Anum_manifest_run_rows - 1], INT8OID, &n[1]);
	const int64 *bytes = CatalogArray(values[Anum_manifest_run_bytes - 1], INT8OID, &n[2]);
	ManifestFile *file;

	manifest->files = GrowArray(manifest->files, cxt, &room->files, manifest->nfiles + 1, sizeof(ManifestFile));
	manifest->runs = GrowArray(manifest->runs, cxt, &room->runs, manifest->nruns + n[0], sizeof(ManifestRun));

	file = &manifest->files[manifest->nfiles];
	file->file_id = DatumGetInt64(values[Anum_manifest_file_id - 1]);
	file->locator = ManifestLocator(values);
	file->database = DatumGetObjectId(values[Anum_manifest_database - 1]);
	file->bytes = DatumGetInt64(values[Anum_manifest_bytes - 1]);
	file->raw_bytes = DatumGetInt64(values[Anum_manifest_raw_bytes - 1]);
	file->rows = DatumGetInt64(values[Anum_manifest_rows - 1]);
	file->first_bucket = DatumGetInt32(values[Anum_manifest_first_bucket - 1]);
	file->last_bucket = DatumGetInt32(values[Anum_manifest_last_bucket - 1]);
	file->spec = spec;
	file->spec_version = DatumGetInt32(values[Anum_manifest_spec_version - 1]);
	file->rewritten = DatumGetInt64(values[Anum_manifest_rewritten - 1]);
	if (n[1] != n[0] || n[2] != n[0] || file->bytes < 0 ||
		file->first_bucket < 0 || file->last_bucket < file->first_bucket ||
		file->last_bucket >= manifest->specs[spec]->nbuckets)
		MalformedRow(manifest->relid);
	file->deletes = NULL;
	file->first_number = -1;
	file->origins = NULL;
	for (int i = 0; i < n[0]; i++)
	{
		ManifestRun *run = &manifest->runs[manifest->nruns + i];

		if (buckets[i] < file->first_bucket || buckets[i] > file->last_bucket)
			MalformedRow(manifest->relid);
		run->bucket = buckets[i];
		run->rows = rows[i];
		run->deleted = 0;
		run->bytes = bytes[i];
		run->file = manifest->nfiles;
		run->run = i;
	}
	manifest->nfiles++;
	manifest->nruns += n[0];
}

/* What a reading of the manifest wants. */
#define READ_FILES	1			/* files and runs, not their numbers alone */
#define READ_STATS	2
#define READ_STORED	4			/* not what is deleted of the files */

/* Keep the column statistics of one row, if it has any: one row of a write has. */
static void
ManifestAddStats(Manifest *manifest, ManifestRoom *room, const Datum *values, MemoryContext cxt)
{
	ManifestStats *stats;
	bytea	   *data;

	if (values[Anum_manifest_column_stats - 1] == (Datum) 0)
		return;
	data = DatumGetByteaPP(values[Anum_manifest_column_stats - 1]);
	manifest->stats = GrowArray(manifest->stats, cxt, &room->stats, manifest->nstats + 1, sizeof(ManifestStats));
	stats = &manifest->stats[manifest->nstats++];
	stats->rows = DatumGetInt64(values[Anum_manifest_stats_rows - 1]);
	stats->len = VARSIZE_ANY_EXHDR(data);
	stats->data = MemoryContextAlloc(cxt, Max(stats->len, 1));
	memcpy(stats->data, VARDATA_ANY(data), stats->len);
}

/* The columns of the spec in two rows: are they the same, byte by byte? */
static bool
SameSpecColumns(const Datum *a, const Datum *b)
{
	int			first = Anum_manifest_hash_version - 1;

	for (int i = first; i < first + 3; i++)
		if (a[i] != b[i])
			return false;
	for (int i = first + 3; i < first + 7; i++)
		if (!datumIsEqual(a[i], b[i], false, -1))
			return false;
	return true;
}

static Manifest *
ReadManifest(Oid relid, Snapshot snapshot, int wanted)
{
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext row_cxt = AllocSetContextCreate(cxt, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	Manifest   *manifest = palloc0(sizeof(Manifest));
	ManifestRoom room = {16, 64, 4};
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];
	Datum		known[Natts_manifest];	/* the spec of the row before, as columns */
	int			spec = -1;

	/* files and what is deleted of them must be of one moment */
	snapshot = RegisterSnapshot(snapshot ? snapshot : GetLatestSnapshot());
	manifest->relid = relid;
	if (wanted & READ_FILES)
	{
		if (!(wanted & READ_STORED))
			manifest->deletes = DeletesRead(relid, snapshot);
		manifest->files = palloc(room.files * sizeof(ManifestFile));
		manifest->runs = palloc(room.runs * sizeof(ManifestRun));
	}
	manifest->stats = palloc(room.stats * sizeof(ManifestStats));

	CatalogScanBegin(&scan, "manifest", AccessShareLock, relid, snapshot);
	MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		int			format;

		CatalogDeform(scan.rel, tuple, values, Natts_manifest);

		/* left by an older table that had this oid */
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) != rowtype)
			continue;

		format = DatumGetInt16(values[Anum_manifest_format_version - 1]);
		if (format > BF_FORMAT_VERSION)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("bucketed table \"%s\" has files of format version %d",
							get_rel_name(relid), format),
					 errdetail("This library reads versions up to %d.", BF_FORMAT_VERSION),
					 errhint("Install the newer version of bucketfdw.")));

		/* most tables have one */
		if (spec < 0 || !SameSpecColumns(values, known))
		{
			spec = ManifestSpecIndex(manifest, CatalogGetSpec(values, Anum_manifest_hash_version), cxt);
			MemoryContextSwitchTo(cxt);
			for (int i = Anum_manifest_hash_version - 1; i < Anum_manifest_run_buckets - 1; i++)
				known[i] = datumCopy(values[i], i < Anum_manifest_hash_version + 2, -1);
			MemoryContextSwitchTo(row_cxt);
		}
		if (wanted & READ_FILES)
			ManifestAddRow(manifest, &room, values, spec, cxt);
		else
		{
			manifest->nfiles++;
			manifest->nruns += CatalogArrayLength(values[Anum_manifest_run_buckets - 1]);
		}
		if (DatumGetChar(values[Anum_manifest_origin - 1]) == BF_ORIGIN_LOAD)
			manifest->last_write = Max(manifest->last_write, DatumGetTimestampTz(values[Anum_manifest_written_at - 1]));
		else
			manifest->last_compaction = Max(manifest->last_compaction,
											DatumGetTimestampTz(values[Anum_manifest_written_at - 1]));
		manifest->rows += DatumGetInt64(values[Anum_manifest_rows - 1]);
		manifest->bytes += DatumGetInt64(values[Anum_manifest_bytes - 1]);
		manifest->raw_bytes += DatumGetInt64(values[Anum_manifest_raw_bytes - 1]);
		if (wanted & READ_STATS)
			ManifestAddStats(manifest, &room, values, cxt);
		MemoryContextReset(row_cxt);
	}
	MemoryContextSwitchTo(cxt);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	if (wanted & READ_FILES)
		ManifestApplyDeletes(manifest);
	else
	{
		manifest->deleted = DeletesCount(relid, snapshot, false);
		manifest->rows -= manifest->deleted;
	}
	UnregisterSnapshot(snapshot);
	return manifest;
}

/*
 * The snapshot must be the query's in the executor; a catalog snapshot would
 * show files that the query's snapshot must not see.
 */
Manifest *
ManifestRead(Oid relid, Snapshot snapshot)
{
	return ReadManifest(relid, snapshot, READ_FILES);
}

Manifest *
ManifestReadStored(Oid relid, Snapshot snapshot)
{
	return ReadManifest(relid, snapshot, READ_FILES | READ_STORED);
}

Manifest *
ManifestReadSizes(Oid relid, Snapshot snapshot, bool with_stats)
{
	return ReadManifest(relid, snapshot, with_stats ? READ_STATS : 0);
}

void
ManifestAdd(Manifest *manifest, const ManifestWrite *write)
{
	int			spec = ManifestSpecIndex(manifest, write->spec, CurrentMemoryContext);
	int			nfiles = manifest->nfiles + write->nfiles;
	int			nruns = manifest->nruns + write->nruns;
	int64		rows = 0;

	if (manifest->files != NULL)
	{
		manifest->files = repalloc_huge(manifest->files, sizeof(ManifestFile) * Max(nfiles, 1));
		manifest->runs = repalloc_huge(manifest->runs, sizeof(ManifestRun) * Max(nruns, 1));
		for (int i = 0; i < write->nfiles; i++)
		{
			manifest->files[manifest->nfiles + i] = write->files[i];
			manifest->files[manifest->nfiles + i].spec = spec;
		}
		for (int i = 0; i < write->nruns; i++)
		{
			manifest->runs[manifest->nruns + i] = write->runs[i];
			manifest->runs[manifest->nruns + i].file += manifest->nfiles;
		}
	}
	for (int i = 0; i < write->nfiles; i++)
	{
		rows += write->files[i].rows;
		manifest->bytes += write->files[i].bytes;
		manifest->raw_bytes += write->files[i].raw_bytes;
	}
	if (write->column_stats != NULL)
	{
		ManifestStats *stats;
		Size		len = VARSIZE_ANY_EXHDR(write->column_stats);

		/* a table all of whose rows wait has none yet */
		manifest->stats = manifest->stats == NULL ? palloc(sizeof(ManifestStats)) :
			repalloc(manifest->stats, sizeof(ManifestStats) * (manifest->nstats + 1));
		stats = &manifest->stats[manifest->nstats++];
		stats->rows = write->stats_rows;
		stats->len = len;
		stats->data = palloc(Max(len, 1));
		memcpy(stats->data, VARDATA_ANY(write->column_stats), len);
	}
	manifest->rows += rows;
	manifest->nfiles = nfiles;
	manifest->nruns = nruns;
}

void
ManifestKeepFiles(Manifest *manifest, const bool *keep)
{
	int		   *number = palloc_extended(Max(manifest->nfiles, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	int			nfiles = 0;
	int			nruns = 0;

	for (int f = 0; f < manifest->nfiles; f++)
	{
		const ManifestFile *file = &manifest->files[f];

		number[f] = nfiles;
		if (keep[f])
			manifest->files[nfiles++] = *file;
		else
		{
			manifest->rows -= ManifestFileLive(file);
			manifest->deleted -= file->rows - ManifestFileLive(file);
			manifest->bytes -= file->bytes;
			manifest->raw_bytes -= file->raw_bytes;
		}
	}
	for (int r = 0; r < manifest->nruns; r++)
	{
		ManifestRun run = manifest->runs[r];

		if (!keep[run.file])
			continue;
		run.file = number[run.file];
		manifest->runs[nruns++] = run;
	}
	manifest->nfiles = nfiles;
	manifest->nruns = nruns;
	pfree(number);
}

void
ManifestCheckReplaced(Relation rel, uint64 file_id)
{
	if (!IsolationUsesXactSnapshot())
		return;

	/* a parallel query may not take a snapshot; it is hardly ever otherwise */
	if (!IsInParallelMode())
	{
		Manifest   *now = ManifestRead(RelationGetRelid(rel), NULL);

		for (int i = 0; i < now->nfiles; i++)
			if (now->files[i].file_id == file_id)
				return;
		if (InlineIsThere(RelationGetRelid(rel), file_id))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update"),
			 errdetail("The files of bucketed table \"%s\" that the transaction sees were written before its columns were changed.",
					   RelationGetRelationName(rel)),
			 errhint("The transaction might succeed if retried.")));
}

void
ManifestApplyDeletes(Manifest *manifest)
{
	int			run = 0;

	if (manifest->deletes == NULL)
		return;
	manifest->rows += manifest->deleted;
	manifest->deleted = 0;
	for (int f = 0; f < manifest->nfiles; f++)
	{
		ManifestFile *file = &manifest->files[f];
		int			first = run;

		file->deletes = DeletesOfFile(manifest->deletes, file->file_id);
		while (run < manifest->nruns && manifest->runs[run].file == f)
			run++;
		if (file->deletes == NULL)
			continue;
		if (file->deletes->nruns != run - first)
			DeletesMalformed(manifest->relid);
		for (int r = first; r < run; r++)
			manifest->runs[r].deleted = file->deletes->run_deleted[r - first];
		manifest->deleted += file->deletes->rows;
	}
	manifest->rows -= manifest->deleted;
}

int64 *
ManifestCountByRun(const Manifest *manifest, int file, const RowNumbers *rows, int *nruns)
{
	int64	   *counts;
	int64		row = 0;
	int			first = 0;
	int			n = 0;

	while (first < manifest->nruns && manifest->runs[first].file != file)
		first++;
	while (first + n < manifest->nruns && manifest->runs[first + n].file == file)
		n++;
	counts = palloc(Max(n, 1) * sizeof(int64));
	for (int i = 0; i < n; i++)
	{
		int64		end = row + manifest->runs[first + i].rows;

		counts[i] = RowNumbersCountIn(rows, row, end);
		row = end;
	}
	*nruns = n;
	return counts;
}

int64
ManifestNumberRows(Manifest *manifest)
{
	int64		n = 0;

	for (int i = 0; i < manifest->nfiles; i++)
	{
		manifest->files[i].first_number = n;
		n += manifest->files[i].rows;
	}
	return n;
}

int
ManifestFileOfNumber(const Manifest *manifest, int64 number, int64 *row)
{
	int			low = 0;
	int			high = manifest->nfiles - 1;

	while (low < high)
	{
		int			middle = (low + high + 1) / 2;

		if (manifest->files[middle].first_number <= number)
			low = middle;
		else
			high = middle - 1;
	}
	*row = number - manifest->files[low].first_number;
	if (manifest->nfiles == 0 || *row < 0 || *row >= manifest->files[low].rows)
		elog(ERROR, "there is no row number %lld", (long long) number);
	return low;
}

int
ManifestBuckets(const Manifest *manifest)
{
	int			result = 0;

	for (int i = 0; i < manifest->nspecs; i++)
		result = result == 0 ? manifest->specs[i]->nbuckets :
			GreatestCommonDivisor(result, manifest->specs[i]->nbuckets);
	return result;
}

int
ManifestCommonOrder(const Manifest *manifest, const BucketSpec *want)
{
	int			common = want->nsort;

	for (int i = 0; i < manifest->nspecs; i++)
	{
		const BucketSpec *have = manifest->specs[i];
		int			n = 0;

		while (n < common && n < have->nsort &&
			   have->sort[n].attnum == want->sort[n].attnum &&
			   have->sort[n].keyclass == want->sort[n].keyclass &&
			   have->sort[n].flags == want->sort[n].flags)
			n++;
		common = n;
	}
	return common;
}

/* The row of one file; run is the first of its runs.  Returns the first run of the next file. */
static int
InsertFile(Relation manifest, const ManifestWrite *write, int index, int run, Datum *values, CommandId cid)
{
	const ManifestFile *file = &write->files[index];
	const ManifestRun *runs = write->runs + run;
	bool		nulls[Natts_manifest] = {false};
	int			n = 0;
	int32	   *buckets;
	int64	   *rows;
	int64	   *bytes;

	while (run + n < write->nruns && runs[n].file == index)
		n++;
	buckets = palloc_extended(sizeof(int32) * Max(n, 1), MCXT_ALLOC_HUGE);
	rows = palloc_extended(sizeof(int64) * Max(n, 1), MCXT_ALLOC_HUGE);
	bytes = palloc_extended(sizeof(int64) * Max(n, 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < n; i++)
	{
		buckets[i] = runs[i].bucket;
		rows[i] = runs[i].rows;
		bytes[i] = runs[i].bytes;
	}
	values[Anum_manifest_tablespace - 1] = ObjectIdGetDatum(file->locator.tablespace);
	values[Anum_manifest_filenode - 1] = ObjectIdGetDatum(file->locator.number);
	values[Anum_manifest_file_id - 1] = Int64GetDatum((int64) file->file_id);
	values[Anum_manifest_rows - 1] = Int64GetDatum(file->rows);
	values[Anum_manifest_bytes - 1] = Int64GetDatum(file->bytes);
	values[Anum_manifest_raw_bytes - 1] = Int64GetDatum(file->raw_bytes);
	values[Anum_manifest_rewritten - 1] = Int64GetDatum(file->rewritten);
	values[Anum_manifest_first_bucket - 1] = Int32GetDatum(file->first_bucket);
	values[Anum_manifest_last_bucket - 1] = Int32GetDatum(file->last_bucket);
	values[Anum_manifest_run_buckets - 1] = CatalogMakeArray(buckets, n, INT4OID, sizeof(int32));
	values[Anum_manifest_run_rows - 1] = CatalogMakeArray(rows, n, INT8OID, sizeof(int64));
	values[Anum_manifest_run_bytes - 1] = CatalogMakeArray(bytes, n, INT8OID, sizeof(int64));
	nulls[Anum_manifest_stats_rows - 1] = index > 0 || write->column_stats == NULL;
	nulls[Anum_manifest_column_stats - 1] = index > 0 || write->column_stats == NULL;
	CatalogInsert(manifest, values, nulls, Natts_manifest, cid);
	return run + n;
}

void
ManifestInsert(Relation rel, const ManifestWrite *write, CommandId cid)
{
	Oid			relid = RelationGetRelid(rel);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw manifest rows",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext row_cxt = AllocSetContextCreate(cxt, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Datum		values[Natts_manifest] = {0};
	int			run = 0;
	int64		rows = 0;
	Relation	manifest;

	for (int i = 0; i < write->nfiles; i++)
		rows += write->files[i].rows;
	WrittenNote(relid, WRITTEN_FILES, rows);
	values[Anum_manifest_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_manifest_rowtype - 1] = ObjectIdGetDatum(get_rel_type_id(relid));
	values[Anum_manifest_database - 1] = ObjectIdGetDatum(MyDatabaseId);
	values[Anum_manifest_written_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[Anum_manifest_written_by - 1] = ObjectIdGetDatum(GetUserId());
	values[Anum_manifest_spec_version - 1] = Int32GetDatum(SpecVersion(relid, write->spec));
	values[Anum_manifest_format_version - 1] = Int16GetDatum(BF_FORMAT_VERSION);
	values[Anum_manifest_origin - 1] = CharGetDatum(write->origin);
	CatalogSetSpec(write->spec, values, Anum_manifest_hash_version);

	/* they are of the whole write: that spares the planner one set for each file */
	values[Anum_manifest_stats_rows - 1] = Int64GetDatum(write->stats_rows);
	values[Anum_manifest_column_stats - 1] = PointerGetDatum(write->column_stats);

	manifest = table_open(BucketCatalogOid("manifest"), RowExclusiveLock);
	MemoryContextSwitchTo(row_cxt);
	for (int i = 0; i < write->nfiles; i++)
	{
		run = InsertFile(manifest, write, i, run, values, cid);
		MemoryContextReset(row_cxt);
	}
	table_close(manifest, NoLock);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

void
DeadFilesInsert(Oid relid, const Datum *manifest_values)
{
	Relation	rel = table_open(BucketCatalogOid("dead_files"), RowExclusiveLock);
	Datum		values[Natts_dead];
	bool		nulls[Natts_dead] = {false};

	WrittenNote(relid, WRITTEN_GARBAGE, 0);
	values[Anum_dead_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_dead_database - 1] = manifest_values[Anum_manifest_database - 1];
	values[Anum_dead_tablespace - 1] = manifest_values[Anum_manifest_tablespace - 1];
	values[Anum_dead_filenode - 1] = manifest_values[Anum_manifest_filenode - 1];
	values[Anum_dead_file_id - 1] = manifest_values[Anum_manifest_file_id - 1];
	values[Anum_dead_bytes - 1] = manifest_values[Anum_manifest_bytes - 1];
	values[Anum_dead_deleted_xid - 1] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[Anum_dead_deleted_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	CatalogInsert(rel, values, nulls, Natts_dead, GetCurrentCommandId(true));
	table_close(rel, NoLock);
}

FileLocator
DeadFileLocator(const Datum *values)
{
	FileLocator locator;

	locator.tablespace = DatumGetObjectId(values[Anum_dead_tablespace - 1]);
	locator.number = DatumGetObjectId(values[Anum_dead_filenode - 1]);
	return locator;
}

int64
ManifestDelete(Oid relid, bool all, bool drop)
{
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext old;
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];
	int			room = 16;
	int			nids = 0;
	uint64	   *ids = palloc(room * sizeof(uint64));
	int64		found = 0;

	/* rows this command wrote are meant too */
	CommandCounterIncrement();

	CatalogScanBegin(&scan, "manifest", RowExclusiveLock, relid, NULL);
	old = MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_manifest);
		if (!all && DatumGetObjectId(values[Anum_manifest_rowtype - 1]) == rowtype)
			continue;
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
		{
			/* two sessions may adopt a table at the same time */
			if (!all)
				continue;
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("manifest of bucketed table with OID %u was changed concurrently", relid)));
		}
		if (drop)
			(void) StoreDrop(ManifestLocator(values), DatumGetInt64(values[Anum_manifest_file_id - 1]));
		else
			DeadFilesInsert(relid, values);
		found++;
		ids = GrowArray(ids, cxt, &room, nids + 1, sizeof(uint64));
		ids[nids++] = (uint64) DatumGetInt64(values[Anum_manifest_file_id - 1]);
		MemoryContextReset(row_cxt);
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	InlineDelete(relid, all);
	if (all)
		CatalogDeleteRows("delete_vectors", relid);
	else
	{
		qsort(ids, nids, sizeof(uint64), CompareFileIds);
		DeletesRemove(relid, ids, nids);
	}
	CommandCounterIncrement();
	return found;
}

int
ManifestTakeOut(const Manifest *taken, ManifestStats **stats)
{
	Oid			relid = taken->relid;
	uint64	   *file_ids = palloc(Max(taken->nfiles, 1) * sizeof(uint64));
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext row_cxt = AllocSetContextCreate(cxt, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	Oid			rowtype = get_rel_type_id(relid);
	Manifest	found = {0};
	ManifestRoom room = {0};
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];

	for (int i = 0; i < taken->nfiles; i++)
		file_ids[i] = taken->files[i].file_id;
	qsort(file_ids, taken->nfiles, sizeof(uint64), CompareFileIds);
	CatalogScanBegin(&scan, "manifest", RowExclusiveLock, relid, NULL);
	MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		uint64		file_id;

		CatalogDeform(scan.rel, tuple, values, Natts_manifest);
		file_id = DatumGetInt64(values[Anum_manifest_file_id - 1]);
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) == rowtype &&
			bsearch(&file_id, file_ids, taken->nfiles, sizeof(uint64), CompareFileIds) != NULL &&
			CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
		{
			DeadFilesInsert(relid, values);
			ManifestAddStats(&found, &room, values, cxt);
			found.nfiles++;
		}
		MemoryContextReset(row_cxt);
	}
	MemoryContextSwitchTo(cxt);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	if (found.nfiles != taken->nfiles)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("manifest of bucketed table \"%s\" was changed concurrently", get_rel_name(relid))));
	DeletesRemove(relid, file_ids, taken->nfiles);
	CommandCounterIncrement();
	*stats = found.stats;
	return found.nstats;
}

/* With SnapshotSelf: for a serializable transaction it must not count as a read of the table. */
static bool
HasCatalogRow(Oid relid, const char *table)
{
	Oid			rowtype = get_rel_type_id(relid);
	Relation	rel = table_open(BucketCatalogOid(table), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	/* relid and rowtype are the first columns of every table */
	ScanKeyInit(&key, Anum_manifest_relid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, CatalogIndexOid(table), true, SnapshotSelf, 1, &key);
	while (!found && (tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;

		found = DatumGetObjectId(heap_getattr(tuple, Anum_manifest_rowtype, RelationGetDescr(rel),
											  &isnull)) == rowtype;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return found;
}

bool
ManifestHasRows(Oid relid)
{
	return HasCatalogRow(relid, "manifest") ||
		HasCatalogRow(relid, "inline_rows");
}
