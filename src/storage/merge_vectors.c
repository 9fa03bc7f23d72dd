/*
 * merge_vectors.c
 *	  Many delete vectors of a file become one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* memory of the unions that are made before the first is written, about */
#define UNION_BYTES (8 * 1024 * 1024)

/* an inline write has fewer rows: each takes more than a byte */
#define INLINE_ROWS (16 * 1024 * 1024)

/* Vectors of some files, united. */
typedef struct Unions
{
	int			n;
	const FileDeletes **files;
	RowNumbers **rows;
	Size		memory;
} Unions;

int
DeletesMostVectors(const TableDeletes *deletes)
{
	int			most = 0;

	for (int i = 0; deletes != NULL && i < deletes->n; i++)
		most = Max(most, deletes->files[i].nvectors);
	return most;
}

/* Write the unions in place of the vectors. */
static void
WriteUnions(Oid relid, Unions *unions)
{
	uint64	   *sorted = palloc(unions->n * sizeof(uint64));

	for (int i = 0; i < unions->n; i++)
		sorted[i] = unions->files[i]->file_id;
	qsort(sorted, unions->n, sizeof(uint64), CompareFileIds);
	DeletesRemove(relid, sorted, unions->n);
	pfree(sorted);
	for (int i = 0; i < unions->n; i++)
	{
		const FileDeletes *file = unions->files[i];

		DeletesInsert(relid, file->file_id, unions->rows[i], file->run_deleted, file->nruns,
					  GetCurrentCommandId(true));
		RowNumbersFree(unions->rows[i]);
	}
	unions->n = 0;
	unions->memory = 0;
}

/* Unite the vectors of a file of so many rows, if they are many. */
static void
AddUnion(Oid relid, Unions *unions, const FileDeletes *file, int64 nrows)
{
	if (file == NULL || file->nvectors < DELETES_MANY)
		return;
	CHECK_FOR_INTERRUPTS();
	unions->files[unions->n] = file;
	unions->rows[unions->n] = DeletedRows(file, relid, nrows);
	unions->memory += RowNumbersMemory(unions->rows[unions->n++]);
	if (unions->memory > UNION_BYTES)
		WriteUnions(relid, unions);
}

void
DeletesMerge(Oid relid)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	Manifest   *manifest = ManifestRead(relid, snapshot);
	TableDeletes *deletes = manifest->deletes;
	int			nfiles = deletes ? deletes->n : 0;
	Unions		unions = {0};

	unions.files = palloc(Max(nfiles, 1) * sizeof(FileDeletes *));
	unions.rows = palloc(Max(nfiles, 1) * sizeof(RowNumbers *));
	for (int f = 0; f < manifest->nfiles; f++)
		AddUnion(relid, &unions, manifest->files[f].deletes, manifest->files[f].rows);
	for (int i = 0; i < nfiles; i++)
	{
		if (deletes->files[i].nruns == 0)
			AddUnion(relid, &unions, &deletes->files[i], INLINE_ROWS);
	}
	if (unions.n > 0)
		WriteUnions(relid, &unions);
	UnregisterSnapshot(snapshot);
}
