/*
 * group_rows.h
 *	  Rows of which those of a group stand together.
 */
#ifndef BF_GROUP_ROWS_H
#define BF_GROUP_ROWS_H

#include "plan/group/rows_path.h"
#include "plan/key/bucketed.h"
#include "plan/words/reason.h"

/*
 * Do the clauses (SortGroupClauses) name every key of an input, by the
 * equality of its class?  A key that conditions fix to a value need not be
 * named.  *others: they name more.
 */
extern BucketReason GroupsByKey(PlannerInfo *root, const BucketInput *input, List *clauses,
								bool *others);

/*
 * Rows of an input key by key, those of each key in the order; for one process
 * or, with workers > 0, for each of several.  NULL when they cannot be given.
 */
extern Path *RowsForGroups(PlannerInfo *root, RelOptInfo *input_rel, const BucketInput *input,
						   const RowOrder *order, int workers);

#endif							/* BF_GROUP_ROWS_H */
