/*
 * vector_exprs.c
 *	  Expressions that are computed for all rows of a batch.
 *
 * An expression is a tree of nodes, and a node is what its operands and its
 * operation say, so that equal parts of several expressions are one node.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "exec/agg_numeric.h"
#include "exec/decimal_ops.h"
#include "exec/row_slot.h"
#include "exec/vector_exprs.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

typedef enum VectorOp
{
	OP_NUMERIC_COLUMN,
	OP_INT_COLUMN,
	OP_CONST,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_NEGATE,
	OP_CAST,					/* to an integer type that may be too small */
	OP_CASE,
	OP_COALESCE
} VectorOp;

typedef struct VectorNode
{
	VectorOp	op;
	int			col;			/* of a column */
	int			left;			/* operands */
	int			right;
	List	   *args;			/* of CASE, in the order of its choice, and COALESCE */
	int			choice;			/* of CASE */
	int64		min;			/* what the type holds, of an integer operation */
	int64		max;			/* 0: it is one of numerics */
	Const	   *value;			/* of a constant */
	DecimalBuffer buf;			/* for the present batch */
	uint64		batch;			/* number of the batch it was computed for */
	bool		ok;				/* it could be */
} VectorNode;

/* Where something is evaluated: in rows for which a choice fell on an arm; choice -1: in all. */
typedef struct VectorMask
{
	int			choice;
	int			arm;
} VectorMask;

#define CACHE_BITS 8
#define CACHE_SIZE (1 << CACHE_BITS)

/*
 * A condition.  If it reads one column only, what came out for a value (or the
 * address of one) in the present batch is known for the next row that has it.
 */
typedef struct Condition
{
	Expr	   *expr;
	ExprState  *state;
	int			nvars;
	int		   *vars;			/* as in VectorSlot */
	Datum		known_value[CACHE_SIZE];
	char		known[CACHE_SIZE];	/* 0: nothing, 'y' or 'n' */
} Condition;

#define NOT_ASKED PG_UINT8_MAX

/* Which of several conditions holds first. */
typedef struct VectorChoice
{
	VectorMask	mask;
	List	   *exprs;
	int			nconditions;
	Condition  *conditions;
	uint8	   *choice;			/* per row: its number, or how many there are if none does, or NOT_ASKED */
	uint64		batch;			/* as in VectorNode */
} VectorChoice;

struct VectorExprs
{
	const VectorSlot *vars;
	PlanState  *parent;
	MemoryContext cxt;
	List	   *nodes;			/* of VectorNode */
	List	   *choices;		/* of VectorChoice */
	Batch	   *batch;
	uint64		number;			/* of the batch */
	DecimalRows at;
};

VectorExprs *
VectorExprsCreate(const VectorSlot *vars, PlanState *parent)
{
	VectorExprs *exprs = palloc0(sizeof(VectorExprs));

	exprs->vars = vars;
	exprs->parent = parent;
	exprs->cxt = CurrentMemoryContext;
	return exprs;
}

static inline void
FillColumn(const VectorSlot *vars, int var, Batch *batch, int row)
{
	const ColumnVector *vec = BatchColumn(batch, vars->var_cols[var]);
	int			place = vars->var_places[var];

	vars->slot->tts_values[place] = vec->values[row];
	vars->slot->tts_isnull[place] = vec->nulls && vec->nulls[row];
}

void
VectorSlotFill(const VectorSlot *vars, Batch *batch, int row)
{
	RowSlotBegin(vars->slot);
	for (int v = 0; v < vars->nvars; v++)
		FillColumn(vars, v, batch, row);
	RowSlotStore(vars->slot);
}

/*
 * Making expressions
 */

static inline VectorNode *
NodeAt(VectorExprs *exprs, int node)
{
	return list_nth(exprs->nodes, node);
}

