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
#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "plan/batch_qual.h"
#include "spec/collation.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

int
KeyOperatorStrategy(Oid opno, KeyClass *keyclass)
{
	Oid			left;
	Oid			right;
	TypeCacheEntry *type;

	op_input_types(opno, &left, &right);
	*keyclass = KeyClassOfType(left);
	if (*keyclass == KEYCLASS_NONE || KeyClassOfType(right) != *keyclass)
		return 0;
	/* GetDefaultOpClass reads the catalog each time, the type cache keeps the answer */
	type = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY);
	if (!OidIsValid(type->btree_opf))
		return 0;
	return get_op_opfamily_strategy(opno, type->btree_opf);
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

Var *
BatchQualColumn(Node *node, Index varno)
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

/* Does the expression need the relation whose number context points to? */
static bool
UsesRelation(Node *node, void *context)
{
	Index		varno = *(Index *) context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varno == varno;

	/* a placeholder may be computed at the scan although it names no column of it */
	if (IsA(node, PlaceHolderVar) && bms_is_member(varno, ((PlaceHolderVar *) node)->phrels))
		return true;
	return expression_tree_walker(node, UsesRelation, context);
}

/*
 * Fixed for one execution, or one rescan: no column of the relation, nothing
 * volatile, no correlated subplan.  Columns of other relations are parameters
 * of the scan when the path is parameterised by them.
 */
static bool
IsRunTimeConstant(Node *node, Index varno)
{
	return !UsesRelation(node, &varno) &&
		!contain_volatile_functions(node) &&
		!contain_subplans(node);
}

/* Is the function bucketfdw.bucket_id(integer, VARIADIC "any")? */
static bool
IsBucketIdFunction(Oid funcid)
{
	char	   *name = get_func_name(funcid);

	return name != NULL && strcmp(name, "bucket_id") == 0 &&
		get_func_namespace(funcid) == get_namespace_oid("bucketfdw", true) &&
		get_func_variadictype(funcid) == ANYOID;
}

/*
 * bucket_id(N, column, ...) of the relation with a constant N.  The function
 * hashes by the type of its argument, so a cast to another class is no column.
 */
static bool
BucketIdSide(Node *node, Index varno, LeafQual *qual)
{
	FuncExpr   *func = (FuncExpr *) node;
	Const	   *modulus;
	int			n;

	if (!IsA(node, FuncExpr) || func->funcvariadic || list_length(func->args) < 2 ||
		func->funcresulttype != INT4OID || !IsBucketIdFunction(func->funcid))
		return false;
	modulus = linitial(func->args);
	if (!IsA(modulus, Const) || modulus->constisnull || modulus->consttype != INT4OID)
		return false;
	qual->modulus = DatumGetInt32(modulus->constvalue);
	if (qual->modulus < 1 || qual->modulus > BF_MAX_BUCKETS)
		return false;

	n = list_length(func->args) - 1;
	qual->nhash = n;
	qual->hashattnums = palloc(n * sizeof(AttrNumber));
	qual->hashtypes = palloc(n * sizeof(Oid));
	for (int i = 0; i < n; i++)
	{
		Node	   *arg = list_nth(func->args, i + 1);
		Var		   *column = BatchQualColumn(arg, varno);
		KeyClass	keyclass;

		if (column == NULL)
			return false;
		qual->hashattnums[i] = column->varattno;
		qual->hashtypes[i] = getBaseType(column->vartype);
		keyclass = KeyClassOfType(qual->hashtypes[i]);
		if (keyclass == KEYCLASS_NONE || KeyClassOfType(getBaseType(exprType(arg))) != keyclass)
			return false;
	}
	qual->attnum = qual->hashattnums[0];
	qual->coltype = INT4OID;
	return true;
}

/* The side of a clause that belongs to the relation: a column, or bucket_id of columns. */
static bool
RelationSide(Node *node, Index varno, LeafQual *qual)
{
	Var		   *column = BatchQualColumn(node, varno);

	if (column != NULL)
	{
		qual->attnum = column->varattno;
		qual->coltype = getBaseType(column->vartype);
		return true;
	}
	return BucketIdSide(node, varno, qual);
}

static bool
QualFromOp(OpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Node	   *other;
	Oid			opno = op->opno;
	KeyClass	keyclass;
	int			strategy;

	if (list_length(op->args) != 2)
		return false;
	if (RelationSide(linitial(op->args), varno, qual))
		other = lsecond(op->args);
	else if (RelationSide(lsecond(op->args), varno, qual))
	{
		other = linitial(op->args);
		opno = get_commutator(opno);
	}
	else
		return false;
	if (!OidIsValid(opno) || !IsRunTimeConstant(other, varno))
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
	if (qual->modulus > 0)
	{
		if (qual->op != LEAF_EQ)
			return false;
		qual->op = LEAF_BUCKET;
	}
	qual->keyclass = keyclass;
	qual->valuetype = getBaseType(exprType(other));
	if (KeyClassOfType(qual->coltype) != keyclass || KeyClassOfType(qual->valuetype) != keyclass ||
		!CollationAllows(keyclass, op->inputcollid,
						 qual->op >= LEAF_LT && qual->op <= LEAF_GE))
		return false;
	*value = (Expr *) other;
	return true;
}

static bool
QualFromArrayOp(ScalarArrayOpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Node	   *array = lsecond(op->args);
	KeyClass	keyclass;

	if (!op->useOr || !RelationSide(linitial(op->args), varno, qual) ||
		!IsRunTimeConstant(array, varno) ||
		KeyOperatorStrategy(op->opno, &keyclass) != BTEqualStrategyNumber)
		return false;
	qual->op = qual->modulus > 0 ? LEAF_BUCKET_ANY : LEAF_ANY;
	qual->keyclass = keyclass;
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
		Var		   *column = BatchQualColumn((Node *) test->arg, varno);

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
