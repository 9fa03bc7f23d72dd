/*
 * routed_store.c
 *	  Routed rows by group, in memory and in temporary files.
 */
#include "postgres.h"

#include <fcntl.h>

#include "compat.h"
#include "exec/routed_store.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* memory a group has at least before all of it is written to a file */
#define GROUP_BYTES 256
/* a piece is this part of what its group has already, within bounds */
#define PIECE_PART 4
#define PIECE_MIN 256
#define PIECE_MAX (64 * 1024)

typedef struct RoutedPiece
{
	struct RoutedPiece *next;
	char	   *end;			/* of the rows, valid once the piece is not the last */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} RoutedPiece;

/* The rows of a group in memory. */
typedef struct RoutedGroup
{
	RoutedPiece *first;
	RoutedPiece *last;
	char	   *next;			/* where the next row goes in the last piece */
	char	   *limit;			/* end of the last piece */
	int64		rows;
	int64		bytes;			/* of the pieces */
} RoutedGroup;

/* The rows of one process in a file. */
typedef struct RoutedSource
{
	BufFile    *file;
	int			nruns;
	int64	   *indexes;		/* per run, the place of its index */
} RoutedSource;

struct RoutedStore
{
	MemoryContext cxt;
	MemoryContext piececxt;		/* rows in memory */
	const RoutedLayout *layout;
	int			ngroups;
	Size		budget;
	FileSet    *files;			/* NULL: the file is for this process alone */
	const char *name;			/* of the file there */
	RoutedGroup *groups;
	int64	   *rows;			/* per group, in memory and in files */
	int64	   *bytes;			/* the same of the rows' bytes */

	Size		used;			/* bytes of pieces */
	int64		most_rows;		/* of a group in memory */
	BufFile    *file;			/* rows that were added go there; NULL: none was written */
	int64		end;			/* of the file */
	int64		last_index;

	RoutedSource *sources;		/* files to read */
	int			nsources;
	char	   *buffer;			/* of rows that were read */
	Size		buffer_size;
	Size		peak;
};

/*
 * An index: per group, and at the end, the place where it begins; per group
 * its rows; the place of the index of the run before, or NO_INDEX.
 */
#define INDEX_ENTRIES(ngroups) (2 * (ngroups) + 2)
#define NO_INDEX (-1)

RoutedStore *
RoutedStoreCreate(const RoutedLayout *layout, int ngroups, Size budget, FileSet *files,
				  const char *name)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw routed rows",
											  ALLOCSET_DEFAULT_SIZES);
	RoutedStore *store = MemoryContextAllocZero(cxt, sizeof(RoutedStore));

	store->cxt = cxt;
	store->piececxt = AllocSetContextCreate(cxt, "bucketfdw routed pieces", ALLOCSET_DEFAULT_SIZES);
	store->layout = layout;
	store->ngroups = ngroups;
	store->budget = Max(budget, (Size) ngroups * GROUP_BYTES);
	store->files = files;
	store->name = name ? MemoryContextStrdup(cxt, name) : NULL;
	store->groups = MemoryContextAllocZero(cxt, ngroups * sizeof(RoutedGroup));
	store->rows = MemoryContextAllocZero(cxt, ngroups * sizeof(int64));
	store->bytes = MemoryContextAllocZero(cxt, ngroups * sizeof(int64));
	store->last_index = NO_INDEX;
	return store;
}

void
RoutedStoreFree(RoutedStore *store)
{
	for (int s = 0; s < store->nsources; s++)
	{
		if (store->sources[s].file != store->file)
			BufFileClose(store->sources[s].file);
	}
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
		store->file = store->files ? BufFileCreateFileSet(store->files, store->name) :
			BufFileCreateTemp(false);
	for (int g = 0; g < ngroups; g++)
	{
		RoutedGroup *group = &store->groups[g];

		CHECK_FOR_INTERRUPTS();
		index[g] = store->end;
		index[ngroups + 1 + g] = group->rows;
		for (RoutedPiece *piece = group->first; piece != NULL; piece = piece->next)
			Write(store, piece->data,
				  (piece == group->last ? group->next : piece->end) - piece->data);
	}
	index[ngroups] = store->end;
	index[2 * ngroups + 1] = store->last_index;
	store->last_index = store->end;
	Write(store, index, INDEX_ENTRIES(ngroups) * sizeof(int64));
	pfree(index);
	MemoryContextReset(store->piececxt);
	memset(store->groups, 0, ngroups * sizeof(RoutedGroup));
	store->used = 0;
	store->most_rows = 0;
	MemoryContextSwitchTo(old);
}

