/*
 * file_read.c
 *	  Read a file past shared buffers, where its pages prove themselves.
 *
 * A page of ours has two versions: not there, and final.  So what is read from
 * disk is final if its header is.  Anything else may stand in shared buffers
 * only (on a standby, after a crash) and is read through them.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/xlog.h"
#include "common/relpath.h"
#include "compat.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/file_image.h"
#include "storage/file_store.h"
#include "storage/page.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* pages read at once */
#define READ_PAGES 16

/* who has read so many pages on the way forward has the next ones brought, so many at once */
#define AHEAD_AFTER 32
#define AHEAD_PAGES 64

typedef struct StoreSource
{
	FileSource	source;			/* must be first */
	uint64		file_id;
	Oid			database;		/* whose the manifest row was when it was written */
	BfRelLocator rel;
	BlockNumber nblocks;
	int			nsegments;
	File	   *segments;		/* -1: not open */
	BlockNumber start;			/* where this reader began to move forward */
	BlockNumber next;			/* how far it has come */
	BlockNumber taken;			/* pages read on the way */
	BlockNumber ahead;			/* the system was asked for those before this one */
	MemoryContextCallback callback;
} StoreSource;

/* The pages that ReadPayload found in order last and that are still in the buffer. */
static struct
{
	uint64		file_id;
	BlockNumber first;
	int			n;
} last_read;

/* What pages are read to; one serves all.  What is in it from the last time is gone. */
static char *
PageBuffer(void)
{
	static char *buffer = NULL;

	if (buffer == NULL)
		buffer = (char *) TYPEALIGN(BF_PAGE_ALIGN,
									MemoryContextAlloc(TopMemoryContext, READ_PAGES * BLCKSZ + BF_PAGE_ALIGN));
	last_read.n = 0;
	return buffer;
}

static void
MissingFile(const StoreSource *file)
{
	bool		copied = file->database != MyDatabaseId;

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FILE),
			 errmsg("file \"%s\" of bucketed table \"%s\" is missing",
					file->source.path, file->source.relname),
			 copied ? errdetail("The catalog rows were copied with the database from the one with OID %u, by CREATE DATABASE with STRATEGY wal_log, which copies no files of bucketed tables.",
								file->database) : 0,
			 copied ? errhint("Copy the database with STRATEGY file_copy, or TRUNCATE the table and load it again.") :
			 errhint("After pg_upgrade, run bucketfdw_pg_upgrade; else restore the file from a backup, or TRUNCATE the table and load it again.")));
}

static void
DamagedBlock(const StoreSource *file, BlockNumber block)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("block %u of file \"%s\" of bucketed table \"%s\" is missing or damaged",
					block, file->source.path, file->source.relname),
			 errhint("Run bucketfdw.verify('%s') and restore the file from a backup.",
					 file->source.relname)));
}

/* The descriptor of a segment, or -1 if the file does not exist. */
static File
OpenSegment(StoreSource *file, int segment)
{
	const char *path = file->source.path;

	if (file->segments[segment] >= 0)
		return file->segments[segment];
	if (segment > 0)
		path = psprintf("%s.%d", path, segment);
	file->segments[segment] = PathNameOpenFile(path, O_RDONLY | PG_BINARY);
	if (file->segments[segment] < 0 && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" of bucketed table \"%s\": %m",
						path, file->source.relname)));
	return file->segments[segment];
}

/* Part of a block's payload through shared buffers. */
static void
ReadBuffered(StoreSource *file, BlockNumber block, char *dest, int skip, int n)
{
	SMgrRelation smgr = BfSmgrOpen(file->rel);
	Buffer		buffer;
	const char *page;
	bool		ours;

	if (!smgrexists(smgr, MAIN_FORKNUM))
		MissingFile(file);
	if (block >= smgrnblocks(smgr, MAIN_FORKNUM))
		DamagedBlock(file, block);
	buffer = ReadBufferWithoutRelcache(file->rel, MAIN_FORKNUM, block, RBM_NORMAL, NULL, true);

	/* what is there does not change, so a pin is enough */
	page = BufferGetPage(buffer);
	ours = PageIsOurs(page, file->file_id, block);
	if (ours)
		memcpy(dest, PagePayload(page) + skip, n);
	ReleaseBuffer(buffer);
	if (!ours)
		DamagedBlock(file, block);
}

/* Read pages of one segment as they are on disk; returns how many are there whole, -1 after a read error. */
static int
TryReadPages(StoreSource *file, BlockNumber first, int n, char *pages)
{
	File		segment = OpenSegment(file, first / RELSEG_SIZE);
	off_t		offset = (off_t) (first % RELSEG_SIZE) * BLCKSZ;
	int			got;

	if (segment < 0)
		return 0;
	got = FileRead(segment, pages, n * BLCKSZ, offset, WAIT_EVENT_DATA_FILE_READ);
	return got < 0 ? -1 : got / BLCKSZ;
}

