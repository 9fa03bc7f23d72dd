/*
 * routed_store.c
 *	  Routed rows by group, in memory or in a temporary file.
 */
#include "postgres.h"

#include "compat.h"
#include "miscadmin.h"
#include "rows/routed_store.h"
#include "rows/row_sort.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

/* memory a group has at least before all of it is written to a file */
#define GROUP_BYTES 256

struct RoutedStore
{
	MemoryContext cxt;
	const RowLayout *layout;
	int			ngroups;
	Size		budget;
	RowPool		pool;
	RowBucket  *groups;			/* rows in memory */
	int64	   *rows;			/* per group, in memory and in the file */
	int64	   *bytes;			/* the same of the rows' bytes */

	int64		most_rows;		/* of a group in memory */
	BufFile    *file;			/* NULL: all rows are in memory */
	int64		end;			/* of the file */
	int			nruns;
	int			runs_room;
	int64	   *indexes;		/* per run, the place of its index */
	char	   *buffer;			/* of rows that were read */
	Size		buffer_size;
	Size		peak;
};

/* An index: per group, and at the end, the place where it begins. */
#define INDEX_ENTRIES(ngroups) ((ngroups) + 1)

RoutedStore *
RoutedStoreCreate(const RowLayout *layout, int ngroups, Size budget)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw routed rows",
											  ALLOCSET_DEFAULT_SIZES);
	RoutedStore *store = MemoryContextAllocZero(cxt, sizeof(RoutedStore));

	store->cxt = cxt;
	store->layout = layout;
	store->ngroups = ngroups;
	store->budget = Max(budget, (Size) ngroups * GROUP_BYTES);
	store->pool.cxt = cxt;
	store->pool.budget = store->budget;
	store->groups = MemoryContextAllocZero(cxt, ngroups * sizeof(RowBucket));
	store->rows = MemoryContextAllocZero(cxt, ngroups * sizeof(int64));
	store->bytes = MemoryContextAllocZero(cxt, ngroups * sizeof(int64));
	return store;
}

void
RoutedStoreFree(RoutedStore *store)
{
	if (store->file != NULL)
		BufFileClose(store->file);
	MemoryContextDelete(store->cxt);
}

/*
 * Adding rows
 */

static void
NotePeak(RoutedStore *store, Size bytes)
{
	store->peak = Max(store->peak, bytes);
}

static void
Write(RoutedStore *store, const void *data, Size size)
{
	BufFileWrite(store->file, unconstify(void *, data), size);
	store->end += (int64) size;
}

/* Write the rows in memory to the file, as a run. */
static void
WriteRun(RoutedStore *store)
{
	MemoryContext old = MemoryContextSwitchTo(store->cxt);
	int			ngroups = store->ngroups;
	int64	   *index = MemoryContextAllocHuge(store->cxt, INDEX_ENTRIES(ngroups) * sizeof(int64));

	if (store->file == NULL)
		store->file = BufFileCreateTemp(false);
	if (store->nruns == store->runs_room)
	{
		store->runs_room = Max(2 * store->runs_room, 16);
		store->indexes = store->indexes ?
			repalloc_huge(store->indexes, store->runs_room * sizeof(int64)) :
			palloc(store->runs_room * sizeof(int64));
	}
	for (int g = 0; g < ngroups; g++)
	{
		RowBucket  *group = &store->groups[g];

		CHECK_FOR_INTERRUPTS();
		index[g] = store->end;
		for (RowPiece *piece = group->first; piece != NULL; piece = piece->next)
			Write(store, piece->data,
				  (piece == group->last ? group->next : piece->end) - piece->data);
		RowBucketFree(group, &store->pool);
	}
	index[ngroups] = store->end;
	store->indexes[store->nruns++] = store->end;
	Write(store, index, INDEX_ENTRIES(ngroups) * sizeof(int64));
	pfree(index);
	RowPoolRewind(&store->pool);
	store->most_rows = 0;
	MemoryContextSwitchTo(old);
}

char *
RoutedStoreAdd(RoutedStore *store, int groupno, Size size)
{
	RowBucket  *group = &store->groups[groupno];

	if (unlikely(!RowBucketHasRoom(group, size)))
	{
		Size		piece = RowBucketPiece(group, size);

		if (size > MaxAllocSize)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a row of %zu bytes is too large to be sorted into buckets", size),
					 errhint("Set bucketfdw.enable_routing to off.")));
		if (store->pool.used > 0 &&
			store->pool.used + piece + (Size) store->most_rows * ROW_SORT_BYTES > store->budget)
		{
			WriteRun(store);
			piece = RowBucketPiece(group, size);
		}
		RowBucketGrow(group, &store->pool, piece);
		NotePeak(store, store->pool.used);
	}
	store->rows[groupno]++;
	store->bytes[groupno] += (int64) size;
	store->most_rows = Max(store->most_rows, group->rows + 1);
	return RowBucketTake(group, size);
}