/* Make room for a row in another piece of a group. */
static void
AddPiece(RoutedStore *store, RoutedGroup *group, Size row_size)
{
	Size		size = (Size) pg_nextpower2_64((uint64) Max(group->bytes / PIECE_PART, PIECE_MIN));
	RoutedPiece *piece;

	size = Max(Min(size, PIECE_MAX), row_size + offsetof(RoutedPiece, data));
	if (store->used > 0 &&
		store->used + size + (Size) store->most_rows * ROUTED_SORT_BYTES > store->budget)
		WriteRun(store);
	piece = MemoryContextAllocHuge(store->piececxt, size);
	piece->next = NULL;
	if (group->last != NULL)
	{
		group->last->end = group->next;
		group->last->next = piece;
	}
	else
		group->first = piece;
	group->last = piece;
	group->next = piece->data;
	group->limit = (char *) piece + size;
	group->bytes += (int64) size;
	store->used += GetMemoryChunkSpace(piece);
	NotePeak(store, store->used);
}

char *
RoutedStoreAdd(RoutedStore *store, int groupno, Size size)
{
	RoutedGroup *group = &store->groups[groupno];
	char	   *row;

	if ((Size) (group->limit - group->next) < size)
		AddPiece(store, group, size);
	row = group->next;
	group->next += size;
	group->rows++;
	store->most_rows = Max(store->most_rows, group->rows);
	store->rows[groupno]++;
	store->bytes[groupno] += (int64) size;
	return row;
}

/*
 * Files
 */

