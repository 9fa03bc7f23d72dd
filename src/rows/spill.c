/*
 * spill.c
 *	  Sorted runs in temporary files, and the merge of runs and memory.
 *
 * Everything here leaves the sets valid when an error is raised half-way: the
 * rows may belong to an outer subtransaction that goes on.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "compat.h"
#include "miscadmin.h"
#include "rows/spill.h"
#include "storage/file_store.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#define READ_BUFFER_MIN (8 * 1024)
#define READ_BUFFER_MAX (256 * 1024)

/*
 * So many bytes are written at once: a system call for each 8 kB, as BufFile
 * makes it, takes twice the time.
 */
#define WRITE_BYTES (64 * 1024)

/* longest single read or write call */
#define MAX_IO_BYTES (1024 * 1024 * 1024)

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

/* all temporary files of the transaction */
static List *files = NIL;

/* A new temporary file that lives as long as the transaction, unless closed. */
static SpillFile *
SpillFileCreate(RowPool *pool)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(pool->cxt);
	ResourceOwner oldowner = CurrentResourceOwner;
	SpillFile  *spill = palloc0(sizeof(SpillFile));

	/* usually on the same volume, and their rows have to be written there once more */
	StoreCheckSpace(InvalidOid, 0, true);
	PrepareTempTablespaces();

	/* a subtransaction's owner would close the file at its end */
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		spill->vfd = OpenTemporaryFile(false);
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
		FileClose(spill->vfd);
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

	RowSetFreeMemory(set, 0);
	if (set->pool->used == 0)
		RowPoolRelease(set->pool);
	pfree(set->chunks);
	foreach(lc, set->runs)
		FreeRun(lfirst(lc));
	list_free(set->runs);
	pfree(set);
}

static void
WriteSpill(SpillFile *spill, char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n;

		StoreCheckSpace(InvalidOid, Min(len, MAX_IO_BYTES), false);
		errno = 0;
		n = FileWrite(spill->vfd, data, Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_WRITE);
		if (n <= 0)
		{
			/* nothing was written: that the disk is full is all it can be */
			if (errno == 0)
				errno = ENOSPC;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to temporary file: %m")));
		}
		data += n;
		offset += n;
		len -= n;
	}
}

static void
ReadSpill(SpillFile *spill, char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n = FileRead(spill->vfd, data, Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_READ);

		if (n < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: %m")));
		if (n == 0)
			elog(ERROR, "temporary file ends early");
		data += n;
		offset += n;
		len -= n;
	}
}

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
	ReadSpill(reader->run->file, reader->buffer + rest, want, reader->offset);
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

/* Begin a merge of runs and of the rows that some sets have in memory. */
static RowMerge *
MergeBegin(RowPool *pool, const RowLayout *layout, RowSet **sets, int nsets, List *runs)
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
	merge->bucket = -1;
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
		int64		n = RowSorterSort(&merge->sorter, merge->sets, merge->nsets, next);

		merge->entry = merge->sorter.entries;
		merge->entry_end = merge->entry + n;
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
	char	   *buffer = MemoryContextAlloc(merge->cxt, WRITE_BYTES);
	Size		used = 0;
	int			bucket;

#define PUT(data, len) \
	do { \
		if (used + (len) > WRITE_BYTES) \
		{ \
			WriteSpill(spill, buffer, used, run->offset + run->bytes); \
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
			WriteSpill(spill, data, len, run->offset + run->bytes); \
			run->bytes += (len); \
		} \
	} while (0)

	run->file = spill;
	run->offset = spill->end;
	while ((bucket = RowMergeNextBucket(merge)) >= 0)
	{
		SegmentHeader header = {bucket, merge->bucket_rows, merge->bucket_bytes};
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
	WriteSpill(spill, buffer, used, run->offset + run->bytes);
	run->bytes += used;
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
	merge = MergeBegin(pool, set->layout, &set, 1, NIL);
	merge->bucket = first - 1;
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
