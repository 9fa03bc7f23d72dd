/*
 * murmur.c
 *	  murmur3_x86_32, frozen as all of the hash is (key_hash.c).
 */
#include "postgres.h"

#include "spec/murmur.h"

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

uint32
KeyHashInt64(uint64 value, uint32 seed)
{
	uint32		hash = MixHash(seed, (uint32) value);

	return Finish(MixHash(hash, (uint32) (value >> 32)), sizeof(value));
}
