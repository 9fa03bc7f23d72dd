/*
 * file_image.h
 *	  A file of rows that stand in no file of their table: its bytes lie in
 *	  memory or, when there are many, in a temporary file.  Readers come to it
 *	  by StoreOpen, as to any other.  It lives no longer than the transaction.
 */
#ifndef BF_FILE_IMAGE_H
#define BF_FILE_IMAGE_H

#include "format/file_io.h"

/* a larger image lies in a temporary file */
#define IMAGE_MEMORY (4 * 1024 * 1024)

typedef struct FileImage FileImage;

/* An empty image that its maker holds. */
extern FileImage *ImageCreate(Oid relid);
extern uint64 ImageFileId(const FileImage *image);
extern FileSink *ImageSink(FileImage *image);

/* For what should live as long as the image. */
extern MemoryContext ImageMemory(const FileImage *image);

/* The maker's hold ends: the image goes when no reader has it. */
extern void ImageRelease(FileImage *image);

/* Keep the image until the current memory context is reset. */
extern void ImagePin(FileImage *image);

/* The image with this id, or NULL; and its bytes. */
extern FileImage *ImageFind(Oid relid, uint64 file_id);
extern FileSource *ImageOpen(FileImage *image, const char *relname);

/* The transaction ends; after an abort the resource owner closes the temporary files. */
extern void ImagesEnd(bool commit);

#endif							/* BF_FILE_IMAGE_H */
