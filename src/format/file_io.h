/*
 * file_io.h
 *	  The narrow interface through which the format reads and writes bytes.
 *
 * The storage layer implements it over the server's virtual files; unit and
 * fuzz tests over memory.
 */
#ifndef BF_FILE_IO_H
#define BF_FILE_IO_H

#include "postgres.h"

/* Sequential output.  write raises an error when it cannot write all. */
typedef struct FileSink
{
	void		(*write) (struct FileSink *sink, const void *data, size_t len);
} FileSink;

/*
 * Random input.  read must deliver exactly len bytes at offset or raise an
 * error; the format never asks beyond size.
 */
typedef struct FileSource
{
	void		(*read) (struct FileSource *source, void *buf, size_t len, uint64 offset);

	/*
	 * The same in a way that cannot meet a write half done; NULL: read is
	 * such.  Asked when a checksum does not match.
	 */
	void		(*read_again) (struct FileSource *source, void *buf, size_t len, uint64 offset);
	uint64		size;			/* bytes */
	const char *path;			/* for messages: relative to the data directory */
	const char *relname;		/* for messages: the relation */
} FileSource;

/* CRC-32C, as it stands in files. */
extern uint32 FileChecksum(const void *data, size_t len);

/* Read what has a checksum; false if it does not match, whichever way it is read. */
extern bool FileReadSummed(FileSource *source, void *buf, size_t len, uint64 offset, uint32 checksum);

#endif							/* BF_FILE_IO_H */
