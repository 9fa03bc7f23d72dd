/*
 * manifest_drop.c
 *	  Files none of whose rows is left go without a write.
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
