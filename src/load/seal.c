/*
 * seal.c
 *	  Write collected rows: a sorted run per bucket, files, manifest row.
 */
#include "postgres.h"

#include "compat.h"
#include "format/write/writer.h"
#include "load/load_stats.h"
#include "load/seal.h"
#include "miscadmin.h"
#include "rows/spill.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* a run expected to be at least this large has a file of its own */
#define OWN_FILE_BYTES	(1024 * 1024)

/* smaller ones share files of up to this size */
#define SHARED_FILE_BYTES	(16 * 1024 * 1024)

/* rows after which the packed and written sizes say something */
#define RATIO_MIN_BYTES	(64 * 1024)

/* rows that are handed to the file writer at once: they and their columns stay in the cache */
#define GATHER_ROWS 256

typedef struct SealState
{
	const RowLayout *layout;
	StoreWriter *store;			/* the open file, or NULL */
	FileWriter *writer;
	bool		own;			/* it takes one run only */
	int			maxfiles;
	int			maxruns;
	int			runs_in_file;
	int64		packed;			/* bytes of the rows of finished runs, as collected */
	int64		written;		/* and in the files */
	LoadStats  *stats;
	Datum	  **values;			/* GATHER_ROWS of each table column */
	bool	  **nulls;
	ManifestWrite write;
} SealState;

/* Bytes a run will take in the file, judged by those before it. */
static int64
ExpectedBytes(const SealState *state, int64 packed)
{
	if (state->packed < RATIO_MIN_BYTES)
		return packed / (state->layout->options->compression == BF_COMPRESS_NONE ? 2 : 4);
	return (int64) (packed * ((double) state->written / state->packed));
}

static void
OpenFile(SealState *state, int bucket, bool own)
{
	const RowLayout *layout = state->layout;
	FileWriterOptions options = {0};
	ManifestWrite *write = &state->write;
	ManifestFile *file;

	if (write->nfiles == state->maxfiles)
	{
		state->maxfiles *= 2;
		write->files = repalloc_huge(write->files, sizeof(ManifestFile) * state->maxfiles);
	}
	state->store = StoreCreate(layout->relid, bucket);
	options.file_id = StoreFileId(state->store);
	options.dboid = MyDatabaseId;
	options.relid = layout->relid;
	options.spec = layout->spec;
	options.desc = layout->desc;
	options.compression = layout->options->compression;
	options.compression_level = layout->options->compression_level;
	options.block_rows = layout->options->block_rows;
	options.counters = LoadStatsCounters(state->stats, &options.ncounters);
	state->writer = FileWriterCreate(StoreSink(state->store), &options);
	state->own = own;
	state->runs_in_file = 0;

	file = &write->files[write->nfiles++];
	memset(file, 0, sizeof(ManifestFile));
	file->file_id = options.file_id;
	file->first_bucket = bucket;
	file->last_bucket = bucket;
}

static void
CloseFile(SealState *state)
{
	if (state->store == NULL)
		return;
	state->write.files[state->write.nfiles - 1].bytes = FileWriterFinish(state->writer);
	StoreFinish(state->store);
	state->writer = NULL;
	state->store = NULL;
}

/*
 * Close the open file when the next run should not go there, and open one.
 * Files of neighbouring small runs are shared, so that ten rows make one file
 * and 4,096 small buckets do not make 4,096.
 */
static void
ChooseFile(SealState *state, int bucket, int64 packed)
{
	int64		expected = ExpectedBytes(state, packed);
	bool		own = expected >= OWN_FILE_BYTES;

	if (state->store != NULL &&
		(own || state->own || FileWriterBytes(state->writer) + expected > SHARED_FILE_BYTES))
		CloseFile(state);
	if (state->store == NULL)
		OpenFile(state, bucket, own);
}

