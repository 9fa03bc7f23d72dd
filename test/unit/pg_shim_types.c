/*
 * pg_shim_types.c
 *	  Tuple descriptors, types, datums and string buffers for stand-alone
 *	  programs; see pg_shim.h.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "pg_shim.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#if PG_VERSION_NUM >= 160000
typedef const void *BinaryData;
#else
typedef const char *BinaryData;
#endif

/* ---------------------------------------------------------------------
 * Tuple descriptors of built-in types
 * ---------------------------------------------------------------------
 */

typedef struct ShimType
{
	Oid			typid;
	int16		len;
	bool		byval;
	char		align;
	char		storage;
	Oid			collation;
} ShimType;

static const ShimType shim_types[] = {
	{BOOLOID, 1, true, TYPALIGN_CHAR, TYPSTORAGE_PLAIN, InvalidOid},
	{CHAROID, 1, true, TYPALIGN_CHAR, TYPSTORAGE_PLAIN, InvalidOid},
	{INT2OID, 2, true, TYPALIGN_SHORT, TYPSTORAGE_PLAIN, InvalidOid},
	{INT4OID, 4, true, TYPALIGN_INT, TYPSTORAGE_PLAIN, InvalidOid},
	{INT8OID, 8, true, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{OIDOID, 4, true, TYPALIGN_INT, TYPSTORAGE_PLAIN, InvalidOid},
	{FLOAT4OID, 4, true, TYPALIGN_INT, TYPSTORAGE_PLAIN, InvalidOid},
	{FLOAT8OID, 8, true, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{DATEOID, 4, true, TYPALIGN_INT, TYPSTORAGE_PLAIN, InvalidOid},
	{TIMEOID, 8, true, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{TIMESTAMPOID, 8, true, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{TIMESTAMPTZOID, 8, true, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{INTERVALOID, 16, false, TYPALIGN_DOUBLE, TYPSTORAGE_PLAIN, InvalidOid},
	{UUIDOID, 16, false, TYPALIGN_CHAR, TYPSTORAGE_PLAIN, InvalidOid},
	{NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, TYPSTORAGE_PLAIN, C_COLLATION_OID},
	{NUMERICOID, -1, false, TYPALIGN_INT, TYPSTORAGE_MAIN, InvalidOid},
	{BYTEAOID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, InvalidOid},
	{TEXTOID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, DEFAULT_COLLATION_OID},
	{VARCHAROID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, DEFAULT_COLLATION_OID},
	{BPCHAROID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, DEFAULT_COLLATION_OID},
	{JSONBOID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, InvalidOid},
	{INT4ARRAYOID, -1, false, TYPALIGN_INT, TYPSTORAGE_EXTENDED, InvalidOid},
	{CSTRINGOID, -2, false, TYPALIGN_CHAR, TYPSTORAGE_PLAIN, InvalidOid},
};

static const ShimType *
ShimTypeFind(Oid typid)
{
	for (int i = 0; i < (int) lengthof(shim_types); i++)
	{
		if (shim_types[i].typid == typid)
			return &shim_types[i];
	}
	elog(ERROR, "type %u is not known here", typid);
	return NULL;
}

TupleDesc
CreateTemplateTupleDesc(int natts)
{
	/* enough for every layout of the versions we build with */
	Size		per_column = sizeof(FormData_pg_attribute) + 64;
	TupleDesc	desc = palloc0(sizeof(struct TupleDescData) + natts * per_column);

	desc->natts = natts;
	desc->tdtypeid = RECORDOID;
	desc->tdtypmod = -1;
	desc->tdrefcount = -1;
	return desc;
}

void
FreeTupleDesc(TupleDesc desc)
{
	pfree(desc);
}

#if PG_VERSION_NUM >= 180000
/* what the server derives from an attribute when a descriptor is complete */
void
populate_compact_attribute(TupleDesc desc, int attnum)
{
	Form_pg_attribute src = TupleDescAttr(desc, attnum);
	CompactAttribute *dst = &desc->compact_attrs[attnum];

	memset(dst, 0, sizeof(CompactAttribute));
	dst->attcacheoff = -1;
	dst->attlen = src->attlen;
	dst->attbyval = src->attbyval;
	dst->attispackable = src->attstorage != TYPSTORAGE_PLAIN;
	dst->atthasmissing = src->atthasmissing;
	dst->attisdropped = src->attisdropped;
	dst->attgenerated = src->attgenerated != '\0';
	dst->attalignby = src->attalign == TYPALIGN_CHAR ? 1 :
		src->attalign == TYPALIGN_SHORT ? 2 :
		src->attalign == TYPALIGN_INT ? 4 : 8;
}
#endif

void
ShimTupleDescSet(TupleDesc desc, AttrNumber attno, const char *name, Oid typid)
{
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
	const ShimType *type = ShimTypeFind(typid);

	memset(att, 0, sizeof(FormData_pg_attribute));
	snprintf(NameStr(att->attname), NAMEDATALEN, "%s", name);
	att->attnum = attno;
	att->atttypid = typid;
	att->atttypmod = -1;
	att->attlen = type->len;
	att->attbyval = type->byval;
	att->attalign = type->align;
	att->attstorage = type->storage;
	att->attcollation = type->collation;
#if PG_VERSION_NUM >= 180000
	populate_compact_attribute(desc, attno - 1);
#endif
}

Oid
getBaseType(Oid typid)
{
	return typid;
}

Oid
getBaseTypeAndTypmod(Oid typid, int32 *typmod)
{
	return typid;
}

void
get_typlenbyval(Oid typid, int16 *typlen, bool *typbyval)
{
	const ShimType *type = ShimTypeFind(typid);

	*typlen = type->len;
	*typbyval = type->byval;
}

void
get_typlenbyvalalign(Oid typid, int16 *typlen, bool *typbyval, char *typalign)
{
	const ShimType *type = ShimTypeFind(typid);

	*typlen = type->len;
	*typbyval = type->byval;
	*typalign = type->align;
}

char *
format_type_be(Oid type_oid)
{
	char		text[32];

	snprintf(text, sizeof(text), "type %u", type_oid);
	return pstrdup(text);
}

/* ---------------------------------------------------------------------
 * Datums
 * ---------------------------------------------------------------------
 */

struct varlena *
detoast_attr(struct varlena *attr)
{
	if (VARATT_IS_EXTERNAL(attr) || VARATT_IS_COMPRESSED(attr))
		elog(ERROR, "toasted value outside a server");
	return attr;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return detoast_attr(datum);
}

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	struct varlena *result;
	Size		len;

	detoast_attr(datum);
	if (!VARATT_IS_SHORT(datum))
		return datum;
	len = VARSIZE_ANY_EXHDR(datum);
	result = palloc(len + VARHDRSZ);
	SET_VARSIZE(result, len + VARHDRSZ);
	memcpy(VARDATA(result), VARDATA_ANY(datum), len);
	return result;
}

Size
datumGetSize(Datum value, bool typByVal, int typLen)
{
	if (typLen > 0)
		return typLen;
	if (typLen == -1)
		return VARSIZE_ANY(DatumGetPointer(value));
	return strlen(DatumGetCString(value)) + 1;
}

Datum
datumCopy(Datum value, bool typByVal, int typLen)
{
	Size		size;

	if (typByVal)
		return value;
	size = datumGetSize(value, typByVal, typLen);
	return PointerGetDatum(memcpy(palloc(size), DatumGetPointer(value), size));
}

bool
datumIsEqual(Datum value1, Datum value2, bool typByVal, int typLen)
{
	Size		size;

	if (typByVal)
		return value1 == value2;
	size = datumGetSize(value1, typByVal, typLen);
	return size == datumGetSize(value2, typByVal, typLen) &&
		memcmp(DatumGetPointer(value1), DatumGetPointer(value2), size) == 0;
}

/* ---------------------------------------------------------------------
 * String buffers
 * ---------------------------------------------------------------------
 */

void
initStringInfo(StringInfo str)
{
	memset(str, 0, sizeof(*str));
	str->maxlen = 1024;
	str->data = palloc(str->maxlen);
	str->data[0] = '\0';
}

StringInfo
makeStringInfo(void)
{
	StringInfo	str = palloc(sizeof(StringInfoData));

	initStringInfo(str);
	return str;
}

void
resetStringInfo(StringInfo str)
{
	str->len = 0;
	str->cursor = 0;
	str->data[0] = '\0';
}

void
enlargeStringInfo(StringInfo str, int needed)
{
	Size		wanted = (Size) str->len + needed + 1;
	Size		newlen = str->maxlen;

	if (needed < 0 || wanted >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("string buffer exceeds maximum allowed length")));
	if (wanted <= newlen)
		return;
	while (newlen < wanted)
		newlen *= 2;
	newlen = Min(newlen, MaxAllocSize);
	str->data = repalloc(str->data, newlen);
	str->maxlen = newlen;
}

void
appendBinaryStringInfoNT(StringInfo str, BinaryData data, int datalen)
{
	enlargeStringInfo(str, datalen);
	memcpy(str->data + str->len, data, datalen);
	str->len += datalen;
}

void
appendBinaryStringInfo(StringInfo str, BinaryData data, int datalen)
{
	appendBinaryStringInfoNT(str, data, datalen);
	str->data[str->len] = '\0';
}

void
appendStringInfoString(StringInfo str, const char *s)
{
	appendBinaryStringInfo(str, s, strlen(s));
}

void
appendStringInfoChar(StringInfo str, char ch)
{
	appendBinaryStringInfo(str, &ch, 1);
}

void
appendStringInfo(StringInfo str, const char *fmt,...)
{
	va_list		args;
	int			len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	enlargeStringInfo(str, len);
	va_start(args, fmt);
	str->len += vsnprintf(str->data + str->len, len + 1, fmt, args);
	va_end(args);
}

char *
psprintf(const char *fmt,...)
{
	va_list		args;
	int			len;
	char	   *result;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	result = palloc(len + 1);
	va_start(args, fmt);
	vsnprintf(result, len + 1, fmt, args);
	va_end(args);
	return result;
}
