/*
 * leaf_reader.c
 *	  Reads one bucketed table as batches.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "exec/scan/leaf_reader.h"
#include "exec/scan/merge/cursor_set.h"
#include "exec/scan/merge/merge_memory.h"
#include "exec/scan/merge/merge_passes.h"
#include "exec/scan/merge/merge_spool.h"
#include "exec/scan/merge/run_merge.h"
#include "guc.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* rows of the first batch in order; perhaps no more will be asked for */
#define FIRST_ROWS 8

/* Runs of the manifest by spec and bucket. */
typedef struct RunIndex
{
	int		  **first;			/* per spec and bucket: where its runs begin in "runs"; one more at the end */
	int		   *runs;			/* of a bucket in order of the manifest */
} RunIndex;

/* What one process reads of a run at a time, in file order. */
typedef struct RunPiece
{
	int			run;
	int			slice;
	int			nslices;
} RunPiece;

/* The batch columns of a qual. */
static void
FindQualColumns(LeafReader *leaf, LeafQual *qual)
{
	qual->col = LeafColumn(leaf, qual->attnum);
	if (qual->op == LEAF_COLUMNS)
		qual->othercol = LeafColumn(leaf, qual->othernum);
	if (LeafQualIsBucket(qual))
	{
		qual->hashcols = palloc(qual->nhash * sizeof(int));
		for (int h = 0; h < qual->nhash; h++)
			qual->hashcols[h] = LeafColumn(leaf, qual->hashattnums[h]);
	}
	for (int a = 0; a < qual->narms; a++)
		FindQualColumns(leaf, &qual->arms[a]);
}

/* bytes read by readers that have ended */
static uint64 ended_bytes_read = 0;

LeafReader *
LeafReaderCreate(Relation rel, Manifest *manifest,
				 int ncols, const AttrNumber *attnums,
				 int nquals, LeafQual *quals)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw leaf reader",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	LeafReader *leaf = palloc0(sizeof(LeafReader));

	leaf->cxt = cxt;
	leaf->rel = rel;
	leaf->manifest = manifest;
	leaf->ncols = ncols;
	leaf->attnums = palloc(ncols * sizeof(AttrNumber));
	memcpy(leaf->attnums, attnums, ncols * sizeof(AttrNumber));
	leaf->nquals = nquals;
	leaf->quals = quals;
	leaf->qualorder = palloc(nquals * sizeof(int));
	for (int i = 0; i < nquals; i++)
		FindQualColumns(leaf, &quals[i]);
	BlockOrderQuals(leaf);
	leaf->files = palloc0(Max(manifest->nfiles, 1) * sizeof(LeafFile *));
	leaf->prune = palloc0(Max(manifest->nspecs, 1) * sizeof(uint8 *));
	leaf->nbuckets = Max(ManifestBuckets(manifest), 1);
	leaf->touched = palloc0(leaf->nbuckets * sizeof(bool));
	leaf->runs = palloc(Max(manifest->nruns, 1) * sizeof(int));
	leaf->group_runs = palloc(Max(manifest->nruns, 1) * sizeof(int));
	leaf->scratch = ColumnScratchCreate(cxt);
	for (int i = 0; i < lengthof(leaf->points); i++)
		dlist_init(&leaf->points[i]);
	MemoryContextSwitchTo(old);
	return leaf;
}

void
LeafReaderEnd(LeafReader *leaf)
{
	/* a unit that was left early: temporary files have to be closed */
	if (leaf->spool_cxt != NULL)
		MergeSpoolClose(leaf);
	for (int i = 0; i < leaf->manifest->nfiles; i++)
	{
		if (leaf->files[i] != NULL)
			LeafFileClose(leaf, i);
	}
	ended_bytes_read += leaf->counters.bytes_read;
	MemoryContextDelete(leaf->cxt);
}

void
LeafReaderRescanned(LeafReader *leaf)
{
	leaf->rescanned = true;
}

void
LeafReaderCountRows(LeafReader *leaf)
{
	leaf->countable = true;
}

void
LeafReaderMarkTouched(LeafReader *leaf, bool *flags)
{
	int			n = ManifestBuckets(leaf->manifest);

	for (int b = 0; b < n; b++)
	{
		if (leaf->touched[b])
			flags[b] = true;
	}
}

void
LeafReaderPrune(LeafReader *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(leaf->cxt);

	for (int i = 0; i < leaf->manifest->nspecs; i++)
	{
		if (leaf->prune[i] != NULL)
			pfree(leaf->prune[i]);
		leaf->prune[i] = bf_enable_pruning ?
			LeafQualsBuckets(leaf->manifest->specs[i], leaf->nquals, leaf->quals) : NULL;
	}
	MemoryContextSwitchTo(old);
}

