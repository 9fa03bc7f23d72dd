/*
 * delete_vectors.c
 *	  Rows of files that are deleted.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "storage/catalog.h"
#include "storage/delete_vectors.h"
#include "storage/grow.h"
#include "storage/manifest.h"
#include "storage/written.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static int
CompareDeletes(const void *a, const void *b)
{
	return CompareFileIds(&((const FileDeletes *) a)->file_id, &((const FileDeletes *) b)->file_id);
}

void
DeletesMalformed(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("malformed delete vector of bucketed table \"%s\"", get_rel_name(relid)),
			 errhint("Run bucketfdw.verify('%s') to see what is damaged.", get_rel_name(relid))));
}

/* Add the counts of one vector to those of its file. */
static void
AddCounts(FileDeletes *file, const Datum *values, Oid relid)
{
	int			nruns;
	const int64 *run_deleted = CatalogArray(values[Anum_delete_run_deleted - 1], INT8OID, &nruns);

	if (file->nvectors == 0)
	{
		file->nruns = nruns;
		file->run_deleted = palloc0(Max(nruns, 1) * sizeof(int64));
	}
	if (nruns != file->nruns)
		DeletesMalformed(relid);
	for (int i = 0; i < nruns; i++)
		file->run_deleted[i] += run_deleted[i];
	file->rows += DatumGetInt64(values[Anum_delete_deleted_rows - 1]);
	file->nvectors++;
}

/* Vectors of one file become one element; they are sorted by file. */
static void
MergeFiles(TableDeletes *deletes, Oid relid)
{
	int			n = 0;

	for (int i = 1; i < deletes->n; i++)
	{
		FileDeletes *into = &deletes->files[n];
		FileDeletes *file = &deletes->files[i];

		if (file->file_id != into->file_id)
		{
			deletes->files[++n] = *file;
			continue;
		}
		if (file->nruns != into->nruns)
			DeletesMalformed(relid);
		for (int r = 0; r < file->nruns; r++)
			into->run_deleted[r] += file->run_deleted[r];
		into->rows += file->rows;
		into->nvectors += file->nvectors;
		into->vectors = list_concat(into->vectors, file->vectors);
	}
	deletes->n = n + 1;
}

static TableDeletes *
ReadDeletes(Oid relid, Snapshot snapshot, bool unnoticed)
{
	MemoryContext cxt = CurrentMemoryContext;
	TableDeletes *deletes = NULL;
	int			room = 16;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_delete];

	if (unnoticed)
		CatalogScanBeginUnnoticed(&scan, "delete_vectors", relid, snapshot);
	else
		CatalogScanBegin(&scan, "delete_vectors", AccessShareLock, relid, snapshot);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		FileDeletes *file;

		if (deletes == NULL)
		{
			deletes = palloc0(sizeof(TableDeletes));
			deletes->files = palloc(room * sizeof(FileDeletes));
		}
		CatalogDeform(scan.rel, tuple, values, Natts_delete);
		deletes->files = GrowArray(deletes->files, cxt, &room, deletes->n + 1, sizeof(FileDeletes));
		file = &deletes->files[deletes->n++];
		memset(file, 0, sizeof(FileDeletes));
		file->file_id = (uint64) DatumGetInt64(values[Anum_delete_file_id - 1]);
		AddCounts(file, values, relid);
		file->vectors = list_make1(DatumGetPointer(datumCopy(values[Anum_delete_data - 1], false, -1)));
		deletes->rows += file->rows;
	}
	CatalogScanEnd(&scan);
	if (deletes != NULL)
	{
		qsort(deletes->files, deletes->n, sizeof(FileDeletes), CompareDeletes);
		MergeFiles(deletes, relid);
	}
	return deletes;
}

TableDeletes *
DeletesRead(Oid relid, Snapshot snapshot)
{
	return ReadDeletes(relid, snapshot, false);
}

TableDeletes *
DeletesReadUnnoticed(Oid relid, Snapshot snapshot)
{
	return ReadDeletes(relid, snapshot, true);
}

int64
DeletesCount(Oid relid, Snapshot snapshot, bool inlined)
{
	int64		rows = 0;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_delete];

	CatalogScanBegin(&scan, "delete_vectors", AccessShareLock, relid, snapshot);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_delete);
		if ((CatalogArrayLength(values[Anum_delete_run_deleted - 1]) == 0) == inlined)
			rows += DatumGetInt64(values[Anum_delete_deleted_rows - 1]);
	}
	CatalogScanEnd(&scan);
	return rows;
}

