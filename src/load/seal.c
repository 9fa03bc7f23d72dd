/*
 * seal.c
 *	  Write collected rows: a sorted run per bucket, files, manifest row; or an
 *	  image, one file that readers of the own transaction read.
 */
#include "postgres.h"

#include "compat.h"
#include "load/load_stats.h"
#include "load/progress.h"
#include "load/run_files.h"
#include "load/seal.h"
#include "miscadmin.h"
#include "rows/spill.h"
#include "storage/manifest.h"
#include "utils/memutils.h"
#include "utils/rel.h"

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
	RunFiles   *files;
	int64		packed;			/* bytes of the rows of finished runs, as collected */
	int64		written;		/* and in the files */
	LoadStats  *stats;			/* NULL: none are wanted */
	CommandId  *tags;			/* of the rows written so far; NULL: not wanted */
	int64		ntags;
	Datum	  **values;			/* GATHER_ROWS of each table column */
	bool	  **nulls;
	ManifestWrite *write;
	SealedRows	sealed;			/* NULL: nobody is told of rows */
	void	   *sealed_arg;
} SealState;

/* Bytes a run will take in the file, judged by those before it. */
static int64
ExpectedBytes(const SealState *state, int64 packed)
{
	if (state->packed < RATIO_MIN_BYTES)
		return packed / (state->layout->options->compression == BF_COMPRESS_NONE ? 2 : 4);
	return (int64) (packed * ((double) state->written / state->packed));
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
	for (int i = 0; i < n && state->tags != NULL; i++)
		state->tags[state->ntags++] = RowCid(rows[i]);
	RunFilesAppend(state->files, state->values, state->nulls, n);
	if (state->sealed)
		state->sealed(state->sealed_arg, rows, n);
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
				RunFilesBeginRun(state->files, bucket, ExpectedBytes(state, packed));
				begun = true;
			}
			AppendRows(state, rows, count);
		}
	}
	if (begun)
	{
		state->packed += packed;
		state->written += RunFilesEndRun(state->files);
		/* an image is made by readers */
		if (state->image == NULL)
			ProgressDone(state->layout->relid, state->packed);
	}
}

/* Write the rows of some sets that are wanted. */
static void
WriteSets(SealState *state, RowSet **sets, int nsets, bool with_stats)
{
	RowMerge   *merge;
	ColumnStats *counters = NULL;
	int			ncounters = 0;
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
	if (with_stats)
	{
		state->stats = LoadStatsBegin(state->layout, nrows);
		counters = LoadStatsCounters(state->stats, &ncounters);
	}
	state->files = RunFilesBegin(state->layout, state->tablespace, state->image, counters, ncounters);
	AllocateColumns(state);

	merge = RowMergeBegin(sets, nsets);
	while ((bucket = RowMergeNextBucket(merge)) >= 0)
		WriteBucket(state, merge, bucket);
	state->write = RunFilesEnd(state->files);
	RowMergeEnd(merge);

	if (with_stats)
	{
		for (int i = 0; i < state->write->nfiles; i++)
			state->write->stats_rows += state->write->files[i].rows;
	}
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
	if (state.write->nfiles > 0)
	{
		state.write->origin = BF_ORIGIN_LOAD;
		state.write->column_stats = LoadStatsEnd(state.stats);
		ManifestInsert(rel, state.write, state.last);
	}
	for (int i = 0; i < state.write->nfiles; i++)
	{
		counters->rows += state.write->files[i].rows;
		counters->bytes += state.write->files[i].bytes;
	}
	counters->files += state.write->nfiles;
	counters->runs += state.write->nruns;
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

ManifestWrite *
SealFiles(Relation rel, RowSet *set, SealedRows sealed, void *arg)
{
	SealState	state = {
		.from = FirstCommandId, .before = InvalidCommandId, .sealed = sealed, .sealed_arg = arg
	};

	state.tablespace = SpecTablespace(RelationGetRelid(rel));
	WriteSets(&state, &set, 1, false);
	return state.write;
}

FileImage *
SealImage(RowSet **sets, int nsets, CommandId before, bool with_stats, ManifestWrite *write, CommandId **tags)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	SealState	state = {.before = before};

	if (tags != NULL)
	{
		int64		nrows = 0;

		for (int i = 0; i < nsets; i++)
			nrows += sets[i]->nrows;
		*tags = state.tags = MemoryContextAllocHuge(oldcxt, Max(nrows, 1) * sizeof(CommandId));
	}
	state.image = ImageCreate(sets[0]->layout->relid);
	PG_TRY();
	{
		WriteSets(&state, sets, nsets, with_stats);
		MemoryContextSwitchTo(ImageMemory(state.image));
		if (with_stats)
			state.write->column_stats = LoadStatsEnd(state.stats);
		*write = *state.write;
		write->spec = BucketSpecCopy(write->spec);
		write->files = palloc(sizeof(ManifestFile) * Max(write->nfiles, 1));
		memcpy(write->files, state.write->files, sizeof(ManifestFile) * write->nfiles);
		write->runs = palloc(sizeof(ManifestRun) * Max(write->nruns, 1));
		memcpy(write->runs, state.write->runs, sizeof(ManifestRun) * write->nruns);
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
