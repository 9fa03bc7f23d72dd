/*
 * format_data.c
 *	  Columns of made-up values of many kinds, for tests of the format.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "compat.h"
#include "format_data.h"
#include "utils/date.h"
#include "utils/timestamp.h"

static uint64 random_state = 1;

void
DataSeed(uint64 seed)
{
	random_state = seed;
}

/* splitmix64 */
uint64
DataRandom(void)
{
	uint64		z = (random_state += UINT64CONST(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int64
integer(Shape shape, int i, int64 min, int64 max)
{
	uint64		span = (uint64) max - (uint64) min;

	switch (shape)
	{
		case SHAPE_CONSTANT:
			return max / 3;
		case SHAPE_SORTED:
			return (int64) ((uint64) min + ((uint64) i * 3 + DataRandom() % 3) % (span == PG_UINT64_MAX ? span : span + 1));
		case SHAPE_NARROW:
			return DataRandom() % 5;
		case SHAPE_EXTREME:
			return (DataRandom() & 1) ? min : max;
		case SHAPE_GAPS:
			/* three of each; now and then a gap a hundred times as large */
			return (int64) ((uint64) min + ((uint64) (i / 3) * 64 + (uint32) (i / 3) * UINT64CONST(2654435761) / 65536 % 60 +
											(uint64) (i / 150) * 10000) % (span == PG_UINT64_MAX ? span : span + 1));
		case SHAPE_SKEWED:
			return DataRandom() % 32 == 0 ? max / (int64) (1 + DataRandom() % 3) : (int64) (DataRandom() % 20);
		default:
			return (int64) ((uint64) min + (span == PG_UINT64_MAX ? DataRandom() : DataRandom() % (span + 1)));
	}
}

static double
floating(Shape shape, int i)
{
	uint64		bits = DataRandom();
	double		d;

	switch (shape)
	{
		case SHAPE_CONSTANT:
			return 12.25;
		case SHAPE_SORTED:
			return i / 100.0;
		case SHAPE_NARROW:
			return (double) ((int64) (DataRandom() % 100000) - 7000) / 1000.0;
		case SHAPE_GAPS:
			return ldexp((double) (bits >> 12), -52);
		case SHAPE_SKEWED:
			return ldexp((double) ((int64) (bits >> 46) - 1000), -20);
		case SHAPE_EXTREME:
			switch (bits % 5)
			{
				case 0:
					return -0.0;
				case 1:
					return NAN;
				case 2:
					return INFINITY;
				case 3:
					return -INFINITY;
				default:
					return 1e-310;
			}
		default:
			memcpy(&d, &bits, sizeof(d));
			return d;
	}
}

static Datum
varlena(const char *content, size_t len)
{
	char	   *result = palloc(len + VARHDRSZ + 8);

	if (len + 1 <= VARATT_SHORT_MAX && (DataRandom() & 1))
	{
		/* as in a heap tuple: short and not aligned */
		result += DataRandom() % 4;
		SET_VARSIZE_SHORT(result, len + 1);
		memcpy(result + 1, content, len);
	}
	else
	{
		SET_VARSIZE(result, len + VARHDRSZ);
		memcpy(result + VARHDRSZ, content, len);
	}
	return PointerGetDatum(result);
}

Datum
DataNumeric(bool negative, int weight, int dscale, const int16 *digits, int ndigits)
{
	uint16		content[512];
	int			n = 0;

	while (ndigits > 0 && digits[ndigits - 1] == 0)
		ndigits--;
	while (ndigits > 0 && digits[0] == 0)
	{
		digits++;
		ndigits--;
		weight--;
	}
	if (ndigits == 0)
	{
		weight = 0;
		negative = false;
	}
	if (dscale <= 0x3f && weight >= -64 && weight <= 63)
		content[n++] = 0x8000 | (negative ? 0x2000 : 0) | (dscale << 7) | (weight & 0x7f);
	else
	{
		content[n++] = (negative ? 0x4000 : 0) | dscale;
		content[n++] = (uint16) (int16) weight;
	}
	for (int i = 0; i < ndigits; i++)
		content[n++] = digits[i];
	return varlena((char *) content, n * sizeof(uint16));
}

/* v / 10^dscale */
static Datum
scaled_numeric(int64 v, int dscale)
{
	int16		digits[8];
	unsigned __int128 a = v < 0 ? (unsigned __int128) (0 - (uint64) v) : (unsigned __int128) (uint64) v;
	int			lowest = -((dscale + 3) / 4);

	for (int i = dscale; i % 4 != 0; i++)
		a *= 10;
	for (int i = 7; i >= 0; i--)
	{
		digits[i] = (int16) (a % 10000);
		a /= 10000;
	}
	return DataNumeric(v < 0, lowest + 7, dscale, digits, 8);
}

static Datum
numeric(Shape shape, int i)
{
	static const uint16 special[3] = {0xC000, 0xD000, 0xF000};
	int16		digits[40];

	switch (shape)
	{
		case SHAPE_CONSTANT:
			return scaled_numeric(100, 2);
		case SHAPE_SORTED:
			return scaled_numeric((int64) i * 37 - 4000, 2);
		case SHAPE_NARROW:
			return scaled_numeric((int64) (DataRandom() % 100000000) - 50000000, 3);
		case SHAPE_GAPS:
		case SHAPE_SKEWED:
			return scaled_numeric(integer(shape, i, 0, INT64CONST(1) << 40), 2);
		case SHAPE_EXTREME:
			if (DataRandom() & 1)
				return varlena((const char *) &special[DataRandom() % 3], sizeof(uint16));
			return scaled_numeric(DataRandom() & 1 ? PG_INT64_MAX : PG_INT64_MIN, DataRandom() % 20);
		default:
			for (int k = 0; k < 40; k++)
				digits[k] = DataRandom() % 10000;
			return DataNumeric(DataRandom() & 1, (int) (DataRandom() % 200) - 100, DataRandom() % 100,
							   digits, DataRandom() % 40);
	}
}

static Datum
text_value(Shape shape, int i)
{
	char		buf[2048];
	size_t		len = 0;

	switch (shape)
	{
		case SHAPE_CONSTANT:
			return varlena("constant", 8);
		case SHAPE_SORTED:
			len = snprintf(buf, sizeof(buf), "customer number %08d of many, with a long tail of text %d", i * 7, i % 3);
			break;
		case SHAPE_NARROW:
			len = snprintf(buf, sizeof(buf), "country%.*s", (int) (DataRandom() % 7), "abcdef ");
			break;
		case SHAPE_EXTREME:
			len = (DataRandom() & 1) ? 0 : 120 + DataRandom() % 14;
			memset(buf, (DataRandom() & 1) ? ' ' : 0xff, len);
			break;
		default:
			len = DataRandom() % (DataRandom() % 8 == 0 ? sizeof(buf) : 40);
			for (size_t k = 0; k < len; k++)
				buf[k] = DataRandom();
			break;
	}
	return varlena(buf, len);
}

static Datum
fixed(Shape shape, int i, int len)
{
	char	   *result = palloc0(len);

	switch (shape)
	{
		case SHAPE_CONSTANT:
			result[0] = 'c';
			break;
		case SHAPE_SORTED:
			result[0] = i >> 8;
			result[1] = i;
			break;
		case SHAPE_NARROW:
			result[len - 1] = DataRandom() % 4;
			break;
		case SHAPE_EXTREME:
			memset(result, (DataRandom() & 1) ? 0xff : 0, len);
			break;
		default:
			for (int k = 0; k < len; k++)
				result[k] = DataRandom();
			break;
	}
	return PointerGetDatum(result);
}

Datum
DataValue(Oid typid, Shape shape, int i)
{
	if (shape == SHAPE_MIXED)
		shape = DataRandom() % SHAPE_MIXED;
	switch (typid)
	{
		case BOOLOID:
			return BoolGetDatum(integer(shape == SHAPE_NARROW ? SHAPE_RANDOM : shape, i, 0, 1) != 0);
		case CHAROID:
			return CharGetDatum((char) integer(shape, i, PG_INT8_MIN, PG_INT8_MAX));
		case INT2OID:
			return Int16GetDatum((int16) integer(shape, i, PG_INT16_MIN, PG_INT16_MAX));
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) integer(shape, i, PG_INT32_MIN, PG_INT32_MAX));
		case OIDOID:
			return ObjectIdGetDatum((Oid) integer(shape, i, 0, PG_UINT32_MAX));
		case TIMEOID:
			return Int64GetDatum(integer(shape, i, 0, USECS_PER_DAY));
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return Int64GetDatum(integer(shape, i, PG_INT64_MIN, PG_INT64_MAX));
		case FLOAT8OID:
			return Float8GetDatum(floating(shape, i));
		case FLOAT4OID:
			{
				uint32		bits = DataRandom();
				float4		f;

				memcpy(&f, &bits, sizeof(f));
				if (shape != SHAPE_RANDOM)
					f = (float4) floating(shape, i);
				return Float4GetDatum(f);
			}
		case UUIDOID:
		case INTERVALOID:
			return fixed(shape, i, 16);
		case NAMEOID:
			return fixed(shape, i, NAMEDATALEN);
		case NUMERICOID:
			return numeric(shape, i);
		default:
			return text_value(shape, i);
	}
}

bool
DataIdentical(Datum a, Datum b, int16 typlen, bool typbyval)
{
	const char *x = DatumGetPointer(a);
	const char *y = DatumGetPointer(b);

	if (typbyval)
		return a == b;
	if (typlen > 0)
		return memcmp(x, y, typlen) == 0;
	return VARSIZE_ANY_EXHDR(x) == VARSIZE_ANY_EXHDR(y) &&
		memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
}