/*
 * The index of runs, made once, by a counting sort: walking over all runs for
 * each of thousands of groups, or lookups, would take longer than reading them.
 */
static RunIndex *
GetRunIndex(LeafReader *leaf)
{
	Manifest   *m = leaf->manifest;
	MemoryContext old;
	RunIndex   *index;
	int			at = 0;

	if (leaf->run_index != NULL)
		return leaf->run_index;
	old = MemoryContextSwitchTo(leaf->cxt);
	index = palloc(sizeof(RunIndex));
	index->first = palloc(m->nspecs * sizeof(int *));
	index->runs = palloc(Max(m->nruns, 1) * sizeof(int));
	for (int i = 0; i < m->nspecs; i++)
		index->first[i] = palloc0((m->specs[i]->nbuckets + 2) * sizeof(int));
	MemoryContextSwitchTo(old);

	/* counts of bucket b at b + 2, so that filling moves b + 1 from its start to its end */
	for (int r = 0; r < m->nruns; r++)
		index->first[m->files[m->runs[r].file].spec][m->runs[r].bucket + 2]++;
	for (int i = 0; i < m->nspecs; i++)
	{
		index->first[i][0] = index->first[i][1] = at;
		for (int b = 2; b < m->specs[i]->nbuckets + 2; b++)
			index->first[i][b] += index->first[i][b - 1];
		at = index->first[i][m->specs[i]->nbuckets + 1];
	}
	for (int r = 0; r < m->nruns; r++)
		index->runs[index->first[m->files[m->runs[r].file].spec][m->runs[r].bucket + 1]++] = r;
	leaf->run_index = index;
	return index;
}

static int
CompareInts(const void *a, const void *b)
{
	int			x = *(const int *) a;
	int			y = *(const int *) b;

	return (x > y) - (x < y);
}

/*
 * The runs of the group that the quals leave, in order of the manifest, unless
 * "runs" is NULL, and their rows that are not deleted; returns how many.
 */
static int
WantedRuns(LeafReader *leaf, int ngroups, int group, int *runs, int64 *rows)
{
	Manifest   *m = leaf->manifest;
	RunIndex   *index = GetRunIndex(leaf);
	bool		in_order = true;
	int			n = 0;

	*rows = 0;
	for (int i = 0; i < m->nspecs; i++)
	{
		const uint8 *bits = leaf->prune[i];
		const int  *first = index->first[i];

		for (int b = group; b < m->specs[i]->nbuckets; b += ngroups)
		{
			if (bits && bits[b / 8] == 0 && ngroups == 1)
				b |= 7;
			else if (bits == NULL || (bits[b / 8] & (1 << (b % 8))) != 0)
			{
				for (int at = first[b]; at < first[b + 1]; at++, n++)
				{
					*rows += m->runs[index->runs[at]].rows - m->runs[index->runs[at]].deleted;
					if (runs == NULL)
						continue;
					runs[n] = index->runs[at];
					in_order &= n == 0 || runs[n - 1] < runs[n];
				}
			}
		}
	}
	if (!in_order)
		qsort(runs, n, sizeof(int), CompareInts);
	return n;
}

int64
LeafGroupRows(LeafReader *leaf, int ngroups, int group)
{
	int64		rows;

	(void) WantedRuns(leaf, ngroups, group, NULL, &rows);
	return rows;
}

/* Take the runs of the unit. */
static void
CollectRuns(LeafReader *leaf, int ngroups, int group)
{
	int64		rows;

	leaf->nruns = WantedRuns(leaf, ngroups, group, leaf->runs, &rows);
	leaf->at = 0;
}

/* Take all runs that the quals leave; who comes once needs no index for that. */
static void
CollectAll(LeafReader *leaf)
{
	Manifest   *m = leaf->manifest;

	if (leaf->rescanned || leaf->run_index != NULL)
	{
		CollectRuns(leaf, 1, 0);
		return;
	}
	leaf->nruns = 0;
	for (int r = 0; r < m->nruns; r++)
	{
		const uint8 *bits = leaf->prune[m->files[m->runs[r].file].spec];
		int			b = m->runs[r].bucket;

		if (bits == NULL || (bits[b / 8] & (1 << (b % 8))) != 0)
			leaf->runs[leaf->nruns++] = r;
	}
	leaf->at = 0;
}

/* CutSourceOps */
static int64
CutGroupRows(void *table, int ngroups, int group)
{
	return LeafGroupRows(table, ngroups, group);
}

/* CutSourceOps */
static const int *
CutGroupRuns(void *table, int ngroups, int group, int *nruns)
{
	LeafReader *leaf = table;
	int64		rows;

	*nruns = WantedRuns(leaf, ngroups, group, leaf->group_runs, &rows);
	return leaf->group_runs;
}