/* The same with an error. */
static int
ReadPages(StoreSource *file, BlockNumber first, int n, char *pages)
{
	int			got = TryReadPages(file, first, n, pages);

	if (got < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\" of bucketed table \"%s\": %m",
						FilePathName(OpenSegment(file, first / RELSEG_SIZE)), file->source.relname)));
	return got;
}

/*
 * Pages are about to be read: ask for those that come next, if most pages that
 * this reader came past were read.  The system reads ahead by itself, but not
 * where columns of a block are read in another order than they stand there.
 */
static void
ReadAhead(StoreSource *file, BlockNumber block, BlockNumber n)
{
	BlockNumber end = block + n;
	BlockNumber from;
	BlockNumber to;

	if (block + AHEAD_PAGES < file->next || block > file->next + AHEAD_PAGES)
	{
		file->start = file->next = block;
		file->taken = 0;
		file->ahead = 0;
	}
	file->taken += n;
	file->next = Max(file->next, end);
	if (file->taken < AHEAD_AFTER || file->taken < (file->next - file->start) / 2 ||
		file->next + AHEAD_PAGES / 2 <= file->ahead)
		return;
	from = Max(file->ahead, file->next);
	to = Min(from + AHEAD_PAGES, file->nblocks);

	/* no further than the segment */
	to = Min(to, (from / RELSEG_SIZE + 1) * RELSEG_SIZE);
	if (from < to && OpenSegment(file, from / RELSEG_SIZE) >= 0)
		(void) FilePrefetch(OpenSegment(file, from / RELSEG_SIZE), (off_t) (from % RELSEG_SIZE) * BLCKSZ,
							(to - from) * BLCKSZ, WAIT_EVENT_DATA_FILE_PREFETCH);
	file->ahead = Max(to, from);
}

/*
 * The part of what is wanted that lies on pages read last: a chunk begins on
 * the page where the one before it ends.  Returns its length.
 */
static size_t
TakeLastRead(const StoreSource *file, char *dest, size_t len, BlockNumber block, int skip, const char *pages, int npages)
{
	size_t		taken = 0;

	if (file->file_id != last_read.file_id || block < last_read.first)
		return 0;
	for (BlockNumber i = block - last_read.first; taken < len && i < (BlockNumber) npages; i++)
	{
		size_t		n = Min(len - taken, (size_t) (PAGE_PAYLOAD - skip));

		memcpy(dest + taken, PagePayload(pages + i * BLCKSZ) + skip, n);
		taken += n;
		skip = 0;
	}
	return taken;
}

/* FileSource's read, and read_again, which takes nothing from disk itself */
static void
ReadPayload(StoreSource *file, char *dest, size_t len, uint64 offset, bool direct)
{
	int			npages = last_read.n;
	char	   *pages = PageBuffer();
	BlockNumber block;
	int			skip;

	if (direct)
	{
		size_t		taken = TakeLastRead(file, dest, len, (BlockNumber) (offset / PAGE_PAYLOAD),
										 (int) (offset % PAGE_PAYLOAD), pages, npages);

		dest += taken;
		len -= taken;
		offset += taken;
		if (len == 0)
		{
			last_read.n = npages;
			return;
		}
	}
	block = (BlockNumber) (offset / PAGE_PAYLOAD);
	skip = (int) (offset % PAGE_PAYLOAD);
	if (direct)
		ReadAhead(file, block, (BlockNumber) ((len + skip + PAGE_PAYLOAD - 1) / PAGE_PAYLOAD));
	while (len > 0)
	{
		int			want = (int) Min((len + skip + PAGE_PAYLOAD - 1) / PAGE_PAYLOAD, READ_PAGES);
		int			got;

		if (block >= file->nblocks)
			DamagedBlock(file, block);
		want = Min(want, RELSEG_SIZE - (int) (block % RELSEG_SIZE));
		got = direct ? ReadPages(file, block, want, pages) : 0;
		last_read.file_id = file->file_id;
		last_read.first = block;
		last_read.n = 0;
		for (int i = 0; i < want; i++, block++)
		{
			const char *page = pages + i * BLCKSZ;
			int			n = (int) Min(len, (size_t) (PAGE_PAYLOAD - skip));

			if (i < got && PageIsOurs(page, file->file_id, block))
			{
				memcpy(dest, PagePayload(page) + skip, n);
				last_read.n += last_read.n == i;
			}
			else
				ReadBuffered(file, block, dest, skip, n);
			dest += n;
			len -= n;
			skip = 0;
		}
	}
}

static void
StoreRead(FileSource *source, void *buf, size_t len, uint64 offset)
{
	ReadPayload((StoreSource *) source, buf, len, offset, true);
}

static void
StoreReadAgain(FileSource *source, void *buf, size_t len, uint64 offset)
{
	ReadPayload((StoreSource *) source, buf, len, offset, false);
}

/* Memory context callback: the descriptors go with the memory. */
static void
CloseSource(void *arg)
{
	StoreSource *file = arg;

	for (int i = 0; i < file->nsegments; i++)
	{
		if (file->segments[i] >= 0)
			FileClose(file->segments[i]);
		file->segments[i] = -1;
	}
}

