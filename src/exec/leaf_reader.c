/*
 * leaf_reader.c
 *	  Reads one bucketed table as batches.
 */
#include "postgres.h"

#include "exec/block_cursor.h"
#include "guc.h"
#include "miscadmin.h"
#include "storage/file_store.h"
#include "utils/memutils.h"
#include "utils/rel.h"

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
	leaf->qualcols = palloc(nquals * sizeof(int));
	for (int i = 0; i < nquals; i++)
	{
		int			c;

		for (c = 0; c < ncols; c++)
		{
			if (attnums[c] == quals[i].attnum)
				break;
		}
		if (c == ncols)
			elog(ERROR, "batch qual on column %d that is not read", quals[i].attnum);
		leaf->qualcols[i] = c;
	}
	leaf->files = palloc0(Max(manifest->nfiles, 1) * sizeof(LeafFile *));
	leaf->prune = palloc0(Max(manifest->nspecs, 1) * sizeof(uint8 *));
	leaf->unit = palloc(Max(manifest->nruns, 1) * sizeof(int));
	leaf->all_nulls = palloc(BF_BATCH_ROWS * sizeof(bool));
	memset(leaf->all_nulls, true, BF_BATCH_ROWS * sizeof(bool));
	leaf->zeros = palloc0(BF_BATCH_ROWS * sizeof(Datum));
	MemoryContextSwitchTo(old);
	return leaf;
}

void
LeafReaderEnd(LeafReader *leaf)
{
	for (int i = 0; i < leaf->manifest->nfiles; i++)
	{
		if (leaf->files[i] != NULL)
			LeafFileClose(leaf, i);
	}
	MemoryContextDelete(leaf->cxt);
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

/* Do the quals leave this run's bucket? */
static inline bool
RunWanted(LeafReader *leaf, const ManifestRun *run)
{
	const uint8 *bits = leaf->prune[leaf->manifest->files[run->file].spec];

	return bits == NULL || (bits[run->bucket / 8] & (1 << (run->bucket % 8))) != 0;
}

void
LeafReaderBuckets(LeafReader *leaf, int *nread, int *ntotal)
{
	Manifest   *m = leaf->manifest;
	int			total = ManifestBuckets(m);
	bool	   *seen = palloc0(Max(total, 1) * sizeof(bool));
	int			n = 0;

	for (int i = 0; i < m->nspecs; i++)
	{
		for (int b = 0; b < m->specs[i]->nbuckets; b++)
		{
			if (leaf->prune[i] != NULL && !(leaf->prune[i][b / 8] & (1 << (b % 8))))
				continue;
			if (!seen[b % total])
			{
				seen[b % total] = true;
				n++;
			}
		}
	}
	pfree(seen);
	*nread = n;
	*ntotal = total;
}

int64
LeafGroupRows(LeafReader *leaf, int ngroups, int group)
{
	int64		rows = 0;

	for (int i = 0; i < leaf->manifest->nruns; i++)
	{
		ManifestRun *run = &leaf->manifest->runs[i];

		if (run->bucket % ngroups == group && RunWanted(leaf, run))
			rows += run->rows;
	}
	return rows;
}

/* Make room for n cursors. */
static void
AllocateCursors(LeafReader *leaf, int n)
{
	leaf->cursors = MemoryContextAllocZero(leaf->cxt, Max(n, 1) * sizeof(BlockCursor));
	leaf->ncursors = 0;
}

void
LeafOpenAll(LeafReader *leaf)
{
	leaf->sorted = false;
	leaf->nunit = 0;
	leaf->at = 0;
	for (int i = 0; i < leaf->manifest->nruns; i++)
	{
		if (RunWanted(leaf, &leaf->manifest->runs[i]))
			leaf->unit[leaf->nunit++] = i;
	}
	AllocateCursors(leaf, 1);
}

void
LeafOpenGroup(LeafReader *leaf, int ngroups, int group, int nkeys)
{
	leaf->sorted = true;
	leaf->nkeys = nkeys;
	leaf->nunit = 0;
	leaf->at = 0;
	for (int i = 0; i < leaf->manifest->nruns; i++)
	{
		ManifestRun *run = &leaf->manifest->runs[i];

		if (run->bucket % ngroups == group && RunWanted(leaf, run))
			leaf->unit[leaf->nunit++] = i;
	}
	leaf->counters.max_runs = Max(leaf->counters.max_runs, leaf->nunit);
	AllocateCursors(leaf, leaf->nunit);
	for (int i = 0; i < leaf->nunit; i++)
	{
		BlockCursorStart(leaf, &leaf->cursors[i], leaf->unit[i]);
		leaf->ncursors = i + 1;
	}
	if (leaf->nunit > 1)
		RunMergeOpen(leaf);
}

/* Blocks of all runs in file order: one cursor that moves from run to run. */
static Batch *
NextUnsorted(LeafReader *leaf)
{
	BlockCursor *cursor = &leaf->cursors[0];

	for (;;)
	{
		if (leaf->ncursors == 0)
		{
			if (leaf->at >= leaf->nunit)
				return NULL;
			BlockCursorStart(leaf, cursor, leaf->unit[leaf->at++]);
			leaf->ncursors = 1;
		}
		if (cursor->block != NULL)
		{
			LeafBlockRelease(leaf, cursor->block);
			cursor->block = NULL;
		}
		if (BlockCursorNext(leaf, cursor, NULL))
			return &cursor->block->batch;

		/* done with the run; and with the file, unless the next run is in it too */
		{
			int			file = leaf->manifest->runs[cursor->run].file;

			leaf->ncursors = 0;
			BlockCursorStop(leaf, cursor);
			if (leaf->at >= leaf->nunit ||
				leaf->manifest->runs[leaf->unit[leaf->at]].file != file)
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
	if (leaf->nunit == 0)
		return NULL;
	if (leaf->nunit > 1)
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
	for (int i = 0; i < leaf->ncursors; i++)
		BlockCursorStop(leaf, &leaf->cursors[i]);
	for (int i = 0; i < leaf->nunit; i++)
	{
		int			f = leaf->manifest->runs[leaf->unit[i]].file;

		/* a file of one run will not be needed for another bucket */
		if (leaf->files[f] != NULL && leaf->files[f]->reader->nruns == 1)
			LeafFileClose(leaf, f);
	}
	pfree(leaf->cursors);
	leaf->cursors = NULL;
	leaf->ncursors = 0;
	leaf->nunit = 0;
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
