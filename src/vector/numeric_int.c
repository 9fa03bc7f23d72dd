/*
 * numeric_int.c
 *	  A numeric from an integer in units of its last displayed digit.
 */
#include "postgres.h"

#include "vector/numeric_int.h"

Numeric
NumericFromInt128(int128 value, int scale)
{
	/* 2^127 has 39 decimals */
	uint16		digits[12];
	uint16		content[13];
	bool		negative = value < 0;
	unsigned __int128 rest = negative ? -(unsigned __int128) value : (unsigned __int128) value;
	int			partial = scale % DIGIT_DECIMALS;
	int			weight = -((scale + DIGIT_DECIMALS - 1) / DIGIT_DECIMALS);	/* of the lowest digit */
	int			ndigits = 0;
	int			low = 0;
	int			n = 1;
	Size		size;
	struct varlena *result;

	Assert(scale >= 0 && scale <= 63);
	if (partial != 0)
	{
		unsigned int unit = (unsigned int) PowerOfTen(partial);

		digits[ndigits++] = (uint16) (rest % unit) * (uint16) PowerOfTen(DIGIT_DECIMALS - partial);
		rest /= unit;
	}
	for (; rest != 0; rest /= NUMERIC_BASE)
		digits[ndigits++] = (uint16) (rest % NUMERIC_BASE);
	while (ndigits > 0 && digits[ndigits - 1] == 0)
		ndigits--;
	while (low < ndigits && digits[low] == 0)
		low++;
	if (ndigits == 0)
		content[0] = (uint16) (NUMERIC_HEADER_SHORT | (scale << 7));
	else
	{
		weight += ndigits - 1;
		content[0] = (uint16) (NUMERIC_HEADER_SHORT | (negative ? NUMERIC_SHORT_NEGATIVE : 0) | (scale << 7) |
							   (weight & 0x7F));
		for (int i = ndigits - 1; i >= low; i--)
			content[n++] = digits[i];
	}
	size = VARHDRSZ + n * sizeof(uint16);
	result = palloc(size);
	SET_VARSIZE(result, size);
	memcpy(VARDATA(result), content, n * sizeof(uint16));
	return (Numeric) result;
}
