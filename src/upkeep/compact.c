/*
 * compact.c
 *	  Compaction: small runs of a bucket become one, in steps of whole files.
 *
 * A step reads the runs of some files bucket by bucket in key order, writes
 * them to new files and replaces the manifest rows, all in one transaction.
 * ShareUpdateExclusiveLock keeps other compactions and everything that
 * replaces files away; readers and appends go on.  Snapshots that see the old
 * rows of the manifest read the old files, which are garbage afterwards.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/scan/leaf_reader.h"
#include "fdw/pace.h"
#include "format/file_format.h"
#include "guc.h"
#include "load/inline_rows.h"
#include "load/progress.h"
#include "load/run_files.h"
#include "miscadmin.h"
#include "upkeep/compact.h"
#include "upkeep/compact_choose.h"
#include "upkeep/replace.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

struct Compaction
{
	Oid			relid;
	bool		full;
	bool		quiet;
	HTAB	   *known;			/* ids of files that may be replaced; empty before the first step */
	bool		begun;
	bool		flushed;		/* inline rows, if there was reason to */
	MemoryContext cxt;
	int			nparts;
	double	   *parts;			/* per bucket, see CompactChoose */
};

Compaction *
CompactBegin(Oid relid, bool full, bool quiet)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(uint64), .hcxt = CurrentMemoryContext};
	Compaction *compaction = palloc0(sizeof(Compaction));

	compaction->relid = relid;
	compaction->full = full;
	compaction->quiet = quiet;
	compaction->cxt = CurrentMemoryContext;
	compaction->known = hash_create("bucketfdw files to compact", 256, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return compaction;
}

static void
AddKnown(Compaction *compaction, const ManifestFile *files, int nfiles)
{
	for (int i = 0; i < nfiles; i++)
		(void) hash_search(compaction->known, &files[i].file_id, HASH_ENTER, NULL);
}

/* Choose the files of the step; returns how many. */
static int
ChooseFiles(Compaction *compaction, const RowLayout *layout, const Manifest *manifest, bool *chosen)
{
	bool	   *eligible = palloc0(Max(manifest->nfiles, 1) * sizeof(bool));
	CompactLimits limits = {
		.full = compaction->full, .quiet = compaction->quiet, .runs = bf_upkeep_runs, .step_bytes = STEP_BYTES
	};

	/* as a merge holds it: values, null flags and the key, and what the values point to */
	limits.row_memory = 2 * sizeof(int64) + layout->ncols * (sizeof(Datum) + sizeof(bool)) +
		manifest->raw_bytes / Max(manifest->rows, 1);
	limits.memory = (Size) maintenance_work_mem * 1024;
	for (int i = 0; i < manifest->nfiles; i++)
	{
		const ManifestFile *file = &manifest->files[i];

		eligible[i] = BucketSpecEqual(manifest->specs[file->spec], layout->spec) &&
			hash_search(compaction->known, &file->file_id, HASH_FIND, NULL) != NULL;
	}
	if (compaction->nparts != layout->spec->nbuckets)
	{
		compaction->nparts = layout->spec->nbuckets;
		compaction->parts = MemoryContextAllocZero(compaction->cxt, compaction->nparts * sizeof(double));
	}
	return CompactChoose(manifest, eligible, &limits, compaction->parts, chosen);
}

