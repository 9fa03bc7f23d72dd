/*
 * analyze.c
 *	  ANALYZE: a uniform sample of row numbers.
 *
 * Files are sorted by key, so a sample of leading rows or of whole blocks
 * would be badly biased.  Row numbers are drawn first, without replacement,
 * where rows that are deleted do not count; then only the blocks that hold one
 * are read, each once and in file order.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "compat.h"
#include "fdw/pace.h"
#include "fdw/scan.h"
#include "format/read/reader.h"
#include "load/load.h"
#include "miscadmin.h"
#include "storage/delete_vectors.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "storage/missing_catalog.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

PaceFunction bf_pace = NULL;

static int
CompareInt64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * Draw min(want, total) distinct row numbers of 0 .. total-1, ascending:
 * Vitter's reservoir, whose jumps make billions of rows cheap.
 */
static int64 *
DrawRows(int64 total, int want, int *ndrawn)
{
	int64	   *rows = palloc(Max(want, 1) * sizeof(int64));
	ReservoirStateData rs;
	int64		at;
	int			n = (int) Min(total, (int64) want);

	for (at = 0; at < n; at++)
		rows[at] = at;
	reservoir_init_selection_state(&rs, want);
	while (at < total)
	{
		double		skip = reservoir_get_next_S(&rs, (double) at, want);

		CHECK_FOR_INTERRUPTS();
		if (skip >= (double) (total - at))
			break;
		at += (int64) skip;
		rows[(int) (want * sampler_random_fract(&rs.randstate))] = at++;
	}
	qsort(rows, n, sizeof(int64), CompareInt64);
	*ndrawn = n;
	return rows;
}

/* Where the sampler stands. */
typedef struct SampleState
{
	Relation	rel;
	const int64 *wanted;		/* numbers of rows that are not deleted, over all files, ascending */
	int			nwanted;
	int			next;
	HeapTuple  *rows;
	int			nrows;
	ColumnBuffer **buffers;		/* per table column */
	ColumnVector *vectors;
	Datum	   *values;
	bool	   *nulls;
	Datum	   *absent;			/* per table column: in rows of files that lack it */
	bool	   *absent_nulls;
	MemoryContext rowcxt;		/* where the sample goes */
} SampleState;

/*
 * Take the wanted ones of the rows of a block that are not deleted; base is the
 * number of the first of them over all files.
 */
static void
SampleBlock(SampleState *state, FileReader *reader, int blockno, const RowNumbers *deleted, int64 base)
{
	TupleDesc	desc = RelationGetDescr(state->rel);
	const FileBlock *block = &reader->blocks[blockno];
	uint64		bits[ROW_NUMBERS_WORDS(BF_BATCH_ROWS)];
	bool		all = deleted == NULL || RowNumbersBits(deleted, block->first_row, block->nrows, bits) == 0;
	int64		number = base - 1;	/* of the last row that is not deleted */
	uint64		bytes = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			col;

		state->vectors[i].values = NULL;
		if (att->attisdropped)
			continue;
		col = FileReaderFindColumn(reader, att->attnum);
		if (col >= 0)
			FileReaderDecode(reader, blockno, col, state->buffers[i], &state->vectors[i],
							 &bytes);
	}
	for (int row = 0; row < block->nrows && state->next < state->nwanted; row++)
	{
		MemoryContext old;

		if (all || (bits[row / 64] >> (row % 64) & 1) == 0)
			number++;
		if (number < state->wanted[state->next])
			continue;
		state->next++;
		for (int i = 0; i < desc->natts; i++)
		{
			ColumnVector *vec = &state->vectors[i];

			if (vec->values == NULL)
			{
				state->nulls[i] = state->absent_nulls[i];
				state->values[i] = state->absent[i];
				continue;
			}
			state->nulls[i] = vec->nulls && vec->nulls[row];
			state->values[i] = state->nulls[i] ? (Datum) 0 : vec->values[row];
		}
		old = MemoryContextSwitchTo(state->rowcxt);
		state->rows[state->nrows++] = heap_form_tuple(desc, state->values, state->nulls);
		MemoryContextSwitchTo(old);
	}
}

static int
AcquireSample(Relation rel, int elevel, HeapTuple *rows, int targrows,
			  double *totalrows, double *totaldeadrows)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Oid			relid = RelationGetRelid(rel);
	Snapshot	snapshot = GetActiveSnapshot();
	MemoryContext rowcxt = CurrentMemoryContext;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw sample",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SampleState state = {0};
	Manifest   *manifest;
	int64		base = 0;		/* rows of the files before, without those that are deleted */

	manifest = LoadManifestToRead(relid, snapshot);
	state.rel = rel;
	state.rows = rows;
	state.rowcxt = rowcxt;
	state.wanted = DrawRows(manifest->rows, targrows, &state.nwanted);
	state.buffers = palloc(desc->natts * sizeof(ColumnBuffer *));
	state.vectors = palloc0(desc->natts * sizeof(ColumnVector));
	state.values = palloc(desc->natts * sizeof(Datum));
	state.nulls = palloc(desc->natts * sizeof(bool));
	state.absent = palloc(desc->natts * sizeof(Datum));
	state.absent_nulls = palloc(desc->natts * sizeof(bool));
	MissingValuesRead(rel, state.absent, state.absent_nulls);
	for (int i = 0; i < desc->natts; i++)
		state.buffers[i] = ColumnBufferCreate(cxt, NULL);

	for (int f = 0; f < manifest->nfiles && state.next < state.nwanted; f++)
	{
		ManifestFile *file = &manifest->files[f];
		FileSource *source;
		FileReader *reader;
		RowNumbers *deleted;

		if (state.wanted[state.next] >= base + ManifestFileLive(file))
		{
			base += ManifestFileLive(file);
			continue;
		}
		source = StoreOpen(relid, RelationGetRelationName(rel), file);
		reader = FileReaderOpen(source, file->file_id, relid);
		FileReaderCheckColumns(reader, desc);
		deleted = file->deletes ? DeletedRows(file->deletes, relid, file->rows) : NULL;
		for (int b = 0; b < reader->nblocks; b++)
		{
			const FileBlock *block = &reader->blocks[b];
			int64		live = block->nrows;

			if (deleted)
				live -= RowNumbersCountIn(deleted, block->first_row, block->first_row + block->nrows);
			if (state.next < state.nwanted && state.wanted[state.next] < base + live)
			{
				BfVacuumDelayPoint();
				if (bf_pace)
					bf_pace(0);
				SampleBlock(&state, reader, b, deleted, base);
			}
			base += live;
		}
		if (deleted)
			RowNumbersFree(deleted);
		FileReaderClose(reader);
		StoreClose(source);
	}
	*totalrows = (double) manifest->rows;
	*totaldeadrows = (double) manifest->deleted;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	ereport(elevel,
			(errmsg("\"%s\": sampled %d of %.0f rows",
					RelationGetRelationName(rel), state.nrows, *totalrows)));
	return state.nrows;
}

static bool
AnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	Manifest   *manifest = LoadManifestSizes(RelationGetRelid(relation), GetActiveSnapshot(), false);

	*func = AcquireSample;
	/* core takes 0 pages for "nothing known" */
	*totalpages = (BlockNumber) Max(1, Min(manifest->bytes / BLCKSZ, (int64) MaxBlockNumber));
	return true;
}

void
AnalyzeRoutine(FdwRoutine *routine)
{
	routine->AnalyzeForeignTable = AnalyzeForeignTable;
}
