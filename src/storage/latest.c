/*
 * latest.c
 *	  What a table is at the moment, for those who change it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "storage/catalog.h"
#include "storage/delete_vectors.h"
#include "storage/latest.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

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

/* Files of a table, and how many rows of them are deleted. */
typedef struct TableContents
{
	int64		nfiles;
	uint64	   *file_ids;
	TableDeletes *deletes;
} TableContents;

static void
ReadContents(TableContents *contents, Oid relid, Snapshot snapshot)
{
	snapshot = RegisterSnapshot(snapshot);
	contents->file_ids = LatestFileIds(relid, snapshot, &contents->nfiles);
	contents->deletes = DeletesReadUnnoticed(relid, snapshot);
	UnregisterSnapshot(snapshot);
}

/* Rows are only added to what is deleted of a file, so it is enough to count them. */
static bool
SameContents(const TableContents *seen, const TableContents *now)
{
	int			ndeletes = seen->deletes != NULL ? seen->deletes->n : 0;

	if (seen->nfiles != now->nfiles ||
		memcmp(seen->file_ids, now->file_ids, seen->nfiles * sizeof(uint64)) != 0 ||
		ndeletes != (now->deletes != NULL ? now->deletes->n : 0))
		return false;
	for (int i = 0; i < ndeletes; i++)
	{
		if (seen->deletes->files[i].file_id != now->deletes->files[i].file_id ||
			seen->deletes->files[i].rows != now->deletes->files[i].rows)
			return false;
	}
	return true;
}

void
LatestCheckNothingNew(Oid relid)
{
	TableContents seen;
	TableContents now;

	if (!IsolationUsesXactSnapshot())
		return;
	CommandCounterIncrement();
	ReadContents(&seen, relid, GetTransactionSnapshot());
	ReadContents(&now, relid, GetLatestSnapshot());
	if (!SameContents(&seen, &now))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update"),
				 errdetail("Others have written to bucketed table \"%s\" since the transaction's snapshot was taken.",
						   get_rel_name(relid)),
				 errhint("The transaction might succeed if retried.")));
}
