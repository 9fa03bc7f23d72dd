/*
 * key_hash.c
 *	  The frozen hash: murmur3_x86_32 over the canonical bytes of a value.
 *
 * What this file computes is on disk.  A change here moves rows of existing
 * files to other buckets, and joins lose them: BF_HASH_VERSION 1 stays as it
 * is for ever.
 */
#include "postgres.h"

#include "spec/key_class.h"
#include "spec/key_numeric.h"

/* days and microseconds from 1970-01-01, the Unix epoch, to 2000-01-01, the server's */
#define EPOCH_DAYS 10957
#define EPOCH_MICROSECONDS UINT64CONST(946684800000000)

static inline uint32
RotateLeft(uint32 x, int n)
{
	return (x << n) | (x >> (32 - n));
}

static inline uint32
MixKey(uint32 k)
{
	return RotateLeft(k * 0xcc9e2d51, 15) * 0x1b873593;
}

static inline uint32
MixHash(uint32 hash, uint32 k)
{
	return RotateLeft(hash ^ MixKey(k), 13) * 5 + 0xe6546b64;
}

static inline uint32
Finish(uint32 hash, size_t len)
{
	hash ^= (uint32) len;
	hash ^= hash >> 16;
	hash *= 0x85ebca6b;
	hash ^= hash >> 13;
	hash *= 0xc2b2ae35;
	hash ^= hash >> 16;
	return hash;
}

uint32
KeyHashBytes(const void *data, size_t len, uint32 seed)
{
	const unsigned char *p = data;
	size_t		nwords = len / 4;
	uint32		hash = seed;
	uint32		tail = 0;

	for (size_t i = 0; i < nwords; i++)
	{
		uint32		word;

		memcpy(&word, p, sizeof(word));
		hash = MixHash(hash, word);
		p += sizeof(word);
	}

	switch (len & 3)
	{
		case 3:
			tail ^= (uint32) p[2] << 16;
			/* FALLTHROUGH */
		case 2:
			tail ^= (uint32) p[1] << 8;
			/* FALLTHROUGH */
		case 1:
			tail ^= p[0];
			hash ^= MixKey(tail);
	}
	return Finish(hash, len);
}

/* KeyHashBytes of the eight little-endian bytes of an int64. */
static inline uint32
HashInt64(uint64 value, uint32 seed)
{
	uint32		hash = MixHash(seed, (uint32) value);

	return Finish(MixHash(hash, (uint32) (value >> 32)), sizeof(value));
}

static inline uint32
HashVarlena(Datum value, uint32 seed)
{
	const struct varlena *ptr = (const struct varlena *) DatumGetPointer(value);

	Assert(!VARATT_IS_EXTERNAL(ptr) && !VARATT_IS_COMPRESSED(ptr));
	return KeyHashBytes(VARDATA_ANY(ptr), VARSIZE_ANY_EXHDR(ptr), seed);
}

uint32
KeyHash(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	switch (keyclass)
	{
		case KEYCLASS_INT:
		case KEYCLASS_BOOL:
		case KEYCLASS_OID:
		case KEYCLASS_TIME:
			return HashInt64((uint64) KeySort64(keyclass, typid, value), seed);
		case KEYCLASS_FLOAT:
			return HashInt64((uint64) KeyFloatBits(typid == FLOAT4OID ?
												   (float8) DatumGetFloat4(value) : DatumGetFloat8(value)),
							 seed);
		case KEYCLASS_DATE:
			return HashInt64((uint64) (KeySort64(keyclass, typid, value) + EPOCH_DAYS), seed);
		case KEYCLASS_TIMESTAMP:
		case KEYCLASS_TIMESTAMPTZ:
			/* unsigned: far dates and the infinities wrap around */
			return HashInt64((uint64) DatumGetInt64(value) + EPOCH_MICROSECONDS, seed);
		case KEYCLASS_NUMERIC:
			return KeyNumericHash(value, seed);
		case KEYCLASS_UUID:
			return KeyHashBytes(DatumGetPointer(value), 16, seed);
		case KEYCLASS_BYTEA:
		case KEYCLASS_TEXT:
			return HashVarlena(value, seed);
		case KEYCLASS_BPCHAR:
			{
				const struct varlena *ptr = (const struct varlena *) DatumGetPointer(value);

				return KeyHashBytes(VARDATA_ANY(ptr),
									KeyBlankTrimmedLength(VARDATA_ANY(ptr), VARSIZE_ANY_EXHDR(ptr)),
									seed);
			}
		case KEYCLASS_NONE:
			break;
	}
	elog(ERROR, "unexpected key class %d", (int) keyclass);
	return 0;
}
