/*
 * test_spec.c
 *	  The frozen hash and the orders of the key classes.
 *
 * The vectors with a comment "Iceberg" are those of Iceberg's specification
 * and of its own tests; the others were computed once and must never change.
 */
#include "pg_shim.h"

#include <math.h>

#include "format/stats/stat_value.h"
#include "spec/bucket_spec.h"
#include "spec/murmur.h"

/* ---------------------------------------------------------------------
 * Values
 * ---------------------------------------------------------------------
 */

static Datum
Varlena(const void *data, int len)
{
	struct varlena *result = palloc(len + VARHDRSZ);

	SET_VARSIZE(result, len + VARHDRSZ);
	memcpy(VARDATA(result), data, len);
	return PointerGetDatum(result);
}

/* The same value as it lies in a tuple: one byte of header, at an odd address. */
static Datum
ShortVarlena(Datum value)
{
	struct varlena *from = (struct varlena *) DatumGetPointer(value);
	int			len = VARSIZE_ANY_EXHDR(from);
	char	   *result = (char *) palloc(len + 16) + 2;

	SET_VARSIZE_SHORT(result, len + VARHDRSZ_SHORT);
	memcpy(result + VARHDRSZ_SHORT, VARDATA_ANY(from), len);
	return PointerGetDatum(result);
}

static Datum
Text(const char *string)
{
	return Varlena(string, strlen(string));
}

/* A finite numeric in the long or the short stored form. */
static Datum
Numeric(bool negative, int weight, int dscale, bool short_form, int ndigits, const int16 *digits)
{
	char		buf[512];
	int			len;

	if (short_form)
	{
		uint16		header = 0x8000 | (negative ? 0x2000 : 0) | (dscale << 7) | (weight & 0x7f);

		memcpy(buf, &header, 2);
		len = 2;
	}
	else
	{
		uint16		header = (negative ? 0x4000 : 0) | dscale;
		int16		w = weight;

		memcpy(buf, &header, 2);
		memcpy(buf + 2, &w, 2);
		len = 4;
	}
	if (ndigits > 0)
		memcpy(buf + len, digits, ndigits * sizeof(int16));
	return Varlena(buf, len + ndigits * sizeof(int16));
}

#define DIGITS(...) (int) lengthof(((int16[]) {__VA_ARGS__})), (int16[]) {__VA_ARGS__}

static Datum
SpecialNumeric(uint16 header)
{
	return Varlena(&header, sizeof(header));
}

static int
Sign(int x)
{
	return (x > 0) - (x < 0);
}

/* ---------------------------------------------------------------------
 * Hash
 * ---------------------------------------------------------------------
 */

/* classes of which a hash was compared with what is expected */
static bool hash_seen[KEYCLASS_LAST + 1];

static void
CheckHash(const char *what, KeyClass keyclass, Oid typid, Datum value, int32 expected)
{
	int32		hash = (int32) KeyHash(keyclass, typid, value, 0);

	hash_seen[keyclass] = true;
	ShimOk(hash == expected, "hash of %s is %d (%d)", what, expected, hash);
}

/* Is every class in the table, with all that it needs, and was its hash seen? */
static void
TestClassTable(void)
{
	for (int c = KEYCLASS_NONE + 1; c <= KEYCLASS_LAST; c++)
	{
		const KeyClassInfo *info = &KeyClasses[c];
		bool		ints = info->form == KEYFORM_INT64;

		ShimOk(info->name && info->type_names && info->types[0] && info->hash && hash_seen[c],
			   "class %d, %s, has types and a hash that is checked", c, info->name ? info->name : "unknown");
		ShimOk(ints ? info->lengths > 0 : info->compare && info->image, "class %d has an order", c);
		ShimOk(strstr(KeyClassTypeList(), info->type_names) != NULL, "types of class %d are listed", c);
		for (int i = 0; i < (int) lengthof(info->types) && info->types[i]; i++)
			ShimOk(KeyClassOfType(info->types[i]) == (KeyClass) c, "type %u is of class %d", info->types[i], c);
		ShimOk(KeyClassFits((KeyClass) c, -1, false) == (info->form == KEYFORM_VARLENA) &&
			   !KeyClassFits((KeyClass) c, 16, true) && !KeyClassFits((KeyClass) c, -1, true),
			   "class %d fits its form only", c);
	}
	ShimOk(KeyClassOfType(InvalidOid) == KEYCLASS_NONE, "no type is of no class");
}

