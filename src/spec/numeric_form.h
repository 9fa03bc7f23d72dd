/*
 * numeric_form.h
 *	  numeric's form on disk, which numeric.c does not export but cannot change.
 *
 * It is a contract of pg_upgrade and has not changed since 9.1: a varlena
 * whose first 16 bits are a header.  The two top bits say what it is:
 *
 *	00, 01	long form, positive or negative: the rest of the header is the
 *			display scale, the next 16 bits are the weight
 *	10		short form: bit 13 is the sign, bits 12-7 the display scale,
 *			bits 6-0 the weight in two's complement
 *	11		no number: 0xC000 NaN, 0xD000 +infinity, 0xF000 -infinity
 *
 * Then come digits of base 10000, 16 bits each, most significant first; the
 * first one counts 10000^weight.  The server stores no leading and no
 * trailing zero digit.  With a short varlena header the 16-bit words lie at
 * odd addresses.
 */
#ifndef BF_NUMERIC_FORM_H
#define BF_NUMERIC_FORM_H

#define NUMERIC_HEADER_KIND			0xC000
#define NUMERIC_HEADER_NEGATIVE		0x4000	/* a kind: long form */
#define NUMERIC_HEADER_SHORT		0x8000	/* a kind */
#define NUMERIC_HEADER_SPECIAL		0xC000	/* a kind */
#define NUMERIC_HEADER_PLUS_INF		0xD000
#define NUMERIC_HEADER_MINUS_INF	0xF000

/* of the short form */
#define NUMERIC_SHORT_NEGATIVE		0x2000
#define NUMERIC_SHORT_DSCALE(h)		(((h) >> 7) & 0x3F)
#define NUMERIC_SHORT_WEIGHT(h)		((int) ((h) & 0x3F) - (int) ((h) & 0x40))

#define NUMERIC_BASE				10000

/* The display scale of all numerics of a typmod, as numeric_typmod_scale() of core has it; 0: they may have any. */
static inline int
NumericTypmodScale(int32 typmod)
{
	int			scale = typmod < (int32) VARHDRSZ ? 0 : (((typmod - (int32) VARHDRSZ) & 0x7ff) ^ 1024) - 1024;

	return Max(scale, 0);
}

#endif							/* BF_NUMERIC_FORM_H */
