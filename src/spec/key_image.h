/*
 * key_image.h
 *	  Pieces of the images of keys (KeyImage64).
 */
#ifndef BF_KEY_IMAGE_H
#define BF_KEY_IMAGE_H

#include "port/pg_bswap.h"
#include "spec/key_class.h"

/* The first eight bytes as a big-endian number, as if padded with zeros. */
static inline int64
BytesImage(const unsigned char *data, size_t len)
{
	uint64		word = 0;

	if (len >= sizeof(word))
	{
		memcpy(&word, data, sizeof(word));
		word = pg_bswap64(word);
	}
	else if (len >= sizeof(uint32))
	{
		/* two words that overlap, of which the second one's first bytes go */
		uint32		high;
		uint32		low;

		memcpy(&high, data, sizeof(high));
		memcpy(&low, data + len - sizeof(low), sizeof(low));
		word = (uint64) pg_bswap32(high) << 32 |
			(uint32) ((uint64) pg_bswap32(low) << (8 * (sizeof(word) - len)));
	}
	else
	{
		for (size_t i = 0; i < len; i++)
			word |= (uint64) data[i] << (56 - 8 * i);
	}
	/* to signed order */
	return (int64) (word ^ (UINT64CONST(1) << 63));
}

static inline bool
IsTextual(KeyClass keyclass)
{
	return KeyClasses[keyclass].text;
}

/* The bytes of a text that count. */
static inline const unsigned char *
KeyTextBytes(KeyClass keyclass, Datum value, size_t *len)
{
	const struct varlena *v = (const struct varlena *) DatumGetPointer(value);

	*len = VARSIZE_ANY_EXHDR(v);
	if (keyclass == KEYCLASS_BPCHAR)
		*len = KeyBlankTrimmedLength(VARDATA_ANY(v), (int) *len);
	return (const unsigned char *) VARDATA_ANY(v);
}

#endif							/* BF_KEY_IMAGE_H */
