/*
 * verify.c
 *	  bucketfdw.verify: look for defects in the files of bucketed tables.
 *
 * Whatever a file holds, the answer is rows, not an error: damage that the
 * reader reports is caught file by file and block by block.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "admin/open_checked.h"
#include "admin/query_text.h"
#include "admin/verify_deletes.h"
#include "compat.h"
#include "format/read/reader.h"
#include "funcapi.h"
#include "load/inline_rows.h"
#include "miscadmin.h"
#include "storage/damaged.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "upkeep/replace.h"
#include "upkeep/steps.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(bucketfdw_verify);

PGDLLEXPORT Datum bucketfdw_verify(PG_FUNCTION_ARGS);

/* Where defects go, and the file and block they are looked for in. */
typedef struct VerifyState
{
	FunctionCallInfo fcinfo;
	Relation	rel;
	Manifest   *manifest;
	const char *path;
	const char *relname;		/* to be named in each defect, or NULL: the caller named it */
	MemoryContext file_cxt;		/* reset after each file */
	MemoryContext block_cxt;	/* reset after each block */
	const ManifestFile *want;
	FileReader *reader;
	const FileRun *run;
	int			block;
	ColumnVector *keys[2];		/* sort columns of the block and the one before, in turn */
	ColumnBuffer **buffers[2];	/* of these, and one more for all other columns */
	int			rows_before;	/* in the block before, 0: there is none, or it is damaged */
} VerifyState;

/* Report a defect; bucket and block -1: unknown. */
static void
Defect(VerifyState *state, int bucket, int block, char *problem, char *detail)
{
	char	   *values[] = {
		unconstify(char *, state->path),
		bucket < 0 ? NULL : psprintf("%d", bucket),
		block < 0 ? NULL : psprintf("%d", block),
		problem,
		state->relname == NULL ? detail : psprintf("%s: %s", state->relname, detail)
	};

	PutTexts(state->fcinfo, values);
}

/* An error about a damaged or missing file becomes a defect, and false is returned; any other one is raised. */
static bool
Attempt(VerifyState *state, int bucket, int block, void (*work) (void *state))
{
	ErrorData  *error = TryRead(work, state);

	if (error == NULL)
		return true;
	Defect(state, bucket, block,
		   error->sqlerrcode == ERRCODE_UNDEFINED_FILE ? "missing file" :
		   error->sqlerrcode == ERRCODE_IO_ERROR ? "read error" : "checksum",
		   error->detail ? psprintf("%s: %s", error->message, error->detail) : error->message);
	return false;
}

/* Compare what the file says of itself with the manifest. */
static void
VerifyCounts(VerifyState *state)
{
	const ManifestFile *want = state->want;
	FileReader *reader = state->reader;
	int			nruns = 0;

	if (reader->source->size != want->bytes)
		Defect(state, -1, -1, "count",
			   psprintf("the file has %llu bytes, the manifest says %lld",
						(unsigned long long) reader->source->size, (long long) want->bytes));
	if (reader->nrows != want->rows)
		Defect(state, -1, -1, "count",
			   psprintf("the file has %lld rows, the manifest says %lld",
						(long long) reader->nrows, (long long) want->rows));
	if (!BucketSpecEqual(reader->spec, state->manifest->specs[want->spec]))
		Defect(state, -1, -1, "wrong bucket",
			   "the file was written with another bucket spec than the manifest says");

	for (int i = 0; i < state->manifest->nruns; i++)
	{
		const ManifestRun *run = &state->manifest->runs[i];

		if (&state->manifest->files[run->file] != want)
			continue;
		nruns++;
		if (run->run >= reader->nruns)
			Defect(state, run->bucket, -1, "count",
				   psprintf("the manifest names run %d, the file has %d runs", run->run, reader->nruns));
		else if (reader->runs[run->run].bucket != run->bucket ||
				 reader->runs[run->run].nrows != run->rows)
			Defect(state, run->bucket, -1, "count",
				   psprintf("run %d has %lld rows of bucket %d, the manifest says %lld rows of bucket %d",
							run->run, (long long) reader->runs[run->run].nrows,
							reader->runs[run->run].bucket, (long long) run->rows, run->bucket));
	}
	if (nruns != reader->nruns)
		Defect(state, -1, -1, "count",
			   psprintf("the file has %d runs, the manifest names %d", reader->nruns, nruns));
}

