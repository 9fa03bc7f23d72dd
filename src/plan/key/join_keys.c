/*
 * join_keys.c
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 *
 * A wrong answer here loses rows, so the test is by kind of equality: the
 * operator's declared inputs, and the columns under any cast, must be of one
 * key class; only integers may stand against numerics, as numerics.  Binary-compatible casts between classes (int4 to oid, citext to
 * text) thereby fail, and so do cross-type operators of other meaning (date =
 * timestamp).
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "fmgr.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/key/join_keys.h"
#include "plan/key/key_expr.h"
#include "plan/rel/batch_qual.h"
#include "utils/lsyscache.h"

Var *
StripToKey(Node *node)
{
	return StripToColumn(StripNumericCast(node));
}

Var *
StripToColumn(Node *node)
{
	node = StripCasts(node);
	if (node == NULL || !IsA(node, Var) || ((Var *) node)->varlevelsup != 0 || BfVarIsNullable((Var *) node))
		return NULL;
	return (Var *) node;
}

/*
 * Does a clause side stand for the key, itself or through its equivalence
 * class?  In the result of an inner or semi join all members of a class are
 * equal; of an outer join's clauses that is not so.
 */
static bool
SideIsKey(Node *side, EquivalenceClass *ec, JoinType jointype, const List *vars,
		  KeyClass keyclass)
{
	ListCell   *lc;

	if (IsKeyExpr(StripNumericCast(side), vars, keyclass))
		return true;
	if ((jointype != JOIN_INNER && jointype != JOIN_SEMI) ||
		ec == NULL || ec->ec_has_volatile || BfEclassBelowOuterJoin(ec))
		return false;
	foreach(lc, ec->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);

		if (!em->em_is_child && !em->em_is_const &&
			IsKeyExpr(StripNumericCast((Node *) em->em_expr), vars, keyclass))
			return true;
	}
	return false;
}

Node *
ClauseSide(RestrictInfo *rinfo, Relids x, Relids y)
{
	List	   *args = ((OpExpr *) rinfo->clause)->args;

	if (bms_is_empty(rinfo->left_relids) || bms_is_empty(rinfo->right_relids))
		return NULL;
	if (bms_is_subset(rinfo->left_relids, x) && bms_is_subset(rinfo->right_relids, y))
		return linitial(args);
	if (bms_is_subset(rinfo->left_relids, y) && bms_is_subset(rinfo->right_relids, x))
		return lsecond(args);
	return NULL;
}

bool
ClauseEquates(PlannerInfo *root, RestrictInfo *rinfo, JoinType jointype,
			  RelOptInfo *x, const BucketInput *xinput,
			  RelOptInfo *y, const BucketInput *yinput, int k, bool *exactly)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	KeyClass	opclass;
	Node	   *xside;
	Node	   *yside;
	bool		swapped;

	if (rinfo->pseudoconstant || !rinfo->can_join || !IsA(op, OpExpr) ||
		list_length(op->args) != 2 ||
		rinfo->mergeopfamilies == NIL || !OidIsValid(rinfo->hashjoinoperator))
		return false;
	if (KeyOperatorStrategy(op->opno, &opclass) != BTEqualStrategyNumber ||
		!KeyClassesMeet(xinput->classes[k], opclass) ||
		!KeyClassesMeet(yinput->classes[k], opclass) ||
		!CollationAllows(opclass, op->inputcollid, false))
		return false;
	xside = ClauseSide(rinfo, x->relids, y->relids);
	if (xside == NULL)
		return false;
	swapped = xside == lsecond(op->args);
	yside = swapped ? linitial(op->args) : lsecond(op->args);

	update_mergeclause_eclasses(root, rinfo);
	*exactly = IsKeyExpr(StripNumericCast(xside), xinput->vars[k], opclass) &&
		IsKeyExpr(StripNumericCast(yside), yinput->vars[k], opclass);
	return *exactly ||
		(SideIsKey(xside, swapped ? rinfo->right_ec : rinfo->left_ec, jointype,
				   xinput->vars[k], opclass) &&
		 SideIsKey(yside, swapped ? rinfo->left_ec : rinfo->right_ec, jointype,
				   yinput->vars[k], opclass));
}

void
JoinClausesSplit(List *restrictlist, JoinType jointype, RelOptInfo *joinrel,
				 JoinClauses *clauses)
{
	ListCell   *lc;

	memset(clauses, 0, sizeof(*clauses));
	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IS_OUTER_JOIN(jointype) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			clauses->otherquals = lappend(clauses->otherquals, rinfo);
		else
			clauses->joinquals = lappend(clauses->joinquals, rinfo);
	}
}

