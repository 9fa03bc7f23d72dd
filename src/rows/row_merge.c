/*
 * row_merge.c
 *	  The rows of sets in order: those in memory, and those in sorted runs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "rows/row_merge.h"
#include "storage/temp_file.h"
#include "utils/memutils.h"

#define READ_BUFFER_MIN (8 * 1024)
#define READ_BUFFER_MAX (256 * 1024)

/* Sequential reading of a run. */
typedef struct RunReader
{
	SpillRun   *run;
	off_t		offset;			/* where to read on */
	int64		unread;			/* bytes not yet in the buffer */
	char	   *buffer;
	Size		size;
	Size		pos;			/* the next byte to hand out */
	Size		filled;
	int			bucket;			/* of the current segment, -1 at the end */
	int64		left;			/* rows left in it */
	int64		bytes;			/* of all its rows */
	int64		looked_at;		/* rows of the buffer that stand in the window */
} RunReader;

struct RowMerge
{
	MemoryContext cxt;
	const RowLayout *layout;
	RowSet	  **sets;
	int			nsets;
	int			nreaders;
	RunReader  *readers;
	int64		stream_rows;	/* a batch takes at most so many of each reader, and of memory */
	RowSorter	sorter;			/* of the rows in memory */
	SortEntry  *entry;			/* next of them */
	SortEntry  *entry_end;
	RowSorter	window;			/* of a batch that has rows of runs */
	int			bucket;			/* the current one, -1 at the start */
	int64		bucket_rows;	/* its rows */
	int64		bucket_bytes;	/* and their bytes */
};

/*
 * Fill the buffer, so that at least the next "need" bytes of the run stand
 * together in it.  What was handed out before becomes invalid.
 */
static void
ReaderFill(RunReader *reader, Size need)
{
	Size		rest = reader->filled - reader->pos;
	Size		want;

	memmove(reader->buffer, reader->buffer + reader->pos, rest);
	reader->pos = 0;
	reader->filled = rest;
	if (need > reader->size)
	{
		reader->buffer = repalloc_huge(reader->buffer, need);
		reader->size = need;
	}
	want = Min(reader->size - rest, (Size) reader->unread);
	if (rest + want < need)
		elog(ERROR, "temporary run ends early");
	TempFileRead(reader->run->file->vfd, reader->buffer + rest, want, reader->offset);
	reader->offset += want;
	reader->unread -= want;
	reader->filled += want;
}

/* The next "need" bytes of the run, in the buffer. */
static char *
ReaderNeed(RunReader *reader, Size need)
{
	if (reader->filled - reader->pos < need)
		ReaderFill(reader, need);
	return reader->buffer + reader->pos;
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

static void
ReaderBegin(RunReader *reader, SpillRun *run, Size size)
{
	reader->run = run;
	reader->offset = run->offset;
	reader->unread = run->bytes;
	reader->size = size;
	reader->buffer = palloc(size);
	ReaderNextSegment(reader);
}

RowMerge *
RowMergeBeginParts(RowPool *pool, const RowLayout *layout, RowSet **sets, int nsets, List *runs, int from_bucket)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw merge",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	RowMerge   *merge = palloc0(sizeof(RowMerge));
	int			nstreams = list_length(runs) + 1;
	Size		room = pool->budget / 2;
	Size		size = room / nstreams;
	ListCell   *lc;

	merge->cxt = cxt;
	merge->layout = layout;
	merge->nsets = nsets;
	merge->sets = palloc(sizeof(RowSet *) * Max(nsets, 1));
	if (nsets > 0)
		memcpy(merge->sets, sets, sizeof(RowSet *) * nsets);
	RowSorterInit(&merge->sorter, cxt);
	RowSorterInit(&merge->window, cxt);
	merge->stream_rows = Max(room / ROW_SORT_BYTES / nstreams, 1);
	merge->bucket = from_bucket - 1;
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
	return RowMergeBeginParts(sets[0]->pool, sets[0]->layout, sets, nsets, runs, 0);
}