static inline VectorChoice *
ChoiceAt(VectorExprs *exprs, int choice)
{
	return list_nth(exprs->choices, choice);
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

/*
 * Computing them
 */

void
VectorExprsBegin(VectorExprs *exprs, Batch *batch, const uint16 *rows, int n)
{
	exprs->batch = batch;
	exprs->at.rows = rows;
	exprs->at.n = n;
	exprs->at.nrows = batch->nrows;
	exprs->number++;
}

static bool
Evaluate(VectorExprs *exprs, Condition *condition, int row)
{
	const VectorSlot *vars = exprs->vars;
	Datum		value;
	bool		isnull;

	RowSlotBegin(vars->slot);
	for (int i = 0; i < condition->nvars; i++)
		FillColumn(vars, condition->vars[i], exprs->batch, row);
	RowSlotStore(vars->slot);
	ResetExprContext(vars->econtext);
	value = ExecEvalExprSwitchContext(condition->state, vars->econtext, &isnull);
	return !isnull && DatumGetBool(value);
}

static bool
Holds(VectorExprs *exprs, Condition *condition, int row)
{
	const ColumnVector *vec;
	Datum		value;
	uint32		slot;

	if (condition->nvars != 1)
		return Evaluate(exprs, condition, row);
	vec = BatchColumn(exprs->batch, exprs->vars->var_cols[condition->vars[0]]);
	if (vec->nulls && vec->nulls[row])
		return Evaluate(exprs, condition, row);
	value = vec->values[row];
	slot = (uint32) (((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS));
	if (condition->known[slot] == 0 || condition->known_value[slot] != value)
	{
		condition->known[slot] = Evaluate(exprs, condition, row) ? 'y' : 'n';
		condition->known_value[slot] = value;
	}
	return condition->known[slot] == 'y';
}

/* Decide a choice for the present batch. */
static const uint8 *
Choose(VectorExprs *exprs, int number)
{
	VectorChoice *choice = ChoiceAt(exprs, number);
	const uint8 *above;
	int			arm = choice->mask.arm;

	if (choice->batch == exprs->number)
		return choice->choice;
	above = choice->mask.choice < 0 ? NULL : Choose(exprs, choice->mask.choice);
	for (int c = 0; c < choice->nconditions; c++)
		memset(choice->conditions[c].known, 0, sizeof(choice->conditions[c].known));
	for (int i = 0; i < exprs->at.n; i++)
	{
		int			row = exprs->at.rows ? exprs->at.rows[i] : i;
		int			c = 0;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (above != NULL && above[row] != arm)
		{
			choice->choice[row] = NOT_ASKED;
			continue;
		}
		while (c < choice->nconditions && !Holds(exprs, &choice->conditions[c], row))
			c++;
		choice->choice[row] = (uint8) c;
	}
	choice->batch = exprs->number;
	return choice->choice;
}

const uint8 *
VectorExprsFilter(VectorExprs *exprs, int filter)
{
	return Choose(exprs, filter);
}

static bool Compute(VectorExprs *exprs, int number);

/* CASE and COALESCE: only arms that are chosen for some row are computed. */
static bool
ComputeArms(VectorExprs *exprs, VectorNode *node, const uint8 *choice)
{
	int			n = list_length(node->args);
	const DecimalVector **arms = palloc0(n * sizeof(DecimalVector *));
	bool		chosen[NOT_ASKED + 1] = {false};

	for (int i = 0; i < exprs->at.n; i++)
		chosen[choice[exprs->at.rows ? exprs->at.rows[i] : i]] = true;
	for (int i = 0; i < n; i++)
	{
		int			arg = list_nth_int(node->args, i);

		if (!chosen[i])
			continue;
		if (!Compute(exprs, arg))
			return false;
		arms[i] = &NodeAt(exprs, arg)->buf.vec;
	}
	DecimalsChoose(&node->buf, choice, n, arms, &exprs->at);
	pfree(arms);
	return true;
}

/* The first argument that is not NULL, all of which are computed. */
static bool
ComputeCoalesce(VectorExprs *exprs, VectorNode *node)
{
	uint8	   *choice = palloc(BF_BATCH_ROWS * sizeof(uint8));
	bool		ok = true;
	ListCell   *lc;

	memset(choice, NOT_ASKED, BF_BATCH_ROWS * sizeof(uint8));
	foreach(lc, node->args)
	{
		const DecimalVector *vec = &NodeAt(exprs, lfirst_int(lc))->buf.vec;

		ok = ok && Compute(exprs, lfirst_int(lc));
		for (int i = 0; ok && i < exprs->at.n; i++)
		{
			int			row = exprs->at.rows ? exprs->at.rows[i] : i;

			if (choice[row] == NOT_ASKED && !DecimalIsNull(vec, row))
				choice[row] = (uint8) foreach_current_index(lc);
		}
	}
	ok = ok && ComputeArms(exprs, node, choice);
	pfree(choice);
	return ok;
}

static bool
ComputeNode(VectorExprs *exprs, VectorNode *node)
{
	const DecimalVector *left;
	const DecimalVector *right;
	ScaledColumn scaled;
	bool		ok = true;

	switch (node->op)
	{
		case OP_CONST:
			return true;
		case OP_NUMERIC_COLUMN:
			if (BatchScaled(exprs->batch, node->col, &scaled))
				return DecimalsOfScaled(&node->buf, &scaled, &exprs->at);
			return DecimalsOfNumerics(&node->buf, BatchColumn(exprs->batch, node->col), &exprs->at);
		case OP_INT_COLUMN:
			DecimalsOfInts(&node->buf, BatchColumn(exprs->batch, node->col), &exprs->at);
			return true;
		case OP_CASE:
			return ComputeArms(exprs, node, Choose(exprs, node->choice));
		case OP_COALESCE:
			return ComputeCoalesce(exprs, node);
		default:
			break;
	}
	if (!Compute(exprs, node->left) || (node->right >= 0 && !Compute(exprs, node->right)))
		return false;
	left = &NodeAt(exprs, node->left)->buf.vec;
	right = node->right >= 0 ? &NodeAt(exprs, node->right)->buf.vec : NULL;
	switch (node->op)
	{
		case OP_ADD:
		case OP_SUBTRACT:
			ok = DecimalsAdd(&node->buf, left, right, node->op == OP_SUBTRACT, &exprs->at);
			break;
		case OP_MULTIPLY:
			ok = DecimalsMultiply(&node->buf, left, right, &exprs->at);
			break;
		case OP_NEGATE:
			DecimalsNegate(&node->buf, left, &exprs->at);
			break;
		default:
			node->buf.vec = *left;
	}
	/* core has an error to raise if it is not */
	return ok && (node->max == 0 || DecimalsWithin(&node->buf, node->min, node->max, &exprs->at));
}

/* Compute a node for the present batch; false: it cannot be. */
static bool
Compute(VectorExprs *exprs, int number)
{
	VectorNode *node = NodeAt(exprs, number);

	if (node->batch != exprs->number)
	{
		node->ok = ComputeNode(exprs, node);
		node->batch = exprs->number;
	}
	return node->ok;
}

const DecimalVector *
VectorExprsCompute(VectorExprs *exprs, int expr)
{
	CHECK_FOR_INTERRUPTS();
	return Compute(exprs, expr) ? &NodeAt(exprs, expr)->buf.vec : NULL;
}
