/*
 * seal.c
 *	  Write collected rows: a sorted run per bucket, files, manifest row; or an
 *	  image, one file that readers of the own transaction read.
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
	CommandId	from;			/* rows of commands from this one on */
	CommandId	before;			/* and before this one */
	bool		all;			/* these are all rows */
	CommandId	last;			/* the last command that had rows */
	FileImage  *image;			/* NULL: files are written */
	Oid			tablespace;		/* to which */
	StoreWriter *store;			/* the open file */
	FileWriter *writer;			/* NULL: no file is open */
	bool		own;			/* it takes one run only */
	int			maxfiles;
	int			maxruns;
	int			runs_in_file;
	int64		packed;			/* bytes of the rows of finished runs, as collected */
	int64		written;		/* and in the files */
	LoadStats  *stats;			/* NULL: none are wanted */
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
	if (state->image == NULL)
		state->store = StoreCreate(layout->relid, state->tablespace, 0);
	options.file_id = state->image ? ImageFileId(state->image) : StoreFileId(state->store);
	options.xid = state->image ? InvalidFullTransactionId : GetTopFullTransactionId();
	options.relid = layout->relid;
	options.spec = layout->spec;
	options.desc = layout->desc;
	options.compression = state->image ? BF_COMPRESS_NONE : layout->options->compression;
	options.compression_level = layout->options->compression_level;
	options.block_rows = layout->options->block_rows;
	if (state->stats)
		options.counters = LoadStatsCounters(state->stats, &options.ncounters);
	state->writer = FileWriterCreate(state->image ? ImageSink(state->image) : StoreSink(state->store),
									 &options);
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
	ManifestFile *file = &state->write.files[state->write.nfiles - 1];

	if (state->writer == NULL)
		return;
	file->bytes = FileWriterFinish(state->writer);
	state->writer = NULL;
	if (state->image == NULL)
		file->locator = StoreFinish(state->store);
}

/*
 * Close the open file when the next run should not go there, and open one.
 * Files of neighbouring small runs are shared, so that ten rows make one file
 * and 4,096 small buckets do not make 4,096.  An image is one file.
 */
static void
ChooseFile(SealState *state, int bucket, int64 packed)
{
	int64		expected = ExpectedBytes(state, packed);
	bool		own = expected >= OWN_FILE_BYTES;

	if (state->writer != NULL && state->image == NULL &&
		(own || state->own || FileWriterBytes(state->writer) + expected > SHARED_FILE_BYTES))
		CloseFile(state);
	if (state->writer == NULL)
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
	file->raw_bytes += written->raw_bytes;
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
AppendRows(SealState *state, char *const *rows, int n)
{
	RowGather(state->layout, rows, n, state->values, state->nulls);
	if (state->stats)
		LoadStatsRows(state->stats, state->values, state->nulls, n);
	FileWriterAppend(state->writer, state->values, state->nulls, n);
}

/* Take the rows that are wanted, GATHER_ROWS at most, out of sorted ones; *at moves on. */
static int
TakeRows(SealState *state, const SortEntry *entries, int64 n, int64 *at, char **rows)
{
	int			count = 0;

	while (*at < n && count < GATHER_ROWS)
	{
		char	   *row = entries[(*at)++].row;

		if (!state->all)
		{
			CommandId	cid = RowCid(row);

			if (cid < state->from || cid >= state->before)
				continue;
			state->last = Max(state->last, cid);
		}
		rows[count++] = row;
		/* rows lie in no order: let them all come at the same time */
		BfPrefetch(row);
		BfPrefetch(row + 64);
	}
	return count;
}

/* Write the run of one bucket, if it has rows that are wanted. */
static void
WriteBucket(SealState *state, RowMerge *merge, int bucket)
{
	int64		packed = RowMergeBucketBytes(merge);
	bool		begun = false;
	const SortEntry *entries;
	int64		n;

	while ((n = RowMergeNextRows(merge, &entries)) > 0)
	{
		for (int64 at = 0; at < n;)
		{
			char	   *rows[GATHER_ROWS];
			int			count = TakeRows(state, entries, n, &at, rows);

			if (count == 0)
				continue;
			if (!begun)
			{
				ChooseFile(state, bucket, packed);
				FileWriterBeginRun(state->writer, bucket);
				begun = true;
			}
			AppendRows(state, rows, count);
		}
	}
	if (begun)
	{
		WrittenRun	written = {0};

		FileWriterEndRun(state->writer, &written);
		RecordRun(state, &written, packed);
	}
}

/* Write the rows of some sets that are wanted. */
static void
WriteSets(SealState *state, RowSet **sets, int nsets, bool with_stats)
{
	RowMerge   *merge;
	int64		nrows = 0;
	int			bucket;

	state->layout = sets[0]->layout;
	state->all = true;
	for (int s = 0; s < nsets; s++)
	{
		SpillReduceRuns(sets[s], Max(SPILL_FAN_IN / nsets, 1));
		nrows += sets[s]->nrows;
		state->all &= sets[s]->min_cid >= state->from && sets[s]->max_cid < state->before;
		if (state->all)
			state->last = Max(state->last, sets[s]->max_cid);
	}
	state->maxfiles = 16;
	state->maxruns = 64;
	state->write.spec = state->layout->spec;
	state->write.files = palloc(sizeof(ManifestFile) * state->maxfiles);
	state->write.runs = palloc(sizeof(ManifestRun) * state->maxruns);
	if (with_stats)
		state->stats = LoadStatsBegin(state->layout, nrows);
	AllocateColumns(state);

	merge = RowMergeBegin(sets, nsets);
	while ((bucket = RowMergeNextBucket(merge)) >= 0)
		WriteBucket(state, merge, bucket);
	CloseFile(state);
	RowMergeEnd(merge);
}

void
SealSets(Relation rel, RowSet **sets, int nsets, CommandId from, CommandId before,
		 SealCounters *counters)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	SealState	state = {.from = from, .before = before, .last = from};

	state.tablespace = SpecTablespace(RelationGetRelid(rel));
	WriteSets(&state, sets, nsets, true);
	if (state.write.nfiles > 0)
	{
		state.write.column_stats = LoadStatsEnd(state.stats);
		ManifestInsert(rel, &state.write, state.last);
	}
	for (int i = 0; i < state.write.nfiles; i++)
	{
		counters->rows += state.write.files[i].rows;
		counters->bytes += state.write.files[i].bytes;
	}
	counters->files += state.write.nfiles;
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

FileImage *
SealImage(RowSet **sets, int nsets, CommandId before, bool with_stats, ManifestWrite *write)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	SealState	state = {.before = before};

	state.image = ImageCreate(sets[0]->layout->relid);
	PG_TRY();
	{
		WriteSets(&state, sets, nsets, with_stats);
		MemoryContextSwitchTo(ImageMemory(state.image));
		if (with_stats)
			state.write.column_stats = LoadStatsEnd(state.stats);
		*write = state.write;
		write->spec = BucketSpecCopy(state.write.spec);
		write->files = palloc(sizeof(ManifestFile) * Max(write->nfiles, 1));
		memcpy(write->files, state.write.files, sizeof(ManifestFile) * write->nfiles);
		write->runs = palloc(sizeof(ManifestRun) * Max(write->nruns, 1));
		memcpy(write->runs, state.write.runs, sizeof(ManifestRun) * write->nruns);
	}
	PG_CATCH();
	{
		/* the transaction may go on */
		ImageRelease(state.image);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
	return state.image;
}
