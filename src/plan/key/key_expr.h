/*
 * key_expr.h
 *	  The expressions that are a bucket key: columns, and the merged column of
 *	  a full join, COALESCE of the keys of both sides.
 */
#ifndef BF_KEY_EXPR_H
#define BF_KEY_EXPR_H

#include "nodes/pathnodes.h"
#include "spec/key_class.h"

/* An expression without casts that keep value, equality and order inside a key class. */
extern Node *StripCasts(Node *node);

/* What an expression is under casts that change nothing. */
static inline Node *
StripRelabels(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/*
 * Is the expression one of a key's?  Casts aside, it must be of a class that
 * meets the key's, and name the very columns: a column that an outer join above may
 * have set to NULL is another one.
 */
extern bool IsKeyExpr(Node *expr, const List *key, KeyClass keyclass);

/* Are all columns among the expressions of the second list key expressions of the first? */
extern bool KeyHasColumns(const List *key, const List *exprs);

/* Do two lists of key expressions hold the same columns, or, where there is none, the same merged ones? */
extern bool SameKeyExprs(const List *a, const List *b);

/*
 * What equals the key in each row of a join: COALESCE of a key expression of
 * each side; ojrelid is the number of the join where it sets columns of that
 * side to NULL, else 0.
 */
extern List *MergedKeyExprs(const List *outer, int outer_ojrelid,
							const List *inner, int inner_ojrelid);

/* For names: a column that stands in a key expression, and the whole as text. */
extern Var *KeyExprColumn(Node *expr);
extern char *KeyExprLabel(PlannerInfo *root, Node *expr);

#endif							/* BF_KEY_EXPR_H */
