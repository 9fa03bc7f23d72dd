/*
 * scaled_convert.c
 *	  Floats and numerics as scaled integers.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "format/encoding/scaled_convert.h"
#include "port/pg_bitutils.h"
#include "spec/numeric_form.h"

/* float8 holds integers up to here exactly */
#define FLOAT_EXACT_INT 9007199254740992.0

static const double powers[BF_MAX_FLOAT_SCALE + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18
};

static inline double
float_value(Datum value, int typlen)
{
	return typlen == 4 ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
}

static inline Datum
float_datum(int64 scaled, double power, int typlen)
{
	double		d = (double) scaled / power;

	return typlen == 4 ? Float4GetDatum((float4) d) : Float8GetDatum(d);
}

/* Does the value come back from this scale? */
static inline bool
float_scaled(Datum value, int typlen, int scale, int64 *scaled)
{
	double		x = float_value(value, typlen) * powers[scale];

	/* also false for NaN */
	if (!(fabs(x) <= FLOAT_EXACT_INT))
		return false;
	*scaled = (int64) rint(x);
	return float_datum(*scaled, powers[scale], typlen) == value;
}

bool
FloatsToScaled(const Datum *values, int n, int typlen, int64 *scaled, int *scale)
{
	int			s = 0;
	int			maxscale = typlen == 4 ? 10 : BF_MAX_FLOAT_SCALE;
	int			from = 0;

	/*
	 * The first value that needs a larger scale raises it; those before are
	 * tried again with the final one.  Random bits give up at the first.
	 */
	for (int i = 0; i < n; i++)
	{
		while (!float_scaled(values[i], typlen, s, &scaled[i]))
		{
			if (s++ == maxscale)
				return false;
			from = i;
		}
	}
	for (int i = 0; i < from; i++)
	{
		if (!float_scaled(values[i], typlen, s, &scaled[i]))
			return false;
	}
	*scale = s;
	return true;
}

void
FloatsFromScaled(int64 *values, int n, int typlen, int scale)
{
	Datum	   *out = (Datum *) values;
	double		power = powers[scale];

	if (typlen == 4)
	{
		for (int i = 0; i < n; i++)
			out[i] = Float4GetDatum((float4) ((double) values[i] / power));
	}
	else
	{
		for (int i = 0; i < n; i++)
			out[i] = Float8GetDatum((double) values[i] / power);
	}
}

/* parts of the bits of a float8 */
#define FLOAT8_MANTISSA_BITS	52
#define FLOAT8_EXPONENT_BIAS	1023
#define FLOAT8_EXPONENT_MASK	0x7FF

/*
 * The scale is the place of the lowest bit that is set in any of the values.
 * A float4 is looked at as the float8 of the same value.
 */
bool
FloatsToBinary(const Datum *values, int n, int typlen, int64 *scaled, int *scale)
{
	int			lowest = 0;		/* power of two of the lowest bit */
	int			highest = PG_INT16_MIN; /* and of the highest */
	double		power;

	for (int i = 0; i < n; i++)
	{
		double		d = float_value(values[i], typlen);
		uint64		bits = DatumGetUInt64(Float8GetDatum(d));
		uint64		mantissa = bits & ((UINT64CONST(1) << FLOAT8_MANTISSA_BITS) - 1);
		int			exponent = (int) (bits >> FLOAT8_MANTISSA_BITS) & FLOAT8_EXPONENT_MASK;

		if (bits == 0)
			continue;
		/* neither -0, subnormal, infinite nor NaN */
		if (exponent == 0 || exponent == FLOAT8_EXPONENT_MASK)
			return false;
		exponent -= FLOAT8_EXPONENT_BIAS;
		mantissa |= UINT64CONST(1) << FLOAT8_MANTISSA_BITS;
		lowest = Min(lowest, exponent - FLOAT8_MANTISSA_BITS + pg_rightmost_one_pos64(mantissa));
		highest = Max(highest, exponent);
		/* integers below 2^53 are exact */
		if (highest - lowest > FLOAT8_MANTISSA_BITS)
			return false;
	}
	if (lowest == 0 || lowest < -BF_MAX_BINARY_SCALE)
		return false;
	*scale = -lowest;
	power = ldexp(1.0, *scale);
	for (int i = 0; i < n; i++)
		scaled[i] = (int64) (float_value(values[i], typlen) * power);
	return true;
}

