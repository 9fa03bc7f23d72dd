/*
 * batch_qual.h
 *	  Which restriction clauses can be applied to whole batches.
 */
#ifndef BF_BATCH_QUAL_H
#define BF_BATCH_QUAL_H

#include "exec/qual/leaf_qual.h"
#include "nodes/pathnodes.h"

/*
 * If clause compares a column of relation varno, or bucketfdw.bucket_id of
 * columns, with a value that is fixed for one execution, by an operator whose
 * meaning the key classes define, or LIKE, fill qual (without its value), set
 * *values to a list of the value's expression (empty for IS [NOT] NULL, and for
 * a comparison of two columns) and return true.  So too if it is an OR of such
 * comparisons, and of AND of them; *values are then those of all arms, in their
 * order.  In a join clause a value may hold columns of other relations, which
 * must be parameters of the scan.
 *
 * True also for other conditions of one column, where evaluating them once for
 * each value may pay: LeafQualMayFail is true of them and of trees with such
 * parts, and they must not be moved before conditions that core would evaluate
 * first.
 */
extern bool BatchQualFromClause(Expr *clause, Index varno, LeafQual *qual, List **values);

/* The column of relation varno an expression is under binary-compatible casts, or NULL. */
extern Var *BatchQualColumn(Node *node, Index varno);

/*
 * An integer under a cast to numeric, by which it stands in a comparison with
 * numerics: other class, same value, same order.  Anything else as it is.
 */
extern Node *StripNumericCast(Node *node);

/*
 * Strategy (BTEqualStrategyNumber, ...) of a built-in operator whose two
 * inputs are of one key class; 0 when it is none.  *keyclass is set.
 */
extern int	KeyOperatorStrategy(Oid opno, KeyClass *keyclass);

/* Is comparing by bytes equal to comparing under this collation, for = (or for order)? */
extern bool CollationAllows(KeyClass keyclass, Oid collation, bool for_order);

#endif							/* BF_BATCH_QUAL_H */
