/*
 * vector_exprs_make.c
 *	  Making expressions that are computed for all rows of a batch.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "exec/agg/expr/vector_exprs_private.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "vector/numeric_int.h"

VectorExprs *
VectorExprsCreate(const VectorSlot *vars, PlanState *parent)
{
	VectorExprs *exprs = palloc0(sizeof(VectorExprs));

	exprs->vars = vars;
	exprs->parent = parent;
	exprs->cxt = CurrentMemoryContext;
	return exprs;
}

/* The node like this one; a new one if there is none. */
static int
AddNode(VectorExprs *exprs, const VectorNode *wanted)
{
	VectorNode *node;
	ListCell   *lc;

	foreach(lc, exprs->nodes)
	{
		node = lfirst(lc);
		if (node->op == wanted->op && node->col == wanted->col && node->left == wanted->left &&
			node->right == wanted->right && node->choice == wanted->choice &&
			node->min == wanted->min && node->max == wanted->max &&
			equal(node->args, wanted->args) && equal(node->value, wanted->value))
			return foreach_current_index(lc);
	}
	node = palloc(sizeof(VectorNode));
	*node = *wanted;
	node->buf.cxt = exprs->cxt;
	exprs->nodes = lappend(exprs->nodes, node);
	return list_length(exprs->nodes) - 1;
}

int
VectorExprsAddNumeric(VectorExprs *exprs, int col)
{
	VectorNode	node = {.op = OP_NUMERIC_COLUMN, .col = col};

	return AddNode(exprs, &node);
}

/* What an integer type holds; false: it is none. */
static bool
IntegerLimits(Oid type, int64 *min, int64 *max)
{
	switch (type)
	{
		case INT2OID:
			*min = PG_INT16_MIN;
			*max = PG_INT16_MAX;
			return true;
		case INT4OID:
			*min = PG_INT32_MIN;
			*max = PG_INT32_MAX;
			return true;
		case INT8OID:
			*min = PG_INT64_MIN;
			*max = PG_INT64_MAX;
			return true;
		default:
			return false;
	}
}

/* The place of a column among the vars, -1: it is not there. */
static int
VarIndex(const VectorExprs *exprs, const Var *var)
{
	for (int v = 0; v < exprs->vars->nvars; v++)
	{
		if (exprs->vars->var_places[v] == var->varattno - 1)
			return v;
	}
	return -1;
}

static int
AddColumn(VectorExprs *exprs, const Var *var)
{
	VectorNode	node = {0};
	Oid			type = getBaseType(var->vartype);
	int			v = VarIndex(exprs, var);
	int64		min;
	int64		max;

	if (v < 0)
		return -1;
	node.col = exprs->vars->var_cols[v];
	if (type == NUMERICOID)
		node.op = OP_NUMERIC_COLUMN;
	else if (IntegerLimits(type, &min, &max))
		node.op = OP_INT_COLUMN;
	else
		return -1;
	return AddNode(exprs, &node);
}

static int
AddConst(VectorExprs *exprs, Const *value)
{
	VectorNode	node = {.op = OP_CONST, .value = value};
	Oid			type = getBaseType(value->consttype);
	int128		number = 0;
	int			scale = 0;
	int64		min;
	int64		max;
	int			added;
	VectorNode *known;

	if (type != NUMERICOID && !IntegerLimits(type, &min, &max))
		return -1;
	if (!value->constisnull)
	{
		if (type != NUMERICOID)
			number = (int64) (type == INT2OID ? DatumGetInt16(value->constvalue) :
							  type == INT4OID ? DatumGetInt32(value->constvalue) :
							  DatumGetInt64(value->constvalue));
		else if (!NumericToInt128(PointerGetDatum(PG_DETOAST_DATUM(value->constvalue)), &number, &scale))
			return -1;
	}
	added = AddNode(exprs, &node);
	known = NodeAt(exprs, added);
	if (known->buf.vec.narrow == NULL && known->buf.vec.wide == NULL)
		DecimalsOfConst(&known->buf, number, scale, value->constisnull);
	return added;
}

