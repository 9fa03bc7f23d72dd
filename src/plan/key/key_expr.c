/*
 * key_expr.c
 *	  The expressions that are a bucket key.
 *
 * A full join gives each row at the place of its key: that of the left row,
 * or of the right one where there is none.  Of the two columns each is NULL
 * in some rows, but COALESCE of them, which is what JOIN USING calls the
 * column, is the key in all.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "compat.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/key/key_expr.h"
#include "plan/words/reason.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* expressions made for a key; more are of no use to any query */
#define MAX_MERGED 16

/* Casts that keep value, equality and order inside a class. */
static bool
IsWideningCast(Oid funcid)
{
	return funcid == F_INT4_INT2 || funcid == F_INT8_INT2 || funcid == F_INT8_INT4 ||
		funcid == F_FLOAT8_FLOAT4;
}

/* The function that widens one type to another, else InvalidOid. */
static Oid
WideningCast(Oid from, Oid to)
{
	if (from == INT2OID && to == INT4OID)
		return F_INT4_INT2;
	if (from == INT2OID && to == INT8OID)
		return F_INT8_INT2;
	if (from == INT4OID && to == INT8OID)
		return F_INT8_INT4;
	if (from == FLOAT4OID && to == FLOAT8OID)
		return F_FLOAT8_FLOAT4;
	return InvalidOid;
}

Node *
StripCasts(Node *node)
{
	for (;;)
	{
		if (node && IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (node && IsA(node, FuncExpr) && IsWideningCast(((FuncExpr *) node)->funcid))
			node = (Node *) linitial(((FuncExpr *) node)->args);
		else
			return node;
	}
}

/* COALESCE of two; NULL: it is something else. */
static CoalesceExpr *
AsMerged(Node *node)
{
	if (node == NULL || !IsA(node, CoalesceExpr) ||
		list_length(((CoalesceExpr *) node)->args) != 2)
		return NULL;
	return (CoalesceExpr *) node;
}

/*
 * Is an expression that of a key?  In COALESCE the order does not matter:
 * where neither is NULL the keys are equal.
 */
static bool
SameExpr(Node *key, Node *expr)
{
	CoalesceExpr *merged;
	CoalesceExpr *other;

	key = StripCasts(key);
	expr = StripCasts(expr);
	if (key == NULL || expr == NULL)
		return false;
	if (IsA(key, Var))
		return IsA(expr, Var) && ((Var *) expr)->varno == ((Var *) key)->varno &&
			((Var *) expr)->varattno == ((Var *) key)->varattno &&
			((Var *) expr)->varlevelsup == 0 && BfSameNullingRels((Var *) key, (Var *) expr);
	merged = AsMerged(key);
	other = AsMerged(expr);
	if (merged == NULL || other == NULL)
		return false;
	return (SameExpr(linitial(merged->args), linitial(other->args)) &&
			SameExpr(lsecond(merged->args), lsecond(other->args))) ||
		(SameExpr(linitial(merged->args), lsecond(other->args)) &&
		 SameExpr(lsecond(merged->args), linitial(other->args)));
}

bool
IsKeyExpr(Node *expr, const List *key, KeyClass keyclass)
{
	ListCell   *lc;

	expr = StripCasts(expr);
	if (expr == NULL)
		return false;
	foreach(lc, key)
	{
		const Node *node = lfirst(lc);

		/* nearly all are columns, and other ones */
		if (IsA(node, Var) && (!IsA(expr, Var) || ((Var *) node)->varno != ((Var *) expr)->varno))
			continue;
		/* under COALESCE all is of its type, so that the class of the columns need not be asked for */
		if (SameExpr(lfirst(lc), expr))
			return KeyClassesMeet(KeyClassOfType(getBaseType(exprType(expr))), keyclass);
	}
	return false;
}

bool
KeyHasColumns(const List *key, const List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		bool		found = false;
		ListCell   *lk;

		if (!IsA(lfirst(lc), Var))
			continue;
		foreach(lk, key)
			found = found || SameExpr(lfirst(lk), lfirst(lc));
		if (!found)
			return false;
	}
	return true;
}

