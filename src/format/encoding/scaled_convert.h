/*
 * scaled_convert.h
 *	  Floats and numerics as scaled integers.
 *
 * All are used only where every value comes back bit for bit; the encoder
 * tries that out.
 */
#ifndef BF_SCALED_CONVERT_H
#define BF_SCALED_CONVERT_H

#include "format/byte_buffer.h"

/* largest power of ten with which a float8 is divided */
#define BF_MAX_FLOAT_SCALE	18

/* largest power of two with which a float is divided */
#define BF_MAX_BINARY_SCALE	255

/* dscale that numeric's short form can hold */
#define BF_MAX_NUMERIC_SCALE	63

/*
 * Find a scale by which all n float Datums (typlen 4 or 8) become integers;
 * false when there is none.
 */
extern bool FloatsToScaled(const Datum *values, int n, int typlen, int64 *scaled, int *scale);

/* The way back, in place: int64 to Datum. */
extern void FloatsFromScaled(int64 *values, int n, int typlen, int scale);

/*
 * As FloatsToScaled with a power of two, 1 .. BF_MAX_BINARY_SCALE: values of so
 * many bits after the point, as those of random().
 */
extern bool FloatsToBinary(const Datum *values, int n, int typlen, int64 *scaled, int *scale);

/* The way back, in place. */
extern void FloatsFromBinary(int64 *values, int n, int typlen, int scale);

/*
 * An integer and dscale for a numeric without compression; false when it is
 * not finite, does not fit, or would not come back bit for bit.
 */
extern bool NumericToScaled(const void *numeric, int64 *scaled, int *scale);

/* The way back, in place: int64 to Datum.  The numerics are made in buf. */
extern void NumericsFromScaled(int64 *values, int n, int scale, ByteBuffer *buf);

#endif							/* BF_SCALED_CONVERT_H */