static void
TestMurmur(void)
{
	/* published vectors of murmur3_x86_32 */
	ShimOk(KeyHashBytes("", 0, 0) == 0, "murmur3 of nothing");
	ShimOk(KeyHashBytes("", 0, 1) == 0x514E28B7, "murmur3 of nothing, seed 1");
	ShimOk(KeyHashBytes("", 0, 0xffffffff) == 0x81F16F39, "murmur3 of nothing, seed -1");
	ShimOk(KeyHashBytes("\0\0\0\0", 4, 0) == 0x2362F9DE, "murmur3 of four zero bytes");
	ShimOk(KeyHashBytes("aaaa", 4, 0x9747b28c) == 0x5A97808A, "murmur3 of aaaa");
	ShimOk(KeyHashBytes("aaa", 3, 0x9747b28c) == 0x283E0130, "murmur3 of aaa");
	ShimOk(KeyHashBytes("aa", 2, 0x9747b28c) == 0x5D211726, "murmur3 of aa");
	ShimOk(KeyHashBytes("a", 1, 0x9747b28c) == 0x7FA09EA6, "murmur3 of a");
	ShimOk(KeyHashBytes("abcd", 4, 0x9747b28c) == 0xF0478627, "murmur3 of abcd");
	ShimOk(KeyHashBytes("Hello, world!", 13, 0x9747b28c) == 0x24884CBA, "murmur3 of Hello, world!");
	ShimOk(KeyHashBytes("The quick brown fox jumps over the lazy dog", 43, 0x9747b28c) == 0x2FA826CD,
		   "murmur3 of the fox");
	ShimOk(KeyHashBytes("\xff\xff\xff\xff", 4, 0) == 0x76293B50, "murmur3 of high bytes");
	ShimOk(KeyHashBytes("\x21\x43\x65\x87", 4, 0x5082EDEE) == 0x2362F9DE, "murmur3 with a seed that cancels");
}

