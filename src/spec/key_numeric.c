/*
 * key_numeric.c
 *	  Order and hash of numeric, read from its stored form.
 *
 * The stored form is described in numeric_form.h; nothing here depends on zero
 * digits being left out.  A value too short for its header, which only a
 * damaged file could hold, reads as zero.
 */
#include "postgres.h"

#include "spec/key_class.h"
#include "spec/key_numeric.h"
#include "spec/murmur.h"
#include "spec/numeric_form.h"

/* kinds, the first canonical byte */
typedef enum NumericKind
{
	KIND_POSITIVE = 0,			/* and zero */
	KIND_NEGATIVE = 1,
	KIND_NAN = 2,
	KIND_PLUS_INF = 3,
	KIND_MINUS_INF = 4
} NumericKind;

typedef struct NumericView
{
	NumericKind kind;
	int			weight;			/* of the first digit; 0 if there is none */
	int			ndigits;
	const char *digits;			/* 16-bit words, perhaps unaligned */
} NumericView;

static inline int
Digit(const NumericView *view, int i)
{
	int16		digit;

	memcpy(&digit, view->digits + i * sizeof(int16), sizeof(int16));
	return digit;
}

/* Describe a stored numeric; zero digits at either end are cut off. */
static inline void
NumericLook(Datum value, NumericView *view)
{
	const struct varlena *ptr = (const struct varlena *) DatumGetPointer(value);
	const char *data = VARDATA_ANY(ptr);
	int			len = VARSIZE_ANY_EXHDR(ptr);
	uint16		header;
	int			header_len;

	Assert(!VARATT_IS_EXTERNAL(ptr) && !VARATT_IS_COMPRESSED(ptr));

	header = 0;
	if (len >= (int) sizeof(header))
		memcpy(&header, data, sizeof(header));
	if ((header & NUMERIC_HEADER_KIND) == NUMERIC_HEADER_SHORT)
	{
		view->kind = (header & NUMERIC_SHORT_NEGATIVE) ? KIND_NEGATIVE : KIND_POSITIVE;
		view->weight = NUMERIC_SHORT_WEIGHT(header);
		header_len = sizeof(uint16);
	}
	else if ((header & NUMERIC_HEADER_KIND) == NUMERIC_HEADER_SPECIAL)
	{
		view->kind = header == NUMERIC_HEADER_PLUS_INF ? KIND_PLUS_INF :
			header == NUMERIC_HEADER_MINUS_INF ? KIND_MINUS_INF : KIND_NAN;
		view->weight = 0;
		view->ndigits = 0;
		view->digits = NULL;
		return;
	}
	else
	{
		int16		weight = 0;

		if (len >= (int) (2 * sizeof(uint16)))
			memcpy(&weight, data + sizeof(uint16), sizeof(weight));
		view->kind = (header & NUMERIC_HEADER_KIND) == NUMERIC_HEADER_NEGATIVE ? KIND_NEGATIVE : KIND_POSITIVE;
		view->weight = weight;
		header_len = 2 * sizeof(uint16);
	}

	view->digits = data + header_len;
	view->ndigits = (len - header_len) / (int) sizeof(int16);
	while (view->ndigits > 0 && Digit(view, 0) == 0)
	{
		view->digits += sizeof(int16);
		view->ndigits--;
		view->weight--;
	}
	while (view->ndigits > 0 && Digit(view, view->ndigits - 1) == 0)
		view->ndigits--;
	if (view->ndigits == 0)
	{
		view->kind = KIND_POSITIVE;
		view->weight = 0;
	}
}

/* Is it an integer that fits int64?  Then *result is that integer. */
static inline bool
NumericGetInt64(const NumericView *view, int64 *result)
{
	uint64		magnitude = 0;

	if (view->kind > KIND_NEGATIVE || view->weight > 4 || view->weight < 0 ||
		view->ndigits > view->weight + 1)
		return false;
	/* 2^63 is 922 3372 0368 5477 5808; with 922 in front nothing overflows uint64 */
	if (view->weight == 4 && Digit(view, 0) > 922)
		return false;

	for (int i = 0; i <= view->weight; i++)
		magnitude = magnitude * NUMERIC_BASE + (i < view->ndigits ? Digit(view, i) : 0);

	if (view->kind == KIND_NEGATIVE)
	{
		if (magnitude > (uint64) PG_INT64_MAX + 1)
			return false;
		*result = (int64) (0 - magnitude);
		return true;
	}
	if (magnitude > (uint64) PG_INT64_MAX)
		return false;
	*result = (int64) magnitude;
	return true;
}

