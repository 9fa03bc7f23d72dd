/*
 * memory_file.h
 *	  Files in memory for tests of the format: a sink that collects bytes and a
 *	  source over them.
 */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include "postgres.h"

#include "format/file_io.h"

typedef struct MemorySink
{
	FileSink	sink;
	char	   *data;			/* malloc'd */
	size_t		len;
	size_t		cap;
} MemorySink;

typedef struct MemorySource
{
	FileSource	source;
	const char *data;
	uint64		reads;
	uint64		bytes_read;
} MemorySource;

static inline void
MemoryWrite(FileSink *sink, const void *data, size_t len)
{
	MemorySink *mem = (MemorySink *) sink;

	if (mem->len + len > mem->cap)
	{
		mem->cap = Max(mem->cap * 2, mem->len + len + 1024);
		mem->data = realloc(mem->data, mem->cap);
		if (mem->data == NULL)
			abort();
	}
	if (len > 0)
		memcpy(mem->data + mem->len, data, len);
	mem->len += len;
}

static inline void
MemorySinkInit(MemorySink *mem)
{
	memset(mem, 0, sizeof(*mem));
	mem->sink.write = MemoryWrite;
}

static inline void
MemoryRead(FileSource *source, void *buf, size_t len, uint64 offset)
{
	MemorySource *mem = (MemorySource *) source;

	/* the format promises never to ask for more */
	if (offset > source->size || len > source->size - offset)
		abort();
	if (len > 0)
		memcpy(buf, mem->data + offset, len);
	mem->reads++;
	mem->bytes_read += len;
}

static inline void
MemorySourceInit(MemorySource *mem, const char *data, size_t len)
{
	memset(mem, 0, sizeof(*mem));
	mem->source.read = MemoryRead;
	mem->source.size = len;
	mem->source.path = "bucketfdw/1/2/0000000000000003_0";
	mem->source.relname = "t";
	mem->data = data;
}

#endif							/* MEMORY_FILE_H */
