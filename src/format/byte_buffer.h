/*
 * byte_buffer.h
 *	  A growing array of bytes; unlike StringInfo it may exceed 1 GB.
 *
 * data is MAXALIGNed and has room for BF_SLACK bytes behind len, so that
 * decoders may read (not use) a little beyond the end.
 */
#ifndef BF_BYTE_BUFFER_H
#define BF_BYTE_BUFFER_H

#include "postgres.h"

#include "format/file_format.h"
#include "utils/memutils.h"
#include "utils/palloc.h"

typedef struct ByteBuffer
{
	char	   *data;
	size_t		len;
	size_t		cap;			/* without the slack */
	MemoryContext cxt;
} ByteBuffer;

static inline void
ByteBufferInit(ByteBuffer *buf, MemoryContext cxt)
{
	buf->data = NULL;
	buf->len = 0;
	buf->cap = 0;
	buf->cxt = cxt;
}

/* Make room for at least cap bytes in all; keeps the content. */
static inline void
ByteBufferEnsure(ByteBuffer *buf, size_t cap)
{
	size_t		newcap;

	if (likely(cap <= buf->cap))
		return;
	newcap = Max(Max(cap, buf->cap * 2), 128);
	if (newcap > BF_BLOCK_BYTES)
		newcap = Max(cap, Max(BF_BLOCK_BYTES, buf->cap + buf->cap / 4));
	if (buf->data == NULL)
		buf->data = MemoryContextAllocHuge(buf->cxt, newcap + BF_SLACK);
	else
		buf->data = repalloc_huge(buf->data, newcap + BF_SLACK);
	buf->cap = newcap;
}

static inline void
ByteBufferFree(ByteBuffer *buf)
{
	if (buf->data)
		pfree(buf->data);
	buf->data = NULL;
	buf->len = buf->cap = 0;
}

/*
 * Forget the content and make room for need bytes, not keeping a very large
 * array that is no longer needed.
 */
static inline char *
ByteBufferPrepare(ByteBuffer *buf, size_t need)
{
	buf->len = 0;
	if (buf->cap > 2 * BF_BLOCK_BYTES && need < buf->cap / 4)
		ByteBufferFree(buf);
	else if (buf->cap < need)
		ByteBufferFree(buf);	/* do not copy what is not needed */
	ByteBufferEnsure(buf, need);
	return buf->data;
}

/* Room for len bytes at the end, which becomes part of the content. */
static inline char *
ByteBufferExtend(ByteBuffer *buf, size_t len)
{
	char	   *result;

	ByteBufferEnsure(buf, buf->len + len);
	result = buf->data + buf->len;
	buf->len += len;
	return result;
}

static inline void
ByteBufferAppend(ByteBuffer *buf, const void *data, size_t len)
{
	if (len > 0)
		memcpy(ByteBufferExtend(buf, len), data, len);
}

/* Zero bytes up to a multiple of align (a power of two). */
static inline void
ByteBufferAlign(ByteBuffer *buf, size_t align)
{
	size_t		pad = (0 - buf->len) & (align - 1);

	if (pad > 0)
		memset(ByteBufferExtend(buf, pad), 0, pad);
}

#endif							/* BF_BYTE_BUFFER_H */