/* Merge the runs of one bucket, which have so many rows and take so many bytes now. */
static void
MergeBucket(LeafReader *leaf, const RowLayout *layout, int bucket, int64 rows, int64 bytes, RunFiles *files)
{
	static bool no_nulls[BF_BATCH_ROWS];	/* all false */
	Datum	  **values = palloc0(layout->desc->natts * sizeof(Datum *));
	bool	  **nulls = palloc0(layout->desc->natts * sizeof(bool *));
	Batch	   *batch;

	LeafOpenGroup(leaf, layout->spec->nbuckets, bucket, layout->spec->nsort, NULL);
	RunFilesBeginRun(files, bucket, bytes);
	while ((batch = LeafNextBatch(leaf, NULL)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		Assert(batch->nselected == batch->nrows);
		for (int c = 0; c < layout->ncols; c++)
		{
			ColumnVector *vector = BatchColumn(batch, c);

			values[layout->cols[c].attnum - 1] = vector->values;
			nulls[layout->cols[c].attnum - 1] = vector->nulls ? vector->nulls : no_nulls;
		}
		RunFilesAppend(files, values, nulls, batch->nrows);
		if (bf_pace)
			bf_pace((int64) ((double) bytes * batch->nrows / rows));
	}
	(void) RunFilesEndRun(files);
	LeafClose(leaf);
	pfree(values);
	pfree(nulls);
}

/* Write the rows of some files anew, one run for each bucket. */
static ManifestWrite *
MergeFiles(Relation rel, const RowLayout *layout, Manifest *inputs)
{
	AttrNumber *attnums = palloc(Max(layout->ncols, 1) * sizeof(AttrNumber));
	int64	   *bytes = palloc0(layout->spec->nbuckets * sizeof(int64));
	int64	   *rows = palloc0(layout->spec->nbuckets * sizeof(int64));
	RunFiles   *files = RunFilesBegin(layout, SpecTablespace(RelationGetRelid(rel)), NULL, NULL, 0);
	int64		done = 0;
	int64		merged = 0;
	int64		total = 0;
	LeafReader *leaf;

	for (int c = 0; c < layout->ncols; c++)
		attnums[c] = layout->cols[c].attnum;
	for (int r = 0; r < inputs->nruns; r++)
	{
		bytes[inputs->runs[r].bucket] += inputs->runs[r].bytes;
		rows[inputs->runs[r].bucket] += inputs->runs[r].rows;
		total += inputs->runs[r].bytes;
	}
	ProgressTotal(RelationGetRelid(rel), total);
	leaf = LeafReaderCreate(rel, inputs, layout->ncols, attnums, 0, NULL);
	for (int b = 0; b < layout->spec->nbuckets; b++)
	{
		if (rows[b] == 0)
			continue;
		MergeBucket(leaf, layout, b, rows[b], bytes[b], files);
		ProgressRows(RelationGetRelid(rel), merged += rows[b]);
		ProgressDone(RelationGetRelid(rel), done += bytes[b]);
	}
	ProgressEnd();
	LeafReaderEnd(leaf);
	return RunFilesEnd(files);
}

/* A step of a table that is locked. */
static bool
CompactTable(void *state, Relation rel)
{
	Compaction *compaction = state;
	RowLayout  *layout = RowLayoutCreate(compaction->relid, RelationGetDescr(rel), TableOptionsGet(rel));
	Manifest   *manifest;
	ManifestWrite *write;
	bool	   *chosen;

	/* what comes from there is compacted in the next steps */
	if (!compaction->flushed)
	{
		compaction->flushed = true;
		if ((compaction->full || compaction->quiet || InlineDue(compaction->relid, 1)) && InlineFlush(rel))
			return true;
	}
	manifest = ManifestToReplace(compaction->relid);
	if (!compaction->begun)
		AddKnown(compaction, manifest->files, manifest->nfiles);
	compaction->begun = true;
	chosen = palloc(Max(manifest->nfiles, 1) * sizeof(bool));
	if (ChooseFiles(compaction, layout, manifest, chosen) == 0 || TooMuchGarbage(rel, manifest))
		return false;

	ManifestKeepFiles(manifest, chosen);

	/* the spec of the chosen files, not of all */
	manifest->specs[0] = manifest->specs[manifest->files[0].spec];
	manifest->nspecs = 1;
	for (int i = 0; i < manifest->nfiles; i++)
		manifest->files[i].spec = 0;
	write = MergeFiles(rel, layout, manifest);
	ReplaceFiles(rel, layout, manifest, write, BF_ORIGIN_COMPACTION);
	AddKnown(compaction, write->files, write->nfiles);
	ereport(DEBUG1,
			(errmsg_internal("compacted %d runs of \"%s\" in %d files to %d runs in %d files",
							 manifest->nruns, RelationGetRelationName(rel), manifest->nfiles,
							 write->nruns, write->nfiles)));
	return true;
}

bool
CompactStep(Compaction *compaction)
{
	return StepOfTable(compaction->relid, CompactTable, compaction);
}
