/*
 * qual_columns.h
 *	  A column compared with another one.
 */
#ifndef BF_QUAL_COLUMNS_H
#define BF_QUAL_COLUMNS_H

#include "exec/qual/leaf_qual.h"

/*
 * May values of two classes be compared row by row?  So may those that meet in
 * a join, and dates with timestamps without time zone.
 */
static inline bool
QualColumnsMeet(KeyClass a, KeyClass b)
{
	return KeyClassesMeet(a, b) || (a == KEYCLASS_DATE && b == KEYCLASS_TIMESTAMP) ||
		(a == KEYCLASS_TIMESTAMP && b == KEYCLASS_DATE);
}

/* Does a comparison result satisfy the operator? */
static inline bool
ComparisonHolds(LeafQualOp op, int c)
{
	switch (op)
	{
		case LEAF_EQ:
			return c == 0;
		case LEAF_NE:
			return c != 0;
		case LEAF_LT:
			return c < 0;
		case LEAF_LE:
			return c <= 0;
		case LEAF_GT:
			return c > 0;
		case LEAF_GE:
			return c >= 0;
		default:
			elog(ERROR, "unexpected batch qual operator %d", (int) op);
			return false;
	}
}

/* Keep the rows of a batch for which the comparison of two columns is true; returns how many. */
extern int	QualColumnsRows(LeafQual *qual, Batch *batch, uint16 *out);

#endif							/* BF_QUAL_COLUMNS_H */