/* Place of a kind in the order: -infinity, numbers, +infinity, NaN. */
static inline int
KindRank(NumericKind kind)
{
	switch (kind)
	{
		case KIND_MINUS_INF:
			return -1;
		case KIND_PLUS_INF:
			return 1;
		case KIND_NAN:
			return 2;
		default:
			return 0;
	}
}

/* Compare the magnitudes of two numbers. */
static inline int
MagnitudeCompare(const NumericView *a, const NumericView *b)
{
	int			common = Min(a->ndigits, b->ndigits);

	if (a->ndigits == 0 || b->ndigits == 0)
		return (a->ndigits > 0) - (b->ndigits > 0);
	if (a->weight != b->weight)
		return a->weight > b->weight ? 1 : -1;
	for (int i = 0; i < common; i++)
	{
		int			da = Digit(a, i);
		int			db = Digit(b, i);

		if (da != db)
			return da > db ? 1 : -1;
	}
	return (a->ndigits > b->ndigits) - (a->ndigits < b->ndigits);
}

int
KeyNumericCompare(Datum a, Datum b)
{
	NumericView va;
	NumericView vb;

	NumericLook(a, &va);
	NumericLook(b, &vb);

	if (va.kind > KIND_NEGATIVE || vb.kind > KIND_NEGATIVE)
	{
		int			ra = KindRank(va.kind);
		int			rb = KindRank(vb.kind);

		return (ra > rb) - (ra < rb);
	}
	if (va.kind != vb.kind)
		return va.kind == KIND_NEGATIVE ? -1 : 1;
	return va.kind == KIND_NEGATIVE ? MagnitudeCompare(&vb, &va) : MagnitudeCompare(&va, &vb);
}

/*
 * The greatest integer not above a value, and whether the value is greater
 * than it.  1 or -1: the value is beyond the range of int64, at that end;
 * *floor is the end.  NaN is beyond all numbers.
 */
static int
NumericFloor(const NumericView *view, int64 *floor, bool *fraction)
{
	bool		negative = view->kind == KIND_NEGATIVE || view->kind == KIND_MINUS_INF;
	uint64		magnitude = 0;
	int			beyond = negative ? -1 : 1;

	*floor = negative ? PG_INT64_MIN : PG_INT64_MAX;
	*fraction = false;
	/* 2^63 is 922 3372 0368 5477 5808; with 922 in front nothing overflows uint64 */
	if (view->kind > KIND_NEGATIVE || view->weight > 4 ||
		(view->weight == 4 && Digit(view, 0) > 922))
		return beyond;
	for (int i = 0; i <= view->weight; i++)
		magnitude = magnitude * NUMERIC_BASE + (i < view->ndigits ? Digit(view, i) : 0);
	*fraction = view->ndigits > view->weight + 1;
	/* of a negative number with a fraction the next integer below */
	if (negative && *fraction)
		magnitude++;
	if (magnitude > (uint64) PG_INT64_MAX + (negative ? 1 : 0))
		return beyond;
	*floor = negative ? (int64) (0 - magnitude) : (int64) magnitude;
	return 0;
}

int64
KeyNumericFloor(Datum value)
{
	NumericView view;
	int64		floor;
	bool		fraction;

	NumericLook(value, &view);
	(void) NumericFloor(&view, &floor, &fraction);
	return floor;
}

bool
KeyNumericBeyond(Datum value, bool *exact)
{
	NumericView view;
	int64		floor;
	bool		fraction;
	int			beyond;

	NumericLook(value, &view);
	beyond = NumericFloor(&view, &floor, &fraction);
	*exact = beyond == 0 && !fraction;
	return beyond != 0;
}

