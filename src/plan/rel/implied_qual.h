/*
 * implied_qual.h
 *	  What conditions that are tested row by row say of one column.
 */
#ifndef BF_IMPLIED_QUAL_H
#define BF_IMPLIED_QUAL_H

#include "nodes/pathnodes.h"

/*
 * A condition on one column of relation varno that BatchQualFromClause takes,
 * which it does not with the clause itself, and that holds in every row in
 * which the clause does.  NULL: none was found.  A new one each time.
 */
extern Expr *ImpliedClause(Expr *clause, Index varno);

#endif							/* BF_IMPLIED_QUAL_H */
