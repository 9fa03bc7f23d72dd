/*
 * manifest.c
 *	  The file manifest: one row a write.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "format/file_format.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/grow.h"
#include "storage/manifest.h"
#include "storage/pending.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* Rows of a copied template database name files of the original. */
static void
WrongDatabase(Oid relid, Oid database)
{
	const char *relname = get_rel_name(relid);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("bucketed table \"%s\" has no files in this database",
					relname ? relname : "?"),
			 errdetail("Its catalog rows were copied with the database from the one with OID %u; files are not copied.",
					   database),
			 errhint("TRUNCATE the table and load it again, or dump the original with pg_dump --include-foreign-data.")));
}

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

/* Sizes of the arrays of a manifest that is being read. */
typedef struct ManifestRoom
{
	int			files;
	int			runs;
	int			stats;
} ManifestRoom;

/* Add the files and runs of one row. */
static void
ManifestAddRow(Manifest *manifest, ManifestRoom *room, const Datum *values, int spec, MemoryContext cxt)
{
	int			n[10];
	const uint64 *ids = CatalogArray(values[Anum_manifest_file_ids - 1], INT8OID, &n[0]);
	const int32 *first = CatalogArray(values[Anum_manifest_file_first - 1], INT4OID, &n[1]);
	const int32 *last = CatalogArray(values[Anum_manifest_file_last - 1], INT4OID, &n[2]);
	const int64 *file_rows = CatalogArray(values[Anum_manifest_file_rows - 1], INT8OID, &n[3]);
	const int64 *file_bytes = CatalogArray(values[Anum_manifest_file_bytes - 1], INT8OID, &n[4]);
	const int32 *run_files = CatalogArray(values[Anum_manifest_run_files - 1], INT4OID, &n[5]);
	const int32 *run_numbers = CatalogArray(values[Anum_manifest_run_numbers - 1], INT4OID, &n[6]);
	const int32 *run_buckets = CatalogArray(values[Anum_manifest_run_buckets - 1], INT4OID, &n[7]);
	const int64 *run_rows = CatalogArray(values[Anum_manifest_run_rows - 1], INT8OID, &n[8]);
	const int64 *run_bytes = CatalogArray(values[Anum_manifest_run_bytes - 1], INT8OID, &n[9]);
	int			nbuckets = manifest->specs[spec]->nbuckets;
	int			first_file = manifest->nfiles;

	for (int i = 1; i < 10; i++)
		if (n[i] != n[i < 5 ? 0 : 5])
			MalformedRow(manifest->relid);

	manifest->files = GrowArray(manifest->files, cxt, &room->files, first_file + n[0], sizeof(ManifestFile));
	manifest->runs = GrowArray(manifest->runs, cxt, &room->runs, manifest->nruns + n[5], sizeof(ManifestRun));

	for (int i = 0; i < n[0]; i++)
	{
		ManifestFile *file = &manifest->files[manifest->nfiles++];

		if (first[i] < 0 || last[i] < first[i] || last[i] >= nbuckets)
			MalformedRow(manifest->relid);
		file->file_id = ids[i];
		file->bytes = file_bytes[i];
		file->rows = file_rows[i];
		file->first_bucket = first[i];
		file->last_bucket = last[i];
		file->spec = spec;
	}
	for (int i = 0; i < n[5]; i++)
	{
		ManifestRun *run = &manifest->runs[manifest->nruns++];

		if (run_files[i] < 0 || run_files[i] >= n[0] ||
			(i > 0 && run_files[i] < run_files[i - 1]) ||
			run_buckets[i] < first[run_files[i]] || run_buckets[i] > last[run_files[i]] ||
			run_numbers[i] < 0)
			MalformedRow(manifest->relid);
		run->bucket = run_buckets[i];
		run->rows = run_rows[i];
		run->bytes = run_bytes[i];
		run->file = first_file + run_files[i];
		run->run = run_numbers[i];
	}

}

/* What a reading of the manifest wants. */
#define READ_FILES	1			/* files and runs, not their numbers alone */
#define READ_STATS	2

