/*
 * spill.c
 *	  Rows of sets go to temporary files, as sorted runs.
 *
 * Everything here leaves the sets valid when an error is raised half-way: the
 * rows may belong to an outer subtransaction that goes on.
 */
#include "postgres.h"

#include "rows/spill.h"
#include "storage/temp_file.h"

/*
 * So many bytes are written at once: a system call for each 8 kB, as BufFile
 * makes it, takes twice the time.
 */
#define WRITE_BYTES (64 * 1024)

/*
 * Write all rows of a merge as a new run at the end of a temporary file,
 * which none of the merge's runs may lie in.
 */
static SpillRun *
WriteRun(RowPool *pool, RowMerge *merge, SpillFile *spill)
{
	SpillRun   *run = MemoryContextAllocZero(pool->cxt, sizeof(SpillRun));
	char	   *buffer = palloc(WRITE_BYTES);
	Size		used = 0;

#define PUT(data, len) \
	do { \
		if (used + (len) > WRITE_BYTES) \
		{ \
			TempFileWrite(spill->vfd, buffer, used, run->offset + run->bytes); \
			run->bytes += used; \
			used = 0; \
		} \
		if ((len) <= WRITE_BYTES) \
		{ \
			memcpy(buffer + used, data, len); \
			used += (len); \
		} \
		else \
		{ \
			TempFileWrite(spill->vfd, data, len, run->offset + run->bytes); \
			run->bytes += (len); \
		} \
	} while (0)

	run->file = spill;
	run->offset = spill->end;
	while (RowMergeNextBucket(merge) >= 0)
	{
		SegmentHeader header = RowMergeSegment(merge);
		const SortEntry *entries;
		int64		n;

		PUT((char *) &header, sizeof(header));
		while ((n = RowMergeNextRows(merge, &entries)) > 0)
		{
			for (int64 i = 0; i < n; i++)
				PUT(entries[i].row, RowSize(entries[i].row));
		}
	}
#undef PUT
	TempFileWrite(spill->vfd, buffer, used, run->offset + run->bytes);
	run->bytes += used;
	pfree(buffer);
	spill->end = run->offset + run->bytes;
	spill->nruns++;
	return run;
}

/* The first of the last buckets without which a set has no more than "keep" bytes in memory. */
static int
FirstToSpill(const RowSet *set, Size keep)
{
	int			first = set->layout->spec->nbuckets;
	Size		left = set->mem;

	while (first > 0 && left > keep)
	{
		const RowBucket *bucket = RowSetBucket(set, --first);

		left -= bucket ? bucket->bytes : 0;
	}
	return first;
}

void
SpillSet(RowSet *set, Size keep)
{
	RowPool    *pool = set->pool;
	MemoryContext oldcxt;
	SpillFile  *spill;
	RowMerge   *merge;
	SpillRun   *run;
	int			first;

	SpillCloseUnused();
	if (set->mem == 0)
		return;
	if (set->runs != NIL)
		spill = ((SpillRun *) llast(set->runs))->file;
	else
		spill = SpillFileCreate(pool);
	first = keep == 0 ? 0 : FirstToSpill(set, keep);
	merge = RowMergeBeginParts(pool, set->layout, &set, 1, NIL, first);
	run = WriteRun(pool, merge, spill);
	RowMergeEnd(merge);

	oldcxt = MemoryContextSwitchTo(pool->cxt);
	set->runs = lappend(set->runs, run);
	MemoryContextSwitchTo(oldcxt);
	RowSetFreeMemory(set, first);
}

void
SpillReduceRuns(RowSet *set, int max_runs)
{
	RowPool    *pool = set->pool;

	Assert(max_runs >= 1);
	while (list_length(set->runs) > max_runs)
	{
		int			count = Min(SPILL_FAN_IN, list_length(set->runs) - max_runs + 1);
		List	   *merged = list_copy_head(set->runs, count);
		RowMerge   *merge = RowMergeBeginParts(pool, set->layout, NULL, 0, merged, 0);
		SpillRun   *run = WriteRun(pool, merge, SpillFileCreate(pool));
		MemoryContext oldcxt;
		ListCell   *lc;

		RowMergeEnd(merge);
		oldcxt = MemoryContextSwitchTo(pool->cxt);
		set->runs = lappend(list_copy_tail(set->runs, count), run);
		MemoryContextSwitchTo(oldcxt);
		foreach(lc, merged)
			SpillRunFree(lfirst(lc));
		list_free(merged);
		SpillCloseUnused();
	}
}
