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
#include "spec/murmur.h"

/* days and microseconds from 1970-01-01, the Unix epoch, to 2000-01-01, the server's */
#define EPOCH_DAYS 10957
#define EPOCH_MICROSECONDS UINT64CONST(946684800000000)

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
			return KeyHashInt64((uint64) KeySort64(keyclass, typid, value), seed);
		case KEYCLASS_FLOAT:
			return KeyHashInt64((uint64) KeyFloatBits(typid == FLOAT4OID ?
												   (float8) DatumGetFloat4(value) : DatumGetFloat8(value)),
							 seed);
		case KEYCLASS_DATE:
			return KeyHashInt64((uint64) (KeySort64(keyclass, typid, value) + EPOCH_DAYS), seed);
		case KEYCLASS_TIMESTAMP:
		case KEYCLASS_TIMESTAMPTZ:
			/* unsigned: far dates and the infinities wrap around */
			return KeyHashInt64((uint64) DatumGetInt64(value) + EPOCH_MICROSECONDS, seed);
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
