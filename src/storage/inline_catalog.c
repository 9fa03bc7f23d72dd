/*
 * inline_catalog.c
 *	  Writes that are too small for a file: rows of bucketfdw.inline_rows.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/delete_vectors.h"
#include "storage/inline_catalog.h"
#include "storage/manifest.h"
#include "storage/written.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

HeapTuple
InlineScanNext(CatalogScan *scan, Oid rowtype, Datum *values)
{
	HeapTuple	tuple;

	while ((tuple = CatalogScanNext(scan)) != NULL)
	{
		CatalogDeform(scan->rel, tuple, values, Natts_inline);

		/* others were left by an older table that had this oid */
		if (DatumGetObjectId(values[Anum_inline_rowtype - 1]) == rowtype)
			break;
	}
	return tuple;
}

void
InlineCount(Oid relid, Snapshot snapshot, InlineCounts *counts)
{
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	Datum		values[Natts_inline];

	memset(counts, 0, sizeof(*counts));
	CatalogScanBegin(&scan, "inline_rows", AccessShareLock, relid, snapshot);
	while (InlineScanNext(&scan, rowtype, values) != NULL)
	{
		counts->writes++;
		counts->rows += DatumGetInt64(values[Anum_inline_rows - 1]);
		counts->last_write = Max(counts->last_write, DatumGetTimestampTz(values[Anum_inline_written_at - 1]));
		counts->bytes += toast_raw_datum_size(values[Anum_inline_data - 1]) - VARHDRSZ;
	}
	CatalogScanEnd(&scan);
	if (counts->rows > 0)
		counts->deleted = DeletesCount(relid, snapshot, true);
	counts->rows -= counts->deleted;
}

uint64 *
InlineIds(Oid relid, Snapshot snapshot, int64 *n)
{
	Oid			rowtype = get_rel_type_id(relid);
	int64		room = 64;
	uint64	   *ids = palloc(room * sizeof(uint64));
	CatalogScan scan;
	Datum		values[Natts_inline];

	*n = 0;
	CatalogScanBegin(&scan, "inline_rows", AccessShareLock, relid, snapshot);
	while (InlineScanNext(&scan, rowtype, values) != NULL)
	{
		if (*n == room)
		{
			room *= 2;
			ids = repalloc_huge(ids, room * sizeof(uint64));
		}
		ids[(*n)++] = (uint64) DatumGetInt64(values[Anum_inline_file_id - 1]);
	}
	CatalogScanEnd(&scan);
	qsort(ids, *n, sizeof(uint64), CompareFileIds);
	return ids;
}

bool
InlineIsThere(Oid relid, uint64 id)
{
	int64		n;
	uint64	   *ids = InlineIds(relid, NULL, &n);

	return bsearch(&id, ids, n, sizeof(uint64), CompareFileIds) != NULL;
}

bool
InlineDeleteEmpty(Oid relid, uint64 id, int64 deleted)
{
	Oid			rowtype = get_rel_type_id(relid);
	bool		empty = false;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_inline];

	CatalogScanBegin(&scan, "inline_rows", RowExclusiveLock, relid, NULL);
	while (!empty && (tuple = InlineScanNext(&scan, rowtype, values)) != NULL)
	{
		if ((uint64) DatumGetInt64(values[Anum_inline_file_id - 1]) != id)
			continue;
		if (DatumGetInt64(values[Anum_inline_rows - 1]) != deleted)
			break;
		empty = CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot);
	}
	CatalogScanEnd(&scan);
	return empty;
}

void
InlineInsert(Oid relid, int64 rows, const char *data, Size len, CommandId cid)
{
	Relation	rel = table_open(BucketCatalogOid("inline_rows"), RowExclusiveLock);
	Datum		values[Natts_inline];
	bool		nulls[Natts_inline] = {false};
	bytea	   *value = palloc(VARHDRSZ + len);
	int64		file_id;

	WrittenNote(relid, WRITTEN_INLINE, rows);
	SET_VARSIZE(value, VARHDRSZ + len);
	memcpy(VARDATA(value), data, len);
	if (!pg_strong_random(&file_id, sizeof(file_id)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random file name")));
	values[Anum_inline_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_inline_rowtype - 1] = ObjectIdGetDatum(get_rel_type_id(relid));
	values[Anum_inline_file_id - 1] = Int64GetDatum(file_id);
	values[Anum_inline_rows - 1] = Int64GetDatum(rows);
	values[Anum_inline_written_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[Anum_inline_data - 1] = PointerGetDatum(value);
	CatalogInsert(rel, values, nulls, Natts_inline, cid);
	table_close(rel, NoLock);
	pfree(value);
}

void
InlineDelete(Oid relid, bool all)
{
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;

	CatalogScanBegin(&scan, "inline_rows", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		Datum		values[Natts_inline];

		CatalogDeform(scan.rel, tuple, values, Natts_inline);
		if (!all && DatumGetObjectId(values[Anum_inline_rowtype - 1]) == rowtype)
			continue;
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot) && all)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("manifest of bucketed table with OID %u was changed concurrently", relid)));
	}
	CatalogScanEnd(&scan);
}