static void
KeyOfRow(const ColumnVector *keys, int nsort, int row, Datum *values, bool *nulls)
{
	for (int k = 0; k < nsort; k++)
	{
		values[k] = keys[k].values[row];
		nulls[k] = keys[k].nulls != NULL && keys[k].nulls[row];
	}
}

/*
 * Order and placement of the rows of a block, whose sort columns are decoded.
 * At most one defect of each kind for a block.
 */
static void
VerifyRows(VerifyState *state)
{
	const BucketSpec *spec = state->reader->spec;
	const FileRun *run = state->run;
	int			block = state->block;
	int			nrows = state->reader->blocks[block].nrows;
	int			nsort = spec->nsort;
	Datum	   *values[2];		/* of this row and the one before, in turn */
	bool	   *nulls[2];
	bool		order_done = false;
	bool		place_done = !BucketSpecHashKnown(spec);

	for (int i = 0; i < 2; i++)
	{
		values[i] = palloc0(sizeof(Datum) * nsort);
		nulls[i] = palloc0(sizeof(bool) * nsort);
	}
	if (state->rows_before > 0)
		KeyOfRow(state->keys[(block + 1) % 2], nsort, state->rows_before - 1, values[1], nulls[1]);
	for (int row = 0; row < nrows; row++)
	{
		Datum	   *v = values[row % 2];
		bool	   *n = nulls[row % 2];
		uint32		hash = 0;

		KeyOfRow(state->keys[block % 2], nsort, row, v, n);
		for (int k = 0; k < spec->nkeys && !place_done; k++)
		{
			if (!n[k])
				hash = KeyHash(spec->sort[k].keyclass, spec->sort[k].typid, v[k], hash);
		}
		if (!place_done && KeyBucket(hash, spec->nbuckets) != run->bucket)
		{
			Defect(state, run->bucket, block, "wrong bucket",
				   psprintf("row %d of the block belongs to bucket %d", row,
							KeyBucket(hash, spec->nbuckets)));
			place_done = true;
		}
		if (!order_done && (row > 0 || state->rows_before > 0) &&
			BucketSpecCompare(spec, nsort, values[(row + 1) % 2], nulls[(row + 1) % 2], v, n) > 0)
		{
			Defect(state, run->bucket, block, "order",
				   psprintf("row %d of the block sorts before the row in front of it", row));
			order_done = true;
		}
	}
	state->rows_before = nrows;
}

/* Decode all columns of a block, then look at its rows. */
static void
VerifyBlock(void *arg)
{
	VerifyState *state = arg;
	FileReader *reader = state->reader;
	int			block = state->block;
	int			nsort = reader->spec->nsort;
	ColumnBuffer **buffers = state->buffers[block % 2];
	bool	   *is_key = palloc0(sizeof(bool) * reader->ncols);
	ColumnVector other;
	uint64		bytes = 0;

	for (int k = 0; k < nsort; k++)
	{
		int			col = FileReaderFindColumn(reader, reader->spec->sort[k].attnum);

		if (col < 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the file lacks sort column %d", reader->spec->sort[k].attnum)));
		FileReaderDecode(reader, block, col, buffers[k], &state->keys[block % 2][k], &bytes);
		is_key[col] = true;
	}
	for (int col = 0; col < reader->ncols; col++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_key[col])
			FileReaderDecode(reader, block, col, buffers[nsort], &other, &bytes);
	}
	VerifyRows(state);
}

/* All blocks of a file. */
static void
VerifyBlocks(VerifyState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->file_cxt);
	FileReader *reader = state->reader;
	int			nsort = reader->spec->nsort;

	for (int side = 0; side < 2; side++)
	{
		state->keys[side] = palloc0(sizeof(ColumnVector) * nsort);
		state->buffers[side] = palloc(sizeof(ColumnBuffer *) * (nsort + 1));
		for (int i = 0; i <= nsort; i++)
			state->buffers[side][i] = ColumnBufferCreate(state->file_cxt, NULL);
	}
	for (int r = 0; r < reader->nruns; r++)
	{
		const FileRun *run = state->run = &reader->runs[r];

		state->rows_before = 0;
		for (int block = run->first_block; block < run->first_block + run->nblocks; block++)
		{
			state->block = block;
			CHECK_FOR_INTERRUPTS();
			MemoryContextSwitchTo(state->block_cxt);

			/* after damage nothing is known about the rows in front of the next block */
			if (!Attempt(state, run->bucket, block, VerifyBlock))
				state->rows_before = 0;
			MemoryContextSwitchTo(state->file_cxt);
			MemoryContextReset(state->block_cxt);
		}
	}
	MemoryContextSwitchTo(old);
}

