/*
 * key_class.c
 *	  Key classes: the types of each, their names, their order.
 */
#include "postgres.h"

#include "spec/key_image.h"
#include "spec/key_numeric.h"

KeyClass
KeyClassOfType(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return KEYCLASS_INT;
		case NUMERICOID:
			return KEYCLASS_NUMERIC;
		case FLOAT4OID:
		case FLOAT8OID:
			return KEYCLASS_FLOAT;
		case BOOLOID:
			return KEYCLASS_BOOL;
		case DATEOID:
			return KEYCLASS_DATE;
		case OIDOID:
			return KEYCLASS_OID;
		case TIMEOID:
			return KEYCLASS_TIME;
		case TIMESTAMPOID:
			return KEYCLASS_TIMESTAMP;
		case TIMESTAMPTZOID:
			return KEYCLASS_TIMESTAMPTZ;
		case UUIDOID:
			return KEYCLASS_UUID;
		case BYTEAOID:
			return KEYCLASS_BYTEA;
		case TEXTOID:
		case VARCHAROID:
			return KEYCLASS_TEXT;
		case BPCHAROID:
			return KEYCLASS_BPCHAR;
		default:
			return KEYCLASS_NONE;
	}
}

const char *
KeyClassName(KeyClass keyclass)
{
	switch (keyclass)
	{
		case KEYCLASS_NONE:
			return "none";
		case KEYCLASS_INT:
			return "int";
		case KEYCLASS_NUMERIC:
			return "numeric";
		case KEYCLASS_FLOAT:
			return "float";
		case KEYCLASS_BOOL:
			return "bool";
		case KEYCLASS_DATE:
			return "date";
		case KEYCLASS_OID:
			return "oid";
		case KEYCLASS_TIME:
			return "time";
		case KEYCLASS_TIMESTAMP:
			return "timestamp";
		case KEYCLASS_TIMESTAMPTZ:
			return "timestamptz";
		case KEYCLASS_UUID:
			return "uuid";
		case KEYCLASS_BYTEA:
			return "bytea";
		case KEYCLASS_TEXT:
			return "text";
		case KEYCLASS_BPCHAR:
			return "bpchar";
	}
	return "unknown";
}

const char *
KeyClassTypeList(void)
{
	return "smallint, integer, bigint, numeric, real, double precision, boolean, date, oid, time, "
		"timestamp, timestamptz, uuid, bytea, text, varchar, char(n)";
}

/* By bytes, then by length. */
static inline int
BytesCompare(const char *a, int alen, const char *b, int blen)
{
	int			cmp = memcmp(a, b, Min(alen, blen));

	if (cmp == 0)
		return (alen > blen) - (alen < blen);
	return cmp;
}

int
KeyCompare(KeyClass keyclass, Oid atype, Datum a, Oid btype, Datum b)
{
	switch (keyclass)
	{
		case KEYCLASS_NUMERIC:
			return KeyNumericCompare(a, b);
		case KEYCLASS_UUID:
			return memcmp(DatumGetPointer(a), DatumGetPointer(b), 16);
		case KEYCLASS_BYTEA:
		case KEYCLASS_TEXT:
		case KEYCLASS_BPCHAR:
			{
				const struct varlena *aptr = (const struct varlena *) DatumGetPointer(a);
				const struct varlena *bptr = (const struct varlena *) DatumGetPointer(b);
				int			alen = VARSIZE_ANY_EXHDR(aptr);
				int			blen = VARSIZE_ANY_EXHDR(bptr);

				if (keyclass == KEYCLASS_BPCHAR)
				{
					alen = KeyBlankTrimmedLength(VARDATA_ANY(aptr), alen);
					blen = KeyBlankTrimmedLength(VARDATA_ANY(bptr), blen);
				}
				return BytesCompare(VARDATA_ANY(aptr), alen, VARDATA_ANY(bptr), blen);
			}
		default:
			{
				int64		x = KeySort64(keyclass, atype, a);
				int64		y = KeySort64(keyclass, btype, b);

				return (x > y) - (x < y);
			}
	}
}

int
KeyCompareAcross(KeyClass aclass, Oid atype, Datum a, KeyClass bclass, Oid btype, Datum b)
{
	if (aclass == bclass)
		return KeyCompare(aclass, atype, a, btype, b);
	Assert(KeyClassesMeet(aclass, bclass));
	if (aclass == KEYCLASS_NUMERIC)
		return KeyNumericCompareInt64(a, KeySort64(bclass, btype, b));
	return -KeyNumericCompareInt64(b, KeySort64(aclass, atype, a));
}

int64
KeyImage64(KeyClass keyclass, Oid typid, Datum value)
{
	switch (keyclass)
	{
		case KEYCLASS_TEXT:
		case KEYCLASS_BYTEA:
		case KEYCLASS_BPCHAR:
			{
				size_t		len;
				const unsigned char *data = TextBytes(keyclass, value, &len);

				return BytesImage(data, len);
			}
		case KEYCLASS_UUID:
			return BytesImage((const unsigned char *) DatumGetPointer(value), 16);
		case KEYCLASS_NUMERIC:
			return (int64) (KeyNumericPrefix(value) ^ (UINT64CONST(1) << 63));
		default:
			return KeySort64(keyclass, typid, value);
	}
}
