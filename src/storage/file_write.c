/*
 * file_write.c
 *	  Write a file, page by page, below the relation cache.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/parallel.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/storage.h"
#include "common/relpath.h"
#include "compat.h"
#include "storage/fd.h"
#include "storage/file_store.h"
#include "storage/free_space.h"
#include "storage/page.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "storage/sync.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

/* pages written at once: what one WAL record holds */
#define BATCH_PAGES 32

struct StoreWriter
{
	FileSink	sink;			/* must be first */
	Oid			relid;
	uint64		file_id;
	FileLocator locator;		/* number 0: not made yet */
	BfRelLocator rel;
	char	   *path;			/* of the first segment */
	BlockNumber first;			/* block of the first page that is not written */
	int			npages;			/* begun */
	int			used;			/* payload bytes of the last one */
	char	   *memory;			/* in which lie */
	char	   *pages;			/* BATCH_PAGES, aligned */
	File		vfd;			/* of the open segment; -1: none */
	BlockNumber segment;
	MemoryContextCallback callback;
};

char *
StorePath(FileLocator locator)
{
	BfRelLocator rel = FileRelLocator(locator);

	return BfRelPath(rel);
}

/* Memory context callback, and when a segment is full: close the descriptor. */
static void
CloseSegment(void *arg)
{
	StoreWriter *writer = arg;

	if (writer->vfd >= 0)
		FileClose(writer->vfd);
	writer->vfd = -1;
}

StoreWriter *
StoreCreate(Oid relid, Oid tablespace, uint64 file_id)
{
	StoreWriter *writer = palloc0(sizeof(StoreWriter));

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write bucketed tables during recovery")));
	if (IsInParallelMode())
		elog(ERROR, "bucketed tables are not written in parallel mode");
	StoreCheckSpace(relid, tablespace, 0, true);
	writer->file_id = file_id;
	if (file_id == 0 && !pg_strong_random(&writer->file_id, sizeof(writer->file_id)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random file id")));
	writer->relid = relid;
	writer->locator.tablespace = FileTablespace(tablespace);
	writer->memory = palloc(BATCH_PAGES * BLCKSZ + BF_PAGE_ALIGN);
	writer->pages = (char *) TYPEALIGN(BF_PAGE_ALIGN, writer->memory);
	writer->vfd = -1;
	writer->callback.func = CloseSegment;
	writer->callback.arg = writer;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &writer->callback);
	return writer;
}

/*
 * Make the file.  Not before its first pages are there to be written, so that
 * a crash hardly ever leaves an empty one, which nobody can recognise.
 */
static void
MakeFile(StoreWriter *writer)
{
	writer->locator.number = BfNewFileNumber(TablespaceOid(writer->locator.tablespace));
	writer->rel = FileRelLocator(writer->locator);
	writer->path = BfRelPath(writer->rel);

	/* closed at once, or each of thousands would be kept to the end of the transaction */
	smgrclose(RelationCreateStorage(writer->rel, RELPERSISTENCE_PERMANENT, true));
}

static void
OpenSegment(StoreWriter *writer)
{
	BlockNumber segment = writer->first / RELSEG_SIZE;
	char	   *path = writer->path;

	if (writer->vfd >= 0 && segment == writer->segment)
		return;
	CloseSegment(writer);
	if (segment > 0)
		path = psprintf("%s.%u", path, segment);
	writer->vfd = PathNameOpenFile(path, O_RDWR | O_CREAT | PG_BINARY);
	if (writer->vfd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	writer->segment = segment;
}

/* Log n pages.  They get their LSN. */
static void
LogPages(StoreWriter *writer, int n)
{
	BlockNumber blocks[BATCH_PAGES];
	char	   *pages[BATCH_PAGES];

	for (int i = 0; i < n; i++)
	{
		blocks[i] = writer->first + i;
		pages[i] = writer->pages + i * BLCKSZ;
	}
	log_newpages(&writer->rel, MAIN_FORKNUM, n, blocks, pages, false);
}

static void
WritePages(StoreWriter *writer, int n)
{
	off_t		offset = (off_t) (writer->first % RELSEG_SIZE) * BLCKSZ;
	int			len = n * BLCKSZ;

	/* the LSN is part of what is summed */
	for (int i = 0; i < n; i++)
		PageSetChecksumInplace((Page) (writer->pages + i * BLCKSZ), writer->first + i);
	errno = 0;
	if (FileWrite(writer->vfd, writer->pages, len, offset, WAIT_EVENT_DATA_FILE_WRITE) != len)
	{
		bool		full = errno == 0 || errno == ENOSPC;

		/* a short write means that the disk is full */
		if (full)
			errno = ENOSPC;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", FilePathName(writer->vfd)),
				 full ? errhint("Check free disk space.") : 0));
	}
}

