/*
 * qual_text.c
 *	  LIKE and its like on whole batches.
 */
#include "postgres.h"

#include "exec/qual/like_pattern.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/qual_parts.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* The operator of a function on a column of a class; false: it is none of ours. */
static bool
OpOfFunction(Oid funcid, LeafQualOp *op, KeyClass *keyclass)
{
	*keyclass = KEYCLASS_TEXT;
	switch (funcid)
	{
		case F_TEXTLIKE:
			*op = LEAF_LIKE;
			return true;
		case F_TEXTNLIKE:
			*op = LEAF_NOT_LIKE;
			return true;
		case F_BPCHARLIKE:
			/* of the value with its blanks */
			*op = LEAF_LIKE;
			*keyclass = KEYCLASS_BPCHAR;
			return true;
		case F_BPCHARNLIKE:
			*op = LEAF_NOT_LIKE;
			*keyclass = KEYCLASS_BPCHAR;
			return true;
		case F_STARTS_WITH:
			*op = LEAF_PREFIX;
			return true;
		default:
			return false;
	}
}

/* Of a pattern that only says what the text begins with: that, by which blocks and rows are found faster. */
static Const *
PrefixOfPattern(Datum pattern, int len, Oid collation)
{
	text	   *prefix = palloc(VARHDRSZ + len);

	SET_VARSIZE(prefix, VARHDRSZ + len);
	memcpy(VARDATA(prefix), VARDATA_ANY(DatumGetPointer(pattern)), len);
	return makeConst(TEXTOID, -1, collation, -1, PointerGetDatum(prefix), false, false);
}

bool
QualFromText(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	Oid			funcid;
	Oid			collation;
	List	   *args;
	Datum		pattern;
	int			len;

	if (IsA(clause, OpExpr))
	{
		funcid = ((OpExpr *) clause)->opfuncid;
		if (!OidIsValid(funcid))
			funcid = get_opcode(((OpExpr *) clause)->opno);
		collation = ((OpExpr *) clause)->inputcollid;
		args = ((OpExpr *) clause)->args;
	}
	else if (IsA(clause, FuncExpr))
	{
		funcid = ((FuncExpr *) clause)->funcid;
		collation = ((FuncExpr *) clause)->inputcollid;
		args = ((FuncExpr *) clause)->args;
	}
	else
		return false;

	/* characters of a deterministic collation are compared byte by byte */
	if (!OpOfFunction(funcid, &qual->op, &qual->keyclass) ||
		!CollationAllows(KEYCLASS_TEXT, collation, false) ||
		!QualColumnSide(linitial(args), varno, qual) || KeyClassOfType(qual->coltype) != qual->keyclass)
		return false;
	qual->valuetype = TEXTOID;
	*value = lsecond(args);
	if (qual->op == LEAF_PREFIX)
		return getBaseType(exprType(lsecond(args))) == TEXTOID && QualValueIsFixed(lsecond(args), varno);

	/* a pattern that becomes known later may be one that core must look at */
	if (!IsA(lsecond(args), Const) || lsecond_node(Const, args)->constisnull)
		return false;
	pattern = PointerGetDatum(PG_DETOAST_DATUM(lsecond_node(Const, args)->constvalue));
	len = LikePatternPrefix(pattern);
	if (len > 0 && qual->keyclass == KEYCLASS_TEXT)
	{
		qual->op = qual->op == LEAF_LIKE ? LEAF_PREFIX : LEAF_NOT_PREFIX;
		*value = (Expr *) PrefixOfPattern(pattern, len, collation);
		return true;
	}
	return LikePatternFits(pattern);
}
