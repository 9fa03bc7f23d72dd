/*
 * computed_column.c
 *	  Expressions as columns of batches, which rows are grouped by.
 *
 * Core computes them.  Rows are grouped because values repeat, and so do those
 * of the columns an expression reads: of one that reads a single column, what
 * came out for a value is known when the value comes again.  A value by
 * reference is known by its address, while the batch lasts.
 */
#include "postgres.h"

#include "exec/agg/expr/computed_column.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rows/row_slot.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define CACHE_BITS 12
#define CACHE_SIZE (1 << CACHE_BITS)

/* results by reference that are kept for values to come are forgotten beyond this */
#define MAX_KEPT_BYTES (1024 * 1024)

/* What is known of one value. */
typedef struct KnownResult
{
	bool		known;
	bool		isnull;
	Datum		value;			/* of the column */
	Datum		result;
} KnownResult;

struct ComputedColumn
{
	ExprState  *state;
	const VectorSlot *vars;
	int			nvars;			/* that it reads */
	int		   *read;			/* as in VectorSlot */
	int16		typlen;			/* of the results */
	bool		typbyval;
	bool		keep;			/* what is known outlives the batch: the one column is no pointer */
	KnownResult *known;			/* by hash; NULL: it reads several columns */
	MemoryContext cxt;			/* results by reference */
	ColumnVector vec;
	bool		nulls[BF_BATCH_ROWS];
};

/* What the expression reads, each column once. */
static void
FindRead(ComputedColumn *column, Expr *expr)
{
	List	   *found = pull_var_clause((Node *) expr, 0);
	ListCell   *lc;

	column->read = palloc(Max(list_length(found), 1) * sizeof(int));
	for (int v = 0; v < column->vars->nvars; v++)
	{
		foreach(lc, found)
		{
			if (lfirst_node(Var, lc)->varattno - 1 != column->vars->var_places[v])
				continue;
			column->read[column->nvars++] = v;
			break;
		}
	}
}

ComputedColumn *
ComputedColumnCreate(Expr *expr, const VectorSlot *vars, PlanState *parent)
{
	ComputedColumn *column = palloc0(sizeof(ComputedColumn));

	column->state = ExecInitExpr(expr, parent);
	column->vars = vars;
	FindRead(column, expr);
	get_typlenbyval(exprType((Node *) expr), &column->typlen, &column->typbyval);
	column->cxt = AllocSetContextCreate(CurrentMemoryContext, "BucketAggregate computed column",
										ALLOCSET_DEFAULT_SIZES);
	column->vec.values = palloc(BF_BATCH_ROWS * sizeof(Datum));
	if (column->nvars == 1)
	{
		int			place = vars->var_places[column->read[0]];

		column->keep = TupleDescAttr(vars->slot->tts_tupleDescriptor, place)->attbyval;
		column->known = palloc0(CACHE_SIZE * sizeof(KnownResult));
	}
	return column;
}

void
ComputedColumnReset(ComputedColumn *column)
{
	MemoryContextReset(column->cxt);
	if (column->known != NULL)
		memset(column->known, 0, CACHE_SIZE * sizeof(KnownResult));
}

static Datum
Compute(ComputedColumn *column, Batch *batch, int row, bool *isnull)
{
	const VectorSlot *vars = column->vars;
	Datum		value;

	RowSlotBegin(vars->slot);
	for (int i = 0; i < column->nvars; i++)
	{
		const ColumnVector *vec = BatchColumn(batch, vars->var_cols[column->read[i]]);
		int			place = vars->var_places[column->read[i]];

		vars->slot->tts_values[place] = vec->values[row];
		vars->slot->tts_isnull[place] = vec->nulls && vec->nulls[row];
	}
	RowSlotStore(vars->slot);
	ResetExprContext(vars->econtext);
	vars->econtext->ecxt_scantuple = vars->slot;
	value = ExecEvalExprSwitchContext(column->state, vars->econtext, isnull);
	if (!*isnull && !column->typbyval)
	{
		MemoryContext old = MemoryContextSwitchTo(column->cxt);

		/* kernels look at the bytes of a varlena */
		value = column->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, false, column->typlen);
		MemoryContextSwitchTo(old);
	}
	return value;
}

/* The same by way of what is known. */
static inline Datum
Look(ComputedColumn *column, Batch *batch, int row, Datum value, bool *isnull)
{
	KnownResult *known = &column->known[((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS)];

	if (!known->known || known->value != value)
	{
		known->known = false;
		known->result = Compute(column, batch, row, &known->isnull);
		known->value = value;
		known->known = true;
	}
	*isnull = known->isnull;
	return known->result;
}

const ColumnVector *
ComputedColumnOf(ComputedColumn *column, Batch *batch)
{
	const ColumnVector *one = column->known != NULL ?
		BatchColumn(batch, column->vars->var_cols[column->read[0]]) : NULL;
	bool		anynull = false;

	if (!column->keep || (!column->typbyval && MemoryContextMemAllocated(column->cxt, true) > MAX_KEPT_BYTES))
		ComputedColumnReset(column);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = batch->selection ? batch->selection[i] : i;
		bool	   *isnull = &column->nulls[row];

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		column->vec.values[row] = one != NULL && !(one->nulls && one->nulls[row]) ?
			Look(column, batch, row, one->values[row], isnull) : Compute(column, batch, row, isnull);
		anynull |= *isnull;
	}
	column->vec.nulls = anynull ? column->nulls : NULL;
	return &column->vec;
}
