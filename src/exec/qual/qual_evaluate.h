/*
 * qual_evaluate.h
 *	  Conditions of one column that core evaluates, once for each value.
 */
#ifndef BF_QUAL_EVALUATE_H
#define BF_QUAL_EVALUATE_H

#include "exec/qual/leaf_qual.h"

/* Keep the rows of a batch for which it is true; returns how many. */
extern int	QualEvaluateRows(const LeafQual *qual, Batch *batch, uint16 *out);

#endif							/* BF_QUAL_EVALUATE_H */
