/*
 * manifest_drop.c
 *	  Files that go without others in their place: none of their rows is left,
 *	  their table is emptied or dropped, or they are given up.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

int
ManifestDropFiles(Oid relid, const uint64 *file_ids, int nfiles)
{
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw manifest row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];
	int			dropped = 0;

	CatalogScanBegin(&scan, "manifest", RowExclusiveLock, relid, NULL);
	old = MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		uint64		file_id;

		MemoryContextReset(row_cxt);
		CatalogDeform(scan.rel, tuple, values, Natts_manifest);
		file_id = (uint64) DatumGetInt64(values[Anum_manifest_file_id - 1]);
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) != rowtype ||
			bsearch(&file_id, file_ids, nfiles, sizeof(uint64), CompareFileIds) == NULL)
			continue;
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			elog(ERROR, "manifest of bucketed table \"%s\" was changed concurrently", get_rel_name(relid));

		/* nobody else has seen a file of this transaction, and readers of it end before it does */
		if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
			(void) StoreDrop(ManifestLocator(values), file_id);
		else
			DeadFilesInsert(relid, values);
		dropped++;
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	DeletesRemove(relid, file_ids, nfiles);
	CommandCounterIncrement();
	return dropped;
}

void
ManifestTruncate(Oid relid)
{
	ManifestDelete(relid, true, false);
}

bool
ManifestForget(Oid relid, const char *path, int64 *rows, int64 *bytes)
{
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];
	uint64		file_id = 0;
	bool		found = false;

	CatalogScanBegin(&scan, "manifest", RowExclusiveLock, relid, NULL);
	while (!found && (tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_manifest);
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) != rowtype ||
			strcmp(StorePath(ManifestLocator(values)), path) != 0)
			continue;
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			elog(ERROR, "manifest row of file \"%s\" was changed concurrently", path);
		*rows = DatumGetInt64(values[Anum_manifest_rows - 1]);
		*bytes = DatumGetInt64(values[Anum_manifest_bytes - 1]);
		(void) StoreDrop(ManifestLocator(values), DatumGetInt64(values[Anum_manifest_file_id - 1]));
		file_id = (uint64) DatumGetInt64(values[Anum_manifest_file_id - 1]);
		found = true;
	}
	CatalogScanEnd(&scan);
	if (found)
		*rows -= DeletesRemove(relid, &file_id, 1);
	CommandCounterIncrement();
	return found;
}

/* Delete the rows about dead files of a relid, and drop these. */
static int64
DeadFilesDelete(Oid relid)
{
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_dead];
	int64		found = 0;

	CatalogScanBegin(&scan, "dead_files", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_dead);
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			continue;
		(void) StoreDrop(DeadFileLocator(values), DatumGetInt64(values[Anum_dead_file_id - 1]));
		found++;
	}
	CatalogScanEnd(&scan);
	CommandCounterIncrement();
	return found;
}

int64
CatalogForgetTable(Oid relid)
{
	int64		files = ManifestDelete(relid, true, true) + DeadFilesDelete(relid);

	CatalogDeleteRows("spec", relid);
	CatalogDeleteRows("upkeep_state", relid);
	CatalogDeleteRows("missing_values", relid);
	return files;
}
