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

#include "access/sysattr.h"
#include "compat.h"
#include "exec/scan/leaf_reader.h"
#include "fdw/pace.h"
#include "format/file_format.h"
#include "guc.h"
#include "load/inline_rows.h"
#include "load/progress.h"
#include "load/run_files.h"
#include "miscadmin.h"
#include "storage/row_id.h"
#include "upkeep/compact.h"
#include "upkeep/compact_choose.h"
#include "upkeep/lock_out.h"
#include "upkeep/replace.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* A file that may be replaced. */
typedef struct KnownFile
{
	uint64		file_id;
	bool		fresh;			/* a step has written it */
} KnownFile;

struct Compaction
{
	Oid			relid;
	bool		full;
	bool		quiet;
	double		deleted;
	HTAB	   *known;			/* KnownFile by id; empty before the first step */
	bool		begun;
	bool		flushed;		/* inline rows, if there was reason to */
	bool		united;			/* delete vectors, the same */
	MemoryContext cxt;
	int			nparts;
	double	   *parts;			/* per bucket, see CompactChoose */
};

Compaction *
CompactBegin(Oid relid, bool full, bool quiet, double deleted)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(KnownFile), .hcxt = CurrentMemoryContext};
	Compaction *compaction = palloc0(sizeof(Compaction));

	compaction->relid = relid;
	compaction->full = full;
	compaction->quiet = quiet;
	compaction->deleted = deleted;
	compaction->cxt = CurrentMemoryContext;
	compaction->known = hash_create("bucketfdw files to compact", 256, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return compaction;
}

static void
AddKnown(Compaction *compaction, const ManifestFile *files, int nfiles, bool fresh)
{
	for (int i = 0; i < nfiles; i++)
	{
		KnownFile  *known = hash_search(compaction->known, &files[i].file_id, HASH_ENTER, NULL);

		known->fresh = fresh;
	}
}

/* Choose the files of the step; returns how many. */
static int
ChooseFiles(Compaction *compaction, const RowLayout *layout, const Manifest *manifest, bool *chosen)
{
	bool	   *eligible = palloc0(Max(manifest->nfiles, 1) * sizeof(bool));
	bool	   *fresh = palloc0(Max(manifest->nfiles, 1) * sizeof(bool));
	CompactLimits limits = {
		.full = compaction->full, .quiet = compaction->quiet, .deleted = compaction->deleted,
		.runs = bf_upkeep_runs, .step_bytes = STEP_BYTES
	};

	/* as a merge holds it: values, null flags and the key, and what the values point to */
	limits.row_memory = 2 * sizeof(int64) + layout->ncols * (sizeof(Datum) + sizeof(bool)) +
		manifest->raw_bytes / Max(manifest->rows + manifest->deleted, 1);
	limits.memory = (Size) maintenance_work_mem * 1024;
	for (int i = 0; i < manifest->nfiles; i++)
	{
		const ManifestFile *file = &manifest->files[i];
		const KnownFile *known = hash_search(compaction->known, &file->file_id, HASH_FIND, NULL);

		eligible[i] = known != NULL && BucketSpecAlike(manifest->specs[file->spec], layout->spec);
		fresh[i] = known != NULL && known->fresh;
	}
	if (compaction->nparts != layout->spec->nbuckets)
	{
		compaction->nparts = layout->spec->nbuckets;
		compaction->parts = MemoryContextAllocZero(compaction->cxt, compaction->nparts * sizeof(double));
	}
	return CompactChoose(manifest, eligible, fresh, &limits, compaction->parts, chosen);
}

/* A merge of files, bucket by bucket. */
typedef struct Merger
{
	const RowLayout *layout;
	LeafReader *leaf;
	RunFiles   *files;
	RowSources *sources;
	Datum	  **values;			/* of a batch, per table column */
	bool	  **nulls;
	Datum	   *gathered;		/* of its selected rows, per stored column; NULL: never needed yet */
	bool	   *gathered_nulls;
} Merger;