int
KeyNumericCompareInt64(Datum numeric, int64 integer)
{
	NumericView view;
	int64		floor;
	bool		fraction;
	int			beyond;

	NumericLook(numeric, &view);
	beyond = NumericFloor(&view, &floor, &fraction);
	if (beyond != 0)
		return beyond;
	if (floor != integer)
		return floor < integer ? -1 : 1;
	return fraction ? 1 : 0;
}

/* what KeyNumericPrefix gives for zero */
#define PREFIX_ZERO (UINT64CONST(1) << 62)

/* The prefix of a number as the server stores most: in the short form, with a first digit that is not zero. */
static inline bool
ShortPrefix(Datum value, uint64 *prefix)
{
	const struct varlena *ptr = (const struct varlena *) DatumGetPointer(value);
	int			ndigits = (int) (VARSIZE_ANY_EXHDR(ptr) / sizeof(uint16)) - 1;
	uint16		words[4] = {0};
	uint64		magnitude;

	if (ndigits < 1)
		return false;
	if (ndigits >= 3)
		memcpy(words, VARDATA_ANY(ptr), 4 * sizeof(uint16));
	else if (ndigits == 2)
		memcpy(words, VARDATA_ANY(ptr), 3 * sizeof(uint16));
	else
		memcpy(words, VARDATA_ANY(ptr), 2 * sizeof(uint16));
	if ((words[0] & NUMERIC_HEADER_KIND) != NUMERIC_HEADER_SHORT || words[1] == 0)
		return false;
	magnitude = (uint64) (NUMERIC_SHORT_WEIGHT(words[0]) + 32768 + 1);
	magnitude = (magnitude << 42) | (uint64) words[1] << 28 | (uint64) words[2] << 14 | words[3];
	*prefix = (words[0] & NUMERIC_SHORT_NEGATIVE) ? PREFIX_ZERO - magnitude : PREFIX_ZERO + magnitude;
	return true;
}

uint64
KeyNumericPrefix(Datum value)
{
	NumericView view;
	uint64		magnitude;

	if (ShortPrefix(value, &magnitude))
		return magnitude;
	NumericLook(value, &view);
	switch (view.kind)
	{
		case KIND_MINUS_INF:
			return 0;
		case KIND_PLUS_INF:
			return PG_UINT64_MAX - 2;
		case KIND_NAN:
			return PG_UINT64_MAX - 1;
		default:
			break;
	}
	if (view.ndigits == 0)
		return PREFIX_ZERO;

	/* weight, then three digits below 2^14 each: 58 bits */
	magnitude = (uint64) (view.weight + 32768 + 1);
	for (int i = 0; i < 3; i++)
		magnitude = (magnitude << 14) | (i < view.ndigits ? Digit(&view, i) : 0);
	return view.kind == KIND_NEGATIVE ? PREFIX_ZERO - magnitude : PREFIX_ZERO + magnitude;
}

/*
 * An integer that fits int64 is hashed as that int64, so that numeric and the
 * integer types agree.  NaN and the infinities are their kind byte alone.
 */
uint32
KeyNumericHash(KeyClass keyclass, Oid typid, Datum value, uint32 seed)
{
	NumericView view;
	int64		integer;
	char		small[128];
	char	   *bytes = small;
	size_t		len = 1;
	uint32		hash;

	NumericLook(value, &view);
	if (NumericGetInt64(&view, &integer))
		return KeyHashBytes(&integer, sizeof(integer), seed);

	if (view.kind <= KIND_NEGATIVE)
		len += sizeof(int16) + view.ndigits * sizeof(int16);
	if (len > sizeof(small))
		bytes = palloc(len);

	bytes[0] = (char) view.kind;
	if (len > 1)
	{
		int16		weight = (int16) view.weight;

		memcpy(bytes + 1, &weight, sizeof(weight));
		memcpy(bytes + 1 + sizeof(weight), view.digits, view.ndigits * sizeof(int16));
	}
	hash = KeyHashBytes(bytes, len, seed);
	if (bytes != small)
		pfree(bytes);
	return hash;
}
