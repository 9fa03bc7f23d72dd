/*
 * spill.c
 *	  Sorted runs in temporary files, and the merge of runs and memory.
 *
 * Everything here leaves the sets valid when an error is raised half-way: the
 * rows may belong to an outer subtransaction that goes on.
 */
#include "postgres.h"

#include "compat.h"
#include "load/spill.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#define READ_BUFFER_MIN (8 * 1024)
#define READ_BUFFER_MAX (256 * 1024)

/* how far ahead rows in memory, which lie in no order, are fetched into the cache */
#define PREFETCH_ROWS 8

/* stands before the rows of a bucket in a run */
typedef struct SegmentHeader
{
	int64		bucket;
	int64		rows;
	int64		bytes;			/* of the rows */
} SegmentHeader;

/* Sequential reading of a run. */
typedef struct RunReader
{
	SpillRun   *run;
	int			fileno;			/* where to read on */
	off_t		offset;
	int64		unread;			/* bytes not yet in the buffer */
	char	   *buffer;
	Size		size;
	Size		pos;			/* the next byte to hand out */
	Size		filled;
	int			bucket;			/* of the current segment, -1 at the end */
	int64		left;			/* rows left in it */
	int64		bytes;			/* of all its rows */
} RunReader;

/* One source of rows of the current bucket. */
typedef struct MergeStream
{
	uint64		prefix;			/* of the row */
	char	   *row;			/* its next row */
	RunReader  *reader;			/* NULL: the rows in memory */
} MergeStream;

struct RowMerge
{
	MemoryContext cxt;
	const RowLayout *layout;
	RowSet	  **sets;
	int			nsets;
	int			nreaders;
	RunReader  *readers;
	RowSorter	sorter;
	SortEntry  *entry;			/* next of the sorted rows in memory */
	SortEntry  *entry_end;
	int			bucket;			/* the current one, -1 at the start */
	int64		bucket_rows;	/* its rows */
	int64		bucket_bytes;	/* and their bytes */
	bool		returned;		/* the row of heap[0] was handed out */
	int			nheap;
	MergeStream *heap;
};

/* all temporary files of the transaction */
static List *files = NIL;

/* A new temporary file that lives as long as the transaction, unless closed. */
static SpillFile *
SpillFileCreate(RowPool *pool)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(pool->cxt);
	ResourceOwner oldowner = CurrentResourceOwner;
	SpillFile  *spill = palloc0(sizeof(SpillFile));

	/* a subtransaction's owner would close the file at its end */
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		spill->file = BufFileCreateTemp(false);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = oldowner;
	}
	PG_END_TRY();
	files = lappend(files, spill);
	MemoryContextSwitchTo(oldcxt);
	return spill;
}

void
SpillCloseUnused(void)
{
	ListCell   *lc;

	foreach(lc, files)
	{
		SpillFile  *spill = lfirst(lc);

		if (spill->nruns > 0)
			continue;
		/* first out of the list: closing may fail */
		files = foreach_delete_current(files, lc);
		BufFileClose(spill->file);
		pfree(spill);
	}
}

void
SpillForget(void)
{
	files = NIL;
}

static void
FreeRun(SpillRun *run)
{
	run->file->nruns--;
	pfree(run);
}

void
RowSetFree(RowSet *set)
{
	ListCell   *lc;

	RowSetFreeMemory(set);
	pfree(set->chunks);
	foreach(lc, set->runs)
		FreeRun(lfirst(lc));
	list_free(set->runs);
	pfree(set);
}

/*
 * Read on until the next "need" bytes of the run stand together in the
 * buffer; returns them.  What was handed out before becomes invalid.
 */