static void
TestHashVectors(void)
{
	static const unsigned char uuid[16] = {
		0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7
	};
	int64		evening = INT64CONST(81068000000);	/* 22:31:08 */
	int64		moment = INT64CONST(6529) * 86400 * 1000000 + evening;	/* of 2017-11-16 */

	/* Iceberg */
	CheckHash("smallint 34", KEYCLASS_INT, INT2OID, Int16GetDatum(34), 2017239379);
	CheckHash("integer 34", KEYCLASS_INT, INT4OID, Int32GetDatum(34), 2017239379);
	CheckHash("bigint 34", KEYCLASS_INT, INT8OID, Int64GetDatum(34), 2017239379);
	CheckHash("true", KEYCLASS_BOOL, BOOLOID, BoolGetDatum(true), 1392991556);
	CheckHash("date 2017-11-16", KEYCLASS_DATE, DATEOID, Int32GetDatum(6529), -653330422);
	CheckHash("time 22:31:08", KEYCLASS_TIME, TIMEOID, Int64GetDatum(evening), -662762989);
	CheckHash("timestamp", KEYCLASS_TIMESTAMP, TIMESTAMPOID, Int64GetDatum(moment), -2047944441);
	CheckHash("timestamptz", KEYCLASS_TIMESTAMPTZ, TIMESTAMPTZOID, Int64GetDatum(moment), -2047944441);
	CheckHash("timestamp .000001", KEYCLASS_TIMESTAMP, TIMESTAMPOID, Int64GetDatum(moment + 1), -1207196810);
	CheckHash("text iceberg", KEYCLASS_TEXT, TEXTOID, Text("iceberg"), 1210000089);
	CheckHash("short text iceberg", KEYCLASS_TEXT, TEXTOID, ShortVarlena(Text("iceberg")), 1210000089);
	CheckHash("varchar 34", KEYCLASS_TEXT, VARCHAROID, Text("34"), -427558391);
	CheckHash("oid 34", KEYCLASS_OID, OIDOID, ObjectIdGetDatum(34), 2017239379);
	CheckHash("char iceberg", KEYCLASS_BPCHAR, BPCHAROID, Text("iceberg  "), 1210000089);
	CheckHash("uuid", KEYCLASS_UUID, UUIDOID, PointerGetDatum(uuid), 1488055340);
	CheckHash("bytea", KEYCLASS_BYTEA, BYTEAOID, Varlena("\0\1\2\3", 4), -188683207);
	CheckHash("double 1.0", KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(1.0), -142385009);
	CheckHash("real 1.0", KEYCLASS_FLOAT, FLOAT4OID, Float4GetDatum(1.0f), -142385009);
	CheckHash("double 0", KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(0.0), 1669671676);
	CheckHash("double -0", KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(-0.0), 1669671676);
	CheckHash("real -0", KEYCLASS_FLOAT, FLOAT4OID, Float4GetDatum(-0.0f), 1669671676);
	ShimOk(KeyBucket((uint32) 2017239379, 16) == 3, "bucket of 34 in 16");
	ShimOk(KeyBucket((uint32) 2017239379, 100) == 79, "bucket of 34 in 100");
	ShimOk(KeyBucket((uint32) -653330422, 16) == 10, "bucket of the date in 16");
	ShimOk(KeyBucket((uint32) 1210000089, 16) == 9, "bucket of iceberg in 16");

	/* signs and ends of ranges agree over the widths */
	for (int i = -2; i <= 2; i++)
	{
		uint32		hash = KeyHash(KEYCLASS_INT, INT8OID, Int64GetDatum(i), 7);

		ShimOk(hash == KeyHash(KEYCLASS_INT, INT4OID, Int32GetDatum(i), 7) &&
			   hash == KeyHash(KEYCLASS_INT, INT2OID, Int16GetDatum(i), 7), "integer widths agree on %d", i);
	}
	ShimOk(KeyHash(KEYCLASS_INT, INT4OID, Int32GetDatum(PG_INT32_MIN), 0) ==
		   KeyHash(KEYCLASS_INT, INT8OID, Int64GetDatum(PG_INT32_MIN), 0), "integer widths agree on the least integer");
	ShimOk(KeyHash(KEYCLASS_OID, OIDOID, ObjectIdGetDatum(0xffffffff), 0) ==
		   KeyHash(KEYCLASS_INT, INT8OID, Int64GetDatum(INT64CONST(0xffffffff)), 0), "oid is not sign-extended");

	/* blanks */
	ShimOk(KeyHash(KEYCLASS_BPCHAR, BPCHAROID, Text("ab  "), 0) == KeyHash(KEYCLASS_TEXT, TEXTOID, Text("ab"), 0),
		   "bpchar hashes without trailing blanks");
	ShimOk(KeyHash(KEYCLASS_BPCHAR, BPCHAROID, Text("   "), 0) == KeyHash(KEYCLASS_TEXT, TEXTOID, Text(""), 0),
		   "bpchar of blanks only");

	/* far dates and infinities are defined, too */
	for (int64 far = PG_INT64_MAX - 2; far < PG_INT64_MAX; far++)
	{
		uint64		bytes = (uint64) far + UINT64CONST(946684800000000);

		ShimOk(KeyHash(KEYCLASS_TIMESTAMP, TIMESTAMPOID, Int64GetDatum(far), 0) ==
			   KeyHashBytes(&bytes, sizeof(bytes), 0), "far timestamp wraps around");
	}
	{
		int64		days = (int64) PG_INT32_MAX + 10957;

		ShimOk(KeyHash(KEYCLASS_DATE, DATEOID, Int32GetDatum(PG_INT32_MAX), 0) ==
			   KeyHashBytes(&days, sizeof(days), 0), "date infinity");
	}
}