void
RowMergeEnd(RowMerge *merge)
{
	MemoryContextDelete(merge->cxt);
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

/* Sort the rows that the sets have in memory of the current bucket, those of all of them together. */
static void
SortBucket(RowMerge *merge)
{
	RowSorter  *sorter = &merge->sorter;
	int64		n = 0;

	for (int s = 0; s < merge->nsets; s++)
	{
		const RowBucket *bucket = RowSetBucket(merge->sets[s], merge->bucket);

		if (bucket != NULL)
		{
			merge->bucket_rows += bucket->rows;
			merge->bucket_bytes += bucket->bytes;
		}
	}
	RowSorterRoom(sorter, merge->bucket_rows);
	for (int s = 0; s < merge->nsets; s++)
		n = RowSorterAdd(sorter, merge->layout, RowSetBucket(merge->sets[s], merge->bucket), n);
	RowSorterOrder(sorter, merge->layout, n);
	merge->entry = sorter->entries;
	merge->entry_end = merge->entry + n;
}

int
RowMergeNextBucket(RowMerge *merge)
{
	int			next = NextBucketInMemory(merge);
	bool		in_memory = next >= 0;

	Assert(merge->entry == merge->entry_end);
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

	if (in_memory)
	{
		SortBucket(merge);
	}
	for (int r = 0; r < merge->nreaders; r++)
	{
		RunReader  *reader = &merge->readers[r];

		if (reader->bucket == next)
		{
			merge->bucket_rows += reader->left;
			merge->bucket_bytes += reader->bytes;
		}
	}
	return next;
}

static inline bool
EntryAfter(const RowLayout *layout, const SortEntry *a, const SortEntry *b)
{
	if (a->prefix != b->prefix)
		return a->prefix > b->prefix;
	if (RowPrefixDecides(layout, a->prefix))
		return false;
	return RowCompareTie(layout, a->prefix, a->row, b->row) > 0;
}

/* How many of n sorted entries are not after the bound. */
static int64
EntriesUpTo(const RowLayout *layout, const SortEntry *entries, int64 n, const SortEntry *bound)
{
	int64		low = 0;

	while (low < n)
	{
		int64		mid = low + (n - low) / 2;

		if (EntryAfter(layout, &entries[mid], bound))
			n = mid;
		else
			low = mid + 1;
	}
	return low;
}

/*
 * Append to the window the rows of the segment that stand in the buffer, at
 * least one.  Returns the number of entries in the window then.
 */
static int64
ReaderLook(RowMerge *merge, RunReader *reader, int64 n)
{
	int64		limit = Min(reader->left, merge->stream_rows);
	char	   *row;
	char	   *end;

	if (reader->filled - reader->pos < reader->size / 2 && reader->unread > 0)
		ReaderFill(reader, 0);
	row = ReaderNeed(reader, sizeof(RowHeader));
	row = ReaderNeed(reader, RowSize(row));
	end = reader->buffer + reader->filled;
	reader->looked_at = 0;
	do
	{
		SortEntry  *entry = &merge->window.entries[n++];

		entry->prefix = RowPrefix(merge->layout, row);
		entry->row = row;
		row += RowSize(row);
		reader->looked_at++;
	} while (reader->looked_at < limit &&
			 (Size) (end - row) >= sizeof(RowHeader) && (Size) (end - row) >= RowSize(row));
	return n;
}

/*
 * A batch with rows of runs: what all of them have in their buffers, as far
 * as none can have earlier rows that are not there.  So nothing is compared
 * row by row between the runs, and the batch is sorted as a whole.
 */
static int64
NextRowsOfRuns(RowMerge *merge)
{
	const RowLayout *layout = merge->layout;
	SortEntry	bound = {0, NULL};
	SortEntry  *from;
	int64		n = 0;
	int64		count;

	RowSorterRoom(&merge->window, merge->stream_rows * (merge->nreaders + 1));
	for (int r = 0; r < merge->nreaders; r++)
	{
		RunReader  *reader = &merge->readers[r];
		SortEntry  *last;

		if (reader->bucket != merge->bucket || reader->left == 0)
			continue;
		n = ReaderLook(merge, reader, n);
		last = &merge->window.entries[n - 1];
		if (reader->looked_at < reader->left &&
			(bound.row == NULL || EntryAfter(layout, &bound, last)))
			bound = *last;
	}
	count = Min(merge->entry_end - merge->entry, merge->stream_rows);
	if (count < merge->entry_end - merge->entry &&
		(bound.row == NULL || EntryAfter(layout, &bound, &merge->entry[count - 1])))
		bound = merge->entry[count - 1];

	/* leave out what is behind the bound */
	from = merge->window.entries;
	n = 0;
	for (int r = 0; r < merge->nreaders; r++)
	{
		RunReader  *reader = &merge->readers[r];
		int64		taken = reader->looked_at;

		if (reader->bucket != merge->bucket || reader->left == 0)
			continue;
		if (bound.row != NULL)
			taken = EntriesUpTo(layout, from, taken, &bound);
		if (taken > 0)
		{
			const SortEntry *last = &from[taken - 1];

			reader->pos = last->row + RowSize(last->row) - reader->buffer;
			reader->left -= taken;
			memmove(&merge->window.entries[n], from, taken * sizeof(SortEntry));
			n += taken;
		}
		from += reader->looked_at;
	}
	if (bound.row != NULL)
		count = EntriesUpTo(layout, merge->entry, count, &bound);
	/* there may be no rows in memory, and no pointer to them */
	if (count > 0)
	{
		memcpy(&merge->window.entries[n], merge->entry, count * sizeof(SortEntry));
		merge->entry += count;
		n += count;
	}

	RowSorterOrder(&merge->window, layout, n);
	return n;
}

int64
RowMergeNextRows(RowMerge *merge, const SortEntry **entries)
{
	int64		n;

	CHECK_FOR_INTERRUPTS();
	for (int r = 0; r < merge->nreaders; r++)
	{
		if (merge->readers[r].bucket == merge->bucket && merge->readers[r].left > 0)
		{
			n = NextRowsOfRuns(merge);
			*entries = merge->window.entries;
			return n;
		}
	}
	n = merge->entry_end - merge->entry;
	*entries = merge->entry;
	merge->entry = merge->entry_end;
	return n;
}

SegmentHeader
RowMergeSegment(const RowMerge *merge)
{
	SegmentHeader header = {merge->bucket, merge->bucket_rows, merge->bucket_bytes};

	return header;
}

int64
RowMergeBucketBytes(const RowMerge *merge)
{
	return merge->bucket_bytes;
}
