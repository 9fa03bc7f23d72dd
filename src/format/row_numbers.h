/*
 * row_numbers.h
 *	  A set of row numbers of a file, in memory and as bytes.
 *
 * Rows that are deleted, for one.  In memory a group of 8192 numbers takes
 * two bytes a number, and at most 1 kB; as bytes whichever is least of the
 * ranges, the numbers and the bits of a group.
 */
#ifndef BF_ROW_NUMBERS_H
#define BF_ROW_NUMBERS_H

#include "format/byte_buffer.h"

typedef struct RowNumbers RowNumbers;

/* words of a bitmap of so many rows */
#define ROW_NUMBERS_WORDS(n) (((n) + 63) / 64)

/* An empty set in the current context. */
extern RowNumbers *RowNumbersCreate(void);
extern void RowNumbersFree(RowNumbers *set);

/* Add a number; false if it is there already. */
extern bool RowNumbersAdd(RowNumbers *set, int64 row);
extern bool RowNumbersHas(const RowNumbers *set, int64 row);

/* How many there are; and of those from <= row < to. */
extern int64 RowNumbersCount(const RowNumbers *set);
extern int64 RowNumbersCountIn(const RowNumbers *set, int64 from, int64 to);

/* Bytes of memory that the set takes. */
extern Size RowNumbersMemory(const RowNumbers *set);

/*
 * The numbers from <= row < from + n as a bitmap of ROW_NUMBERS_WORDS(n) words,
 * bit 0 of the first for "from".  Returns how many; if it is 0 the bitmap is not
 * written.
 */
extern int	RowNumbersBits(const RowNumbers *set, int64 from, int n, uint64 *bits);

/* The first number that is not less than row; -1: there is none. */
extern int64 RowNumbersNext(const RowNumbers *set, int64 row);

/* Add all numbers of another set; returns how many were there already. */
extern int64 RowNumbersUnion(RowNumbers *set, const RowNumbers *other);

/* Append the set as bytes.  An empty set gives none. */
extern void RowNumbersWrite(const RowNumbers *set, ByteBuffer *out);

/*
 * Add what was written to a set, of numbers less than nrows; the bytes are not
 * trusted: false if they are malformed.
 */
extern bool RowNumbersRead(RowNumbers *set, const char *data, Size len, int64 nrows);

#endif							/* BF_ROW_NUMBERS_H */