/* Keep the column statistics of one row, if it has any: older rows have none. */
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
	stats->rows = DatumGetInt64(values[Anum_manifest_rows - 1]);
	stats->len = VARSIZE_ANY_EXHDR(data);
	stats->data = MemoryContextAlloc(cxt, Max(stats->len, 1));
	memcpy(stats->data, VARDATA_ANY(data), stats->len);
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

	manifest->relid = relid;
	if (wanted & READ_FILES)
	{
		manifest->files = palloc(room.files * sizeof(ManifestFile));
		manifest->runs = palloc(room.runs * sizeof(ManifestRun));
	}
	manifest->stats = palloc(room.stats * sizeof(ManifestStats));

	CatalogScanBegin(&scan, "manifest", AccessShareLock, relid, snapshot);
	MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		Oid			database;
		int			format;
		int			spec;

		CatalogDeform(scan.rel, tuple, values, Natts_manifest);

		/* left by an older table that had this oid */
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) != rowtype)
			continue;

		database = DatumGetObjectId(values[Anum_manifest_database - 1]);
		if (database != MyDatabaseId)
			WrongDatabase(relid, database);
		format = DatumGetInt16(values[Anum_manifest_format_version - 1]);
		if (format > BF_FORMAT_VERSION)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("bucketed table \"%s\" has files of format version %d",
							get_rel_name(relid), format),
					 errdetail("This library reads versions up to %d.", BF_FORMAT_VERSION),
					 errhint("Install the newer version of bucketfdw.")));

		spec = ManifestSpecIndex(manifest, CatalogGetSpec(values, Anum_manifest_hash_version), cxt);
		if (wanted & READ_FILES)
			ManifestAddRow(manifest, &room, values, spec, cxt);
		else
		{
			manifest->nfiles += CatalogArrayLength(values[Anum_manifest_file_ids - 1]);
			manifest->nruns += CatalogArrayLength(values[Anum_manifest_run_files - 1]);
		}
		manifest->nwrites++;
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
	}
	if (write->column_stats != NULL)
	{
		ManifestStats *stats;
		Size		len = VARSIZE_ANY_EXHDR(write->column_stats);

		/* a table all of whose rows wait has none yet */
		manifest->stats = manifest->stats == NULL ? palloc(sizeof(ManifestStats)) :
			repalloc(manifest->stats, sizeof(ManifestStats) * (manifest->nstats + 1));
		stats = &manifest->stats[manifest->nstats++];
		stats->rows = rows;
		stats->len = len;
		stats->data = palloc(Max(len, 1));
		memcpy(stats->data, VARDATA_ANY(write->column_stats), len);
	}
	manifest->rows += rows;
	manifest->raw_bytes += write->raw_bytes;
	manifest->nwrites++;
	manifest->nfiles = nfiles;
	manifest->nruns = nruns;
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
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update"),
			 errdetail("The files of bucketed table \"%s\" that the transaction sees were written before its columns were changed.",
					   RelationGetRelationName(rel)),
			 errhint("The transaction might succeed if retried.")));
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

void
ManifestInsert(Relation rel, const ManifestWrite *write, CommandId cid)
{
	Oid			relid = RelationGetRelid(rel);
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_cxt);
	Datum		values[Natts_manifest];
	bool		nulls[Natts_manifest] = {false};
	int			nlongs = Max(Max(write->nfiles, write->nruns), 1);
	int64	   *longs = palloc_extended(sizeof(int64) * nlongs, MCXT_ALLOC_HUGE);
	int32	   *ints = palloc_extended(sizeof(int32) * nlongs, MCXT_ALLOC_HUGE);
	int64		rows = 0;
	int64		bytes = 0;
	int			version = SpecRecord(relid, write->spec);
	Relation	manifest;

#define FILE_ARRAY(attnum, buffer, elemtype, field) \
	do { \
		for (int i = 0; i < write->nfiles; i++) \
			buffer[i] = write->files[i].field; \
		values[attnum - 1] = CatalogMakeArray(buffer, write->nfiles, elemtype, sizeof(*buffer)); \
	} while (0)
#define RUN_ARRAY(attnum, buffer, elemtype, field) \
	do { \
		for (int i = 0; i < write->nruns; i++) \
			buffer[i] = write->runs[i].field; \
		values[attnum - 1] = CatalogMakeArray(buffer, write->nruns, elemtype, sizeof(*buffer)); \
	} while (0)

	FILE_ARRAY(Anum_manifest_file_ids, longs, INT8OID, file_id);
	FILE_ARRAY(Anum_manifest_file_first, ints, INT4OID, first_bucket);
	FILE_ARRAY(Anum_manifest_file_last, ints, INT4OID, last_bucket);
	FILE_ARRAY(Anum_manifest_file_rows, longs, INT8OID, rows);
	FILE_ARRAY(Anum_manifest_file_bytes, longs, INT8OID, bytes);
	RUN_ARRAY(Anum_manifest_run_files, ints, INT4OID, file);
	RUN_ARRAY(Anum_manifest_run_numbers, ints, INT4OID, run);
	RUN_ARRAY(Anum_manifest_run_buckets, ints, INT4OID, bucket);
	RUN_ARRAY(Anum_manifest_run_rows, longs, INT8OID, rows);
	RUN_ARRAY(Anum_manifest_run_bytes, longs, INT8OID, bytes);
