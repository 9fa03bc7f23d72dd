/*
 * batch_qual.c
 *	  Which comparisons can be applied to whole batches.
 *
 * The executor must not notice the difference, so the list is closed: btree
 * operators of the default operator class of types in one key class, whose
 * meaning KeyCompare defines.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "exec/qual/qual_columns.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/qual_parts.h"
#include "spec/collation.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* What operators of core are, which never changes. */
typedef struct KnownOperator
{
	Oid			opno;			/* InvalidOid: nothing is here yet */
	int			strategy;
	KeyClass	left;
	KeyClass	right;
} KnownOperator;

#define KNOWN_OPERATORS 64
static KnownOperator known_operators[KNOWN_OPERATORS];

/* As OperatorStrategy, from the catalogs. */
static int
LookUpStrategy(Oid opno, KeyClass *left, KeyClass *right)
{
	Oid			lefttype;
	Oid			righttype;
	TypeCacheEntry *type;

	op_input_types(opno, &lefttype, &righttype);
	*left = KeyClassOfType(lefttype);
	*right = KeyClassOfType(righttype);
	if (*left == KEYCLASS_NONE || *right == KEYCLASS_NONE)
		return 0;
	/* GetDefaultOpClass reads the catalog each time, the type cache keeps the answer */
	type = lookup_type_cache(lefttype, TYPECACHE_BTREE_OPFAMILY);
	if (!OidIsValid(type->btree_opf))
		return 0;
	return get_op_opfamily_strategy(opno, type->btree_opf);
}

/* As KeyOperatorStrategy, with a class for each input.  Asked for each clause of each pair of relations that may be joined. */
static int
OperatorStrategy(Oid opno, KeyClass *left, KeyClass *right)
{
	KnownOperator *known = &known_operators[opno % KNOWN_OPERATORS];
	int			strategy;

	if (known->opno != opno)
	{
		strategy = LookUpStrategy(opno, left, right);
		if (opno >= FirstNormalObjectId)
			return strategy;
		*known = (KnownOperator) {opno, strategy, *left, *right};
	}
	*left = known->left;
	*right = known->right;
	return known->strategy;
}

int
KeyOperatorStrategy(Oid opno, KeyClass *keyclass)
{
	KeyClass	right;
	int			strategy = OperatorStrategy(opno, keyclass, &right);

	return *keyclass == right ? strategy : 0;
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

Node *
StripNumericCast(Node *node)
{
	Oid			funcid = node != NULL && IsA(node, FuncExpr) ? ((FuncExpr *) node)->funcid : InvalidOid;

	if (funcid == F_NUMERIC_INT2 || funcid == F_NUMERIC_INT4 || funcid == F_NUMERIC_INT8)
		return linitial(((FuncExpr *) node)->args);
	return node;
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

bool
QualValueIsFixed(Node *node, Index varno)
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

bool
QualColumnSide(Node *node, Index varno, LeafQual *qual)
{
	Var		   *column = BatchQualColumn(node, varno);

	if (column == NULL)
		return false;
	qual->attnum = column->varattno;
	qual->coltype = getBaseType(column->vartype);
	return true;
}

/* The side of a clause that belongs to the relation: a column, or bucket_id of columns. */
static bool
RelationSide(Node *node, Index varno, LeafQual *qual)
{
	return QualColumnSide(node, varno, qual) || BucketIdSide(node, varno, qual);
}

/* The comparison an operator makes, between inputs of which classes; false if it is none of ours. */
static bool
ComparisonOfOperator(Oid opno, LeafQualOp *op, KeyClass *left, KeyClass *right)
{
	static const LeafQualOp ops[] = {
		[BTLessStrategyNumber] = LEAF_LT,
		[BTLessEqualStrategyNumber] = LEAF_LE,
		[BTEqualStrategyNumber] = LEAF_EQ,
		[BTGreaterEqualStrategyNumber] = LEAF_GE,
		[BTGreaterStrategyNumber] = LEAF_GT
	};
	int			strategy = OperatorStrategy(opno, left, right);
	Oid			negator;

	if (strategy > 0)
	{
		*op = ops[strategy];
		return true;
	}
	negator = get_negator(opno);
	if (!OidIsValid(negator) || OperatorStrategy(negator, left, right) != BTEqualStrategyNumber)
		return false;
	*op = LEAF_NE;
	return true;
}

/*
 * A constant that lies between two values of the column's type is put in as
 * the lower one: the comparison with it that keeps the same rows.  False if
 * there is none, as nothing is equal to the constant.
 */
static bool
RoundedDown(LeafQualOp *op)
{
	if (*op == LEAF_LT)
		*op = LEAF_LE;
	else if (*op == LEAF_GE)
		*op = LEAF_GT;
	return *op != LEAF_EQ && *op != LEAF_NE;
}

/*
 * A date column compared with a constant timestamp, which is what
 * date '1998-12-01' - interval '90 days' is, or a timestamp column with a
 * constant date: the constant of the column's own type, and the comparison
 * with it that keeps the same rows.  NULL if there is none.
 */
static Const *
ConstantOfColumnType(Const *value, KeyClass column, LeafQualOp *op)
{
	if (value->constisnull)
		return NULL;
	if (column == KEYCLASS_DATE && value->consttype == TIMESTAMPOID)
	{
		Timestamp	timestamp = DatumGetTimestamp(value->constvalue);
		DateADT		date;

		if (TIMESTAMP_IS_NOBEGIN(timestamp))
			DATE_NOBEGIN(date);
		else if (TIMESTAMP_IS_NOEND(timestamp))
			DATE_NOEND(date);
		else
		{
			int64		time = timestamp % USECS_PER_DAY;

			if (time < 0)
				time += USECS_PER_DAY;
			date = (DateADT) ((timestamp - time) / USECS_PER_DAY);
			if (time > 0 && !RoundedDown(op))
				return NULL;
		}
		return makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT), DateADTGetDatum(date), false, true);
	}
	if (column == KEYCLASS_TIMESTAMP && value->consttype == DATEOID)
	{
		int			overflow = 0;
		Timestamp	timestamp = date2timestamp_opt_overflow(DatumGetDateADT(value->constvalue), &overflow);

		if (overflow == 0)
			return makeConst(TIMESTAMPOID, -1, InvalidOid, sizeof(Timestamp), TimestampGetDatum(timestamp),
							 false, FLOAT8PASSBYVAL);
	}
	return NULL;
}

