/*
 * move.c
 *	  Files of a table moved to another tablespace.
 *
 * A file is copied, with its id; the row that names it is deleted and written
 * anew with all that it says.  Older snapshots go on reading the old file,
 * which is dead.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/latest.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Move the file that a row of the manifest names. */
static void
MoveFile(Relation rel, CatalogScan *scan, HeapTuple tuple, Datum *values, Oid tablespace)
{
	Oid			relid = RelationGetRelid(rel);
	ManifestFile file = {0};
	bool		nulls[Natts_manifest] = {false};

	file.file_id = DatumGetInt64(values[Anum_manifest_file_id - 1]);
	file.locator = ManifestLocator(values);
	file.database = DatumGetObjectId(values[Anum_manifest_database - 1]);
	file.bytes = DatumGetInt64(values[Anum_manifest_bytes - 1]);
	file.locator = StoreCopy(relid, RelationGetRelationName(rel), &file, tablespace);

	/* with the lock that the caller has, nobody else does */
	if (!CatalogDelete(scan->rel, &tuple->t_self, scan->snapshot))
		elog(ERROR, "manifest of bucketed table \"%s\" was changed concurrently", RelationGetRelationName(rel));
	DeadFilesInsert(relid, values);

	values[Anum_manifest_database - 1] = ObjectIdGetDatum(MyDatabaseId);
	values[Anum_manifest_tablespace - 1] = ObjectIdGetDatum(file.locator.tablespace);
	values[Anum_manifest_filenode - 1] = ObjectIdGetDatum(file.locator.number);
	nulls[Anum_manifest_stats_rows - 1] = values[Anum_manifest_stats_rows - 1] == (Datum) 0;
	nulls[Anum_manifest_column_stats - 1] = values[Anum_manifest_column_stats - 1] == (Datum) 0;
	CatalogInsert(scan->rel, values, nulls, Natts_manifest, GetCurrentCommandId(true));
}

void
ManifestMove(Relation rel, Oid tablespace)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			rowtype = get_rel_type_id(relid);
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw moved file",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];

	/* the snapshot that the transaction keeps would see what it must not in rows that are its own */
	LatestCheckNothingNew(relid);

	/* rows this command wrote are meant too */
	CommandCounterIncrement();

	CatalogScanBegin(&scan, "manifest", RowExclusiveLock, relid, NULL);
	old = MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_manifest);
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) == rowtype &&
			DatumGetObjectId(values[Anum_manifest_tablespace - 1]) != tablespace)
			MoveFile(rel, &scan, tuple, values, tablespace);
		MemoryContextReset(row_cxt);
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	CommandCounterIncrement();
}