/* The operation of a built-in function; false: it is none of ours.  OP_CONST: it changes nothing. */
static bool
OperationOf(Oid funcid, VectorOp *op)
{
	switch (funcid)
	{
		case F_INT2PL:
		case F_INT4PL:
		case F_INT8PL:
		case F_INT24PL:
		case F_INT42PL:
		case F_INT28PL:
		case F_INT82PL:
		case F_INT48PL:
		case F_INT84PL:
		case F_NUMERIC_ADD:
			*op = OP_ADD;
			return true;
		case F_INT2MI:
		case F_INT4MI:
		case F_INT8MI:
		case F_INT24MI:
		case F_INT42MI:
		case F_INT28MI:
		case F_INT82MI:
		case F_INT48MI:
		case F_INT84MI:
		case F_NUMERIC_SUB:
			*op = OP_SUBTRACT;
			return true;
		case F_INT2MUL:
		case F_INT4MUL:
		case F_INT8MUL:
		case F_INT24MUL:
		case F_INT42MUL:
		case F_INT28MUL:
		case F_INT82MUL:
		case F_INT48MUL:
		case F_INT84MUL:
		case F_NUMERIC_MUL:
			*op = OP_MULTIPLY;
			return true;
		case F_INT2UM:
		case F_INT4UM:
		case F_INT8UM:
		case F_NUMERIC_UMINUS:
			*op = OP_NEGATE;
			return true;
		case F_INT2_INT4:
		case F_INT2_INT8:
		case F_INT4_INT8:
			*op = OP_CAST;
			return true;
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_INT2UP:
		case F_INT4UP:
		case F_INT8UP:
		case F_NUMERIC_UPLUS:
			*op = OP_CONST;
			return true;
		default:
			return false;
	}
}

static int	AddExpr(VectorExprs *exprs, Expr *expr, VectorMask mask);

static int
AddOperation(VectorExprs *exprs, Oid funcid, Oid type, List *args, VectorMask mask)
{
	VectorNode	node = {0};

	if (!OperationOf(funcid, &node.op))
		return -1;
	node.left = AddExpr(exprs, linitial(args), mask);
	if (node.left < 0 || node.op == OP_CONST)
		return node.left;
	node.right = list_length(args) > 1 ? AddExpr(exprs, lsecond(args), mask) : -1;
	if (node.right < 0 && list_length(args) > 1)
		return -1;
	(void) IntegerLimits(type, &node.min, &node.max);
	return AddNode(exprs, &node);
}

static void
InitCondition(VectorExprs *exprs, Condition *condition, Expr *expr)
{
	List	   *found = pull_var_clause((Node *) expr, 0);
	ListCell   *lc;

	condition->expr = expr;
	condition->state = ExecInitExpr(expr, exprs->parent);
	condition->vars = palloc(list_length(found) * sizeof(int));
	foreach(lc, found)
	{
		int			v = VarIndex(exprs, lfirst_node(Var, lc));
		bool		listed = false;

		if (v < 0)
			elog(ERROR, "column of an expression is not read");
		for (int i = 0; i < condition->nvars; i++)
			listed |= condition->vars[i] == v;
		if (!listed)
			condition->vars[condition->nvars++] = v;
	}
}

/* The choice between these conditions under the mask, made if it is new. */
static int
AddChoice(VectorExprs *exprs, List *conditions, VectorMask mask)
{
	VectorChoice *choice;
	ListCell   *lc;

	foreach(lc, exprs->choices)
	{
		choice = lfirst(lc);
		if (choice->mask.choice == mask.choice && choice->mask.arm == mask.arm &&
			equal(choice->exprs, conditions))
			return foreach_current_index(lc);
	}
	choice = palloc0(sizeof(VectorChoice));
	choice->mask = mask;
	choice->exprs = conditions;
	choice->conditions = palloc0(list_length(conditions) * sizeof(Condition));
	foreach(lc, conditions)
		InitCondition(exprs, &choice->conditions[choice->nconditions++], lfirst(lc));
	choice->choice = palloc(BF_BATCH_ROWS * sizeof(uint8));
	exprs->choices = lappend(exprs->choices, choice);
	return list_length(exprs->choices) - 1;
}

/* CASE x WHEN ... has a stand-in for x in its conditions. */
static inline bool
TakesCase(const CaseExpr *expr)
{
	return expr->arg == NULL && list_length(expr->args) < NOT_ASKED && expr->defresult != NULL;
}

static int
AddCase(VectorExprs *exprs, CaseExpr *expr, VectorMask mask)
{
	VectorNode	node = {.op = OP_CASE};
	List	   *conditions = NIL;
	List	   *results = NIL;
	ListCell   *lc;

	if (!TakesCase(expr))
		return -1;
	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		conditions = lappend(conditions, when->expr);
		results = lappend(results, when->result);
	}
	results = lappend(results, expr->defresult);
	node.choice = AddChoice(exprs, conditions, mask);
	foreach(lc, results)
	{
		VectorMask	inner = {.choice = node.choice, .arm = foreach_current_index(lc)};
		int			arg = AddExpr(exprs, lfirst(lc), inner);

		if (arg < 0)
			return -1;
		node.args = lappend_int(node.args, arg);
	}
	return AddNode(exprs, &node);
}