static void
RecordRun(SealState *state, const WrittenRun *written, int64 packed)
{
	ManifestWrite *write = &state->write;
	ManifestFile *file = &write->files[write->nfiles - 1];
	ManifestRun *run;

	if (write->nruns == state->maxruns)
	{
		state->maxruns *= 2;
		write->runs = repalloc_huge(write->runs, sizeof(ManifestRun) * state->maxruns);
	}
	run = &write->runs[write->nruns++];
	run->bucket = written->bucket;
	run->rows = written->rows;
	run->bytes = written->bytes;
	run->file = write->nfiles - 1;
	run->run = state->runs_in_file++;

	file->rows += written->rows;
	file->last_bucket = written->bucket;
	write->raw_bytes += written->raw_bytes;
	state->packed += packed;
	state->written += written->bytes;
}

/* Arrays for rows spread over columns; columns that are not stored need none. */
static void
AllocateColumns(SealState *state)
{
	const RowLayout *layout = state->layout;

	state->values = palloc0(sizeof(Datum *) * layout->desc->natts);
	state->nulls = palloc0(sizeof(bool *) * layout->desc->natts);
	for (int c = 0; c < layout->ncols; c++)
	{
		int			index = layout->cols[c].attnum - 1;

		state->values[index] = palloc(sizeof(Datum) * GATHER_ROWS);
		state->nulls[index] = palloc(sizeof(bool) * GATHER_ROWS);
	}
}

/* Append sorted rows to the open run. */
static void
AppendRows(SealState *state, const SortEntry *entries, int64 n)
{
	char	   *rows[GATHER_ROWS];

	for (int64 at = 0; at < n; at += GATHER_ROWS)
	{
		int			count = (int) Min(n - at, GATHER_ROWS);

		/* rows lie in no order: let them all come at the same time */
		for (int i = 0; i < count; i++)
		{
			rows[i] = entries[at + i].row;
			BfPrefetch(rows[i]);
			BfPrefetch(rows[i] + 64);
		}
		RowGather(state->layout, rows, count, state->values, state->nulls);
		LoadStatsRows(state->stats, state->values, state->nulls, count);
		FileWriterAppend(state->writer, state->values, state->nulls, count);
	}
}

void
SealSets(Relation rel, RowSet **sets, int nsets, CommandId cid)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt;
	const RowLayout *layout = sets[0]->layout;
	SealState	state = {0};
	RowMerge   *merge;
	int64		nrows = 0;
	int			bucket;

	for (int s = 0; s < nsets; s++)
	{
		SpillReduceRuns(sets[s], Max(SPILL_FAN_IN / nsets, 1));
		nrows += sets[s]->nrows;
	}

	oldcxt = MemoryContextSwitchTo(cxt);
	state.layout = layout;
	state.maxfiles = 16;
	state.maxruns = 64;
	state.write.spec = layout->spec;
	state.write.files = palloc(sizeof(ManifestFile) * state.maxfiles);
	state.write.runs = palloc(sizeof(ManifestRun) * state.maxruns);
	state.stats = LoadStatsBegin(layout, nrows);
	AllocateColumns(&state);

	merge = RowMergeBegin(sets, nsets);
	while ((bucket = RowMergeNextBucket(merge)) >= 0)
	{
		WrittenRun	written = {0};
		int64		packed = RowMergeBucketBytes(merge);
		const SortEntry *entries;
		int64		n;

		ChooseFile(&state, bucket, packed);
		FileWriterBeginRun(state.writer, bucket);
		while ((n = RowMergeNextRows(merge, &entries)) > 0)
			AppendRows(&state, entries, n);
		FileWriterEndRun(state.writer, &written);
		RecordRun(&state, &written, packed);
	}
	CloseFile(&state);
	RowMergeEnd(merge);

	if (state.write.nfiles > 0)
	{
		StoreSync();
		state.write.column_stats = LoadStatsEnd(state.stats);
		ManifestInsert(rel, &state.write, cid);
	}
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}