void
FloatsFromBinary(int64 *values, int n, int typlen, int scale)
{
	Datum	   *out = (Datum *) values;
	double		power = ldexp(1.0, -scale);

	if (typlen == 4)
	{
		for (int i = 0; i < n; i++)
			out[i] = Float4GetDatum((float4) ((double) values[i] * power));
	}
	else
	{
		for (int i = 0; i < n; i++)
			out[i] = Float8GetDatum((double) values[i] * power);
	}
}

/* a uint64 has at most so many digits of numeric's stored form (numeric_form.h), the last one cut */
#define MAX_SCALED_DIGITS		6

/* The power of ten by which the lowest digit of the stored form goes beyond the scale. */
static inline uint32
partial_power(int scale)
{
	static const uint16 power[4] = {1, 1000, 100, 10};

	return power[scale & 3];
}

/* The content of a numeric (without varlena header) into out; returns its length. */
static inline int
numeric_content(int64 scaled, int scale, uint16 *out)
{
	uint64		a = scaled < 0 ? (uint64) 0 - (uint64) scaled : (uint64) scaled;
	int			weight = -((scale + 3) / 4);	/* of the lowest digit */
	uint32		power = partial_power(scale);
	uint16		digits[MAX_SCALED_DIGITS];
	int			ndigits = 0;
	int			low = 0;

	if (a == 0)
	{
		out[0] = NUMERIC_HEADER_SHORT | (scale << 7);
		return sizeof(uint16);
	}
	digits[ndigits++] = (a % (NUMERIC_BASE / power)) * power;
	a /= NUMERIC_BASE / power;
	while (a > PG_UINT32_MAX)
	{
		digits[ndigits++] = a % NUMERIC_BASE;
		a /= NUMERIC_BASE;
	}
	for (uint32 b = (uint32) a; b != 0; b /= NUMERIC_BASE)
		digits[ndigits++] = b % NUMERIC_BASE;
	while (digits[low] == 0)
		low++;
	weight += ndigits - 1;
	out[0] = NUMERIC_HEADER_SHORT | (scaled < 0 ? NUMERIC_SHORT_NEGATIVE : 0) |
		(scale << 7) | (weight & 0x7F);
	for (int i = ndigits - 1; i >= low; i--)
		*++out = digits[i];
	return (ndigits - low + 1) * sizeof(uint16);
}

/* *acc * base + digit, unless that is too large */
static inline bool
append_digit(uint64 *acc, uint64 base, uint64 digit)
{
	return !__builtin_mul_overflow(*acc, base, acc) && !__builtin_add_overflow(*acc, digit, acc);
}

/*
 * Decoding makes a numeric without zero digits at either end, so only such
 * ones come back bit for bit.
 */
bool
NumericToScaled(const void *numeric, int64 *scaled, int *scale)
{
	size_t		len = VARSIZE_ANY_EXHDR(numeric);
	uint16		in[MAX_SCALED_DIGITS + 1];
	uint16		header;
	int			ndigits;
	int			weight;
	int			lowest;
	uint32		power;
	uint32		last;
	uint64		acc = 0;

	if (len < sizeof(uint16) || len > sizeof(in) || len % sizeof(uint16) != 0)
		return false;
	/* so few bytes are copied faster without a call */
	ndigits = len / sizeof(uint16) - 1;
	for (int i = 0; i <= ndigits; i++)
		memcpy(&in[i], (const char *) VARDATA_ANY(numeric) + i * sizeof(uint16), sizeof(uint16));
	header = in[0];
	if ((header & NUMERIC_HEADER_KIND) != NUMERIC_HEADER_SHORT)
		return false;
	*scale = NUMERIC_SHORT_DSCALE(header);
	if (ndigits == 0)
	{
		*scaled = 0;
		return header == (NUMERIC_HEADER_SHORT | (*scale << 7));
	}
	if (in[1] == 0 || in[ndigits] == 0)
		return false;
	for (int i = 1; i <= ndigits; i++)
	{
		if (in[i] >= NUMERIC_BASE)
			return false;
	}

	weight = NUMERIC_SHORT_WEIGHT(header);
	lowest = -((*scale + 3) / 4);
	power = partial_power(*scale);
	/* bounds the loops */
	if (weight - ndigits + 1 < lowest || weight - lowest > MAX_SCALED_DIGITS)
		return false;
	for (int i = 0; i < weight - lowest; i++)
	{
		if (!append_digit(&acc, NUMERIC_BASE, i < ndigits ? in[i + 1] : 0))
			return false;
	}
	last = weight - lowest < ndigits ? in[weight - lowest + 1] : 0;
	if (last % power != 0 || !append_digit(&acc, NUMERIC_BASE / power, last / power) ||
		acc > (uint64) PG_INT64_MAX)
		return false;
	*scaled = (header & NUMERIC_SHORT_NEGATIVE) ? -(int64) acc : (int64) acc;
	return true;
}