/* Does the expression hold something that must be evaluated where core does only? */
static bool
HasCase(Node *node, void *context)
{
	return node != NULL && (IsA(node, CaseExpr) || expression_tree_walker(node, HasCase, context));
}

static bool
TakesCoalesce(const CoalesceExpr *expr)
{
	return list_length(expr->args) < NOT_ASKED &&
		!HasCase((Node *) list_copy_tail(expr->args, 1), NULL);
}

static int
AddCoalesce(VectorExprs *exprs, CoalesceExpr *expr, VectorMask mask)
{
	VectorNode	node = {.op = OP_COALESCE};
	ListCell   *lc;

	if (!TakesCoalesce(expr))
		return -1;
	foreach(lc, expr->args)
	{
		int			arg = AddExpr(exprs, lfirst(lc), mask);

		if (arg < 0)
			return -1;
		node.args = lappend_int(node.args, arg);
	}
	return AddNode(exprs, &node);
}

static int
AddExpr(VectorExprs *exprs, Expr *expr, VectorMask mask)
{
	check_stack_depth();
	switch (nodeTag(expr))
	{
		case T_Var:
			return AddColumn(exprs, (Var *) expr);
		case T_Const:
			return AddConst(exprs, (Const *) expr);
		case T_RelabelType:
			{
				RelabelType *relabel = (RelabelType *) expr;
				Oid			type = getBaseType(exprType((Node *) relabel->arg));

				/* a domain, and back */
				return getBaseType(relabel->resulttype) == type ? AddExpr(exprs, relabel->arg, mask) : -1;
			}
		case T_FuncExpr:
			{
				FuncExpr   *func = (FuncExpr *) expr;

				return AddOperation(exprs, func->funcid, func->funcresulttype, func->args, mask);
			}
		case T_OpExpr:
			{
				OpExpr	   *op = (OpExpr *) expr;

				return AddOperation(exprs, op->opfuncid, op->opresulttype, op->args, mask);
			}
		case T_CaseExpr:
			return AddCase(exprs, (CaseExpr *) expr, mask);
		case T_CoalesceExpr:
			return AddCoalesce(exprs, (CoalesceExpr *) expr, mask);
		default:
			return -1;
	}
}

/* Is it of a type whose values vectors hold? */
static bool
IsDecimal(Oid type)
{
	int64		min;
	int64		max;

	type = getBaseType(type);
	return type == NUMERICOID || IntegerLimits(type, &min, &max);
}

static bool
TakesAll(List *args, List **conditions)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!VectorExprsTakes(lfirst(lc), conditions))
			return false;
	}
	return true;
}

bool
VectorExprsTakes(Node *expr, List **conditions)
{
	VectorOp	op;

	check_stack_depth();
	if (!IsDecimal(exprType(expr)))
		return false;
	switch (nodeTag(expr))
	{
		case T_Var:
		case T_Const:
			return true;
		case T_RelabelType:
			return VectorExprsTakes((Node *) ((RelabelType *) expr)->arg, conditions);
		case T_FuncExpr:
			return OperationOf(((FuncExpr *) expr)->funcid, &op) &&
				TakesAll(((FuncExpr *) expr)->args, conditions);
		case T_OpExpr:
			return OperationOf(get_opcode(((OpExpr *) expr)->opno), &op) &&
				TakesAll(((OpExpr *) expr)->args, conditions);
		case T_CaseExpr:
			{
				CaseExpr   *cases = (CaseExpr *) expr;
				ListCell   *lc;

				if (!TakesCase(cases) ||
					!VectorExprsTakes((Node *) cases->defresult, conditions))
					return false;
				foreach(lc, cases->args)
				{
					*conditions = lappend(*conditions, lfirst_node(CaseWhen, lc)->expr);
					if (!VectorExprsTakes((Node *) lfirst_node(CaseWhen, lc)->result, conditions))
						return false;
				}
				return true;
			}
		case T_CoalesceExpr:
			return TakesCoalesce((CoalesceExpr *) expr) &&
				TakesAll(((CoalesceExpr *) expr)->args, conditions);
		default:
			return false;
	}
}

static const VectorMask all_rows = {.choice = -1};

int
VectorExprsAddFilter(VectorExprs *exprs, Expr *condition)
{
	return AddChoice(exprs, list_make1(condition), all_rows);
}

int
VectorExprsAdd(VectorExprs *exprs, Expr *expr, int filter)
{
	VectorMask	mask = {.choice = filter, .arm = 0};

	return AddExpr(exprs, expr, filter < 0 ? all_rows : mask);
}