/* days from 2000, between which a day is in the range of timestamptz in every time zone */
#define FIRST_DAY (-2400000)
#define LAST_DAY 36000000

/*
 * A timestamptz column compared with a constant date or timestamp: the value
 * as core casts it, in the time zone of the execution.  NULL: it might not be
 * possible.
 */
static Expr *
AsTimestamptz(Const *value)
{
	int64		day;

	if (value->constisnull)
		return NULL;
	if (value->consttype == DATEOID)
		day = DatumGetDateADT(value->constvalue);
	else if (value->consttype == TIMESTAMPOID)
		day = DatumGetTimestamp(value->constvalue) / USECS_PER_DAY;
	else
		return NULL;
	if (day < FIRST_DAY || day > LAST_DAY)
		return NULL;
	return (Expr *) makeFuncExpr(value->consttype == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP,
								 TIMESTAMPTZOID, list_make1(value), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
}

/*
 * An integer column compared with a constant numeric, for which the parser
 * casts the column: the integer, and the comparison with it that keeps the
 * same rows.  NULL if there is none.
 */
static Const *
IntegerOfNumeric(Const *value, LeafQualOp *op)
{
	Datum		numeric;
	bool		exact;

	if (value->constisnull)
		return NULL;
	numeric = PointerGetDatum(PG_DETOAST_DATUM(value->constvalue));
	if (KeyNumericBeyond(numeric, &exact))
		return NULL;
	if (!exact && !RoundedDown(op))
		return NULL;
	return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(KeyNumericFloor(numeric)),
					 false, FLOAT8PASSBYVAL);
}

/* Are both sides of a comparison of its class, and is that what it compares by?  Fills in what is compared. */
static bool
SidesFit(LeafQual *qual, KeyClass keyclass, Oid valuetype, Oid collation)
{
	if (!OidIsValid(valuetype))
		return false;
	qual->keyclass = keyclass;
	qual->valuetype = getBaseType(valuetype);
	return KeyClassOfType(qual->coltype) == keyclass &&
		(KeyClassOfType(qual->valuetype) == keyclass || LeafQualIntOfNumeric(qual)) &&
		CollationAllows(keyclass, collation, qual->op >= LEAF_LT && qual->op <= LEAF_GE);
}

static bool
QualFromOp(OpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Node	   *other;
	Oid			opno = op->opno;
	KeyClass	keyclass;
	KeyClass	right;

	if (list_length(op->args) != 2)
		return false;
	if (RelationSide(StripNumericCast(linitial(op->args)), varno, qual))
		other = lsecond(op->args);
	else if (RelationSide(StripNumericCast(lsecond(op->args)), varno, qual))
	{
		other = linitial(op->args);
		opno = get_commutator(opno);
	}
	else
		return false;
	if (!OidIsValid(opno) || !QualValueIsFixed(other, varno) ||
		!ComparisonOfOperator(opno, &qual->op, &keyclass, &right))
		return false;
	if (keyclass == KEYCLASS_NUMERIC && KeyClassOfType(qual->coltype) == KEYCLASS_INT)
	{
		/* bucket_id is an integer too */
		if (qual->modulus > 0 || KeyClassOfType(getBaseType(exprType(other))) != KEYCLASS_NUMERIC)
			return false;
		if (IsA(other, Const))
			other = (Node *) IntegerOfNumeric((Const *) other, &qual->op);
		else if (qual->op != LEAF_EQ)
			other = NULL;
		if (other == NULL)
			return false;
		keyclass = KEYCLASS_INT;
	}
	else if (right != keyclass)
	{
		if (!IsA(other, Const))
			return false;
		other = keyclass == KEYCLASS_TIMESTAMPTZ ? (Node *) AsTimestamptz((Const *) other) :
			(Node *) ConstantOfColumnType((Const *) other, keyclass, &qual->op);
		if (other == NULL)
			return false;
	}
	if (qual->modulus > 0)
	{
		if (qual->op != LEAF_EQ)
			return false;
		qual->op = LEAF_BUCKET;
	}
	*value = (Expr *) other;
	return SidesFit(qual, keyclass, exprType(other), op->inputcollid);
}

