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
StripToColumn(Node *node)
{
	node = StripCasts(node);
	if (node == NULL || !IsA(node, Var) || ((Var *) node)->varlevelsup != 0 || BfVarIsNullable((Var *) node))
		return NULL;
	return (Var *) node;
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
SideIsKey(const KeyEquality *equality, int side, const BucketInput *input, int k, bool *exactly)
{
	EquivalenceClass *ec = equality->classes[side];
	ListCell   *lc;

	*exactly = IsKeyExpr(equality->sides[side], input->vars[k], equality->keyclass);
	if (*exactly)
		return true;
	foreach(lc, ec ? ec->ec_members : NIL)
	{
		EquivalenceMember *em = lfirst(lc);

		if (!em->em_is_child && !em->em_is_const &&
			IsKeyExpr(StripNumericCast((Node *) em->em_expr), input->vars[k], equality->keyclass))
			return true;
	}
	return false;
}

bool
EqualityIsOfKeys(const KeyEquality *equality, const BucketInput *outer, const BucketInput *inner, int k,
				 bool *exactly)
{
	bool		exactly_inner;

	if (!KeyClassesMeet(outer->classes[k], equality->keyclass) ||
		!KeyClassesMeet(inner->classes[k], equality->keyclass) ||
		!SideIsKey(equality, 0, outer, k, exactly) || !SideIsKey(equality, 1, inner, k, &exactly_inner))
		return false;
	*exactly &= exactly_inner;
	return true;
}

/*
 * The class by which the two sides may be replaced by others.  In the result of
 * an inner or semi join all members of a class are equal; of an outer join's
 * clauses that is not so.
 */
static EquivalenceClass *
ClassOfSide(EquivalenceClass *ec, JoinType jointype)
{
	if ((jointype != JOIN_INNER && jointype != JOIN_SEMI) ||
		ec == NULL || ec->ec_has_volatile || BfEclassBelowOuterJoin(ec))
		return NULL;
	return ec;
}

/* Fill in what is known of a condition if it is an equality of keys, except its place. */
static bool
FindKeyEquality(PlannerInfo *root, RestrictInfo *rinfo, JoinType jointype, RelOptInfo *outerrel,
				RelOptInfo *innerrel, KeyEquality *equality)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Node	   *outer;
	bool		swapped;

	if (rinfo->pseudoconstant || !rinfo->can_join || !IsA(op, OpExpr) ||
		list_length(op->args) != 2 ||
		rinfo->mergeopfamilies == NIL || !OidIsValid(rinfo->hashjoinoperator))
		return false;
	outer = ClauseSide(rinfo, outerrel->relids, innerrel->relids);
	if (outer == NULL ||
		KeyOperatorStrategy(op->opno, &equality->keyclass) != BTEqualStrategyNumber ||
		!CollationAllows(equality->keyclass, op->inputcollid, false))
		return false;
	swapped = outer == lsecond(op->args);
	equality->sides[0] = StripCasts(StripNumericCast(outer));
	equality->sides[1] = StripCasts(StripNumericCast(swapped ? linitial(op->args) : lsecond(op->args)));
	update_mergeclause_eclasses(root, rinfo);
	equality->classes[0] = ClassOfSide(swapped ? rinfo->right_ec : rinfo->left_ec, jointype);
	equality->classes[1] = ClassOfSide(swapped ? rinfo->left_ec : rinfo->right_ec, jointype);
	return true;
}

void
JoinClausesSplit(PlannerInfo *root, List *restrictlist, JoinType jointype, RelOptInfo *joinrel,
				 RelOptInfo *outerrel, RelOptInfo *innerrel, JoinClauses *clauses)
{
	ListCell   *lc;

	memset(clauses, 0, sizeof(*clauses));
	if (!IS_OUTER_JOIN(jointype))
		clauses->joinquals = restrictlist;
	foreach(lc, IS_OUTER_JOIN(jointype) ? restrictlist : NIL)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			clauses->otherquals = lappend(clauses->otherquals, rinfo);
		else
			clauses->joinquals = lappend(clauses->joinquals, rinfo);
	}
	if (clauses->joinquals == NIL)
		return;
	clauses->equalities = palloc(list_length(clauses->joinquals) * sizeof(KeyEquality));
	foreach(lc, clauses->joinquals)
	{
		KeyEquality *equality = &clauses->equalities[clauses->nequalities];

		if (!FindKeyEquality(root, lfirst_node(RestrictInfo, lc), jointype, outerrel, innerrel, equality))
			continue;
		equality->place = foreach_current_index(lc);
		clauses->nequalities++;
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
JoinKeysMatch(PlannerInfo *root, const BucketInput *outer, const BucketInput *inner, JoinClauses *clauses)
{
	uint64		said = 0;		/* by the merge: bits of the first 64 clauses, the others are tested on pairs */
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
		for (int i = 0; i < clauses->nequalities; i++)
		{
			const KeyEquality *equality = &clauses->equalities[i];
			bool		exactly;

			if (!EqualityIsOfKeys(equality, outer, inner, k, &exactly))
				continue;
			found = true;
			/* reached through an equivalence class, the clause itself must still be tested */
			if (exactly && equality->place < 64)
				said |= UINT64CONST(1) << equality->place;
		}
		equated |= found;
		if (!found && !(outer->fixed && inner->fixed && KeyIsFixed(root, outer, inner, k)))
			return k > 0 ? REASON_JOIN_KEYS_SUBSET : REASON_KEY_NOT_EQUAL_JOINED;
	}
	/* all keys are constants: nothing to merge by */
	if (!equated)
		return REASON_KEY_NOT_EQUAL_JOINED;
	foreach(lc, clauses->joinquals)
	{
		int			place = foreach_current_index(lc);

		if (place >= 64 || (said & (UINT64CONST(1) << place)) == 0)
			clauses->residual = lappend(clauses->residual, lfirst(lc));
	}
	return REASON_NONE;
}
