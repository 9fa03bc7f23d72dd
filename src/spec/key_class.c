/*
 * key_class.c
 *	  The table of key classes.
 */
#include "postgres.h"

#include "spec/key_hash.h"
#include "spec/key_image.h"
#include "spec/key_numeric.h"
#include "utils/uuid.h"

/* By bytes, then by length. */
static inline int
BytesCompare(KeyClass keyclass, Datum a, Datum b)
{
	size_t		alen;
	size_t		blen;
	const unsigned char *adata = KeyTextBytes(keyclass, a, &alen);
	const unsigned char *bdata = KeyTextBytes(keyclass, b, &blen);
	int			cmp = memcmp(adata, bdata, Min(alen, blen));

	return cmp ? cmp : (alen > blen) - (alen < blen);
}

static int
TextCompare(Datum a, Datum b)
{
	return BytesCompare(KEYCLASS_TEXT, a, b);
}

static int
BlankCompare(Datum a, Datum b)
{
	return BytesCompare(KEYCLASS_BPCHAR, a, b);
}

static int
UuidCompare(Datum a, Datum b)
{
	return memcmp(DatumGetPointer(a), DatumGetPointer(b), UUID_LEN);
}

static int64
TextImage(Datum value)
{
	size_t		len;
	const unsigned char *data = KeyTextBytes(KEYCLASS_TEXT, value, &len);

	return BytesImage(data, len);
}

static int64
BlankImage(Datum value)
{
	size_t		len;
	const unsigned char *data = KeyTextBytes(KEYCLASS_BPCHAR, value, &len);

	return BytesImage(data, len);
}

static int64
UuidImage(Datum value)
{
	return BytesImage((const unsigned char *) DatumGetPointer(value), UUID_LEN);
}

static int64
NumericImage(Datum value)
{
	return (int64) (KeyNumericPrefix(value) ^ (UINT64CONST(1) << 63));
}

static uint32
NoHash(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	elog(ERROR, "unexpected key class %d", (int) keyclass);
	return 0;
}

const KeyClassInfo KeyClasses[KEYCLASS_LAST + 1] = {
	[KEYCLASS_NONE] = {"none", .hash = NoHash},
	[KEYCLASS_INT] = {"int", "smallint, integer, bigint", {INT2OID, INT4OID, INT8OID},
	KEYFORM_INT64, 2 + 4 + 8, .hash = KeyHashInteger},
	[KEYCLASS_NUMERIC] = {"numeric", "numeric", {NUMERICOID},
	KEYFORM_VARLENA, .hash = KeyNumericHash, .compare = KeyNumericCompare, .image = NumericImage},
	[KEYCLASS_FLOAT] = {"float", "real, double precision", {FLOAT4OID, FLOAT8OID},
	KEYFORM_INT64, 4 + 8, .hash = KeyHashFloat},
	[KEYCLASS_BOOL] = {"bool", "boolean", {BOOLOID}, KEYFORM_INT64, 1, .span = 2, .hash = KeyHashInteger},
	[KEYCLASS_DATE] = {"date", "date", {DATEOID}, KEYFORM_INT64, 4, .hash = KeyHashDate},
	[KEYCLASS_OID] = {"oid", "oid", {OIDOID},
	KEYFORM_INT64, 4, .span = UINT64CONST(1) << 32, .hash = KeyHashInteger},
	[KEYCLASS_TIME] = {"time", "time", {TIMEOID}, KEYFORM_INT64, 8, .hash = KeyHashInteger},
	[KEYCLASS_TIMESTAMP] = {"timestamp", "timestamp", {TIMESTAMPOID}, KEYFORM_INT64, 8, .hash = KeyHashTimestamp},
	[KEYCLASS_TIMESTAMPTZ] = {"timestamptz", "timestamptz", {TIMESTAMPTZOID},
	KEYFORM_INT64, 8, .hash = KeyHashTimestamp},
	[KEYCLASS_UUID] = {"uuid", "uuid", {UUIDOID},
	KEYFORM_BYTES, UUID_LEN, .hash = KeyHashUuid, .compare = UuidCompare, .image = UuidImage},
	[KEYCLASS_BYTEA] = {"bytea", "bytea", {BYTEAOID},
	KEYFORM_VARLENA, .text = true, .hash = KeyHashText, .compare = TextCompare, .image = TextImage},
	[KEYCLASS_TEXT] = {"text", "text, varchar", {TEXTOID, VARCHAROID},
	KEYFORM_VARLENA, .text = true, .hash = KeyHashText, .compare = TextCompare, .image = TextImage},
	[KEYCLASS_BPCHAR] = {"bpchar", "char(n)", {BPCHAROID},
	KEYFORM_VARLENA, .text = true, .hash = KeyHashText, .compare = BlankCompare, .image = BlankImage}
};

KeyClass
KeyClassOfType(Oid typid)
{
	for (int c = KEYCLASS_NONE + 1; c <= KEYCLASS_LAST && typid != InvalidOid; c++)
	{
		for (int i = 0; i < (int) lengthof(KeyClasses[c].types); i++)
		{
			if (KeyClasses[c].types[i] == typid)
				return (KeyClass) c;
		}
	}
	return KEYCLASS_NONE;
}

const char *
KeyClassTypeList(void)
{
	static char list[256];

	list[0] = '\0';
	for (int c = KEYCLASS_NONE + 1; c <= KEYCLASS_LAST; c++)
	{
		if (c > KEYCLASS_NONE + 1)
			strlcat(list, ", ", sizeof(list));
		strlcat(list, KeyClasses[c].type_names, sizeof(list));
	}
	return list;
}

bool
KeyClassFits(KeyClass keyclass, int typlen, bool typbyval)
{
	const KeyClassInfo *info = &KeyClasses[keyclass];

	if (keyclass == KEYCLASS_NONE)
		return true;
	switch (info->form)
	{
		case KEYFORM_INT64:
			/* lengths are powers of two */
			return typbyval && typlen > 0 && (info->lengths & typlen) != 0;
		case KEYFORM_BYTES:
			return !typbyval && typlen == info->lengths;
		case KEYFORM_VARLENA:
			return !typbyval && typlen == -1;
	}
	return false;
}

int
KeyCompare(KeyClass keyclass, Oid atype, Datum a, Oid btype, Datum b)
{
	int64		x;
	int64		y;

	if (KeyClasses[keyclass].form != KEYFORM_INT64)
		return KeyClasses[keyclass].compare(a, b);
	x = KeySort64(keyclass, atype, a);
	y = KeySort64(keyclass, btype, b);
	return (x > y) - (x < y);
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
	return KeyClasses[keyclass].form == KEYFORM_INT64 ? KeySort64(keyclass, typid, value) :
		KeyClasses[keyclass].image(value);
}
