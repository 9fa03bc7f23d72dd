/*
 * int_test.h
 *	  Comparisons of a column of int64.
 */
#ifndef BF_INT_TEST_H
#define BF_INT_TEST_H

#include "exec/qual/leaf_qual.h"

/*
 * The test of op with nvalues sorted and different values, which it keeps; for
 * a list that lies close together a set of bits is made in the current context.
 */
extern void IntTestMake(IntTest *test, LeafQualOp op, int nvalues, int64 *values);

/* Keep of n rows (rows NULL: the first n) those that pass the test; returns how many. */
extern int	IntTestApply(const IntTest *test, const int64 *values, const bool *nulls,
						 const uint16 *rows, int n, uint16 *out);

/* The same of floats, by KeySort64. */
extern int	IntTestApplyFloats(const IntTest *test, Oid type, const Datum *values, const bool *nulls,
							   const uint16 *rows, int n, uint16 *out);

/* Is the integer one of the values? */
extern bool IntTestHas(const IntTest *test, int64 value);

/*
 * One loop per operator, so that each is a tight compare-and-append without a
 * branch on the outcome.  TEST is a condition on "row".
 */
#define KEEP_ROWS(TEST) \
	do { \
		if (rows == NULL && nulls == NULL) \
		{ \
			for (int row = 0; row < n; row++) \
			{ \
				out[kept] = (uint16) row; \
				kept += (TEST) ? 1 : 0; \
			} \
		} \
		else if (nulls == NULL) \
		{ \
			for (int i = 0; i < n; i++) \
			{ \
				int		row = rows[i]; \
				out[kept] = (uint16) row; \
				kept += (TEST) ? 1 : 0; \
			} \
		} \
		else \
		{ \
			for (int i = 0; i < n; i++) \
			{ \
				int		row = rows ? rows[i] : i; \
				out[kept] = (uint16) row; \
				kept += (TEST) && !nulls[row]; \
			} \
		} \
	} while (0)

#endif							/* BF_INT_TEST_H */