static char *
ReaderNeed(RunReader *reader, Size need)
{
	SpillFile  *spill = reader->run->file;
	Size		rest = reader->filled - reader->pos;
	Size		want;

	if (rest >= need)
		return reader->buffer + reader->pos;

	memmove(reader->buffer, reader->buffer + reader->pos, rest);
	reader->pos = 0;
	reader->filled = rest;
	if (need > reader->size)
	{
		reader->buffer = repalloc_huge(reader->buffer, need);
		reader->size = need;
	}
	want = Min(reader->size - rest, (Size) reader->unread);
	if (want < need - rest)
		elog(ERROR, "temporary run ends early");
	if (BufFileSeek(spill->file, reader->fileno, reader->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	if (BufFileRead(spill->file, reader->buffer + rest, want) != want)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
	BufFileTell(spill->file, &reader->fileno, &reader->offset);
	reader->unread -= want;
	reader->filled += want;
	return reader->buffer;
}

/* Step to the next segment; bucket is -1 when there is none. */
static void
ReaderNextSegment(RunReader *reader)
{
	SegmentHeader *header;

	Assert(reader->left == 0);
	if (reader->unread == 0 && reader->pos == reader->filled)
	{
		reader->bucket = -1;
		return;
	}
	header = (SegmentHeader *) ReaderNeed(reader, sizeof(SegmentHeader));
	reader->bucket = (int) header->bucket;
	reader->left = header->rows;
	reader->bytes = header->bytes;
	reader->pos += sizeof(SegmentHeader);
}

/* The next row of the segment, or NULL. */
static char *
ReaderNextRow(RunReader *reader)
{
	char	   *row;

	if (reader->left == 0)
		return NULL;
	row = ReaderNeed(reader, sizeof(RowHeader));
	row = ReaderNeed(reader, RowSize(row));
	reader->pos += RowSize(row);
	reader->left--;

	/* by the time it is needed, other streams have pushed it out of the cache */
	BfPrefetch(row + RowSize(row));
	BfPrefetch(row + RowSize(row) + 64);
	return row;
}

static void
ReaderBegin(RunReader *reader, SpillRun *run, Size size)
{
	reader->run = run;
	reader->fileno = run->fileno;
	reader->offset = run->offset;
	reader->unread = run->bytes;
	reader->size = size;
	reader->buffer = palloc(size);
	ReaderNextSegment(reader);
}

/* Begin a merge of runs and of the rows that some sets have in memory. */
static RowMerge *
MergeBegin(RowPool *pool, const RowLayout *layout, RowSet **sets, int nsets, List *runs)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw merge",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	RowMerge   *merge = palloc0(sizeof(RowMerge));
	Size		size = pool->budget / (list_length(runs) + 1);
	ListCell   *lc;

	merge->cxt = cxt;
	merge->layout = layout;
	merge->nsets = nsets;
	merge->sets = palloc(sizeof(RowSet *) * Max(nsets, 1));
	if (nsets > 0)
		memcpy(merge->sets, sets, sizeof(RowSet *) * nsets);
	RowSorterInit(&merge->sorter, cxt);
	merge->bucket = -1;
	merge->heap = palloc0(sizeof(MergeStream) * (list_length(runs) + 1));
	merge->readers = palloc0(sizeof(RunReader) * Max(list_length(runs), 1));

	size = TYPEALIGN(BLCKSZ, Max(Min(size, READ_BUFFER_MAX), READ_BUFFER_MIN));
	foreach(lc, runs)
		ReaderBegin(&merge->readers[merge->nreaders++], lfirst(lc), size);
	MemoryContextSwitchTo(oldcxt);
	return merge;
}

RowMerge *
RowMergeBegin(RowSet **sets, int nsets)
{
	List	   *runs = NIL;

	for (int s = 0; s < nsets; s++)
		runs = list_concat(runs, sets[s]->runs);
	return MergeBegin(sets[0]->pool, sets[0]->layout, sets, nsets, runs);
}

void
RowMergeEnd(RowMerge *merge)
{
	MemoryContextDelete(merge->cxt);
}

static inline bool
StreamBefore(const RowMerge *merge, const MergeStream *a, const MergeStream *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	if (RowPrefixDecides(merge->layout, a->prefix))
		return false;
	return RowCompareTie(merge->layout, a->prefix, a->row, b->row) < 0;
}

/*
 * Restore the heap below position i.  The hole goes down to a leaf first and
 * the stream then up from there: the next row of a stream is mostly a late
 * one, so this takes half the comparisons.
 */
static void
SiftDown(RowMerge *merge, int i)
{
	MergeStream *heap = merge->heap;
	MergeStream moving = heap[i];
	int			top = i;
	int			child;

	while ((child = 2 * i + 1) < merge->nheap)
	{
		if (child + 1 < merge->nheap)
		{
			uint64		left = heap[child].prefix;
			uint64		right = heap[child + 1].prefix;

			/* no branch: which one is the smaller nobody can predict */
			if (likely(left != right))
				child += right < left;
			else
				child += StreamBefore(merge, &heap[child + 1], &heap[child]);
		}
		heap[i] = heap[child];
		i = child;
	}
	while (i > top)
	{
		int			parent = (i - 1) / 2;

		if (!StreamBefore(merge, &moving, &heap[parent]))
			break;
		heap[i] = heap[parent];
		i = parent;
	}
	heap[i] = moving;
}

/* The first bucket after the current one for which a set has rows in memory; -1: none. */
static int
NextBucketInMemory(const RowMerge *merge)
{
	int			nbuckets = merge->layout->spec->nbuckets;
	int			found = -1;

	for (int s = 0; s < merge->nsets; s++)
	{
		const RowSet *set = merge->sets[s];
		int			last = found < 0 ? nbuckets : found;

		for (int b = merge->bucket + 1; b < last;)
		{
			const RowBucket *bucket = RowSetBucket(set, b);

			if (bucket == NULL)
			{
				b = (b / ROW_CHUNK_BUCKETS + 1) * ROW_CHUNK_BUCKETS;
				continue;
			}
			if (bucket->rows > 0)
			{
				found = b;
				break;
			}
			b++;
		}
	}
	return found;
}

int
RowMergeNextBucket(RowMerge *merge)
{
	int			next = NextBucketInMemory(merge);
	bool		in_memory = next >= 0;

	Assert(merge->nheap == 0);
	for (int r = 0; r < merge->nreaders; r++)
	{
		RunReader  *reader = &merge->readers[r];

		if (reader->bucket == merge->bucket && merge->bucket >= 0)
			ReaderNextSegment(reader);
		if (reader->bucket < 0)
			continue;
		if (next < 0 || reader->bucket < next)
		{
			next = reader->bucket;
			in_memory = false;
		}
	}
	if (next < 0)
		return -1;
	merge->bucket = next;
	merge->bucket_rows = 0;
	merge->bucket_bytes = 0;
	merge->returned = false;

	if (in_memory)
	{
		int64		n = RowSorterSort(&merge->sorter, merge->sets, merge->nsets, next);

		merge->entry = merge->sorter.entries;
		merge->entry_end = merge->entry + n;
		merge->heap[merge->nheap].prefix = merge->entry->prefix;
		merge->heap[merge->nheap].row = merge->entry->row;
		merge->heap[merge->nheap].reader = NULL;
		merge->nheap++;
		merge->bucket_rows += n;
		for (int s = 0; s < merge->nsets; s++)
		{
			RowBucket  *bucket = RowSetBucket(merge->sets[s], next);

			merge->bucket_bytes += bucket ? bucket->bytes : 0;
		}
	}
	for (int r = 0; r < merge->nreaders; r++)
	{
		RunReader  *reader = &merge->readers[r];

		if (reader->bucket == next)
		{
			MergeStream *stream = &merge->heap[merge->nheap++];

			merge->bucket_rows += reader->left;
			merge->bucket_bytes += reader->bytes;
			stream->row = ReaderNextRow(reader);
			stream->prefix = RowPrefix(merge->layout, stream->row);
			stream->reader = reader;
		}
	}
	for (int i = merge->nheap / 2 - 1; i >= 0; i--)
		SiftDown(merge, i);
	return next;
}

char *
RowMergeNextRow(RowMerge *merge)
{
	MergeStream *top = &merge->heap[0];

	if (merge->nheap == 0)
		return NULL;
	if (!merge->returned)
	{
		merge->returned = true;
		return top->row;
	}

	/* only now may the row handed out last be overwritten */
	if (top->reader == NULL)
	{
		merge->entry++;
		if (merge->entry < merge->entry_end)
		{
			top->row = merge->entry->row;
			top->prefix = merge->entry->prefix;
			if (merge->entry_end - merge->entry > PREFETCH_ROWS)
				BfPrefetch(merge->entry[PREFETCH_ROWS].row);
		}
		else
			top->row = NULL;
	}
	else
	{
		top->row = ReaderNextRow(top->reader);
		if (top->row)
			top->prefix = RowPrefix(merge->layout, top->row);
	}
	if (top->row == NULL)
	{
		merge->nheap--;
		if (merge->nheap == 0)
			return NULL;
		*top = merge->heap[merge->nheap];
	}
	if (merge->nheap > 1)
		SiftDown(merge, 0);
	return top->row;
}

int64
RowMergeBucketBytes(const RowMerge *merge)
{
	return merge->bucket_bytes;
}

/*
 * Write all rows of a merge as a new run at the end of a temporary file,
 * which none of the merge's runs may lie in.
 */
static SpillRun *
WriteRun(RowPool *pool, RowMerge *merge, SpillFile *spill)
{
	SpillRun   *run = MemoryContextAllocZero(pool->cxt, sizeof(SpillRun));
	int			bucket;

	run->file = spill;
	run->fileno = spill->end_fileno;
	run->offset = spill->end_offset;
	if (BufFileSeek(spill->file, run->fileno, run->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));

	while ((bucket = RowMergeNextBucket(merge)) >= 0)
	{
		SegmentHeader header = {bucket, merge->bucket_rows, merge->bucket_bytes};
		char	   *row;

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(spill->file, (void *) &header, sizeof(header));
		run->bytes += sizeof(header);
		while ((row = RowMergeNextRow(merge)) != NULL)
		{
			BufFileWrite(spill->file, row, RowSize(row));
			run->bytes += RowSize(row);
		}
	}
	BufFileTell(spill->file, &spill->end_fileno, &spill->end_offset);
	spill->nruns++;
	return run;
}

void
SpillSet(RowSet *set)
{
	RowPool    *pool = set->pool;
	MemoryContext oldcxt;
	SpillFile  *spill;
	RowMerge   *merge;
	SpillRun   *run;

	SpillCloseUnused();
	if (set->mem == 0)
		return;
	if (set->runs != NIL)
		spill = ((SpillRun *) llast(set->runs))->file;
	else
		spill = SpillFileCreate(pool);
	merge = MergeBegin(pool, set->layout, &set, 1, NIL);
	run = WriteRun(pool, merge, spill);
	RowMergeEnd(merge);

	oldcxt = MemoryContextSwitchTo(pool->cxt);
	set->runs = lappend(set->runs, run);
	MemoryContextSwitchTo(oldcxt);
	RowSetFreeMemory(set);
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
		RowMerge   *merge = MergeBegin(pool, set->layout, NULL, 0, merged);
		SpillRun   *run = WriteRun(pool, merge, SpillFileCreate(pool));
		MemoryContext oldcxt;
		ListCell   *lc;

		RowMergeEnd(merge);
		oldcxt = MemoryContextSwitchTo(pool->cxt);
		set->runs = lappend(list_copy_tail(set->runs, count), run);
		MemoryContextSwitchTo(oldcxt);
		foreach(lc, merged)
			FreeRun(lfirst(lc));
		list_free(merged);
		SpillCloseUnused();
	}
}
