/*
 * file_store.c
 *	  Files on disk: create, write, sync, open, read.
 *
 * The one place that touches the contents of files; all access to data goes
 * through it.  Virtual file descriptors keep us below the server's limit of
 * open files.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "common/file_perm.h"
#include "compat.h"
#include "miscadmin.h"
#include "storage/directory.h"
#include "storage/fd.h"
#include "storage/file_image.h"
#include "storage/file_store.h"
#include "storage/free_space.h"
#include "storage/pending.h"
#include "utils/wait_event.h"

/* bytes collected before they are written */
#define STORE_BUFFER_SIZE (256 * 1024)

/* longest single read or write call */
#define MAX_IO_BYTES (1024 * 1024 * 1024)

struct StoreWriter
{
	FileSink	sink;			/* must be first */
	uint64		file_id;
	Oid			relid;
	char		path[MAXPGPATH];
	File		vfd;
	off_t		offset;			/* bytes written */
	size_t		used;			/* bytes in buffer */
	char	   *buffer;
};

typedef struct StoreSource
{
	FileSource	source;			/* must be first */
	File		vfd;
	MemoryContextCallback callback;
} StoreSource;

char *
StorePath(Oid dboid, Oid relid, uint64 file_id, int first_bucket)
{
	char		path[MAXPGPATH];

	DirectoryFilePath(path, dboid, relid, file_id, first_bucket);
	return pstrdup(path);
}

static void
WriteOut(StoreWriter *writer, const char *data, size_t len)
{
	while (len > 0)
	{
		size_t		n = Min(len, MAX_IO_BYTES);

		CHECK_FOR_INTERRUPTS();
		StoreCheckSpace(writer->relid, n, false);
		errno = 0;
		if (FileWrite(writer->vfd, unconstify(char *, data), n, writer->offset,
					  WAIT_EVENT_DATA_FILE_WRITE) != n)
		{
			bool		full = errno == 0 || errno == ENOSPC;

			/* a short write means that the disk is full */
			if (full)
				errno = ENOSPC;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write file \"%s\": %m", writer->path),
					 full ? errhint("Check free disk space.") : 0));
		}

		/* start writing back now, so that the fsync at the end is short */
		if (enableFsync)
			FileWriteback(writer->vfd, writer->offset, n, WAIT_EVENT_DATA_FILE_FLUSH);
		writer->offset += n;
		data += n;
		len -= n;
	}
}

/* FileSink's write */
static void
StoreWrite(FileSink *sink, const void *data, size_t len)
{
	StoreWriter *writer = (StoreWriter *) sink;

	if (writer->used + len > STORE_BUFFER_SIZE)
	{
		WriteOut(writer, writer->buffer, writer->used);
		writer->used = 0;
	}
	if (len >= STORE_BUFFER_SIZE)
		WriteOut(writer, data, len);
	else
	{
		memcpy(writer->buffer + writer->used, data, len);
		writer->used += len;
	}
}

StoreWriter *
StoreCreate(Oid relid, int first_bucket)
{
	StoreWriter *writer = palloc0(sizeof(StoreWriter));

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write bucketed tables during recovery")));

	writer->sink.write = StoreWrite;
	writer->relid = relid;
	writer->buffer = palloc(STORE_BUFFER_SIZE);
	writer->vfd = -1;

	DirectoryCheck();

	/* from here on nothing may come between the file and the note of it */
	PendingReserve();
	for (int attempt = 0; writer->vfd < 0; attempt++)
	{
		bool		created = DirectoryCreate(relid);

		PendingAddDirectory(relid, created);
		StoreCheckSpace(relid, 0, true);
		if (!pg_strong_random(&writer->file_id, sizeof(writer->file_id)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate a random file name")));
		DirectoryFilePath(writer->path, MyDatabaseId, relid, writer->file_id, first_bucket);
		writer->vfd = PathNameOpenFilePerm(writer->path,
										   O_CREAT | O_EXCL | O_RDWR | PG_BINARY,
										   pg_file_create_mode);

		/* the name is taken, or the empty directory was removed just now */
		if (writer->vfd < 0 && ((errno != EEXIST && errno != ENOENT) || attempt > 100))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not create file \"%s\": %m", writer->path)));
	}
	PendingAddFile(relid, writer->file_id, first_bucket, writer->vfd);
	return writer;
}

