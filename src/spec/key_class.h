/*
 * key_class.h
 *	  Key classes: which types may be bucket or sort columns, and how their
 *	  values are hashed and ordered.
 *
 * A class is a set of types that share one hash (over canonical bytes) and
 * one order (of the native value).  Two columns may meet in a bucket join
 * only when their classes are the same, or are INT and NUMERIC, whose hash and
 * order agree where their values do (KeyClassesMeet).  The numbers, the canonical bytes and
 * the orders are on disk: they never change, classes are only added.
 */
#ifndef BF_KEY_CLASS_H
#define BF_KEY_CLASS_H

#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "compat.h"

/* version of the hash over canonical bytes, stored with every file */
#define BF_HASH_VERSION 1

typedef enum KeyClass
{
	KEYCLASS_NONE = 0,			/* not usable as a key */
	KEYCLASS_INT = 1,			/* int2, int4, int8 */
	KEYCLASS_NUMERIC = 2,
	KEYCLASS_FLOAT = 3,			/* float4, float8 */
	KEYCLASS_BOOL = 4,
	KEYCLASS_DATE = 5,
	KEYCLASS_OID = 6,
	KEYCLASS_TIME = 7,
	KEYCLASS_TIMESTAMP = 8,
	KEYCLASS_TIMESTAMPTZ = 9,
	KEYCLASS_UUID = 10,
	KEYCLASS_BYTEA = 11,
	KEYCLASS_TEXT = 12,			/* text, varchar */
	KEYCLASS_BPCHAR = 13
} KeyClass;

#define KEYCLASS_LAST KEYCLASS_BPCHAR

/* How values of a class are kept. */
typedef enum KeyForm
{
	KEYFORM_INT64,				/* by value; their order is that of one int64: KeySort64 */
	KEYFORM_BYTES,				/* bytes of one length */
	KEYFORM_VARLENA
} KeyForm;

/* Less than, equal to or greater than 0, as a is to b. */
typedef int (*KeyComparison) (Datum a, Datum b);

/* What a class is, for all that do not have to be as fast as KeySort64. */
typedef struct KeyClassInfo
{
	const char *name;			/* for messages and catalog rows */
	const char *type_names;		/* for messages */
	Oid			types[3];		/* 0: no more */
	KeyForm		form;
	int			lengths;		/* INT64: sum of the lengths that types may have; BYTES: the length */
	uint64		span;			/* INT64: values are 0 .. span - 1; 0: as many as the length holds, signed */
	bool		text;			/* compared byte by byte: may be cut where a bound is wanted */

	uint32		(*hash) (KeyClass keyclass, Oid typid, Datum value, uint32 seed);

	/* not of INT64: its functions are KeySort64 */
	KeyComparison compare;
	int64		(*image) (Datum value);
} KeyClassInfo;

extern const KeyClassInfo KeyClasses[KEYCLASS_LAST + 1];

/* Class of a type; looks through nothing: pass the base type of a domain. */
extern KeyClass KeyClassOfType(Oid typid);

static inline const char *
KeyClassName(KeyClass keyclass)
{
	return KeyClasses[keyclass].name;
}

/* "smallint, integer, bigint, numeric, ...": the list shown when a key type is refused. */
extern const char *KeyClassTypeList(void);

/* May a column of such values be of the class? */
extern bool KeyClassFits(KeyClass keyclass, int typlen, bool typbyval);

/* May columns of two classes be compared, and meet in a bucket join? */
static inline bool
KeyClassesMeet(KeyClass a, KeyClass b)
{
	return a == b || (a == KEYCLASS_INT && b == KEYCLASS_NUMERIC) ||
		(a == KEYCLASS_NUMERIC && b == KEYCLASS_INT);
}

/* Is the order that of one int64 (KeySort64)? */
static inline bool
KeyClassIsFixed(KeyClass keyclass)
{
	return keyclass != KEYCLASS_NONE && KeyClasses[keyclass].form == KEYFORM_INT64;
}