static void
TestFloatSpecials(void)
{
	union
	{
		float8		f;
		uint64		i;
	}			nan1 = {.i = UINT64CONST(0x7ff8000000000000)},
				nan2 = {.i = UINT64CONST(0xfff8000000000001)},
				nan3 = {.i = UINT64CONST(0x7ff0000000000001)};
	int64		canonical = INT64CONST(0x7ff8000000000000);
	float8		ascending[] = {-INFINITY, -1.7e308, -2, -1.5, -1e-320, 0, 1e-320, 1.5, 2, 1.7e308, INFINITY, nan1.f};

	ShimOk(KeyHash(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(nan1.f), 0) ==
		   KeyHashBytes(&canonical, sizeof(canonical), 0), "NaN hashes as the canonical bits");
	ShimOk(KeyHash(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(nan2.f), 0) ==
		   KeyHashBytes(&canonical, sizeof(canonical), 0), "negative NaN hashes as the canonical bits");
	ShimOk(KeyHash(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(nan3.f), 0) ==
		   KeyHashBytes(&canonical, sizeof(canonical), 0), "signalling NaN hashes as the canonical bits");
	ShimOk(KeyHash(KEYCLASS_FLOAT, FLOAT4OID, Float4GetDatum((float4) NAN), 0) ==
		   KeyHashBytes(&canonical, sizeof(canonical), 0), "real NaN hashes as the canonical bits");
	ShimOk(KeySort64(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(nan1.f)) ==
		   KeySort64(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(nan2.f)), "NaNs are equal");
	ShimOk(KeySort64(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(-0.0)) ==
		   KeySort64(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(0.0)), "-0 equals 0");
	ShimOk(KeyHash(KEYCLASS_FLOAT, FLOAT4OID, Float4GetDatum(0.1f), 0) ==
		   KeyHash(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum((float8) 0.1f), 0), "real hashes as the double it is");
	for (int i = 1; i < (int) lengthof(ascending); i++)
		ShimOk(KeyCompare(KEYCLASS_FLOAT, FLOAT8OID, Float8GetDatum(ascending[i - 1]),
						  FLOAT8OID, Float8GetDatum(ascending[i])) < 0, "float order, step %d", i);
	ShimOk(KeyCompare(KEYCLASS_FLOAT, FLOAT4OID, Float4GetDatum(1.5f), FLOAT8OID, Float8GetDatum(1.5)) == 0,
		   "real equals double");
}

/* ---------------------------------------------------------------------
 * numeric
 * ---------------------------------------------------------------------
 */

