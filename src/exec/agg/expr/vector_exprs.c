/*
 * vector_exprs.c
 *	  Computing expressions for all rows of a batch.
 */
#include "postgres.h"

#include "exec/agg/expr/vector_exprs_private.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "rows/row_slot.h"

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