static StoreSource *
MakeSource(FileLocator locator, uint64 file_id, uint64 bytes)
{
	StoreSource *file = palloc0(sizeof(StoreSource));

	file->source.read = StoreRead;
	file->source.read_again = StoreReadAgain;
	file->source.path = StorePath(locator);
	file->source.size = bytes;
	file->file_id = file_id;
	file->database = MyDatabaseId;
	file->rel = FileRelLocator(locator);
	file->nblocks = PagesOf(bytes);
	file->nsegments = Max((file->nblocks + RELSEG_SIZE - 1) / RELSEG_SIZE, 1);
	file->segments = palloc(file->nsegments * sizeof(File));
	for (int i = 0; i < file->nsegments; i++)
		file->segments[i] = -1;
	file->callback.func = CloseSource;
	file->callback.arg = file;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &file->callback);
	return file;
}

FileSource *
StoreOpen(Oid relid, const char *relname, const ManifestFile *want)
{
	FileImage  *image = ImageFind(relid, want->file_id);
	StoreSource *file;

	if (image != NULL)
		return ImageOpen(image, relname);
	file = MakeSource(want->locator, want->file_id, want->bytes);
	file->source.relname = pstrdup(relname);
	file->database = want->database;
	if (OpenSegment(file, 0) < 0)
		MissingFile(file);
	return &file->source;
}

/* The memory stays, as its context still points to the callback. */
void
StoreClose(FileSource *source)
{
	if (source->read == StoreRead)
		CloseSource(source);
}

void
StoreVerifyPages(FileSource *source, FileSink *sink)
{
	StoreSource *file = (StoreSource *) source;
	char	   *pages = PageBuffer();

	for (BlockNumber first = 0; source->read == StoreRead && first < file->nblocks;)
	{
		int			want = (int) Min(file->nblocks - first, READ_PAGES);
		int			got;

		CHECK_FOR_INTERRUPTS();
		want = Min(want, RELSEG_SIZE - (int) (first % RELSEG_SIZE));
		got = ReadPages(file, first, want, pages);
		for (int i = 0; i < want; i++, first++)
		{
			char	   *page = pages + i * BLCKSZ;
			char	   *payload = PagePayload(page);

			/* a standby's checkpointer may be writing it: the buffer manager knows */
			if (i >= got || !PageIsOurs(page, file->file_id, first) ||
				!BfPageIsVerified((Page) page, first))
				ReadBuffered(file, first, payload, 0, PAGE_PAYLOAD);
			if (sink != NULL)
				sink->write(sink, payload, Min(PAGE_PAYLOAD, source->size - (uint64) first * PAGE_PAYLOAD));
		}
	}
}

static bool
PageIsZero(const char *page)
{
	for (int i = 0; i < BLCKSZ; i++)
		if (page[i] != 0)
			return false;
	return true;
}

/* Is any page of the first segment ours, whatever became of the others? */
static bool
AnyPageIsOurs(StoreSource *file)
{
	char	   *pages = PageBuffer();

	for (BlockNumber first = 0; first < RELSEG_SIZE; first += READ_PAGES)
	{
		int			got = TryReadPages(file, first, READ_PAGES, pages);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < got; i++)
			if (PageIsOurs(pages + i * BLCKSZ, file->file_id, first + i))
				return true;
		if (got >= 0 && got < READ_PAGES)
			break;
	}
	return false;
}

/* It may be in shared buffers only: replayed, and not written yet. */
static bool
FirstBufferIsOurs(const StoreSource *file)
{
	Buffer		buffer = ReadBufferWithoutRelcache(file->rel, MAIN_FORKNUM, 0, RBM_NORMAL, NULL, true);
	bool		ours = PageIsOurs(BufferGetPage(buffer), file->file_id, 0);

	ReleaseBuffer(buffer);
	return ours;
}

StoreFound
StoreLookAt(FileLocator locator, uint64 file_id)
{
	StoreSource *file = MakeSource(locator, file_id, 1);
	SMgrRelation smgr = BfSmgrOpen(file->rel);
	StoreFound	result = STORE_FOREIGN;

	/* of one that was dropped nothing may be left but an empty file, until the next checkpoint */
	if (!smgrexists(smgr, MAIN_FORKNUM) || smgrnblocks(smgr, MAIN_FORKNUM) == 0)
		result = STORE_MISSING;
	else
	{
		const char *page = PageBuffer();
		int			got = TryReadPages(file, 0, 1, PageBuffer());
		bool		unwritten = got == 0 || (got == 1 && PageIsZero(page));

		if ((got == 1 && PageIsOurs(page, file_id, 0)) || AnyPageIsOurs(file) ||
			(unwritten && FirstBufferIsOurs(file)))
			result = STORE_OURS;
	}
	CloseSource(file);
	smgrclose(smgr);
	return result;
}