static void
TestNumeric(void)
{
	/* ascending; equal neighbours are marked in same_as_previous */
	struct
	{
		const char *text;
		Datum		value;
		bool		same_as_previous;
		bool		fits;		/* int64 */
		int64		integer;
	}			values[] = {
		{"-Infinity", SpecialNumeric(0xF000)},
		{"-9223372036854775809", Numeric(true, 4, 0, false, DIGITS(922, 3372, 368, 5477, 5809))},
		{"-9223372036854775808", Numeric(true, 4, 0, true, DIGITS(922, 3372, 368, 5477, 5808)),
		false, true, PG_INT64_MIN},
		{"-10000.5", Numeric(true, 1, 1, true, DIGITS(1, 0, 5000))},
		{"-10000", Numeric(true, 1, 0, true, DIGITS(1)), false, true, -10000},
		{"-5", Numeric(true, 0, 0, false, DIGITS(5)), false, true, -5},
		{"-0.5", Numeric(true, -1, 1, true, DIGITS(5000))},
		{"-0.00000001", Numeric(true, -2, 8, true, DIGITS(1))},
		{"0", Numeric(false, 0, 0, true, 0, NULL), false, true, 0},
		{"0.00", Numeric(false, 0, 2, true, 0, NULL), true, true, 0},
		{"0 with zero digits", Numeric(false, 3, 2, false, DIGITS(0, 0)), true, true, 0},
		{"0.0001", Numeric(false, -1, 4, true, DIGITS(1))},
		{"0.5", Numeric(false, -1, 1, true, DIGITS(5000))},
		{"5", Numeric(false, 0, 0, true, DIGITS(5)), false, true, 5},
		{"5.0", Numeric(false, 0, 1, true, DIGITS(5)), true, true, 5},
		{"5.00, long form", Numeric(false, 0, 2, false, DIGITS(5)), true, true, 5},
		{"5.00 with zero digits", Numeric(false, 1, 2, false, DIGITS(0, 5, 0)), true, true, 5},
		{"5.5", Numeric(false, 0, 1, true, DIGITS(5, 5000))},
		{"9999", Numeric(false, 0, 0, true, DIGITS(9999)), false, true, 9999},
		{"10000", Numeric(false, 1, 0, true, DIGITS(1)), false, true, 10000},
		{"10001", Numeric(false, 1, 0, true, DIGITS(1, 1)), false, true, 10001},
		{"100000000", Numeric(false, 2, 0, true, DIGITS(1)), false, true, 100000000},
		{"9223372036854775807", Numeric(false, 4, 0, true, DIGITS(922, 3372, 368, 5477, 5807)),
		false, true, PG_INT64_MAX},
		{"9223372036854775808", Numeric(false, 4, 0, true, DIGITS(922, 3372, 368, 5477, 5808))},
		{"1e19", Numeric(false, 4, 0, true, DIGITS(1000))},
		{"1e20", Numeric(false, 5, 0, true, DIGITS(1))},
		{"1e400", Numeric(false, 100, 0, false, DIGITS(1))},
		{"Infinity", SpecialNumeric(0xD000)},
		{"NaN", SpecialNumeric(0xC000)},
	};
	int			n = lengthof(values);
	Size		before;

	hash_seen[KEYCLASS_NUMERIC] = true;
	for (int i = 0; i < n; i++)
	{
		uint32		hash = KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[i].value, 0);

		if (i > 0)
		{
			uint32		previous = KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[i - 1].value, 0);
			int			cmp = KeyCompare(KEYCLASS_NUMERIC, NUMERICOID, values[i - 1].value, NUMERICOID, values[i].value);

			ShimOk(values[i].same_as_previous ? hash == previous : hash != previous,
				   "numeric %s: hash against the one before", values[i].text);
			ShimOk(values[i].same_as_previous ? cmp == 0 : cmp < 0,
				   "numeric %s: order against the one before", values[i].text);
		}
		ShimOk(!values[i].fits || KeyNumericFloor(values[i].value) == values[i].integer,
			   "floor of numeric %s", values[i].text);
		if (values[i].fits)
			ShimOk(hash == KeyHash(KEYCLASS_INT, INT8OID, Int64GetDatum(values[i].integer), 0),
				   "numeric %s hashes as the integer", values[i].text);
		ShimOk(hash == KeyHash(KEYCLASS_NUMERIC, NUMERICOID, ShortVarlena(values[i].value), 0),
			   "numeric %s: short header, same hash", values[i].text);
		for (int j = 0; j < n; j++)
		{
			int			cmp = KeyCompare(KEYCLASS_NUMERIC, NUMERICOID, ShortVarlena(values[i].value),
										 NUMERICOID, values[j].value);
			int			back = KeyCompare(KEYCLASS_NUMERIC, NUMERICOID, values[j].value,
										  NUMERICOID, values[i].value);

			if (cmp != -back || (i < j && cmp > 0) || (i > j && cmp < 0))
				ShimOk(false, "numeric order of %s and %s", values[i].text, values[j].text);
			if (i < j && KeyNumericFloor(values[i].value) > KeyNumericFloor(values[j].value))
				ShimOk(false, "floors of %s and %s", values[i].text, values[j].text);
			if (!values[j].fits)
				continue;
			ShimOk(KeyCompareAcross(KEYCLASS_NUMERIC, NUMERICOID, values[i].value,
									KEYCLASS_INT, INT8OID, Int64GetDatum(values[j].integer)) == cmp &&
				   KeyCompareAcross(KEYCLASS_INT, INT8OID, Int64GetDatum(values[j].integer),
									KEYCLASS_NUMERIC, NUMERICOID, ShortVarlena(values[i].value)) == back,
				   "numeric %s against integer %s", values[i].text, values[j].text);
		}
	}

	/* the canonical bytes, spelled out */
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[12].value, 0) ==
		   KeyHashBytes("\x00\xff\xff\x88\x13", 5, 0), "canonical bytes of 0.5");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[6].value, 0) ==
		   KeyHashBytes("\x01\xff\xff\x88\x13", 5, 0), "canonical bytes of -0.5");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[17].value, 0) ==
		   KeyHashBytes("\x00\x00\x00\x05\x00\x88\x13", 7, 0), "canonical bytes of 5.5");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, values[23].value, 0) ==
		   KeyHashBytes("\x00\x04\x00\x9a\x03\x2c\x0d\x70\x01\x65\x15\xb0\x16", 13, 0), "canonical bytes of 2^63");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, SpecialNumeric(0xC000), 0) == KeyHashBytes("\x02", 1, 0),
		   "canonical bytes of NaN");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, SpecialNumeric(0xD000), 0) == KeyHashBytes("\x03", 1, 0),
		   "canonical bytes of Infinity");
	ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, SpecialNumeric(0xF000), 0) == KeyHashBytes("\x04", 1, 0),
		   "canonical bytes of -Infinity");

	/* a long one goes through a buffer that is freed */
	{
		int16		digits[200];
		char		bytes[3 + sizeof(digits)];
		int16		weight = 149;
		Datum		value;

		for (int i = 0; i < 200; i++)
			digits[i] = i + 1;
		bytes[0] = 1;
		memcpy(bytes + 1, &weight, 2);
		memcpy(bytes + 3, digits, sizeof(digits));
		value = Numeric(true, 149, 200, false, 200, digits);
		before = ShimMemoryInUse();
		ShimOk(KeyHash(KEYCLASS_NUMERIC, NUMERICOID, value, 0) == KeyHashBytes(bytes, sizeof(bytes), 0),
			   "canonical bytes of a long numeric");
		(void) KeyCompare(KEYCLASS_NUMERIC, NUMERICOID, value, NUMERICOID, values[5].value);
		ShimOk(ShimMemoryInUse() == before, "hash and comparison of numeric leave no memory behind");
	}
}

