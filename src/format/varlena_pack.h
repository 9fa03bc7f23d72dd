/*
 * varlena_pack.h
 *	  Packed varlenas in byte buffers: the form they have in heap tuples.
 */
#ifndef BF_VARLENA_PACK_H
#define BF_VARLENA_PACK_H

#include "catalog/pg_type.h"
#include "compat.h"
#include "format/byte_buffer.h"

/* longest content with a one-byte header */
#define BF_SHORT_MAX	(VARATT_SHORT_MAX - VARHDRSZ_SHORT)

typedef struct VarlenaForm
{
	int			align;			/* of a four-byte header: 4 or 8 */
	bool		packable;		/* short headers are allowed */
} VarlenaForm;

static inline VarlenaForm
VarlenaFormOf(char typalign, char typstorage)
{
	VarlenaForm form;

	form.align = typalign == TYPALIGN_DOUBLE ? 8 : 4;
	form.packable = typstorage != TYPSTORAGE_PLAIN;
	return form;
}

/* Bytes a value of contentlen bytes takes at offset at, padding included. */
static inline size_t
VarlenaPackedSize(size_t at, size_t contentlen, VarlenaForm form)
{
	if (contentlen <= BF_SHORT_MAX && form.packable)
		return contentlen + VARHDRSZ_SHORT;
	return ((0 - at) & (form.align - 1)) + VARHDRSZ + contentlen;
}

/*
 * Write the header of a value of contentlen bytes at offset *at of base,
 * padding first; *at becomes the offset of the header.  Returns where the
 * content belongs.
 */
static inline char *
VarlenaPutHeader(char *base, size_t *at, size_t contentlen, VarlenaForm form)
{
	if (contentlen <= BF_SHORT_MAX && form.packable)
	{
		SET_VARSIZE_SHORT(base + *at, contentlen + VARHDRSZ_SHORT);
		return base + *at + VARHDRSZ_SHORT;
	}
	while ((*at & (form.align - 1)) != 0)
		base[(*at)++] = 0;
	SET_VARSIZE(base + *at, contentlen + VARHDRSZ);
	return base + *at + VARHDRSZ;
}

/* Append a value; returns the offset of its header. */
static inline size_t
VarlenaAppend(ByteBuffer *buf, const char *content, size_t contentlen, VarlenaForm form)
{
	size_t		at = buf->len;
	char	   *to;

	ByteBufferEnsure(buf, at + contentlen + VARHDRSZ + form.align);
	to = VarlenaPutHeader(buf->data, &at, contentlen, form);
	memcpy(to, content, contentlen);
	buf->len = (to - buf->data) + contentlen;
	return at;
}

/*
 * The next packed value at offset *at of the len bytes at base; *at moves
 * behind it.  NULL when there is no valid value within the bytes.
 */
static inline const char *
VarlenaNext(const char *base, size_t len, size_t *at, int align)
{
	size_t		off = *at;
	size_t		size;

	if (off >= len)
		return NULL;
	if (base[off] == 0)
		off = (off + align - 1) & ~((size_t) align - 1);
	if (off >= len)
		return NULL;
	if (VARATT_IS_1B(base + off))
	{
		if (VARATT_IS_1B_E(base + off))
			return NULL;
		size = VARSIZE_1B(base + off);
	}
	else
	{
		if ((off & (align - 1)) != 0 || len - off < VARHDRSZ || !VARATT_IS_4B_U(base + off))
			return NULL;
		size = VARSIZE_4B(base + off);
		if (size < VARHDRSZ)
			return NULL;
	}
	if (size > len - off)
		return NULL;
	*at = off + size;
	return base + off;
}

/* Is the content long enough that numeric's functions stay inside it? */
static inline bool
NumericContentValid(const char *value)
{
	size_t		len = VARSIZE_ANY_EXHDR(value);
	uint16		header;

	if (len < sizeof(uint16) || len % sizeof(uint16) != 0)
		return false;
	memcpy(&header, VARDATA_ANY(value), sizeof(header));

	/* the long form has the weight in a field of its own */
	return (header & 0x8000) != 0 || len >= 2 * sizeof(uint16);
}

#endif							/* BF_VARLENA_PACK_H */