/* The values of the selected rows of a batch, by table column. */
static void
FindValues(Merger *merger, Batch *batch)
{
	static bool no_nulls[BF_BATCH_ROWS];	/* all false */
	const RowLayout *layout = merger->layout;
	bool		gather = batch->nselected < batch->nrows;

	if (gather && merger->gathered == NULL)
	{
		merger->gathered = palloc(Max(layout->ncols, 1) * BF_BATCH_ROWS * sizeof(Datum));
		merger->gathered_nulls = palloc(Max(layout->ncols, 1) * BF_BATCH_ROWS * sizeof(bool));
	}
	for (int c = 0; c < layout->ncols; c++)
	{
		int			att = layout->cols[c].attnum - 1;
		ColumnVector *vector = BatchColumn(batch, c);

		merger->values[att] = vector->values;
		merger->nulls[att] = vector->nulls ? vector->nulls : no_nulls;
		if (!gather)
			continue;
		merger->values[att] = merger->gathered + c * BF_BATCH_ROWS;
		for (int i = 0; i < batch->nselected; i++)
			merger->values[att][i] = vector->values[batch->selection[i]];
		if (vector->nulls == NULL)
			continue;
		merger->nulls[att] = merger->gathered_nulls + c * BF_BATCH_ROWS;
		for (int i = 0; i < batch->nselected; i++)
			merger->nulls[att][i] = vector->nulls[batch->selection[i]];
	}
}

/* Merge the runs of one bucket, which have so many rows that are not deleted and take so many bytes now. */
static void
MergeBucket(Merger *merger, int bucket, int64 rows, int64 bytes)
{
	const RowLayout *layout = merger->layout;
	Batch	   *batch;

	LeafOpenGroup(merger->leaf, layout->spec->nbuckets, bucket, layout->spec->nsort, NULL);
	RunFilesBeginRun(merger->files, bucket, bytes);
	RowSourcesBucket(merger->sources, bucket);
	while ((batch = LeafNextBatch(merger->leaf, NULL)) != NULL)
	{
		const ColumnVector *ids = BatchColumn(batch, layout->ncols);

		CHECK_FOR_INTERRUPTS();
		FindValues(merger, batch);
		RunFilesAppend(merger->files, merger->values, merger->nulls, batch->nselected);
		for (int i = 0; i < batch->nselected; i++)
		{
			int			row = batch->selection ? batch->selection[i] : i;

			RowSourcesAdd(merger->sources, RowIdGet((ItemPointer) DatumGetPointer(ids->values[row])));
		}
		if (bf_pace)
			bf_pace((int64) ((double) bytes * batch->nselected / rows));
	}
	(void) RunFilesEndRun(merger->files);
	LeafClose(merger->leaf);
}

/* Write the rows of some files anew, one run for each bucket. */
static ManifestWrite *
MergeFiles(Relation rel, const RowLayout *layout, Manifest *inputs, RowSources *sources)
{
	Oid			relid = RelationGetRelid(rel);
	AttrNumber *attnums = palloc((layout->ncols + 1) * sizeof(AttrNumber));
	int64	   *bytes = palloc0(layout->spec->nbuckets * sizeof(int64));
	int64	   *rows = palloc0(layout->spec->nbuckets * sizeof(int64));
	Merger		merger = {.layout = layout, .sources = sources};
	int64		done = 0;
	int64		merged = 0;
	int64		total = 0;

	for (int c = 0; c < layout->ncols; c++)
		attnums[c] = layout->cols[c].attnum;
	attnums[layout->ncols] = SelfItemPointerAttributeNumber;
	for (int r = 0; r < inputs->nruns; r++)
	{
		const ManifestRun *run = &inputs->runs[r];

		bytes[run->bucket] += (int64) (run->bytes * ((double) (run->rows - run->deleted) / Max(run->rows, 1)));
		rows[run->bucket] += run->rows - run->deleted;
	}
	for (int b = 0; b < layout->spec->nbuckets; b++)
		total += bytes[b];
	ProgressTotal(relid, total);
	merger.values = palloc0(layout->desc->natts * sizeof(Datum *));
	merger.nulls = palloc0(layout->desc->natts * sizeof(bool *));
	merger.files = RunFilesBegin(layout, SpecTablespace(relid), NULL, NULL, 0);
	merger.leaf = LeafReaderCreate(rel, inputs, layout->ncols + 1, attnums, 0, NULL);
	for (int b = 0; b < layout->spec->nbuckets; b++)
	{
		if (rows[b] == 0)
			continue;
		MergeBucket(&merger, b, rows[b], bytes[b]);
		ProgressRows(relid, merged += rows[b]);
		ProgressDone(relid, done += bytes[b]);
	}
	ProgressEnd();
	LeafReaderEnd(merger.leaf);
	return RunFilesEnd(merger.files);
}

