/*
 * implied_qual.c
 *	  What conditions that are tested row by row say of one column.
 *
 * Who reads a table page by page asks for the rows behind the last one seen, by
 * (a, b) > (x, y) or by a > x OR (a = x AND b > y).  Both want no row below
 * a = x: by that, blocks are skipped.  The condition itself is tested as ever.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/implied_qual.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* One comparison of an arm of an OR. */
typedef struct ArmPick
{
	Expr	   *clause;
	LeafQual	qual;
	List	   *values;
} ArmPick;

/* A strict bound without its strictness. */
static int
BoundStrategy(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			return BTLessEqualStrategyNumber;
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			return BTGreaterEqualStrategyNumber;
		default:
			return 0;
	}
}

/* left <= right, or >=, whichever follows from the operator; NULL: there is none. */
static Expr *
BoundClause(Oid opno, Oid family, Node *left, Node *right, Oid collation)
{
	int			strategy = BoundStrategy(get_op_opfamily_strategy(opno, family));
	Oid			lefttype;
	Oid			righttype;
	Oid			bound;
	Expr	   *clause;

	if (strategy == 0)
		return NULL;
	op_input_types(opno, &lefttype, &righttype);
	bound = get_opfamily_member(family, lefttype, righttype, (int16) strategy);
	if (!OidIsValid(bound))
		return NULL;
	clause = make_opclause(bound, BOOLOID, false, copyObject((Expr *) left), copyObject((Expr *) right),
						   InvalidOid, collation);
	set_opfuncid((OpExpr *) clause);
	return clause;
}

/*
 * Of a comparison of rows, what it says of the first columns.  Where one of
 * these is NULL the comparison is, so that the bound is as strict as it is.
 */
static Expr *
FirstOfRow(RowCompareExpr *row)
{
	return BoundClause(linitial_oid(row->opnos), linitial_oid(row->opfamilies), linitial(row->largs),
					   linitial(row->rargs), linitial_oid(row->inputcollids));
}

/* Is the clause a comparison of a column, which is attnum unless that is 0? */
static bool
IsPick(Expr *clause, Index varno, AttrNumber attnum, ArmPick *pick)
{
	pick->clause = clause;
	return !is_orclause(clause) && BatchQualFromClause(clause, varno, &pick->qual, &pick->values) &&
		!LeafQualIsBucket(&pick->qual) && !LeafQualHasArms(&pick->qual) && pick->qual.op != LEAF_COLUMNS &&
		!LeafQualMayFail(&pick->qual) && (attnum == 0 || pick->qual.attnum == attnum);
}

static List *
ArmConditions(Expr *arm)
{
	return is_andclause(arm) ? ((BoolExpr *) arm)->args : list_make1(arm);
}

/* A comparison of the column in each arm, into picks; false if one has none. */
static bool
PickColumn(List *arms, Index varno, AttrNumber attnum, ArmPick *picks)
{
	ListCell   *lc;
	int			n = 0;

	foreach(lc, arms)
	{
		bool		found = false;
		ListCell   *lc2;

		foreach(lc2, ArmConditions(lfirst(lc)))
		{
			found = IsPick(lfirst(lc2), varno, attnum, &picks[n]);
			if (found)
				break;
		}
		if (!found)
			return false;
		n++;
	}
	return true;
}

/*
 * Does a comparison want what a bound allows: the same value, or what is beyond
 * it on the same side?  Both sides must be written alike: a constant of another
 * type may have been rounded.
 */
static bool
WithinBound(const ArmPick *pick, const ArmPick *bound)
{
	bool		above = bound->qual.op == LEAF_GT || bound->qual.op == LEAF_GE;
	const OpExpr *a = (const OpExpr *) pick->clause;
	const OpExpr *b = (const OpExpr *) bound->clause;

	return IsA(a, OpExpr) && a->inputcollid == b->inputcollid &&
		((equal(linitial(a->args), linitial(b->args)) && equal(lsecond(a->args), lsecond(b->args))) ||
		 (equal(linitial(a->args), lsecond(b->args)) && equal(lsecond(a->args), linitial(b->args)))) &&
		(pick->qual.op == LEAF_EQ ||
		 (above ? pick->qual.op == LEAF_GT || pick->qual.op == LEAF_GE :
		  pick->qual.op == LEAF_LT || pick->qual.op == LEAF_LE));
}

/* The one bound that all picks keep: a >= x of a > x and a = x; NULL: there is none. */
static Expr *
CommonBound(const ArmPick *picks, int n)
{
	const ArmPick *bound = NULL;
	OpExpr	   *op;
	Oid			lefttype;
	Oid			righttype;

	for (int i = 0; i < n && bound == NULL; i++)
	{
		if (IsA(picks[i].clause, OpExpr) && picks[i].qual.op >= LEAF_LT && picks[i].qual.op <= LEAF_GE)
			bound = &picks[i];
	}
	if (bound == NULL)
		return NULL;
	for (int i = 0; i < n; i++)
	{
		if (!WithinBound(&picks[i], bound))
			return NULL;
	}
	op = (OpExpr *) bound->clause;
	op_input_types(op->opno, &lefttype, &righttype);
	return BoundClause(op->opno, lookup_type_cache(lefttype, TYPECACHE_BTREE_OPFAMILY)->btree_opf,
					   linitial(op->args), lsecond(op->args), op->inputcollid);
}

/* What an OR says of a column that each of its arms compares. */
static Expr *
ColumnOfOr(List *arms, Index varno)
{
	int			n = list_length(arms);
	ArmPick    *picks = palloc(n * sizeof(ArmPick));
	ListCell   *lc;

	foreach(lc, ArmConditions(linitial(arms)))
	{
		ArmPick		first;
		List	   *chosen = NIL;
		List	   *values;
		LeafQual	qual;
		Expr	   *clause;
		Expr	   *bound;

		if (!IsPick(lfirst(lc), varno, 0, &first) || !PickColumn(arms, varno, first.qual.attnum, picks))
			continue;
		for (int i = 0; i < n; i++)
			chosen = lappend(chosen, copyObject(picks[i].clause));
		clause = make_orclause(chosen);
		/* values are wanted although core might never compute them */
		if (!BatchQualFromClause(clause, varno, &qual, &values) || LeafQualMayFail(&qual))
			continue;
		bound = CommonBound(picks, n);
		return bound != NULL ? bound : clause;
	}
	return NULL;
}

Expr *
ImpliedClause(Expr *clause, Index varno, bool tested)
{
	Expr	   *implied = NULL;
	LeafQual	qual;
	List	   *values;

	if (IsA(clause, RowCompareExpr))
		implied = FirstOfRow((RowCompareExpr *) clause);
	else if (is_orclause(clause))
		implied = ColumnOfOr(((BoolExpr *) clause)->args, varno);
	if (implied == NULL || (tested && !IsA(implied, OpExpr)) ||
		!BatchQualFromClause(implied, varno, &qual, &values) || LeafQualMayFail(&qual) || qual.op == LEAF_COLUMNS)
		return NULL;
	return implied;
}