/*
 * Bits of a float8 in which equal values have equal bits: -0 is 0, every NaN
 * is the one with an empty payload.
 */
static inline int64
KeyFloatBits(float8 value)
{
	union
	{
		float8		f;
		int64		i;
	}			bits;

	bits.f = value;
	if (value == 0)
		return 0;
	if (value != value)
		return INT64CONST(0x7ff8000000000000);
	return bits.i;
}

/*
 * Order- and equality-preserving int64 of a non-null value of a fixed class.
 * Floats: -0 equals 0, every NaN is equal and greatest.
 */
static inline int64
KeySort64(KeyClass keyclass, Oid typid, Datum value)
{
	switch (keyclass)
	{
		case KEYCLASS_INT:
			if (typid == INT8OID)
				return DatumGetInt64(value);
			if (typid == INT4OID)
				return DatumGetInt32(value);
			return DatumGetInt16(value);
		case KEYCLASS_FLOAT:
			{
				int64		bits = KeyFloatBits(typid == FLOAT4OID ?
												(float8) DatumGetFloat4(value) : DatumGetFloat8(value));

				/* among negative numbers more bits are less */
				return bits ^ ((bits >> 63) & PG_INT64_MAX);
			}
		case KEYCLASS_BOOL:
			return DatumGetBool(value) ? 1 : 0;
		case KEYCLASS_DATE:
			return DatumGetInt32(value);
		case KEYCLASS_OID:
			return DatumGetObjectId(value);
		default:				/* TIME, TIMESTAMP, TIMESTAMPTZ */
			return DatumGetInt64(value);
	}
}

/*
 * A number for sorting numerics: where it differs between two values, their
 * order is that of the numbers; where it is equal, nothing is known.
 */
extern uint64 KeyNumericPrefix(Datum value);

/*
 * The greatest integer not above a numeric, or the end of the range of int64
 * that is nearest to it: never falls where values grow, and of an integer in
 * that range the integer itself, so that it compares with values of INT.
 */
extern int64 KeyNumericFloor(Datum value);

/* Is the value beyond the range of int64?  If not, *exact: it is its floor itself. */
extern bool KeyNumericBeyond(Datum value, bool *exact);

/*
 * Three-way comparison of two non-null values of one class, whose types may
 * differ inside the class.  TEXT and BYTEA by bytes (memcmp, then length),
 * BPCHAR by the bytes without trailing blanks, UUID by its 16 bytes, NUMERIC as numeric_cmp.
 * Values may be short-header varlena; compressed or external ones may not.
 */
extern int	KeyCompare(KeyClass keyclass, Oid atype, Datum a, Oid btype, Datum b);

/* The same of values of two classes that meet: integers and numerics as numeric_cmp. */
extern int	KeyCompareAcross(KeyClass aclass, Oid atype, Datum a,
							 KeyClass bclass, Oid btype, Datum b);

/*
 * A number for a non-null value: where it differs between two values of a
 * class, their order is that of the numbers.  Of fixed classes it is KeySort64.
 */
extern int64 KeyImage64(KeyClass keyclass, Oid typid, Datum value);

/*
 * Hash of a non-null value with the given seed (0, or the hash of the columns
 * before it); murmur3_x86_32 over the canonical bytes.
 */
static inline uint32
KeyHash(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	return KeyClasses[keyclass].hash(keyclass, typid, value, seed);
}

/* Length of a BPCHAR without its trailing blanks, which are no part of the value. */
static inline int
KeyBlankTrimmedLength(const char *data, int len)
{
	while (len > 0 && data[len - 1] == ' ')
		len--;
	return len;
}

/* Bucket of a finished hash: (hash & 0x7fffffff) mod nbuckets. */
static inline int
KeyBucket(uint32 hash, int nbuckets)
{
	return (int) ((hash & 0x7fffffff) % (uint32) nbuckets);
}

#endif							/* BF_KEY_CLASS_H */