/* ---------------------------------------------------------------------
 * Orders of the other classes, rows
 * ---------------------------------------------------------------------
 */

static void
TestOrders(void)
{
	static const unsigned char low[16] = {0x7f};
	static const unsigned char high[16] = {0x80};

	ShimOk(KeyCompare(KEYCLASS_INT, INT2OID, Int16GetDatum(-1), INT8OID, Int64GetDatum(0)) < 0, "int2 below int8");
	ShimOk(KeyCompare(KEYCLASS_INT, INT8OID, Int64GetDatum(PG_INT64_MAX), INT4OID, Int32GetDatum(PG_INT32_MAX)) > 0,
		   "int8 above int4");
	ShimOk(KeyCompare(KEYCLASS_OID, OIDOID, ObjectIdGetDatum(0x80000000), OIDOID, ObjectIdGetDatum(1)) > 0,
		   "oid is unsigned");
	ShimOk(KeyCompare(KEYCLASS_DATE, DATEOID, Int32GetDatum(PG_INT32_MIN), DATEOID, Int32GetDatum(0)) < 0,
		   "date -infinity first");
	ShimOk(KeyCompare(KEYCLASS_TIMESTAMP, TIMESTAMPOID, Int64GetDatum(PG_INT64_MAX), TIMESTAMPOID, Int64GetDatum(0)) > 0,
		   "timestamp infinity last");
	ShimOk(KeyCompare(KEYCLASS_BOOL, BOOLOID, BoolGetDatum(false), BOOLOID, BoolGetDatum(true)) < 0, "false below true");
	ShimOk(KeyCompare(KEYCLASS_UUID, UUIDOID, PointerGetDatum(low), UUIDOID, PointerGetDatum(high)) < 0,
		   "uuid bytes are unsigned");
	ShimOk(KeyCompare(KEYCLASS_TEXT, TEXTOID, Text("Z"), TEXTOID, Text("a")) < 0, "text by bytes");
	ShimOk(KeyCompare(KEYCLASS_TEXT, TEXTOID, Text("z"), VARCHAROID, Text("\xc3\xa9")) < 0, "text bytes are unsigned");
	ShimOk(KeyCompare(KEYCLASS_TEXT, TEXTOID, Text("ab"), TEXTOID, ShortVarlena(Text("abc"))) < 0, "prefix first");
	ShimOk(KeyCompare(KEYCLASS_TEXT, TEXTOID, Text("a "), TEXTOID, Text("a")) > 0, "blanks count in text");
	ShimOk(KeyCompare(KEYCLASS_BPCHAR, BPCHAROID, Text("a "), BPCHAROID, ShortVarlena(Text("a   "))) == 0,
		   "trailing blanks do not count in bpchar");
	ShimOk(KeyCompare(KEYCLASS_BPCHAR, BPCHAROID, Text("a\t"), BPCHAROID, Text("a ")) > 0,
		   "a tab is above nothing in bpchar");
	ShimOk(KeyCompare(KEYCLASS_BYTEA, BYTEAOID, Varlena("\0\0", 2), BYTEAOID, Varlena("\0", 1)) > 0,
		   "zero bytes count in bytea");

	for (int c = KEYCLASS_NONE + 1; c <= KEYCLASS_LAST; c++)
	{
		bool		fixed = c != KEYCLASS_NUMERIC && c < KEYCLASS_UUID;

		ShimOk(KeyClassIsFixed(c) == fixed, "class %s is %sfixed", KeyClassName(c), fixed ? "" : "not ");
	}
	ShimOk(!KeyClassIsFixed(KEYCLASS_NONE), "no class is not fixed");
	ShimOk(KeyClassOfType(INTERVALOID) == KEYCLASS_NONE && KeyClassOfType(TIMETZOID) == KEYCLASS_NONE &&
		   KeyClassOfType(NAMEOID) == KEYCLASS_NONE, "interval, timetz and name have no class");
}

