/*
 * file_image.c
 *	  Files in memory, or in temporary files.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "storage/file_image.h"
#include "storage/temp_file.h"
#include "utils/memutils.h"

/* bytes written to it at once */
#define WRITE_BYTES (256 * 1024)

struct FileImage
{
	FileSink	sink;			/* must be first */
	dlist_node	node;
	MemoryContext cxt;
	Oid			relid;
	uint64		file_id;
	int			users;			/* the maker and the readers */
	char	   *data;			/* what is not written yet: all, if there is no temporary file */
	Size		used;
	Size		room;
	File		vfd;			/* -1: none */
	off_t		written;
};

typedef struct ImageSource
{
	FileSource	source;			/* must be first */
	FileImage  *image;
} ImageSource;

typedef struct ImagePinned
{
	MemoryContextCallback callback;
	FileImage  *image;
	uint64		transaction;
} ImagePinned;

static dlist_head images = DLIST_STATIC_INIT(images);

/* Counts transactions that had images: contexts may outlive what they pinned. */
static uint64 transaction = 0;

static void
WriteOut(FileImage *image, const char *data, Size len)
{
	TempFileWrite(image->vfd, data, len, image->written);
	image->written += len;
}

/* FileSink's write */
static void
ImageWrite(FileSink *sink, const void *data, size_t len)
{
	FileImage  *image = (FileImage *) sink;

	if (image->vfd < 0 && image->used + len > IMAGE_MEMORY)
		image->vfd = TempFileOpen();
	if (image->vfd >= 0 && image->used + len > WRITE_BYTES)
	{
		WriteOut(image, image->data, image->used);
		image->used = 0;
		if (len > WRITE_BYTES)
		{
			WriteOut(image, data, len);
			return;
		}
	}
	if (image->used + len > image->room)
	{
		image->room = Max(image->room * 2, image->used + len);
		image->data = repalloc(image->data, image->room);
	}
	memcpy(image->data + image->used, data, len);
	image->used += len;
}

FileImage *
ImageCreate(Oid relid)
{
	MemoryContext cxt = AllocSetContextCreate(TopTransactionContext, "bucketfdw file image",
											  ALLOCSET_SMALL_SIZES);
	FileImage  *image = MemoryContextAllocZero(cxt, sizeof(FileImage));

	image->sink.write = ImageWrite;
	image->cxt = cxt;
	image->relid = relid;
	image->users = 1;
	image->room = 1024;
	image->data = MemoryContextAlloc(cxt, image->room);
	image->vfd = -1;
	if (!pg_strong_random(&image->file_id, sizeof(image->file_id)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random file name")));
	dlist_push_head(&images, &image->node);
	return image;
}

uint64
ImageFileId(const FileImage *image)
{
	return image->file_id;
}

FileSink *
ImageSink(FileImage *image)
{
	return &image->sink;
}

MemoryContext
ImageMemory(const FileImage *image)
{
	return image->cxt;
}

void
ImageRelease(FileImage *image)
{
	if (--image->users > 0)
		return;
	dlist_delete(&image->node);
	if (image->vfd >= 0)
		FileClose(image->vfd);
	MemoryContextDelete(image->cxt);
}

/* Memory context callback */
static void
Unpin(void *arg)
{
	ImagePinned *pinned = arg;

	if (pinned->transaction == transaction)
		ImageRelease(pinned->image);
}

void
ImagePin(FileImage *image)
{
	ImagePinned *pinned = palloc(sizeof(ImagePinned));

	pinned->callback.func = Unpin;
	pinned->callback.arg = pinned;
	pinned->image = image;
	pinned->transaction = transaction;
	image->users++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pinned->callback);
}

FileImage *
ImageFind(Oid relid, uint64 file_id)
{
	dlist_iter	iter;

	dlist_foreach(iter, &images)
	{
		FileImage  *image = dlist_container(FileImage, node, iter.cur);

		if (image->relid == relid && image->file_id == file_id)
			return image;
	}
	return NULL;
}

/* FileSource's read */
static void
ImageRead(FileSource *source, void *buf, size_t len, uint64 offset)
{
	FileImage  *image = ((ImageSource *) source)->image;
	char	   *dest = buf;

	if (offset < (uint64) image->written)
	{
		Size		n = Min(len, image->written - offset);

		TempFileRead(image->vfd, dest, n, (off_t) offset);
		dest += n;
		offset += n;
		len -= n;
	}
	if (len == 0)
		return;
	if (offset - image->written + len > image->used)
		elog(ERROR, "read beyond the end of an image");
	memcpy(dest, image->data + (offset - image->written), len);
}

FileSource *
ImageOpen(FileImage *image, const char *relname)
{
	ImageSource *source = palloc0(sizeof(ImageSource));

	source->source.read = ImageRead;
	source->source.path = "(rows that wait in this transaction)";
	source->source.relname = pstrdup(relname);
	source->source.size = (uint64) image->written + image->used;
	source->image = image;
	return &source->source;
}

void
ImagesEnd(bool commit)
{
	dlist_iter	iter;

	if (dlist_is_empty(&images))
		return;
	/* their memory goes with the transaction's */
	dlist_foreach(iter, &images)
	{
		FileImage  *image = dlist_container(FileImage, node, iter.cur);

		if (commit && image->vfd >= 0)
			FileClose(image->vfd);
	}
	dlist_init(&images);
	transaction++;
}