/* The last step: deleted rows that stay stand in few vectors. */
static bool
Unite(Compaction *compaction, Relation rel, const Manifest *manifest)
{
	if (compaction->united || DeletesMostVectors(manifest->deletes) < DELETES_MANY || !LockOutChangers(rel))
		return false;
	compaction->united = true;
	DeletesMerge(compaction->relid);
	return true;
}

/* Leave the specs of the files that were kept, which are alike. */
static void
KeepSpecs(Manifest *manifest)
{
	int		   *number = palloc(manifest->nspecs * sizeof(int));
	int			n = 0;

	for (int i = 0; i < manifest->nspecs; i++)
		number[i] = -1;
	for (int f = 0; f < manifest->nfiles; f++)
		number[manifest->files[f].spec] = 0;
	for (int i = 0; i < manifest->nspecs; i++)
	{
		if (number[i] < 0)
			continue;
		number[i] = n;
		manifest->specs[n++] = manifest->specs[i];
	}
	manifest->nspecs = n;
	for (int f = 0; f < manifest->nfiles; f++)
		manifest->files[f].spec = number[manifest->files[f].spec];
	pfree(number);
}

/* A step of a table that is locked. */
static bool
CompactTable(void *state, Relation rel)
{
	Compaction *compaction = state;
	RowLayout  *layout = RowLayoutCreate(compaction->relid, RelationGetDescr(rel), TableOptionsGet(rel));
	Manifest   *manifest;
	ManifestWrite *write;
	RowSources *sources;
	bool	   *chosen;
	bool		replaced;

	/* what comes from there is compacted in the next steps */
	if (!compaction->flushed)
	{
		compaction->flushed = true;
		if (InlineDue(compaction->relid, compaction->full || compaction->quiet ? 0 : 1))
		{
			/* of these rows, too, some may be deleted */
			if (!LockOutChangers(rel))
				return false;
			if (InlineFlush(rel))
				return true;
		}
	}
	manifest = ManifestToReplace(compaction->relid);
	if (!compaction->begun)
		AddKnown(compaction, manifest->files, manifest->nfiles, false);
	compaction->begun = true;
	chosen = palloc(Max(manifest->nfiles, 1) * sizeof(bool));
	if (ChooseFiles(compaction, layout, manifest, chosen) == 0)
		return Unite(compaction, rel, manifest);
	if (TooMuchGarbage(rel, manifest) || !WaitForChangers(rel))
		return false;

	ManifestKeepFiles(manifest, chosen);
	KeepSpecs(manifest);
	sources = RowSourcesBegin(manifest);
	write = MergeFiles(rel, layout, manifest, sources);
	replaced = ReplaceFiles(rel, layout, manifest, write, BF_ORIGIN_COMPACTION, sources);
	RowSourcesEnd(sources);
	if (!replaced)
		return false;
	AddKnown(compaction, write->files, write->nfiles, true);
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