static void
OpenFile(void *arg)
{
	VerifyState *state = arg;
	Oid			relid = RelationGetRelid(state->rel);
	FileSource *source = StoreOpen(relid, RelationGetRelationName(state->rel), state->want);

	state->reader = FileReaderOpen(source, state->want->file_id, relid);
}

static void
VerifyPages(void *arg)
{
	VerifyState *state = arg;

	StoreVerifyPages(state->reader->source, NULL);
}

static void
VerifyFile(VerifyState *state, const ManifestFile *file, bool quick)
{
	MemoryContext old = MemoryContextSwitchTo(state->file_cxt);

	state->want = file;
	state->path = StorePath(file->locator);
	if (Attempt(state, -1, -1, OpenFile))
	{
		VerifyCounts(state);
		if (!quick)
		{
			(void) Attempt(state, -1, -1, VerifyPages);
			VerifyBlocks(state);
		}
	}

	/* closes the file too */
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->file_cxt);
}

/* DeletesDefect */
static void
DefectOfDeletes(void *arg, const char *path, int bucket, char *detail)
{
	VerifyState *state = arg;

	state->path = path;
	Defect(state, bucket, -1, "deleted rows", detail);
}

/* Attempt's work */
static void
ReadDeletes(void *arg)
{
	VerifyState *state = arg;

	state->path = "bucketfdw.delete_vectors";
	VerifyDeletes(state->manifest, GetActiveSnapshot(), DefectOfDeletes, state);
}

/* Attempt's work */
static void
ReadInlineRows(void *arg)
{
	VerifyState *state = arg;

	InlineAdd(state->manifest, GetActiveSnapshot(), false, false);
}

static void
VerifyTable(VerifyState *state, Relation rel, bool quick)
{
	Oid			relid = RelationGetRelid(rel);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw verify",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Snapshot	snapshot;

	state->rel = rel;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	state->manifest = ManifestReadStored(relid, snapshot);
	state->file_cxt = AllocSetContextCreate(cxt, "bucketfdw verify file", ALLOCSET_DEFAULT_SIZES);
	state->block_cxt = AllocSetContextCreate(cxt, "bucketfdw verify block", ALLOCSET_DEFAULT_SIZES);

	for (int i = 0; i < state->manifest->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		VerifyFile(state, &state->manifest->files[i], quick);
	}
	PushActiveSnapshot(snapshot);
	(void) Attempt(state, -1, -1, ReadDeletes);
	if (!quick)
	{
		state->path = "bucketfdw.inline_rows";
		(void) Attempt(state, -1, -1, ReadInlineRows);
	}
	PopActiveSnapshot();

	/* until the files are read: the snapshot keeps dead ones on disk */
	UnregisterSnapshot(snapshot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

/*
 * One row for each defect.  quick: existence, size and headers only.  A
 * table: its owner or pg_maintain; a partitioned table: its bucketed
 * partitions, of all of which that must be true; null: all tables of which
 * that is true.
 */
Datum
bucketfdw_verify(PG_FUNCTION_ARGS)
{
	VerifyState state = {.fcinfo = fcinfo};
	bool		quick = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	bool		named = !PG_ARGISNULL(0);
	List	   *tables;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	tables = named ? MaintainedTables(PG_GETARG_OID(0)) : MaintainableTables();
	foreach(lc, tables)
	{
		Oid			relid = lfirst_oid(lc);
		Relation	rel = named ? OpenChecked(relid, AccessShareLock, RequireMaintainable) :
			try_relation_open(relid, AccessShareLock);

		if (rel == NULL)
			continue;

		if (!named || relid != PG_GETARG_OID(0))
			state.relname = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
													   RelationGetRelationName(rel));

		/* of all tables, one may have gone into other hands meanwhile */
		if (named || (IsBucketTable(relid) && MayMaintain(relid)))
			VerifyTable(&state, rel, quick);
		relation_close(rel, AccessShareLock);
	}
	return (Datum) 0;
}
