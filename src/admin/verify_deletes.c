/*
 * verify_deletes.c
 *	  bucketfdw.verify: delete vectors.
 *
 * A vector is of a file, or of an inline write, that is there; it has as many
 * rows as it says, all of them rows of the file, as many of each run as it says,
 * and none that another vector has.  Readers of a table would raise an error,
 * or count wrongly, where that is not so.
 */
#include "postgres.h"

#include "admin/verify_deletes.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/inline_catalog.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* A row of bucketfdw.delete_vectors. */
typedef struct Vector
{
	uint64		file_id;		/* first, as CompareFileIds wants it */
	int64		rows;
	Datum		run_deleted;	/* perhaps toasted, as the next */
	Datum		data;
} Vector;

/* What a vector is of. */
typedef struct Target
{
	const char *path;
	int64		rows;
	int			nruns;			/* 0: an inline write */
	const ManifestRun *runs;
} Target;

typedef struct VerifyDeletesState
{
	const Manifest *manifest;
	Snapshot	snapshot;
	DeletesDefect defect;
	void	   *arg;
} VerifyDeletesState;

static void
Report(const VerifyDeletesState *state, const Target *target, int bucket, char *detail)
{
	state->defect(state->arg, target->path, bucket, detail);
}

/* The vectors of a table by file; *n of them. */
static Vector *
ReadVectors(Oid relid, Snapshot snapshot, int *n)
{
	MemoryContext cxt = CurrentMemoryContext;
	Vector	   *vectors = NULL;
	int			room = 0;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_delete];

	*n = 0;
	CatalogScanBegin(&scan, "delete_vectors", AccessShareLock, relid, snapshot);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		Vector	   *vector;

		CatalogDeform(scan.rel, tuple, values, Natts_delete);
		vectors = GrowArray(vectors, cxt, &room, *n + 1, sizeof(Vector));
		vector = &vectors[(*n)++];
		vector->file_id = (uint64) DatumGetInt64(values[Anum_delete_file_id - 1]);
		vector->rows = DatumGetInt64(values[Anum_delete_deleted_rows - 1]);
		vector->run_deleted = datumCopy(values[Anum_delete_run_deleted - 1], false, -1);
		vector->data = datumCopy(values[Anum_delete_data - 1], false, -1);
	}
	CatalogScanEnd(&scan);
	if (*n > 0)
		qsort(vectors, *n, sizeof(Vector), CompareFileIds);
	return vectors;
}

/* The file, or inline write, with an id; false: there is none. */
static bool
FindTarget(const VerifyDeletesState *state, uint64 file_id, Target *target)
{
	const Manifest *manifest = state->manifest;
	Oid			rowtype = get_rel_type_id(manifest->relid);
	bool		found = false;
	CatalogScan scan;
	Datum		values[Natts_inline];

	memset(target, 0, sizeof(Target));
	target->path = "bucketfdw.delete_vectors";
	for (int f = 0, run = 0; f < manifest->nfiles; f++)
	{
		int			first = run;

		while (run < manifest->nruns && manifest->runs[run].file == f)
			run++;
		if (manifest->files[f].file_id != file_id)
			continue;
		target->path = StorePath(manifest->files[f].locator);
		target->rows = manifest->files[f].rows;
		target->runs = manifest->runs + first;
		target->nruns = run - first;
		return true;
	}
	CatalogScanBegin(&scan, "inline_rows", AccessShareLock, manifest->relid, state->snapshot);
	while (!found && InlineScanNext(&scan, rowtype, values) != NULL)
	{
		found = (uint64) DatumGetInt64(values[Anum_inline_file_id - 1]) == file_id;
		target->rows = DatumGetInt64(values[Anum_inline_rows - 1]);
	}
	CatalogScanEnd(&scan);
	if (found)
		target->path = "bucketfdw.inline_rows";
	return found;
}

/* Compare the counts of a vector by run with its rows. */
static void
VerifyRunCounts(const VerifyDeletesState *state, const Vector *vector, const Target *target, const RowNumbers *rows)
{
	int			n;
	const int64 *run_deleted = CatalogArray(vector->run_deleted, INT8OID, &n);
	int64		first = 0;

	if (n != target->nruns)
	{
		Report(state, target, -1,
			   psprintf("a delete vector counts rows of %d runs, the file has %d", n, target->nruns));
		return;
	}
	for (int r = 0; r < n; r++)
	{
		const ManifestRun *run = &target->runs[r];
		int64		has = RowNumbersCountIn(rows, first, first + run->rows);

		if (has != run_deleted[r])
			Report(state, target, run->bucket,
				   psprintf("a delete vector has %lld rows of run %d, and says %lld", (long long) has, r,
							(long long) run_deleted[r]));
		first += run->rows;
	}
}

static void
VerifyVector(const VerifyDeletesState *state, const Vector *vector, const Target *target, RowNumbers *all)
{
	bytea	   *data = DatumGetByteaPP(vector->data);
	RowNumbers *rows = RowNumbersCreate();
	int64		twice;

	if (!RowNumbersRead(rows, VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data), target->rows))
	{
		Report(state, target, -1, psprintf("a delete vector is malformed, or has others than the %lld rows that are there",
										   (long long) target->rows));
		return;
	}
	if (RowNumbersCount(rows) != vector->rows)
		Report(state, target, -1, psprintf("a delete vector has %lld rows, and says %lld",
										   (long long) RowNumbersCount(rows), (long long) vector->rows));
	VerifyRunCounts(state, vector, target, rows);
	twice = RowNumbersUnion(all, rows);
	if (twice > 0)
		Report(state, target, -1, psprintf("%lld rows are deleted twice", (long long) twice));
}

void
VerifyDeletes(const Manifest *manifest, Snapshot snapshot, DeletesDefect defect, void *arg)
{
	const VerifyDeletesState state = {manifest, snapshot, defect, arg};
	int			n;
	Vector	   *vectors = ReadVectors(manifest->relid, snapshot, &n);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw verify deletes",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);

	for (int from = 0, to; from < n; from = to)
	{
		uint64		file_id = vectors[from].file_id;
		Target		target;
		bool		found = FindTarget(&state, file_id, &target);
		RowNumbers *all = RowNumbersCreate();

		for (to = from; to < n && vectors[to].file_id == file_id; to++)
		{
			CHECK_FOR_INTERRUPTS();
			if (found)
				VerifyVector(&state, &vectors[to], &target, all);
		}
		if (!found)
			Report(&state, &target, -1, psprintf("rows are deleted of a file with id %lld, which is not there",
												 (long long) file_id));
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}