/* CutSourceOps */
static void
CutVisitRun(void *table, int run, CutBlocks visit, void *arg)
{
	LeafReader *leaf = table;
	int64		skipped = leaf->counters.blocks_skipped;
	BlockCursor cursor;

	BlockCursorStart(leaf, &cursor, run);
	visit(arg, cursor.file->reader->spec, &cursor.file->reader->blocks[cursor.next],
		  cursor.end - cursor.next);
	BlockCursorStop(leaf, &cursor);
	/* they are counted when the unit is read */
	leaf->counters.blocks_skipped = skipped;
}

static const CutSourceOps leaf_cut_ops = {
	.group_rows = CutGroupRows,
	.group_runs = CutGroupRuns,
	.visit_run = CutVisitRun,
};

void
LeafCutSource(LeafReader *leaf, CutSource *source)
{
	source->ops = &leaf_cut_ops;
	source->table = leaf;
}

/* Share out the runs of the unit: each is a piece, or several when it is large. */
static void
MakePieces(LeafReader *leaf)
{
	Manifest   *m = leaf->manifest;
	int64		rows = 0;
	int64		limit;
	int64		n = 0;
	uint64		fingerprint;

	for (int i = 0; i < leaf->nruns; i++)
		rows += m->runs[leaf->runs[i]].rows;
	limit = UnitLimit(leaf->claim->shared, rows);
	if (limit == 0)
		limit = Max(rows, 1);
	for (int i = 0; i < leaf->nruns; i++)
		n += m->runs[leaf->runs[i]].rows / limit + 1;
	if (leaf->pieces != NULL)
		pfree(leaf->pieces);
	leaf->pieces = MemoryContextAllocExtended(leaf->cxt, n * sizeof(RunPiece), MCXT_ALLOC_HUGE);
	leaf->npieces = 0;
	for (int i = 0; i < leaf->nruns; i++)
	{
		int			run = leaf->runs[i];
		int			nslices = (int) (m->runs[run].rows / limit) + 1;

		CHECK_FOR_INTERRUPTS();
		for (int slice = 0; slice < nslices; slice++)
		{
			RunPiece   *piece = &leaf->pieces[leaf->npieces++];

			piece->run = run;
			piece->slice = slice;
			piece->nslices = nslices;
		}
	}
	/* of several tables the first one with rows stands for all */
	fingerprint = ((uint64) leaf->nruns << 32) ^ (uint64) leaf->npieces;
	if (leaf->claim->before == 0 && leaf->npieces > 0)
		UnitSharedCheck(leaf->claim->shared, fingerprint << 1);
}

/* The place of the next run, or piece, that is ours. */
static int
NextRun(LeafReader *leaf)
{
	return leaf->claim == NULL ? leaf->at + 1 : (int) UnitClaimNext(leaf->claim, (uint32) leaf->npieces);
}

/* The run at the next place, -1: there is none. */
static int
RunAt(LeafReader *leaf)
{
	if (leaf->claim == NULL)
		return leaf->at < leaf->nruns ? leaf->runs[leaf->at] : -1;
	return leaf->at < leaf->npieces ? leaf->pieces[leaf->at].run : -1;
}

void
LeafOpenAll(LeafReader *leaf, UnitClaim *claim)
{
	leaf->sorted = false;
	CollectAll(leaf);
	leaf->claim = claim != NULL && claim->shared != NULL ? claim : NULL;
	memset(&leaf->part, 0, sizeof(UnitPart));
	if (leaf->claim != NULL)
	{
		MakePieces(leaf);
		leaf->at = NextRun(leaf);
	}
	CursorSetAllocate(leaf, 1);
}

/* Prepare to read a part of a group. */
static void
SetPart(LeafReader *leaf, const UnitPart *part)
{
	const BucketSpec *spec;

	memset(&leaf->part, 0, sizeof(UnitPart));
	if (part == NULL || leaf->nruns == 0)
		return;
	leaf->part = *part;
	if (leaf->partcols != NULL)
		return;
	/* all files are sorted by the same keys */
	spec = leaf->manifest->specs[leaf->manifest->files[leaf->manifest->runs[leaf->runs[0]].file].spec];
	leaf->partcols = MemoryContextAlloc(leaf->cxt, spec->nkeys * sizeof(int));
	for (int k = 0; k < Min(spec->nkeys, leaf->nkeys); k++)
		leaf->partcols[k] = LeafColumn(leaf, spec->sort[k].attnum);
}

