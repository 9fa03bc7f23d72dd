/*
 * batch_qual.c
 *	  Which restriction clauses can be applied to whole batches.
 *
 * The executor must not notice the difference, so the list is closed: btree
 * operators of the default operator class of types in one key class, whose
 * meaning KeyCompare defines.  A clause that is turned down here is evaluated
 * row by row by the executor as ever.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "plan/batch_qual.h"
#include "spec/collation.h"
#include "utils/lsyscache.h"

int
KeyOperatorStrategy(Oid opno, KeyClass *keyclass)
{
	Oid			left;
	Oid			right;
	Oid			opclass;

	op_input_types(opno, &left, &right);
	*keyclass = KeyClassOfType(left);
	if (*keyclass == KEYCLASS_NONE || KeyClassOfType(right) != *keyclass)
		return 0;
	opclass = GetDefaultOpClass(left, BTREE_AM_OID);
	if (!OidIsValid(opclass))
		return 0;
	return get_op_opfamily_strategy(opno, get_opclass_family(opclass));
}

bool
CollationAllows(KeyClass keyclass, Oid collation, bool for_order)
{
	if (keyclass != KEYCLASS_TEXT && keyclass != KEYCLASS_BPCHAR)
		return true;
	if (!OidIsValid(collation))
		return false;
	if (for_order)
		return CollationIsC(collation);
	return get_collation_isdeterministic(collation);
}

/* The column a clause side is, looking through binary-compatible casts. */
static Var *
ColumnOf(Node *node, Index varno)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node != NULL && IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == varno && var->varlevelsup == 0 && var->varattno > 0)
			return var;
	}
	return NULL;
}

/* Fixed for one execution: no column, nothing volatile, no correlated subplan. */
static bool
IsRunTimeConstant(Node *node)
{
	return !contain_var_clause(node) &&
		!contain_volatile_functions(node) &&
		!contain_subplans(node);
}

static bool
QualFromOp(OpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Var		   *column;
	Node	   *other;
	Oid			opno = op->opno;
	KeyClass	keyclass;
	int			strategy;

	if (list_length(op->args) != 2)
		return false;
	column = ColumnOf(linitial(op->args), varno);
	other = lsecond(op->args);
	if (column == NULL)
	{
		column = ColumnOf(lsecond(op->args), varno);
		other = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (column == NULL || !OidIsValid(opno) || !IsRunTimeConstant(other))
		return false;

	strategy = KeyOperatorStrategy(opno, &keyclass);
	if (strategy == 0)
	{
		Oid			negator = get_negator(opno);

		if (!OidIsValid(negator) ||
			KeyOperatorStrategy(negator, &keyclass) != BTEqualStrategyNumber)
			return false;
		qual->op = LEAF_NE;
	}
	else
	{
		switch (strategy)
		{
			case BTLessStrategyNumber:
				qual->op = LEAF_LT;
				break;
			case BTLessEqualStrategyNumber:
				qual->op = LEAF_LE;
				break;
			case BTEqualStrategyNumber:
				qual->op = LEAF_EQ;
				break;
			case BTGreaterEqualStrategyNumber:
				qual->op = LEAF_GE;
				break;
			case BTGreaterStrategyNumber:
				qual->op = LEAF_GT;
				break;
			default:
				return false;
		}
	}
	qual->attnum = column->varattno;
	qual->keyclass = keyclass;
	qual->coltype = getBaseType(column->vartype);
	qual->valuetype = getBaseType(exprType(other));
	if (KeyClassOfType(qual->coltype) != keyclass || KeyClassOfType(qual->valuetype) != keyclass ||
		!CollationAllows(keyclass, op->inputcollid,
						 qual->op != LEAF_EQ && qual->op != LEAF_NE))
		return false;
	*value = (Expr *) other;
	return true;
}

static bool
QualFromArrayOp(ScalarArrayOpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Var		   *column = ColumnOf(linitial(op->args), varno);
	Node	   *array = lsecond(op->args);
	KeyClass	keyclass;

	if (column == NULL || !op->useOr || !IsRunTimeConstant(array) ||
		KeyOperatorStrategy(op->opno, &keyclass) != BTEqualStrategyNumber)
		return false;
	qual->op = LEAF_ANY;
	qual->attnum = column->varattno;
	qual->keyclass = keyclass;
	qual->coltype = getBaseType(column->vartype);
	qual->valuetype = get_base_element_type(exprType(array));
	if (!OidIsValid(qual->valuetype))
		return false;
	qual->valuetype = getBaseType(qual->valuetype);
	if (KeyClassOfType(qual->coltype) != keyclass || KeyClassOfType(qual->valuetype) != keyclass ||
		!CollationAllows(keyclass, op->inputcollid, false))
		return false;
	*value = (Expr *) array;
	return true;
}

bool
BatchQualFromClause(Expr *clause, Index varno, LeafQual *qual, Expr **value)
{
	memset(qual, 0, sizeof(*qual));
	*value = NULL;
	if (IsA(clause, OpExpr))
		return QualFromOp((OpExpr *) clause, varno, qual, value);
	if (IsA(clause, ScalarArrayOpExpr))
		return QualFromArrayOp((ScalarArrayOpExpr *) clause, varno, qual, value);
	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;
		Var		   *column = ColumnOf((Node *) test->arg, varno);

		/* a row value IS NULL has another meaning */
		if (column == NULL || test->argisrow)
			return false;
		qual->op = test->nulltesttype == IS_NULL ? LEAF_ISNULL : LEAF_NOTNULL;
		qual->attnum = column->varattno;
		qual->coltype = getBaseType(column->vartype);
		return true;
	}
	return false;
}