/* A set as it stands in the catalog. */
static bytea *
VectorData(const RowNumbers *rows)
{
	ByteBuffer	out;
	bytea	   *data;

	ByteBufferInit(&out, CurrentMemoryContext);
	RowNumbersWrite(rows, &out);
	data = palloc(VARHDRSZ + out.len);
	SET_VARSIZE(data, VARHDRSZ + out.len);
	memcpy(VARDATA(data), out.data, out.len);
	ByteBufferFree(&out);
	return data;
}

TableDeletes *
DeletesAdd(TableDeletes *deletes, uint64 file_id, const RowNumbers *rows, const int64 *run_deleted, int nruns)
{
	FileDeletes *file = DeletesOfFile(deletes, file_id);

	if (deletes == NULL)
		deletes = palloc0(sizeof(TableDeletes));
	if (file == NULL)
	{
		int			at = 0;

		deletes->files = deletes->files == NULL ? palloc(sizeof(FileDeletes)) :
			repalloc(deletes->files, (deletes->n + 1) * sizeof(FileDeletes));
		while (at < deletes->n && deletes->files[at].file_id < file_id)
			at++;
		file = &deletes->files[at];
		memmove(file + 1, file, (deletes->n++ - at) * sizeof(FileDeletes));
		memset(file, 0, sizeof(FileDeletes));
		file->file_id = file_id;
		file->nruns = nruns;
		file->run_deleted = palloc0(Max(nruns, 1) * sizeof(int64));
	}
	Assert(file->nruns == nruns);
	for (int i = 0; i < nruns; i++)
		file->run_deleted[i] += run_deleted[i];
	file->rows += RowNumbersCount(rows);
	file->nvectors++;
	file->vectors = lappend(file->vectors, VectorData(rows));
	deletes->rows += RowNumbersCount(rows);
	return deletes;
}

FileDeletes *
DeletesOfFile(const TableDeletes *deletes, uint64 file_id)
{
	FileDeletes key = {.file_id = file_id};

	if (deletes == NULL)
		return NULL;
	return bsearch(&key, deletes->files, deletes->n, sizeof(FileDeletes), CompareDeletes);
}

RowNumbers *
DeletedRows(const FileDeletes *deletes, Oid relid, int64 nrows)
{
	RowNumbers *rows = RowNumbersCreate();
	ListCell   *lc;

	foreach(lc, deletes->vectors)
	{
		bytea	   *data = PG_DETOAST_DATUM_PACKED(PointerGetDatum(lfirst(lc)));

		CHECK_FOR_INTERRUPTS();
		if (!RowNumbersRead(rows, VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data), nrows))
			DeletesMalformed(relid);
		if ((void *) data != lfirst(lc))
			pfree(data);
	}
	/* each row is deleted once */
	if (RowNumbersCount(rows) != deletes->rows)
		DeletesMalformed(relid);
	return rows;
}

void
DeletesInsert(Oid relid, uint64 file_id, const RowNumbers *rows, const int64 *run_deleted, int nruns, CommandId cid)
{
	Relation	rel = table_open(BucketCatalogOid("delete_vectors"), RowExclusiveLock);
	Datum		values[Natts_delete];
	bool		nulls[Natts_delete] = {false};
	bytea	   *data = VectorData(rows);

	WrittenNote(relid, WRITTEN_DELETES, RowNumbersCount(rows));
	values[Anum_delete_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_delete_file_id - 1] = Int64GetDatum((int64) file_id);
	values[Anum_delete_deleted_rows - 1] = Int64GetDatum(RowNumbersCount(rows));
	values[Anum_delete_run_deleted - 1] = CatalogMakeArray(run_deleted, nruns, INT8OID, sizeof(int64));
	values[Anum_delete_data - 1] = PointerGetDatum(data);
	CatalogInsert(rel, values, nulls, Natts_delete, cid);
	table_close(rel, NoLock);
	pfree(data);
}

int64
DeletesRemove(Oid relid, const uint64 *file_ids, int nfiles)
{
	int64		rows = 0;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_delete];

	CatalogScanBegin(&scan, "delete_vectors", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		uint64		file_id;

		CatalogDeform(scan.rel, tuple, values, Natts_delete);
		file_id = (uint64) DatumGetInt64(values[Anum_delete_file_id - 1]);
		if (bsearch(&file_id, file_ids, nfiles, sizeof(uint64), CompareFileIds) == NULL)
			continue;
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			elog(ERROR, "delete vectors of bucketed table \"%s\" were changed concurrently", get_rel_name(relid));
		rows += DatumGetInt64(values[Anum_delete_deleted_rows - 1]);
	}
	CatalogScanEnd(&scan);
	return rows;
}
