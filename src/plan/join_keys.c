/*
 * join_keys.c
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 *
 * A wrong answer here loses rows, so the test is by kind of equality: the
 * operator's declared inputs, and the columns under any cast, must be of one
 * key class.  Binary-compatible casts between classes (int4 to oid, citext to
 * text) thereby fail, and so do cross-type operators of other meaning (date =
 * timestamp).
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "plan/batch_qual.h"
#include "plan/join_keys.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Casts that keep value, equality and order inside a class. */
static bool
IsWideningCast(Oid funcid)
{
	switch (funcid)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_FLOAT8_FLOAT4:
			return true;
		default:
			return false;
	}
}

/* The column an expression is, under casts that do not change its value. */
static Var *
StripToColumn(Node *node)
{
	for (;;)
	{
		if (node == NULL)
			return NULL;
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, FuncExpr) && IsWideningCast(((FuncExpr *) node)->funcid))
			node = (Node *) linitial(((FuncExpr *) node)->args);
		else
			break;
	}
	if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 0 || BfVarIsNullable((Var *) node))
		return NULL;
	return (Var *) node;
}

/* Is the expression this column of this relation? */
static bool
IsColumn(Node *node, Index relid, const SortColumn *col)
{
	Var		   *var = StripToColumn(node);

	return var != NULL && var->varno == relid && var->varattno == col->attnum &&
		KeyClassOfType(getBaseType(var->vartype)) == col->keyclass;
}

/*
 * Does a clause side stand for the column, itself or through its equivalence
 * class?  For an inner join all members of a class are equal in every row.
 */
static bool
SideIsColumn(Node *side, EquivalenceClass *ec, Index relid, const SortColumn *col)
{
	ListCell   *lc;

	if (IsColumn(side, relid, col))
		return true;
	if (ec == NULL || ec->ec_has_volatile || BfEclassBelowOuterJoin(ec))
		return false;
	foreach(lc, ec->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);

		if (!em->em_is_child && !em->em_is_const &&
			IsColumn((Node *) em->em_expr, relid, col))
			return true;
	}
	return false;
}

/* Does the clause equate column a of rel x with column b of rel y? */
static bool
ClauseEquates(PlannerInfo *root, RestrictInfo *rinfo,
			  RelOptInfo *x, const SortColumn *a, RelOptInfo *y, const SortColumn *b)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	KeyClass	keyclass;
	Node	   *left;
	Node	   *right;
	bool		swapped;

	if (rinfo->pseudoconstant || !rinfo->can_join || !IsA(op, OpExpr) ||
		list_length(op->args) != 2 ||
		rinfo->mergeopfamilies == NIL || !OidIsValid(rinfo->hashjoinoperator))
		return false;
	if (KeyOperatorStrategy(op->opno, &keyclass) != BTEqualStrategyNumber ||
		keyclass != a->keyclass || keyclass != b->keyclass ||
		!CollationAllows(keyclass, op->inputcollid, false))
		return false;

	left = linitial(op->args);
	right = lsecond(op->args);
	if (bms_is_subset(rinfo->left_relids, x->relids) &&
		bms_is_subset(rinfo->right_relids, y->relids))
		swapped = false;
	else if (bms_is_subset(rinfo->left_relids, y->relids) &&
			 bms_is_subset(rinfo->right_relids, x->relids))
		swapped = true;
	else
		return false;
	if (bms_is_empty(rinfo->left_relids) || bms_is_empty(rinfo->right_relids))
		return false;

	update_mergeclause_eclasses(root, rinfo);
	return SideIsColumn(swapped ? right : left,
						swapped ? rinfo->right_ec : rinfo->left_ec, x->relid, a) &&
		SideIsColumn(swapped ? left : right,
					 swapped ? rinfo->left_ec : rinfo->right_ec, y->relid, b);
}

/* Is the clause wholly said by the merge: exactly the two columns, no detour? */
static bool
ClauseIsExactly(RestrictInfo *rinfo, RelOptInfo *x, const SortColumn *a,
				RelOptInfo *y, const SortColumn *b)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Node	   *left = linitial(op->args);
	Node	   *right = lsecond(op->args);

	return (IsColumn(left, x->relid, a) && IsColumn(right, y->relid, b)) ||
		(IsColumn(right, x->relid, a) && IsColumn(left, y->relid, b));
}

bool
JoinKeysFind(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner,
			 List *restrictlist, JoinKeys *keys)
{
	const BucketSpec *os = BucketRelInfoGet(outer)->options->spec;
	const BucketSpec *is = BucketRelInfoGet(inner)->options->spec;
	List	   *said = NIL;
	ListCell   *lc;

	memset(keys, 0, sizeof(*keys));
	if (os->nkeys != is->nkeys || os->hash_version != is->hash_version)
		return false;
	for (int k = 0; k < os->nkeys; k++)
	{
		bool		found = false;

		foreach(lc, restrictlist)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

			if (!ClauseEquates(root, rinfo, outer, &os->sort[k], inner, &is->sort[k]))
				continue;
			found = true;
			/* reached through an equivalence class: the clause itself must still be tested */
			if (ClauseIsExactly(rinfo, outer, &os->sort[k], inner, &is->sort[k]))
				said = list_append_unique_ptr(said, rinfo);
		}
		if (!found)
			return false;
		keys->outer_attnums = lappend_int(keys->outer_attnums, os->sort[k].attnum);
		keys->inner_attnums = lappend_int(keys->inner_attnums, is->sort[k].attnum);
	}
	foreach(lc, restrictlist)
	{
		if (!list_member_ptr(said, lfirst(lc)))
			keys->residual = lappend(keys->residual, lfirst(lc));
	}
	return true;
}
