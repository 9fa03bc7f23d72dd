/*
 * numeric_int.h
 *	  A numeric as an integer in units of its last displayed digit, and back.
 *
 * The stored form is described in spec/numeric_form.h.
 */
#ifndef BF_NUMERIC_INT_H
#define BF_NUMERIC_INT_H

#include "compat.h"
#include "spec/numeric_form.h"
#include "utils/numeric.h"
#include "vector/decimal_vector.h"

/* decimals of a digit */
#define DIGIT_DECIMALS		4

/* digits of base 10000 of a value that fits 128 bits */
#define MAX_INT128_DIGITS	9

/*
 * A numeric (not compressed) as an integer in units of 10^-scale, its display scale; false when
 * it is none, or more than 36 decimals are needed.
 */
static inline bool
NumericToInt128(Datum value, int128 *result, int *scale)
{
	const struct varlena *ptr = (const struct varlena *) DatumGetPointer(value);
	const char *data = VARDATA_ANY(ptr);
	int			ndigits = (int) ((VARSIZE_ANY_EXHDR(ptr) - sizeof(uint16)) / sizeof(uint16));
	int			lowest;
	int			weight;
	uint16		header;
	int128		sum = 0;
	bool		exact = true;

	memcpy(&header, data, sizeof(header));
	if ((header & NUMERIC_HEADER_KIND) != NUMERIC_HEADER_SHORT)
		return false;
	*scale = NUMERIC_SHORT_DSCALE(header);
	weight = NUMERIC_SHORT_WEIGHT(header);
	if (ndigits == 0)
	{
		*result = 0;
		return *scale <= DECIMAL_MAX_SCALE;
	}

	/* the digit that holds the last displayed decimal; a decimal stored behind it is left to core */
	lowest = -((*scale + DIGIT_DECIMALS - 1) / DIGIT_DECIMALS);
	if (*scale > DECIMAL_MAX_SCALE || weight - lowest + 1 > MAX_INT128_DIGITS || weight - ndigits + 1 < lowest)
		return false;
	data += sizeof(uint16);
	if (weight - lowest < 4)
	{
		/* at most 16 decimals */
		int64		small = 0;

		for (int i = 0; i <= weight - lowest; i++)
		{
			uint16		digit = 0;

			if (i < ndigits)
				memcpy(&digit, data + i * sizeof(uint16), sizeof(digit));
			small = small * NUMERIC_BASE + digit;
		}
		switch (*scale % DIGIT_DECIMALS)
		{
			case 1:
				sum = small / 1000;
				exact = small % 1000 == 0;
				break;
			case 2:
				sum = small / 100;
				exact = small % 100 == 0;
				break;
			case 3:
				sum = small / 10;
				exact = small % 10 == 0;
				break;
			default:
				sum = small;
		}
	}
	else
	{
		for (int i = 0; i <= weight - lowest; i++)
		{
			uint16		digit = 0;

			if (i < ndigits)
				memcpy(&digit, data + i * sizeof(uint16), sizeof(digit));
			sum = sum * NUMERIC_BASE + digit;
		}
		if (*scale % DIGIT_DECIMALS != 0)
		{
			int128		unit = PowerOfTen(DIGIT_DECIMALS - *scale % DIGIT_DECIMALS);

			exact = sum % unit == 0;
			sum /= unit;
		}
	}
	*result = (header & NUMERIC_SHORT_NEGATIVE) ? -sum : sum;
	return exact;
}

/* value * 10^-scale with that display scale, as core stores it; scale is 0 to 63. */
extern Numeric NumericFromInt128(int128 value, int scale);

#endif							/* BF_NUMERIC_INT_H */