static void
SeekTo(BufFile *file, int64 place)
{
	if (BufFileSeek(file, 0, place, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file of routed rows")));
}

/* Read a file, whose last index is there. */
static void
AddSource(RoutedStore *store, BufFile *file, int64 last_index)
{
	RoutedSource *source;
	int			room = 16;

	store->sources = store->sources ?
		repalloc(store->sources, (store->nsources + 1) * sizeof(RoutedSource)) :
		MemoryContextAlloc(store->cxt, sizeof(RoutedSource));
	source = &store->sources[store->nsources++];
	source->file = file;
	source->nruns = 0;
	source->indexes = MemoryContextAlloc(store->cxt, room * sizeof(int64));
	for (int64 at = last_index; at != NO_INDEX;)
	{
		CHECK_FOR_INTERRUPTS();
		if (source->nruns == room)
		{
			room *= 2;
			source->indexes = repalloc_huge(source->indexes, room * sizeof(int64));
		}
		source->indexes[source->nruns++] = at;
		SeekTo(file, at + (INDEX_ENTRIES(store->ngroups) - 1) * (int64) sizeof(int64));
		BfBufFileReadExact(file, &at, sizeof(int64));
	}
}

void
RoutedStoreFinish(RoutedStore *store)
{
	if (store->file == NULL)
		return;
	/* sorting gets all of the memory */
	if (store->used > 0)
		WriteRun(store);
	AddSource(store, store->file, store->last_index);
}

void
RoutedStoreExport(RoutedStore *store, RoutedPart *part)
{
	if (store->used > 0)
		WriteRun(store);
	part->end = store->end;
	part->last_index = store->last_index;
	if (store->file == NULL)
		return;
	BufFileExportFileSet(store->file);
	BufFileClose(store->file);
	store->file = NULL;
	memset(store->rows, 0, store->ngroups * sizeof(int64));
	memset(store->bytes, 0, store->ngroups * sizeof(int64));
}

void
RoutedStoreImport(RoutedStore *store, const char *name, const RoutedPart *part)
{
	MemoryContext old = MemoryContextSwitchTo(store->cxt);
	int			ngroups = store->ngroups;
	Size		size = INDEX_ENTRIES(ngroups) * sizeof(int64);
	int64	   *index = MemoryContextAllocHuge(store->cxt, size);
	BufFile    *file = BufFileOpenFileSet(store->files, name, O_RDONLY, false);
	RoutedSource *source;

	AddSource(store, file, part->last_index);
	source = &store->sources[store->nsources - 1];
	for (int r = 0; r < source->nruns; r++)
	{
		CHECK_FOR_INTERRUPTS();
		SeekTo(file, source->indexes[r]);
		BfBufFileReadExact(file, index, size);
		for (int g = 0; g < ngroups; g++)
		{
			store->bytes[g] += index[g + 1] - index[g];
			store->rows[g] += index[ngroups + 1 + g];
		}
	}
	pfree(index);
	MemoryContextSwitchTo(old);
}

/*
 * Reading rows
 */

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
	Size		sort = (Size) store->rows[group] * ROUTED_SORT_BYTES;

	/* what is in memory came to be there because it fits */
	return store->nsources == 0 || (Size) store->bytes[group] + sort <= store->budget;
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

/* Go to the next segment of the walk's group that has rows; false at the end. */
static bool
NextSegment(RoutedWalk *walk)
{
	RoutedStore *store = walk->store;

	for (; walk->source < store->nsources; walk->source++, walk->run = 0)
	{
		RoutedSource *source = &store->sources[walk->source];

		while (walk->run < source->nruns)
		{
			int64		place[2];

			SeekTo(source->file, source->indexes[walk->run++] +
				   walk->group * (int64) sizeof(int64));
			BfBufFileReadExact(source->file, place, sizeof(place));
			if (place[1] == place[0])
				continue;
			SeekTo(source->file, place[0]);
			walk->left = place[1] - place[0];
			return true;
		}
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
			 (Size) store->rows[walk->group] * ROUTED_SORT_BYTES);
	while (NextSegment(walk))
	{
		CHECK_FOR_INTERRUPTS();
		BfBufFileReadExact(store->sources[walk->source].file, store->buffer + done,
						   (Size) walk->left);
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
	if (store->nsources == 0)
	{
		NotePeak(store, store->used + (Size) store->rows[group] * ROUTED_SORT_BYTES);
		walk->piece = store->groups[group].first;
		if (walk->piece != NULL)
			walk->row = walk->piece->data;
	}
	else if (whole)
		ReadGroup(walk);
}

/* The next row in memory. */
static char *
NextInMemory(RoutedWalk *walk)
{
	const RoutedGroup *group = &walk->store->groups[walk->group];

	while (walk->piece != NULL)
	{
		char	   *end = walk->piece == group->last ? group->next : walk->piece->end;
		char	   *row = walk->row;

		if (row < end)
		{
			walk->row += RoutedRowSize(walk->store->layout, row);
			return row;
		}
		walk->piece = walk->piece->next;
		walk->row = walk->piece ? walk->piece->data : NULL;
	}
	return NULL;
}

/* Read the next row. */
static char *
ReadRow(RoutedWalk *walk)
{
	RoutedStore *store = walk->store;
	Size		fixed = store->layout->fixed;
	BufFile    *file;
	Size		size;

	if (walk->left == 0 && !NextSegment(walk))
		return NULL;
	file = store->sources[walk->source].file;
	ReserveBuffer(store, fixed);
	BfBufFileReadExact(file, store->buffer, fixed);
	size = RoutedRowSize(store->layout, store->buffer);
	if (size > fixed)
	{
		ReserveBuffer(store, size);
		BfBufFileReadExact(file, store->buffer + fixed, size - fixed);
	}
	walk->left -= (int64) size;
	return store->buffer;
}

char *
RoutedWalkNext(RoutedWalk *walk)
{
	char	   *row = walk->row;

	if (walk->piece != NULL)
		return NextInMemory(walk);
	/* rows that were read all at once */
	if (walk->end != NULL)
	{
		if (row >= walk->end)
			return NULL;
		walk->row += RoutedRowSize(walk->store->layout, row);
		return row;
	}
	return walk->store->nsources > 0 ? ReadRow(walk) : NULL;
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