/* A column compared with another one of the relation. */
static bool
QualFromColumns(OpExpr *op, Index varno, LeafQual *qual)
{
	Var		   *a;
	Var		   *b;
	KeyClass	left;
	KeyClass	right;
	KeyClass	other;

	if (list_length(op->args) != 2)
		return false;
	a = BatchQualColumn(StripNumericCast(linitial(op->args)), varno);
	b = BatchQualColumn(StripNumericCast(lsecond(op->args)), varno);
	if (a == NULL || b == NULL || !ComparisonOfOperator(op->opno, &qual->compare, &left, &right))
		return false;
	qual->op = LEAF_COLUMNS;
	qual->attnum = a->varattno;
	qual->coltype = getBaseType(a->vartype);
	qual->keyclass = KeyClassOfType(qual->coltype);
	qual->othernum = b->varattno;
	qual->othertype = getBaseType(b->vartype);
	other = KeyClassOfType(qual->othertype);

	/* an integer may stand under a cast to the numeric that the operator compares */
	if ((qual->keyclass != left && !(left == KEYCLASS_NUMERIC && qual->keyclass == KEYCLASS_INT)) ||
		(other != right && !(right == KEYCLASS_NUMERIC && other == KEYCLASS_INT)))
		return false;
	return QualColumnsMeet(qual->keyclass, other) &&
		CollationAllows(qual->keyclass, op->inputcollid, qual->compare >= LEAF_LT && qual->compare <= LEAF_GE);
}

static bool
QualFromArrayOp(ScalarArrayOpExpr *op, Index varno, LeafQual *qual, Expr **value)
{
	Node	   *array = lsecond(op->args);
	KeyClass	keyclass;

	Oid			equal = op->useOr ? op->opno : get_negator(op->opno);

	if (!OidIsValid(equal) || !RelationSide(linitial(op->args), varno, qual) ||
		!QualValueIsFixed(array, varno) ||
		KeyOperatorStrategy(equal, &keyclass) != BTEqualStrategyNumber ||
		(qual->modulus > 0 && !op->useOr))
		return false;
	qual->op = qual->modulus > 0 ? LEAF_BUCKET_ANY : op->useOr ? LEAF_ANY : LEAF_NONE_OF;
	*value = (Expr *) array;
	return SidesFit(qual, keyclass, get_base_element_type(exprType(array)), op->inputcollid);
}

/* A boolean column that must have the given value. */
static bool
QualFromBool(Node *node, bool wanted, Index varno, LeafQual *qual, Expr **value)
{
	if (!QualColumnSide(node, varno, qual) || qual->coltype != BOOLOID)
		return false;
	qual->op = LEAF_EQ;
	qual->keyclass = KEYCLASS_BOOL;
	qual->valuetype = BOOLOID;
	*value = (Expr *) makeBoolConst(wanted, false);
	return true;
}

/* A column that must be NULL, or must not. */
static bool
QualFromNull(Node *node, bool wanted, Index varno, LeafQual *qual)
{
	qual->op = wanted ? LEAF_ISNULL : LEAF_NOTNULL;
	return QualColumnSide(node, varno, qual);
}

bool
QualFromComparison(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	if (IsA(clause, OpExpr))
	{
		if (QualFromOp((OpExpr *) clause, varno, qual, value))
			return true;
		memset(qual, 0, sizeof(*qual));
		*value = NULL;
		return QualFromColumns((OpExpr *) clause, varno, qual);
	}
	if (IsA(clause, ScalarArrayOpExpr))
		return QualFromArrayOp((ScalarArrayOpExpr *) clause, varno, qual, value);
	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;

		/* a row value IS NULL has another meaning */
		return !test->argisrow &&
			QualFromNull((Node *) test->arg, test->nulltesttype == IS_NULL, varno, qual);
	}
	if (IsA(clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) clause;

		if (test->booltesttype == IS_UNKNOWN || test->booltesttype == IS_NOT_UNKNOWN)
			return QualFromNull((Node *) test->arg, test->booltesttype == IS_UNKNOWN, varno, qual);
		/* no row is kept for NULL, so IS TRUE is the column itself */
		return (test->booltesttype == IS_TRUE || test->booltesttype == IS_FALSE) &&
			QualFromBool((Node *) test->arg, test->booltesttype == IS_TRUE, varno, qual, value);
	}
	if (is_notclause(clause))
		return QualFromBool((Node *) get_notclausearg(clause), false, varno, qual, value);
	return QualFromBool(clause, true, varno, qual, value);
}
