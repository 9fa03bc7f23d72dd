/*
 * join_check.c
 *	  May a join be made by buckets?
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "compat.h"
#include "guc.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "plan/join/join_check.h"

/*
 * Can the output of these relations be put together from their columns?  Of
 * a table whole rows and tableoid can be made.  Other system columns, and
 * placeholder expressions, which must be computed below the join that may
 * null them, cannot.
 */
static BucketReason
CheckTarget(PlannerInfo *root, List *exprs, bool base)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Var		   *var = lfirst(lc);
		BucketReason reason;

		if (IsA(var, PlaceHolderVar))
			return REASON_PLACEHOLDER;
		if (!IsA(var, Var))
		{
			reason = CheckTarget(root, pull_var_clause((Node *) var, PVC_INCLUDE_PLACEHOLDERS |
													   PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS), base);
			if (reason != REASON_NONE)
				return reason;
			continue;
		}

		/* what identifies rows of partitions that are changed: core makes it out of each partition's own columns */
		if (var->varno == ROWID_VAR)
			return REASON_ROW_MARKS;
		/* what identifies rows that are changed */
		if (var->varattno == SelfItemPointerAttributeNumber && bms_is_member(var->varno, root->all_result_relids))
			continue;
		if (var->varattno <= 0 &&
			!(base && (var->varattno == 0 || var->varattno == TableOidAttributeNumber)))
			return REASON_SYSTEM_COLUMN;
	}
	return REASON_NONE;
}

/* Is an input usable: complete in itself, its columns at hand? */
static BucketReason
CheckInput(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_JOINREL)
		return REASON_PARTITIONED;
	if (!bms_is_empty(rel->lateral_relids))
		return REASON_LATERAL;
	if (IS_DUMMY_REL(rel))
		return REASON_PROVEN_EMPTY;
	return CheckTarget(root, rel->reltarget->exprs, rel->reloptkind == RELOPT_BASEREL);
}

/* Volatile conditions keep core's order of evaluation; one-time filters are core's. */
static BucketReason
CheckClauses(List *restrictlist)
{
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			return REASON_ONE_TIME_FILTER;
		/* kept in the RestrictInfo */
		if (contain_volatile_functions((Node *) rinfo))
			return REASON_VOLATILE;
	}
	return REASON_NONE;
}

/*
 * May EvalPlanQual run the plan again, for one row that was locked or changed
 * meanwhile?  The nodes of joins would return all rows again.  It does so for
 * rows that are locked and for heap tables that are changed; what is changed of
 * ours is locked before.
 */
bool
RowsAreRechecked(PlannerInfo *root)
{
	int			rti = -1;
	ListCell   *lc;

	foreach(lc, root->rowMarks)
	{
		if (lfirst_node(PlanRowMark, lc)->strength != LCS_NONE)
			return true;
	}
	while (root->rowMarks != NIL && (rti = bms_next_member(root->leaf_result_relids, rti)) >= 0)
	{
		if (!IsBucketTable(planner_rt_fetch(rti, root)->relid))
			return true;
	}
	return root->rowMarks != NIL && bms_is_empty(root->leaf_result_relids);
}

/* Does the statement let joins be made by buckets? */
static BucketReason
CheckStatement(PlannerInfo *root)
{
	if (!bf_enable || !bf_enable_bucketjoin)
		return REASON_DISABLED;

	return RowsAreRechecked(root) ? REASON_ROW_MARKS : REASON_NONE;
}

BucketReason
JoinCheck(JoinCandidate *join)
{
	PlannerInfo *root = join->root;
	BucketReason reason = CheckStatement(root);

	if (reason != REASON_NONE)
		return reason;
	join->outers = BucketInputs(root, join->outerrel);
	join->inners = join->outers == NIL ? NIL : BucketInputs(root, join->innerrel);
	if (join->inners == NIL)
	{
		join->culprit = join->outers == NIL ? join->outerrel : join->innerrel;
		return REASON_NOT_BUCKETED;
	}
	return JoinCheckForm(join);
}

/* What JoinCheckForm finds out. */
static BucketReason
CheckForm(JoinCandidate *join)
{
	RelOptInfo *inputs[2] = {join->outerrel, join->innerrel};
	BucketReason reason = CheckStatement(join->root);

	if (reason != REASON_NONE)
		return reason;
	for (int i = 0; i < 2; i++)
	{
		reason = CheckInput(join->root, inputs[i]);
		if (reason != REASON_NONE)
		{
			join->culprit = inputs[i];
			return reason;
		}
	}
	if (!bms_is_empty(join->joinrel->lateral_relids))
		return REASON_LATERAL;
	/* somebody else keeps his own things with the join */
	if (!BucketedAllowed(join->joinrel))
		return REASON_NOT_BUCKETED;
	reason = CheckTarget(join->root, join->joinrel->reltarget->exprs, true);
	if (reason == REASON_NONE)
		reason = CheckClauses(join->restrictlist);
	if (reason == REASON_NONE)
		JoinClausesSplit(join->root, join->restrictlist, join->jointype, join->joinrel,
						 join->outerrel, join->innerrel, &join->clauses);
	return reason;
}

BucketReason
JoinCheckForm(JoinCandidate *join)
{
	if (!join->form_known)
		join->form = CheckForm(join);
	join->form_known = true;
	return join->form;
}

bool
IsJoinEquality(RestrictInfo *rinfo)
{
	return rinfo->can_join && rinfo->mergeopfamilies != NIL && IsA(rinfo->clause, OpExpr) &&
		list_length(((OpExpr *) rinfo->clause)->args) == 2;
}

bool
LevelHoldsBucketedTable(PlannerInfo *root)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && (BucketRelInfoGet(rel) != NULL ||
							(rel->subroot != NULL && LevelHoldsBucketedTable(rel->subroot))))
			return true;
	}
	return false;
}

bool
HoldsBucketedTable(PlannerInfo *root, RelOptInfo *rel)
{
	int			rti = -1;

	while ((rti = bms_next_member(rel->relids, rti)) >= 0)
	{
		RelOptInfo *base = rti < root->simple_rel_array_size ? root->simple_rel_array[rti] : NULL;
		ListCell   *lc;

		if (base == NULL)
			continue;
		if (BucketRelInfoGet(base) != NULL)
			return true;
		if (base->subroot != NULL && LevelHoldsBucketedTable(base->subroot))
			return true;
		if (!IS_SIMPLE_REL(base) || !planner_rt_fetch(rti, root)->inh)
			continue;
		foreach(lc, root->append_rel_list)
		{
			AppendRelInfo *child = lfirst_node(AppendRelInfo, lc);
			RelOptInfo *childrel = root->simple_rel_array[child->child_relid];

			if (child->parent_relid == rti && childrel != NULL &&
				HoldsBucketedTable(root, childrel))
				return true;
		}
	}
	return false;
}
