/*
 * implied_qual.h
 *	  What conditions that are tested row by row say of one column.
 */
#ifndef BF_IMPLIED_QUAL_H
#define BF_IMPLIED_QUAL_H

#include "nodes/pathnodes.h"

/*
 * A condition on one column of relation varno that BatchQualFromClause takes,
 * for which no error may be raised, and that holds in every row in which the
 * clause does.  tested: the clause itself is tested on batches, so that only a
 * bound of the column is of use beside it.  NULL: none was found.  A new one
 * each time.
 */
extern Expr *ImpliedClause(Expr *clause, Index varno, bool tested);

#endif							/* BF_IMPLIED_QUAL_H */