/* Start on the runs of the unit. */
static void
OpenSorted(LeafReader *leaf, int nkeys, const UnitPart *part)
{
	leaf->sorted = true;
	leaf->nkeys = nkeys;
	leaf->counters.max_runs = Max(leaf->counters.max_runs, leaf->nruns);
	SetPart(leaf, part);
	if (leaf->nruns > MERGE_FAN_IN)
	{
		MergePassesOpen(leaf);
		return;
	}
	CursorSetAllocate(leaf, leaf->nruns);
	for (int i = 0; i < leaf->nruns; i++)
	{
		BlockCursorStart(leaf, &leaf->cursors[i], leaf->runs[i]);
		leaf->ncursors = i + 1;
	}
	if (leaf->nruns > 1)
		RunMergeOpen(leaf);
}

void
LeafOpenGroup(LeafReader *leaf, int ngroups, int group, int nkeys, const UnitPart *part)
{
	CollectRuns(leaf, ngroups, group);
	leaf->ramp = 0;
	leaf->run_memory = MergeRunMemory(leaf->ncols, leaf->nruns, false);
	OpenSorted(leaf, nkeys, part);
}

int
LeafWantedRuns(LeafReader *leaf)
{
	int64		rows;

	return WantedRuns(leaf, 1, 0, NULL, &rows);
}

void
LeafOpenOrdered(LeafReader *leaf, int nkeys)
{
	CollectRuns(leaf, 1, 0);
	leaf->ramp = FIRST_ROWS;
	leaf->run_memory = MergeRunMemory(leaf->ncols, leaf->nruns, true);
	OpenSorted(leaf, nkeys, NULL);
}

/* Blocks of all runs in file order: one cursor that moves from run to run. */
static Batch *
NextUnsorted(LeafReader *leaf)
{
	BlockCursor *cursor = &leaf->cursors[0];

	for (;;)
	{
		Batch	   *found;

		if (leaf->ncursors == 0)
		{
			int			run = RunAt(leaf);

			if (run < 0)
				return NULL;
			if (leaf->claim != NULL)
			{
				leaf->part.slice = leaf->pieces[leaf->at].slice;
				leaf->part.nslices = leaf->pieces[leaf->at].nslices;
			}
			BlockCursorStart(leaf, cursor, run);
			leaf->ncursors = 1;
			leaf->at = NextRun(leaf);
		}
		if (cursor->block != NULL)
		{
			LeafBlockRelease(leaf, cursor->block);
			cursor->block = NULL;
		}
		found = PointNext(leaf, cursor);
		if (found != NULL)
			return found;
		if (BlockCursorNext(leaf, cursor, NULL))
			return &cursor->block->batch;

		/* done with the run; and with the file, unless the next run is in it too */
		{
			int			file = leaf->manifest->runs[cursor->run].file;
			int			next = RunAt(leaf);

			leaf->ncursors = 0;
			BlockCursorStop(leaf, cursor);
			if (!leaf->rescanned && (next < 0 || leaf->manifest->runs[next].file != file))
				LeafFileClose(leaf, file);
		}
	}
}

Batch *
LeafNextBatch(LeafReader *leaf, const KeyBound *bound)
{
	BlockCursor *cursor;

	if (!leaf->sorted)
		return NextUnsorted(leaf);
	if (leaf->nruns == 0)
		return NULL;
	if (leaf->nruns > 1)
		return RunMergeNext(leaf, bound);

	/* a single run passes through untouched */
	cursor = &leaf->cursors[0];
	if (cursor->block != NULL)
	{
		LeafBlockRelease(leaf, cursor->block);
		cursor->block = NULL;
	}
	if (!BlockCursorNext(leaf, cursor, bound))
		return NULL;
	return &cursor->block->batch;
}

void
LeafClose(LeafReader *leaf)
{
	if (leaf->cursors == NULL)
		return;
	if (leaf->merge != NULL)
		RunMergeClose(leaf);
	if (leaf->spool_cxt != NULL)
		MergeSpoolClose(leaf);
	CursorSetFree(leaf);
	for (int i = 0; i < leaf->nruns; i++)
	{
		int			f = leaf->manifest->runs[leaf->runs[i]].file;

		/* a file of one run will not be needed for another bucket */
		if (!leaf->rescanned &&
			leaf->files[f] != NULL && leaf->files[f]->reader->nruns == 1)
			LeafFileClose(leaf, f);
	}
	leaf->nruns = 0;
	memset(&leaf->part, 0, sizeof(UnitPart));
}

uint64
LeafBytesRead(void)
{
	return ended_bytes_read;
}

const LeafCounters *
LeafReaderCounters(LeafReader *leaf)
{
	return &leaf->counters;
}

Manifest *
LeafReaderManifest(LeafReader *leaf)
{
	return leaf->manifest;
}
