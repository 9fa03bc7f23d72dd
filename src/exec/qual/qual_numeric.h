/*
 * qual_numeric.h
 *	  Numerics compared as integers, without making them.
 */
#ifndef BF_QUAL_NUMERIC_H
#define BF_QUAL_NUMERIC_H

#include "exec/qual/leaf_qual.h"

/* What the qual asks of a column of integers in units of 10^-scale. */
extern const IntTest *QualScaledTest(LeafQual *qual, int scale);

#endif							/* BF_QUAL_NUMERIC_H */