#undef FILE_ARRAY
#undef RUN_ARRAY

	for (int i = 0; i < write->nfiles; i++)
	{
		rows += write->files[i].rows;
		bytes += write->files[i].bytes;
	}

	values[Anum_manifest_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_manifest_rowtype - 1] = ObjectIdGetDatum(get_rel_type_id(relid));
	values[Anum_manifest_database - 1] = ObjectIdGetDatum(MyDatabaseId);
	values[Anum_manifest_spec_version - 1] = Int32GetDatum(version);
	values[Anum_manifest_format_version - 1] = Int16GetDatum(BF_FORMAT_VERSION);
	CatalogSetSpec(write->spec, values, Anum_manifest_hash_version);
	values[Anum_manifest_logged - 1] = BoolGetDatum(false);
	values[Anum_manifest_written_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[Anum_manifest_rows - 1] = Int64GetDatum(rows);
	values[Anum_manifest_bytes - 1] = Int64GetDatum(bytes);
	values[Anum_manifest_raw_bytes - 1] = Int64GetDatum(write->raw_bytes);
	values[Anum_manifest_column_stats - 1] = PointerGetDatum(write->column_stats);

	manifest = table_open(BucketCatalogOid("manifest"), RowExclusiveLock);
	CatalogInsert(manifest, values, nulls, Natts_manifest, cid);
	table_close(manifest, NoLock);
	PendingNoteWrite();

	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_cxt);
}

/* Record the files of a deleted manifest row as dead. */
static void
DeadFilesInsert(Oid relid, const Datum *manifest_values)
{
	Relation	rel = table_open(BucketCatalogOid("dead_files"), RowExclusiveLock);
	Datum		values[Natts_dead];
	bool		nulls[Natts_dead] = {false};

	values[Anum_dead_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_dead_database - 1] = ObjectIdGetDatum(MyDatabaseId);
	values[Anum_dead_deleted_xid - 1] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[Anum_dead_deleted_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[Anum_dead_file_ids - 1] = manifest_values[Anum_manifest_file_ids - 1];
	values[Anum_dead_file_first - 1] = manifest_values[Anum_manifest_file_first - 1];
	values[Anum_dead_file_bytes - 1] = manifest_values[Anum_manifest_file_bytes - 1];
	CatalogInsert(rel, values, nulls, Natts_dead, GetCurrentCommandId(true));
	table_close(rel, NoLock);
}

void
ManifestDelete(Oid relid, bool all, bool unlinked)
{
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];
	bool		found = false;

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

		/* never touch the files of the database this one was copied from */
		if (!unlinked && DatumGetObjectId(values[Anum_manifest_database - 1]) == MyDatabaseId)
			DeadFilesInsert(relid, values);
		found = true;
		MemoryContextReset(row_cxt);
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);

	if (found)
	{
		/*
		 * Files are unlinked on the strength of this commit; were it lost in
		 * a crash, the rows would come back without their files.
		 */
		ForceSyncCommit();
		PendingNoteWrite();
	}
	CommandCounterIncrement();
}

void
ManifestTruncate(Oid relid)
{
	ManifestDelete(relid, true, false);
}

void
DeadFilesDelete(Oid relid)
{
	CatalogScan scan;
	HeapTuple	tuple;

	CatalogScanBegin(&scan, "dead_files", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
		CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot);
	CatalogScanEnd(&scan);
	CommandCounterIncrement();
}

/*
 * The database that the first row of a table names; InvalidOid: there is no
 * row.  With SnapshotSelf: a writer asks, which for a serializable transaction
 * must not count as a read of the table.
 */
static Oid
FirstRowDatabase(Oid relid)
{
	Oid			rowtype = get_rel_type_id(relid);
	Relation	rel = table_open(BucketCatalogOid("manifest"), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			database = InvalidOid;

	ScanKeyInit(&key, Anum_manifest_relid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, BucketCatalogOid("manifest_relid_idx"), true, SnapshotSelf, 1, &key);
	while (!OidIsValid(database) && (tuple = systable_getnext(scan)) != NULL)
	{
		TupleDesc	desc = RelationGetDescr(rel);
		bool		isnull;

		/* not null, both */
		if (DatumGetObjectId(heap_getattr(tuple, Anum_manifest_rowtype, desc, &isnull)) == rowtype)
			database = DatumGetObjectId(heap_getattr(tuple, Anum_manifest_database, desc, &isnull));
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return database;
}

bool
ManifestHasFiles(Oid relid)
{
	return OidIsValid(FirstRowDatabase(relid));
}

Oid
ManifestOtherDatabase(Oid relid)
{
	Oid			database = FirstRowDatabase(relid);

	return database == MyDatabaseId ? InvalidOid : database;
}

void
ManifestCheckDatabase(Oid relid)
{
	Oid			database = ManifestOtherDatabase(relid);

	if (OidIsValid(database))
		WrongDatabase(relid, database);
}