uint64
StoreFileId(StoreWriter *writer)
{
	return writer->file_id;
}

FileSink *
StoreSink(StoreWriter *writer)
{
	return &writer->sink;
}

void
StoreFinish(StoreWriter *writer)
{
	WriteOut(writer, writer->buffer, writer->used);
	PendingFileFinished(writer->file_id);
	pfree(writer->buffer);
	pfree(writer);
}

/* FileSource's read */
static void
StoreRead(FileSource *source, void *buf, size_t len, uint64 offset)
{
	StoreSource *file = (StoreSource *) source;
	char	   *dest = buf;

	while (len > 0)
	{
		size_t		want = Min(len, MAX_IO_BYTES);
		ssize_t		got;

		got = FileRead(file->vfd, dest, want, (off_t) offset, WAIT_EVENT_DATA_FILE_READ);
		if (got < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\" of bucketed table \"%s\": %m",
							source->path, source->relname)));
		if (got == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("file \"%s\" of bucketed table \"%s\" is too short",
							source->path, source->relname),
					 errdetail("Nothing could be read at offset %llu; %zu bytes are missing.",
							   (unsigned long long) offset, len),
					 errhint("Run bucketfdw.verify('%s') and restore the file from a backup.",
							 source->relname)));
		dest += got;
		offset += got;
		len -= got;
	}
}

/* Memory context callback: the descriptor goes with the memory. */
static void
CloseSource(void *arg)
{
	StoreSource *file = arg;

	if (file->vfd >= 0)
		FileClose(file->vfd);
	file->vfd = -1;
}

/* The reason a file may be missing, as far as it can be known. */
static const char *
MissingHint(void)
{
	if (RecoveryInProgress())
		return "Files of bucketed tables with durability 'local' do not reach standbys: run the query on the primary server.";
	if (access(BF_DIRECTORY, F_OK) != 0)
		return "The directory \"bucketfdw\" is missing in the data directory: copy it from the server this one was upgraded or restored from.";
	return "Restore the file from a backup made with the whole data directory, or TRUNCATE the table and load it again.";
}

FileSource *
StoreOpen(Oid relid, const char *relname, uint64 file_id, int first_bucket)
{
	static bool checked = false;
	StoreSource *file;
	FileImage  *image = ImageFind(relid, file_id);
	off_t		size;

	if (image != NULL)
		return ImageOpen(image, relname);
	if (!checked)
		DirectoryCheck();
	checked = true;

	file = palloc0(sizeof(StoreSource));
	file->source.read = StoreRead;
	file->source.path = StorePath(MyDatabaseId, relid, file_id, first_bucket);
	file->source.relname = pstrdup(relname);
	file->vfd = PathNameOpenFile(file->source.path, O_RDONLY | PG_BINARY);
	if (file->vfd < 0)
	{
		if (errno == ENOENT)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FILE),
					 errmsg("file \"%s\" of bucketed table \"%s\" is missing",
							file->source.path, relname),
					 errhint("%s", MissingHint())));
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" of bucketed table \"%s\": %m",
						file->source.path, relname)));
	}
	file->callback.func = CloseSource;
	file->callback.arg = file;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &file->callback);

	size = FileSize(file->vfd);
	if (size < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not determine the size of file \"%s\": %m", file->source.path)));
	file->source.size = (uint64) size;
	return &file->source;
}

/* The memory stays, as its context still points to the callback. */
void
StoreClose(FileSource *source)
{
	if (source->read == StoreRead)
		CloseSource(source);
}
