/*
 * key_numeric.h
 *	  numeric values read where they lie, without a copy: order and canonical
 *	  bytes.  For the files of this folder only.
 */
#ifndef BF_KEY_NUMERIC_H
#define BF_KEY_NUMERIC_H

#include "spec/key_class.h"

/* Same result as the server's numeric_cmp. */
extern int	KeyNumericCompare(Datum a, Datum b);

/* The same of a numeric and an integer; exact, whatever the size of the numeric. */
extern int	KeyNumericCompareInt64(Datum numeric, int64 integer);

/* Hash of the canonical bytes of a numeric. */
extern uint32 KeyNumericHash(KeyClass keyclass, Oid typid, Datum value, uint32 seed);

#endif							/* BF_KEY_NUMERIC_H */