/* Each class has types, a hash, an order and its values in footers: a new one that something forgets fails here. */
static void
TestClasses(void)
{
	static const unsigned char low_uuid[16] = {1};
	static const unsigned char high_uuid[16] = {2};
	struct
	{
		Oid			typid;
		Datum		low;
		Datum		high;
	}			samples[KEYCLASS_LAST + 1] = {
		[KEYCLASS_INT] = {INT4OID, Int32GetDatum(-1), Int32GetDatum(1)},
		[KEYCLASS_NUMERIC] = {NUMERICOID, Numeric(true, 0, 0, true, DIGITS(1)), Numeric(false, 0, 0, true, DIGITS(1))},
		[KEYCLASS_FLOAT] = {FLOAT8OID, Float8GetDatum(-0.5), Float8GetDatum(0.5)},
		[KEYCLASS_BOOL] = {BOOLOID, BoolGetDatum(false), BoolGetDatum(true)},
		[KEYCLASS_DATE] = {DATEOID, Int32GetDatum(-1), Int32GetDatum(1)},
		[KEYCLASS_OID] = {OIDOID, ObjectIdGetDatum(1), ObjectIdGetDatum(0x80000000)},
		[KEYCLASS_TIME] = {TIMEOID, Int64GetDatum(0), Int64GetDatum(1)},
		[KEYCLASS_TIMESTAMP] = {TIMESTAMPOID, Int64GetDatum(-1), Int64GetDatum(1)},
		[KEYCLASS_TIMESTAMPTZ] = {TIMESTAMPTZOID, Int64GetDatum(-1), Int64GetDatum(1)},
		[KEYCLASS_UUID] = {UUIDOID, PointerGetDatum(low_uuid), PointerGetDatum(high_uuid)},
		[KEYCLASS_BYTEA] = {BYTEAOID, Varlena("\0", 1), Varlena("\xff", 1)},
		[KEYCLASS_TEXT] = {TEXTOID, Text("a"), Text("b")},
		[KEYCLASS_BPCHAR] = {BPCHAROID, Text("a "), Text("b")},
	};

	for (int c = KEYCLASS_NONE + 1; c <= KEYCLASS_LAST; c++)
	{
		Oid			typid = samples[c].typid;
		Datum		low = samples[c].low;
		Datum		high = samples[c].high;
		const char *wrong;
		StatValue	read;
		ByteBuffer	buffer;
		size_t		at = 0;

		if (!ShimOk(OidIsValid(typid) && KeyClassOfType(typid) == (KeyClass) c, "class %d has a type", c))
			continue;
		ShimOk(strcmp(KeyClassName(c), "unknown") != 0, "class %d is %s", c, KeyClassName(c));
		for (int other = c + 1; other <= KEYCLASS_LAST; other++)
			ShimOk(strcmp(KeyClassName(c), KeyClassName(other)) != 0, "classes %d and %d have other names", c, other);
		ShimOk(KeyHash(c, typid, low, 0) == KeyHash(c, typid, low, 0) &&
			   KeyHash(c, typid, low, 0) != KeyHash(c, typid, high, 0), "%s has a hash", KeyClassName(c));
		ShimOk(KeyCompare(c, typid, low, typid, high) < 0 && KeyCompare(c, typid, high, typid, low) > 0 &&
			   KeyCompare(c, typid, low, typid, low) == 0 && KeyImage64(c, typid, low) < KeyImage64(c, typid, high),
			   "%s has an order", KeyClassName(c));
		ByteBufferInit(&buffer, CurrentMemoryContext);
		StatValueWrite(&buffer, c, false, high);
		wrong = StatValueRead(buffer.data, buffer.len, &at, c, &read);
		ShimOk(wrong == NULL && at == buffer.len && !read.isnull && !read.truncated,
			   "%s is read from a footer: %s", KeyClassName(c), wrong ? wrong : "whole");
		if (wrong == NULL)
			ShimOk(KeyCompare(c, typid, read.value, typid, high) == 0 || KeyClassIsFixed(c),
				   "%s is the same there", KeyClassName(c));
	}
}

