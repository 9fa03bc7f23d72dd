/*
 * decimal_ops.h
 *	  Arithmetic of integers and numerics on whole batches.
 *
 * All is exact, display scales included, or not done: a function returns false
 * where a value is no number, or does not fit 128 bits and 36 decimals, and
 * raises no error.
 */
#ifndef BF_DECIMAL_OPS_H
#define BF_DECIMAL_OPS_H

#include "vector/decimal_vector.h"

/* Which rows of a batch are computed. */
typedef struct DecimalRows
{
	int			n;
	const uint16 *rows;			/* their numbers, ascending; NULL: the first n */
	int			nrows;			/* of the batch; vectors that are read have so many entries */
} DecimalRows;

/* A result, and room for it, which is made when it is needed. */
typedef struct DecimalBuffer
{
	DecimalVector vec;			/* may point into operands */
	MemoryContext cxt;
	int64	   *narrow;
	int128	   *wide;
	bool	   *nulls;
	uint8	   *scales;
} DecimalBuffer;

/* The numerics, or integers, of a column. */
extern bool DecimalsOfNumerics(DecimalBuffer *buf, const ColumnVector *column, const DecimalRows *at);
extern void DecimalsOfInts(DecimalBuffer *buf, const ColumnVector *column, const DecimalRows *at);

/* Numerics that were not made. */
extern bool DecimalsOfScaled(DecimalBuffer *buf, const ScaledColumn *column, const DecimalRows *at);

/* A constant in all rows of any batch. */
extern void DecimalsOfConst(DecimalBuffer *buf, int128 value, int scale, bool isnull);

extern bool DecimalsAdd(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b,
						bool subtract, const DecimalRows *at);
extern bool DecimalsMultiply(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b,
							 const DecimalRows *at);
extern void DecimalsNegate(DecimalBuffer *buf, const DecimalVector *a, const DecimalRows *at);

/* Are all values between these two, which are of 64 bits? If so, the result is narrow. */
extern bool DecimalsWithin(DecimalBuffer *buf, int64 min, int64 max, const DecimalRows *at);

/*
 * The value of each row is that of vecs[choice[row]]; NULL where choice is nvecs
 * or more, or the vector is NULL.
 */
extern void DecimalsChoose(DecimalBuffer *buf, const uint8 *choice, int nvecs,
						   const DecimalVector *const *vecs, const DecimalRows *at);

#endif							/* BF_DECIMAL_OPS_H */
