/*
 * key_hash.c
 *	  The frozen hash: murmur3_x86_32 over the canonical bytes of a value.
 *
 * What this file computes is on disk.  A change here moves rows of existing
 * files to other buckets, and joins lose them: BF_HASH_VERSION 1 stays as it
 * is for ever.
 */
#include "postgres.h"

#include "spec/key_hash.h"
#include "spec/key_image.h"
#include "spec/murmur.h"
#include "utils/uuid.h"

/* days and microseconds from 1970-01-01, the Unix epoch, to 2000-01-01, the server's */
#define EPOCH_DAYS 10957
#define EPOCH_MICROSECONDS UINT64CONST(946684800000000)

uint32
KeyHashInteger(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	return KeyHashInt64((uint64) KeySort64(keyclass, typid, value), seed);
}

uint32
KeyHashFloat(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	return KeyHashInt64((uint64) KeyFloatBits(typid == FLOAT4OID ?
											  (float8) DatumGetFloat4(value) : DatumGetFloat8(value)),
						seed);
}

uint32
KeyHashDate(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	return KeyHashInt64((uint64) (DatumGetInt32(value) + (int64) EPOCH_DAYS), seed);
}

uint32
KeyHashTimestamp(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	/* unsigned: far dates and the infinities wrap around */
	return KeyHashInt64((uint64) DatumGetInt64(value) + EPOCH_MICROSECONDS, seed);
}

uint32
KeyHashUuid(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	return KeyHashBytes(DatumGetPointer(value), UUID_LEN, seed);
}

uint32
KeyHashText(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	size_t		len;
	const unsigned char *data = KeyTextBytes(keyclass, value, &len);

	Assert(!VARATT_IS_EXTERNAL(DatumGetPointer(value)) && !VARATT_IS_COMPRESSED(DatumGetPointer(value)));
	return KeyHashBytes(data, len, seed);
}
