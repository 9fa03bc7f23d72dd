/*
 * group_rows.c
 *	  Rows of which those of a group stand together.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "plan/group/group_rows.h"
#include "plan/key/join_keys.h"
#include "plan/rel/batch_qual.h"

BucketReason
GroupsByKey(PlannerInfo *root, const BucketInput *input, List *clauses, bool *others)
{
	Bitmapset  *found = NULL;
	int			nfound;
	ListCell   *lc;

	*others = false;
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		KeyClass	keyclass;
		int			k = BucketInputKey(input, expr);

		if (k < 0)
		{
			*others = true;
			continue;
		}
		if (KeyOperatorStrategy(clause->eqop, &keyclass) != BTEqualStrategyNumber ||
			!KeyClassesMeet(keyclass, input->classes[k]))
			return REASON_TYPE_CLASS;
		if (!CollationAllows(keyclass, exprCollation(expr), false))
			return REASON_COLLATION;
		found = bms_add_member(found, k);
	}
	if (found == NULL)
		return REASON_KEY_NOT_GROUPED;
	nfound = bms_num_members(found);
	for (int k = 0; k < input->nkeys; k++)
		nfound += !bms_is_member(k, found) && KeyIsConstant(root, input, k);
	return nfound < input->nkeys ? REASON_GROUP_KEY_SUBSET : REASON_NONE;
}

Path *
RowsForGroups(PlannerInfo *root, RelOptInfo *input_rel, const BucketInput *input,
			  const RowOrder *order, int workers)
{
	Path	   *ready = workers > 0 ? input->partial_rows_path : input->rows_path;

	if (order->exprs == NIL && ready != NULL)
		return ready;
	return BucketRowsPath(root, input_rel, input, order, workers);
}
