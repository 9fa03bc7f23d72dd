/*
 * format_data.h
 *	  Columns of made-up values of many kinds, for tests of the format.
 */
#ifndef FORMAT_DATA_H
#define FORMAT_DATA_H

#include "postgres.h"

#include "spec/key_class.h"

typedef enum Shape
{
	SHAPE_CONSTANT,
	SHAPE_SORTED,				/* ascending, small steps */
	SHAPE_NARROW,				/* few distinct values or a narrow range */
	SHAPE_RANDOM,				/* anything the type can hold */
	SHAPE_EXTREME,				/* the ends of the range, special values */
	SHAPE_GAPS,					/* ascending, repeated, gaps of all sizes */
	SHAPE_SKEWED,				/* small, now and then large; floats of few binary digits */
	SHAPE_MIXED					/* one of the others, row by row */
} Shape;

#define NSHAPES (SHAPE_MIXED + 1)

/* A pseudo-random number: the same sequence everywhere. */
extern uint64 DataRandom(void);
extern void DataSeed(uint64 seed);

/*
 * Value i of a column, palloc'd if by reference.  Varlena values come with
 * short or four-byte headers at random.
 */
extern Datum DataValue(Oid typid, Shape shape, int i);

/* A finite numeric of base-10000 digits as numeric.c would store it. */
extern Datum DataNumeric(bool negative, int weight, int dscale, const int16 *digits, int ndigits);

/* Same value bit for bit, whatever the varlena header? */
extern bool DataIdentical(Datum a, Datum b, int16 typlen, bool typbyval);

#endif							/* FORMAT_DATA_H */