void
RoutedStoreFinish(RoutedStore *store)
{
	/* sorting gets all of the memory */
	if (store->file != NULL)
	{
		if (store->pool.used > 0)
			WriteRun(store);
		RowPoolRelease(&store->pool);
	}
}

/*
 * Reading rows
 */

static void
SeekTo(RoutedStore *store, int64 place)
{
	if (BufFileSeek(store->file, 0, place, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file of routed rows")));
}

int
RoutedStoreGroups(const RoutedStore *store)
{
	return store->ngroups;
}

int64
RoutedStoreRows(const RoutedStore *store, int group)
{
	return store->rows[group];
}

bool
RoutedStoreFits(const RoutedStore *store, int group)
{
	Size		sort = (Size) store->rows[group] * ROW_SORT_BYTES;

	/* what is in memory came to be there because it fits */
	return store->file == NULL || (Size) store->bytes[group] + sort <= store->budget;
}

/* Room for so many bytes of rows; those there are kept. */
static void
ReserveBuffer(RoutedStore *store, Size size)
{
	if (size <= store->buffer_size)
		return;
	size += size / 8;
	store->buffer = store->buffer ? repalloc_huge(store->buffer, size) :
		MemoryContextAllocHuge(store->cxt, size);
	store->buffer_size = size;
}

/* Go to the next run that has rows of the walk's group; false at the end. */
static bool
NextRun(RoutedWalk *walk)
{
	RoutedStore *store = walk->store;

	while (walk->run < store->nruns)
	{
		int64		place[2];

		SeekTo(store, store->indexes[walk->run++] + walk->group * (int64) sizeof(int64));
		BfBufFileReadExact(store->file, place, sizeof(place));
		if (place[1] == place[0])
			continue;
		SeekTo(store, place[0]);
		walk->left = place[1] - place[0];
		return true;
	}
	return false;
}

/* Read all rows of the walk's group. */
static void
ReadGroup(RoutedWalk *walk)
{
	RoutedStore *store = walk->store;
	Size		size = (Size) store->bytes[walk->group];
	Size		done = 0;

	/* what is there is of another group, and not worth a copy */
	if (size > store->buffer_size && store->buffer != NULL)
	{
		pfree(store->buffer);
		store->buffer = NULL;
		store->buffer_size = 0;
	}
	ReserveBuffer(store, size);
	NotePeak(store, store->buffer_size +
			 (Size) store->rows[walk->group] * ROW_SORT_BYTES);
	while (NextRun(walk))
	{
		CHECK_FOR_INTERRUPTS();
		BfBufFileReadExact(store->file, store->buffer + done, (Size) walk->left);
		done += (Size) walk->left;
	}
	walk->left = 0;
	walk->row = store->buffer;
	walk->end = store->buffer + size;
}

void
RoutedWalkBegin(RoutedWalk *walk, RoutedStore *store, int group, bool whole)
{
	memset(walk, 0, sizeof(RoutedWalk));
	walk->store = store;
	walk->group = group;
	if (store->file == NULL)
	{
		NotePeak(store, store->pool.used + (Size) store->rows[group] * ROW_SORT_BYTES);
		RowWalkBegin(&walk->memory, store->layout, &store->groups[group]);
	}
	else if (whole)
		ReadGroup(walk);
}

/* Read the next row. */
static char *
ReadRow(RoutedWalk *walk)
{
	RoutedStore *store = walk->store;
	Size		fixed = store->layout->fixed;
	Size		size;

	if (walk->left == 0 && !NextRun(walk))
		return NULL;
	ReserveBuffer(store, fixed);
	BfBufFileReadExact(store->file, store->buffer, fixed);
	size = RowLayoutSize(store->layout, store->buffer);
	if (size > fixed)
	{
		ReserveBuffer(store, size);
		BfBufFileReadExact(store->file, store->buffer + fixed, size - fixed);
	}
	walk->left -= (int64) size;
	return store->buffer;
}

char *
RoutedWalkNext(RoutedWalk *walk)
{
	char	   *row = walk->row;

	if (walk->store->file == NULL)
		return RowWalkNext(&walk->memory);
	/* rows that were read all at once */
	if (walk->end != NULL)
	{
		if (row >= walk->end)
			return NULL;
		walk->row += RowLayoutSize(walk->store->layout, row);
		return row;
	}
	return ReadRow(walk);
}

Size
RoutedStorePeakMemory(const RoutedStore *store)
{
	return store->peak;
}

int64
RoutedStoreWritten(const RoutedStore *store)
{
	return store->end;
}