/* The values that conditions on a table fix a key to. */
static List *
FixedValues(PlannerInfo *root, List *vars, KeyClass keyclass)
{
	List	   *values = NIL;
	ListCell   *lv;
	ListCell   *lc;

	foreach(lv, vars)
	{
		Var		   *var = lfirst(lv);

		/* of a merged column both sides would have to be looked at */
		if (!IsA(var, Var))
			continue;
		foreach(lc, find_base_rel(root, var->varno)->baserestrictinfo)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
			LeafQual	qual;
			List	   *value;

			if (!rinfo->pseudoconstant &&
				BatchQualFromClause(rinfo->clause, var->varno, &qual, &value) &&
				qual.op == LEAF_EQ && qual.attnum == var->varattno &&
				KeyClassesMeet(qual.keyclass, keyclass))
				values = list_concat(values, value);
		}
	}
	return values;
}

bool
KeyIsConstant(PlannerInfo *root, const BucketInput *input, int k)
{
	return FixedValues(root, input->vars[k], input->classes[k]) != NIL;
}

/* Are two values surely the same key?  Neither is volatile. */
static bool
SameValue(KeyClass keyclass, Node *a, Node *b)
{
	Datum		values[2];
	Oid			types[2];
	KeyClass	classes[2];

	if (equal(a, b))
		return true;
	for (int i = 0; i < 2; i++)
	{
		Const	   *value = (Const *) (i == 0 ? a : b);

		if (!IsA(value, Const) || value->constisnull)
			return false;
		types[i] = getBaseType(value->consttype);
		values[i] = value->constvalue;
		classes[i] = KeyClassOfType(types[i]);
		if (!KeyClassesMeet(classes[i], keyclass))
			return false;
		if (value->constlen == -1)
			values[i] = PointerGetDatum(PG_DETOAST_DATUM(values[i]));
	}
	return KeyCompareAcross(classes[0], types[0], values[0], classes[1], types[1], values[1]) == 0;
}

/*
 * Is the k-th key the same constant in all rows of both inputs?  Core drops
 * the condition between two columns when it finds one with a constant, as in
 * a query for one tenant.  What the scans let through is equal, whatever the
 * type of the join.
 */
static bool
KeyIsFixed(PlannerInfo *root, const BucketInput *x, const BucketInput *y, int k)
{
	List	   *xvalues = FixedValues(root, x->vars[k], x->classes[k]);
	List	   *yvalues = xvalues ? FixedValues(root, y->vars[k], y->classes[k]) : NIL;
	ListCell   *lx;
	ListCell   *ly;

	foreach(lx, xvalues)
	{
		foreach(ly, yvalues)
		{
			if (SameValue(x->classes[k], lfirst(lx), lfirst(ly)))
				return true;
		}
	}
	return false;
}

BucketReason
JoinKeysMatch(PlannerInfo *root, JoinType jointype,
			  RelOptInfo *outerrel, const BucketInput *outer,
			  RelOptInfo *innerrel, const BucketInput *inner,
			  JoinClauses *clauses)
{
	List	   *said = NIL;
	bool		equated = false;
	ListCell   *lc;

	clauses->residual = NIL;
	if (outer->nkeys != inner->nkeys)
		return REASON_BUCKET_COLUMNS_DIFFER;
	for (int k = 0; k < outer->nkeys; k++)
	{
		bool		found = false;

		if (!KeyClassesMeet(outer->classes[k], inner->classes[k]))
			return REASON_TYPE_CLASS;
		foreach(lc, clauses->joinquals)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
			bool		exactly;

			if (!ClauseEquates(root, rinfo, jointype, outerrel, outer, innerrel, inner, k,
							   &exactly))
				continue;
			found = true;
			/* reached through an equivalence class, the clause itself must still be tested */
			if (exactly)
				said = list_append_unique_ptr(said, rinfo);
		}
		equated |= found;
		if (!found && !KeyIsFixed(root, outer, inner, k))
			return k > 0 ? REASON_JOIN_KEYS_SUBSET : REASON_KEY_NOT_EQUAL_JOINED;
	}
	/* all keys are constants: nothing to merge by */
	if (!equated)
		return REASON_KEY_NOT_EQUAL_JOINED;
	foreach(lc, clauses->joinquals)
	{
		if (!list_member_ptr(said, lfirst(lc)))
			clauses->residual = lappend(clauses->residual, lfirst(lc));
	}
	return REASON_NONE;
}
