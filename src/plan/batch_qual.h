/*
 * batch_qual.h
 *	  Which restriction clauses can be applied to whole batches.
 */
#ifndef BF_BATCH_QUAL_H
#define BF_BATCH_QUAL_H

#include "exec/leaf_qual.h"
#include "nodes/pathnodes.h"

/*
 * If clause compares a column of relation varno with a value that is fixed
 * for one execution, by an operator whose meaning the key classes define,
 * fill qual (without its value), set *value to the expression (NULL for IS
 * [NOT] NULL) and return true.
 */
extern bool BatchQualFromClause(Expr *clause, Index varno, LeafQual *qual, Expr **value);

/*
 * Strategy (BTEqualStrategyNumber, ...) of a built-in operator whose two
 * inputs are of one key class; 0 when it is none.  *keyclass is set.
 */
extern int	KeyOperatorStrategy(Oid opno, KeyClass *keyclass);

/* Is comparing by bytes equal to comparing under this collation, for = (or for order)? */
extern bool CollationAllows(KeyClass keyclass, Oid collation, bool for_order);

#endif							/* BF_BATCH_QUAL_H */