/* Ask the next checkpoint to sync the segment. */
static void
RequestSync(StoreWriter *writer)
{
	FileTag		tag;

	memset(&tag, 0, sizeof(tag));
	tag.handler = SYNC_HANDLER_MD;
	BfFileTagLocator(tag) = writer->rel;
	tag.forknum = MAIN_FORKNUM;
	tag.segno = writer->segment;
	if (!RegisterSyncRequest(&tag, SYNC_REQUEST, false) &&
		FileSync(writer->vfd, WAIT_EVENT_DATA_FILE_IMMEDIATE_SYNC) < 0)
		ereport(data_sync_elevel(ERROR),
				(errcode_for_file_access(),
				 errmsg("could not fsync file \"%s\": %m", FilePathName(writer->vfd))));
}

/*
 * Log and write the pages that are begun.  No checkpoint may take its redo
 * pointer after the record and end before the write and its request to sync:
 * replay would not start early enough to bring the pages back.  So none starts
 * in between, and no fsync is needed at commit.  With wal_level minimal
 * nothing is logged: core syncs the file, or logs it, at commit.
 */
static void
Flush(StoreWriter *writer)
{
	int			n = writer->npages;

	if (n == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	StoreCheckSpace(writer->relid, writer->locator.tablespace, (size_t) n * BLCKSZ, false);
	if (!OidIsValid(writer->locator.number))
		MakeFile(writer);
	OpenSegment(writer);
	memset(PagePayload(writer->pages + (n - 1) * BLCKSZ) + writer->used, 0,
		   PAGE_PAYLOAD - writer->used);
	for (int i = 0; i < n; i++)
		PageInitOurs(writer->pages + i * BLCKSZ, writer->file_id, writer->first + i);
	if (!XLogIsNeeded())
		WritePages(writer, n);
	else
	{
		int			nest = NewGUCNestLevel();

		/* at once, as logging may take its time: what a crash leaves is recognised by the first page */
		if (writer->first == 0)
			WritePages(writer, 1);

		/* our pages are compressed already */
		(void) set_config_option("wal_compression", "off", PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
		Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
		MyProc->delayChkptFlags |= DELAY_CHKPT_START;
		PG_TRY();
		{
			LogPages(writer, n);
			WritePages(writer, n);
			RequestSync(writer);
		}
		PG_FINALLY();
		{
			/* ROLLBACK TO would not clear it */
			MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
		}
		PG_END_TRY();
		AtEOXact_GUC(true, nest);
	}
	writer->first += n;
	writer->npages = 0;
}

/* FileSink's write */
static void
StoreWrite(FileSink *sink, const void *data, size_t len)
{
	StoreWriter *writer = (StoreWriter *) sink;
	const char *from = data;

	while (len > 0)
	{
		size_t		n;

		if (writer->npages == 0 || writer->used == PAGE_PAYLOAD)
		{
			/* a batch lies in one segment */
			if (writer->npages == BATCH_PAGES ||
				(writer->npages > 0 && (writer->first + writer->npages) % RELSEG_SIZE == 0))
				Flush(writer);
			writer->npages++;
			writer->used = 0;
		}
		n = Min(len, (size_t) (PAGE_PAYLOAD - writer->used));
		memcpy(PagePayload(writer->pages + (writer->npages - 1) * BLCKSZ) + writer->used,
			   from, n);
		writer->used += n;
		from += n;
		len -= n;
	}
}

uint64
StoreFileId(StoreWriter *writer)
{
	return writer->file_id;
}

FileSink *
StoreSink(StoreWriter *writer)
{
	writer->sink.write = StoreWrite;
	return &writer->sink;
}

/* The writer itself stays, as its context still points to the callback; a load may have thousands. */
FileLocator
StoreFinish(StoreWriter *writer)
{
	Flush(writer);
	CloseSegment(writer);
	pfree(writer->memory);
	return writer->locator;
}
