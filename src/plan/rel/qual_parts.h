/*
 * qual_parts.h
 *	  Parts of conditions for batches.
 *
 * Each function fills qual, which is all zeroes, and sets *value to the value's
 * expression unless there is none; false: it is no such part, and qual holds
 * anything.
 */
#ifndef BF_QUAL_PARTS_H
#define BF_QUAL_PARTS_H

#include "exec/qual/leaf_qual.h"
#include "nodes/primnodes.h"

/*
 * Fixed for one execution, or one rescan: no column of the relation, nothing
 * volatile, no correlated subplan.  Columns of other relations are parameters
 * of the scan when the path is parameterised by them.
 */
extern bool QualValueIsFixed(Node *node, Index varno);

/* A column of the relation, which qual is about. */
extern bool QualColumnSide(Node *node, Index varno, LeafQual *qual);

/* batch_qual.c: a comparison with a value, a list, NULL or another column, or a boolean column. */
extern bool QualFromComparison(Node *clause, Index varno, LeafQual *qual, Expr **value);

/* qual_text.c: LIKE, NOT LIKE, or what the text begins with. */
extern bool QualFromText(Node *clause, Index varno, LeafQual *qual, Expr **value);

/* evaluated_qual.c: a condition of one column, which core evaluates once for each value. */
extern bool QualFromEvaluation(Node *clause, Index varno, LeafQual *qual, Expr **value);

#endif							/* BF_QUAL_PARTS_H */