/* The columns of a key, or what is merged when there is none. */
static List *
Columns(const List *key)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, key)
	{
		if (IsA(lfirst(lc), Var))
			columns = lappend(columns, lfirst(lc));
	}
	return columns != NIL ? columns : (List *) key;
}

bool
SameKeyExprs(const List *a, const List *b)
{
	ListCell   *la;

	a = Columns(a);
	b = Columns(b);
	if (list_length(a) != list_length(b))
		return false;
	foreach(la, a)
	{
		bool		found = false;
		ListCell   *lb;

		foreach(lb, b)
			found |= SameExpr(lfirst(la), lfirst(lb));
		if (!found)
			return false;
	}
	return true;
}

/* An expression as it is above an outer join. */
static Node *
AboveJoin(Node *node, int ojrelid)
{
	return ojrelid > 0 ? BfAddNullingRel(node, ojrelid) : (Node *) copyObject(node);
}

/* The expression in the wider of two types of a class; NULL when there is none. */
static Node *
InType(Node *node, Oid type, int32 typmod, Oid collation)
{
	Oid			from = exprType(node);
	Oid			cast;

	if (from == type)
		return node;
	cast = WideningCast(getBaseType(from), type);
	if (OidIsValid(cast))
		return (Node *) makeFuncExpr(cast, type, list_make1(node), InvalidOid, InvalidOid,
									 COERCE_IMPLICIT_CAST);
	/* varchar to text, a domain to its base type */
	if (getBaseType(from) == type || (getBaseType(from) == VARCHAROID && type == TEXTOID))
		return (Node *) makeRelabelType((Expr *) node, type, typmod, collation,
										COERCE_IMPLICIT_CAST);
	return NULL;
}

static Node *
Merge(Node *outer, int outer_ojrelid, Node *inner, int inner_ojrelid)
{
	CoalesceExpr *merged;
	Oid			type = getBaseType(exprType(outer));
	Oid			other = getBaseType(exprType(inner));
	Oid			collation = exprCollation(outer);
	int32		typmod = exprTypmod(outer) == exprTypmod(inner) ? exprTypmod(outer) : -1;
	Node	   *args[2];

	if (type != other)
	{
		if (OidIsValid(WideningCast(type, other)) || (type == VARCHAROID && other == TEXTOID))
			type = other;
		typmod = -1;
	}
	args[0] = InType(AboveJoin(outer, outer_ojrelid), type, typmod, collation);
	args[1] = InType(AboveJoin(inner, inner_ojrelid), type, typmod, collation);
	if (args[0] == NULL || args[1] == NULL)
		return NULL;
	merged = makeNode(CoalesceExpr);
	merged->coalescetype = type;
	merged->coalescecollid = collation;
	merged->args = list_make2(args[0], args[1]);
	merged->location = -1;
	return (Node *) merged;
}

List *
MergedKeyExprs(const List *outer, int outer_ojrelid,
			   const List *inner, int inner_ojrelid)
{
	List	   *result = NIL;
	ListCell   *lo;
	ListCell   *li;

	foreach(lo, outer)
	{
		foreach(li, inner)
		{
			Node	   *merged;

			if (list_length(result) == MAX_MERGED)
				return result;
			merged = Merge(lfirst(lo), outer_ojrelid, lfirst(li), inner_ojrelid);
			if (merged != NULL)
				result = lappend(result, merged);
		}
	}
	return result;
}

Var *
KeyExprColumn(Node *expr)
{
	expr = StripCasts(expr);
	while (expr != NULL && IsA(expr, CoalesceExpr))
		expr = StripCasts(linitial(((CoalesceExpr *) expr)->args));
	return castNode(Var, expr);
}

char *
KeyExprLabel(PlannerInfo *root, Node *expr)
{
	expr = StripCasts(expr);
	if (IsA(expr, CoalesceExpr))
	{
		List	   *args = ((CoalesceExpr *) expr)->args;

		return psprintf("COALESCE(%s, %s)", KeyExprLabel(root, linitial(args)),
						KeyExprLabel(root, lsecond(args)));
	}
	return ColumnLabel(root, castNode(Var, expr));
}