/* two and four digits of base 10000 hold less than this */
#define TWO_DIGITS				UINT64CONST(100000000)
#define FOUR_DIGITS				UINT64CONST(10000000000000000)

/* bytes from one numeric of at most so many digits to the next */
#define NUMERIC_STRIDE(ndigits)	((int) INTALIGN(VARHDRSZ + (1 + (ndigits)) * sizeof(uint16)))

/*
 * Numerics of at most max (2 or 4) digits, none of them dependent on the one
 * before: zero digits at either end are counted, not searched for.
 */
static pg_attribute_always_inline void
few_digits(int64 *values, int n, int scale, char *out, const int max)
{
	Datum	   *result = (Datum *) values;
	const uint64 power = partial_power(scale);
	const int	weight = max - 1 - (scale + 3) / 4; /* of the first of max digits */
	const int	stride = NUMERIC_STRIDE(max);

	for (int i = 0; i < n; i++, out += stride)
	{
		uint64		sign = (uint64) (values[i] >> 63);
		uint64		a = (((uint64) values[i] ^ sign) - sign) * power;
		uint16		header = NUMERIC_HEADER_SHORT | (sign & NUMERIC_SHORT_NEGATIVE) | (scale << 7);
		int			ndigits = 0;

		if (likely(a != 0))
		{
			uint32		low = max == 2 ? (uint32) a : (uint32) (a % TWO_DIGITS);
			uint64		digits = (uint64) (low / NUMERIC_BASE) | (uint64) (low % NUMERIC_BASE) << 16;
			int			leading;
			int			trailing;

			if (max == 2)
			{
				leading = (digits & 0xFFFF) == 0;
				trailing = (digits >> 16) == 0;
			}
			else
			{
				uint32		high = (uint32) (a / TWO_DIGITS);

				digits = digits << 32 | (high / NUMERIC_BASE) | (uint64) (high % NUMERIC_BASE) << 16;
				leading = pg_rightmost_one_pos64(digits) / 16;
				trailing = 3 - pg_leftmost_one_pos64(digits) / 16;
			}
			ndigits = max - leading - trailing;
			header |= (weight - leading) & 0x7F;
			digits >>= 16 * leading;
			memcpy(out + VARHDRSZ + sizeof(header), &digits, max * sizeof(uint16));
		}
		SET_VARSIZE(out, VARHDRSZ + (1 + ndigits) * sizeof(uint16));
		memcpy(out + VARHDRSZ, &header, sizeof(header));
		result[i] = PointerGetDatum(out);
	}
}

void
NumericsFromScaled(int64 *values, int n, int scale, ByteBuffer *buf)
{
	Datum	   *result = (Datum *) values;
	int64		limit2 = (int64) (TWO_DIGITS / partial_power(scale));
	int64		limit4 = (int64) (FOUR_DIGITS / partial_power(scale));
	bool		in_two = true;
	bool		in_four = true;
	int			ndigits;
	char	   *out;

	for (int i = 0; i < n; i++)
	{
		in_two &= values[i] < limit2 && values[i] > -limit2;
		in_four &= values[i] < limit4 && values[i] > -limit4;
	}
	ndigits = in_two ? 2 : in_four ? 4 : MAX_SCALED_DIGITS;
	out = ByteBufferPrepare(buf, (size_t) n * NUMERIC_STRIDE(ndigits));
	if (in_two)
	{
		few_digits(values, n, scale, out, 2);
		return;
	}
	if (in_four)
	{
		few_digits(values, n, scale, out, 4);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		int			len = VARHDRSZ + numeric_content(values[i], scale, (uint16 *) (out + VARHDRSZ));

		SET_VARSIZE(out, len);
		result[i] = PointerGetDatum(out);
		out += INTALIGN(len);
	}
}
