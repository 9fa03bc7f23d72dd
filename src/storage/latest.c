/*
 * latest.c
 *	  The files of a table at the moment, for those who change it.
 */
#include "postgres.h"

#include "storage/catalog.h"
#include "storage/latest.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

typedef struct IdArray
{
	int64		n;
	int64		room;
	uint64	   *ids;
} IdArray;

/* Add the ids in a column of one catalog table. */
static void
AddIds(IdArray *array, const char *table, int id_column, Oid relid, Snapshot snapshot)
{
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[BF_CATALOG_COLUMNS];

	CatalogScanBeginUnnoticed(&scan, table, relid, snapshot);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, id_column);

		/* others were left by an older table that had this oid; all tables begin with the same two columns */
		if (DatumGetObjectId(values[Anum_manifest_rowtype - 1]) != rowtype)
			continue;
		if (array->n == array->room)
		{
			array->room *= 2;
			array->ids = repalloc_huge(array->ids, array->room * sizeof(uint64));
		}
		array->ids[array->n++] = (uint64) DatumGetInt64(values[id_column - 1]);
	}
	CatalogScanEnd(&scan);
}

uint64 *
LatestFileIds(Oid relid, Snapshot snapshot, int64 *n)
{
	IdArray		array = {.room = 64, .ids = palloc(64 * sizeof(uint64))};

	AddIds(&array, "manifest", Anum_manifest_file_id, relid, snapshot);
	AddIds(&array, "inline_rows", Anum_inline_file_id, relid, snapshot);
	qsort(array.ids, array.n, sizeof(uint64), CompareFileIds);
	*n = array.n;
	return array.ids;
}