static void
TestRows(void)
{
	BucketSpec *spec = palloc0(BucketSpecSize(3));
	BucketSpec *copy;
	Datum		row1[3] = {Int32GetDatum(1), Text("x"), Int32GetDatum(10)};
	Datum		row2[3] = {Int32GetDatum(1), Text("x"), Int32GetDatum(20)};
	bool		none[3] = {false, false, false};
	bool		last[3] = {false, false, true};
	bool		first[3] = {true, false, false};
	uint32		h;

	spec->hash_version = BF_HASH_VERSION;
	spec->nbuckets = 64;
	spec->nkeys = 2;
	spec->nsort = 3;
	spec->sort[0] = (SortColumn) {1, KEYCLASS_INT, INT4OID, 0};
	spec->sort[1] = (SortColumn) {2, KEYCLASS_TEXT, TEXTOID, 0};
	spec->sort[2] = (SortColumn) {3, KEYCLASS_INT, INT4OID, 0};

	h = KeyHash(KEYCLASS_INT, INT4OID, Int32GetDatum(1), 0);
	ShimOk(BucketSpecHash(spec, row1, none) == KeyHash(KEYCLASS_TEXT, TEXTOID, Text("x"), h),
		   "columns are chained: each hash is the next seed");
	ShimOk(BucketSpecHash(spec, row1, first) == KeyHash(KEYCLASS_TEXT, TEXTOID, Text("x"), 0),
		   "a null leaves the hash unchanged");
	ShimOk(BucketSpecHash(spec, row1, (bool[]) {true, true, true}) == 0, "nulls only are in bucket 0");

	ShimOk(BucketSpecCompare(spec, 2, row1, none, row2, none) == 0, "rows equal by the first two columns");
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, none)) == -1, "ascending");
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, last)) == -1, "nulls last");
	ShimOk(BucketSpecCompare(spec, 3, row1, last, row2, last) == 0, "nulls equal each other");
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, first, row2, none)) == 1, "null key last");
	spec->sort[2].flags = BF_SORT_DESC;
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, none)) == 1, "descending");
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, last)) == -1, "descending, nulls last");
	spec->sort[2].flags = BF_SORT_DESC | BF_SORT_NULLS_FIRST;
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, last)) == 1, "descending, nulls first");
	spec->sort[2].flags = BF_SORT_NULLS_FIRST;
	ShimOk(Sign(BucketSpecCompare(spec, 3, row1, none, row2, last)) == 1, "ascending, nulls first");

	copy = BucketSpecCopy(spec);
	ShimOk(BucketSpecEqual(spec, copy), "a copy is equal");
	copy->sort[2].flags = 0;
	ShimOk(!BucketSpecEqual(spec, copy) && !BucketSpecAlike(spec, copy), "another direction is another spec");
	copy->sort[2].flags = spec->sort[2].flags;
	copy->nbuckets = 32;
	ShimOk(!BucketSpecEqual(spec, copy) && !BucketSpecAlike(spec, copy), "another number of buckets is another spec");
	copy->nbuckets = spec->nbuckets;
	copy->sort[1].typid = VARCHAROID;
	ShimOk(!BucketSpecEqual(spec, copy) && BucketSpecAlike(spec, copy), "a type of the same class makes another spec, which is alike");

	ShimOk(GreatestCommonDivisor(64, 48) == 16 && GreatestCommonDivisor(7, 64) == 1 &&
		   GreatestCommonDivisor(64, 64) == 64 && GreatestCommonDivisor(12, 16) == 4, "greatest common divisor");
}

int
main(void)
{
	ShimInit();
	TestMurmur();
	TestHashVectors();
	TestFloatSpecials();
	TestNumeric();
	TestOrders();
	TestClasses();
	TestClassTable();
	TestRows();
	return ShimDone();
}
