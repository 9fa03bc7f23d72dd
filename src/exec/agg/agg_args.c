/*
 * agg_args.c
 *	  What aggregates are advanced with.
 */
#include "postgres.h"

#include "exec/agg/agg_args.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "vector/numeric_int.h"

/* where so many batches in a row could not be computed at once, only one of so many is tried */
#define PATIENCE			4
#define BATCHES_PER_TRIAL	32

void
AggArgInit(AggArgs *args, AggArg *in, const BatchAgg *agg, Expr *filter, Expr *arg)
{
	VectorExprs **exprs = &args->exprs[in->side];

	in->agg = agg;
	in->filter = -1;
	in->expr = -1;
	if (*exprs == NULL)
		*exprs = VectorExprsCreate(&args->vars, args->parent);
	if (filter != NULL)
		in->filter = VectorExprsAddFilter(*exprs, filter);
	if (arg != NULL)
	{
		in->arg = ExecInitExpr(arg, args->parent);
		in->expr = VectorExprsAdd(*exprs, arg, in->filter);
	}
	else if (in->col >= 0 && agg->fn->adds_numerics)
		in->expr = VectorExprsAddNumeric(*exprs, in->col);
}

#define RESERVE(args, in, field) \
	((in)->field != NULL ? (in)->field : \
	 ((in)->field = MemoryContextAlloc(MemoryContextGetParent((args)->cxt), \
									   BF_BATCH_ROWS * sizeof(*(in)->field))))

/* Compute the value of one aggregate for the row in the slot. */
static void
ComputeValue(AggArgs *args, AggArg *in, int row)
{
	Datum		value = ExecEvalExprSwitchContext(in->arg, args->vars.econtext, &in->nulls[row]);
	const BatchAgg *agg = in->agg;
	MemoryContext old;

	if (!in->nulls[row] && !agg->typbyval)
	{
		old = MemoryContextSwitchTo(args->cxt);
		/* kernels look at the bytes of a varlena */
		value = agg->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, agg->typbyval, agg->typlen);
		MemoryContextSwitchTo(old);
	}
	in->values[row] = value;
}

/* Compute what has to be computed row by row, of a side. */
static void
ComputeByRow(AggArgs *args, Batch *batch, int side, const uint16 *rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		ResetExprContext(args->vars.econtext);
		VectorSlotFill(&args->vars, batch, row);
		for (int a = 0; a < args->n; a++)
		{
			AggArg	   *in = &args->list[a];

			if (in->side != side || !in->by_row)
				continue;
			if (in->filter >= 0 && VectorExprsFilter(args->exprs[side], in->filter)[row] != 0)
				in->nulls[row] = true;
			else
				ComputeValue(args, in, row);
		}
	}
}

/* The NULLs of a vector, and rows that the filter drops, which are NULL too: no aggregate counts them. */
static const bool *
FilterNulls(AggArgs *args, AggArg *in, const bool *nulls, const uint16 *rows, int n)
{
	const uint8 *dropped;
	bool	   *result;

	if (in->filter < 0)
		return nulls;
	dropped = VectorExprsFilter(args->exprs[in->side], in->filter);
	result = RESERVE(args, in, nulls);
	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;

		result[row] = dropped[row] != 0 || (nulls != NULL && nulls[row]);
	}
	return result;
}

/* Values as numerics. */
static Datum *
MakeNumerics(AggArgs *args, AggArg *in, const uint16 *rows, int n)
{
	const DecimalVector *vec = &in->decimals;
	Datum	   *values = RESERVE(args, in, values);
	MemoryContext old = MemoryContextSwitchTo(args->cxt);

	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;

		if (!DecimalIsNull(vec, row))
			values[row] = NumericGetDatum(NumericFromInt128(DecimalAt(vec, row),
															DecimalScaleAt(vec, row)));
	}
	MemoryContextSwitchTo(old);
	return values;
}

/* Compute an expression for all rows at once, if that can be. */
static bool
ComputeAtOnce(AggArgs *args, AggArg *in, const uint16 *rows, int n, AggVector *vector)
{
	const DecimalVector *found;

	if (in->expr < 0 || (in->failures >= PATIENCE && args->nbatches % BATCHES_PER_TRIAL != 0))
		return false;
	found = VectorExprsCompute(args->exprs[in->side], in->expr);
	if (found == NULL)
	{
		in->failures++;
		return false;
	}
	in->failures = 0;
	in->decimals = *found;
	in->decimals.nulls = FilterNulls(args, in, found->nulls, rows, n);
	if (in->agg->fn->adds_numerics)
	{
		vector->decimals = &in->decimals;
		return true;
	}
	in->vec.nulls = unconstify(bool *, in->decimals.nulls);
	if (in->agg->fn->counts_values)
		in->vec.values = NULL;
	else if (in->agg->type == NUMERICOID)
		in->vec.values = MakeNumerics(args, in, rows, n);
	else
		in->vec.values = (Datum *) unconstify(int64 *, in->decimals.narrow);
	vector->column = &in->vec;
	return true;
}

/* Find the vectors of a side's aggregates. */
static void
LoadSide(AggArgs *args, Batch *batch, int side, const uint16 *rows, int n, AggVector *vectors)
{
	bool		by_row = false;

	if (args->exprs[side] == NULL)
		return;
	VectorExprsBegin(args->exprs[side], batch, rows, n);
	for (int i = 0; i < args->n; i++)
	{
		AggArg	   *in = &args->list[i];

		if (in->side != side)
			continue;
		if (batch->times != NULL && !in->agg->fn->counts_rows)
			elog(ERROR, "an aggregate reads rows that are only counted");
		vectors[i].column = NULL;
		vectors[i].decimals = NULL;
		vectors[i].times = batch->times;
		/* before a row is put into the slot, in which filters are evaluated too */
		if (in->filter >= 0)
			(void) VectorExprsFilter(args->exprs[side], in->filter);
		in->by_row = false;
		if (ComputeAtOnce(args, in, rows, n, &vectors[i]))
			continue;
		if (in->col >= 0)
			vectors[i].column = BatchColumn(batch, in->col);
		in->by_row = in->arg != NULL;
		if (in->by_row)
		{
			in->vec.values = RESERVE(args, in, values);
			in->vec.nulls = RESERVE(args, in, nulls);
			vectors[i].column = &in->vec;
		}
		else if (in->filter >= 0)
		{
			/* the filter of a column, or of count(*) */
			in->vec.values = vectors[i].column ? vectors[i].column->values : NULL;
			in->vec.nulls = unconstify(bool *, FilterNulls(args, in, vectors[i].column ?
														   vectors[i].column->nulls : NULL, rows, n));
			vectors[i].column = &in->vec;
		}
		by_row |= in->by_row;
	}
	if (by_row)
		ComputeByRow(args, batch, side, rows, n);
}

/* Find the vectors of a batch of stretches: of each side the rows that are there for it. */
static void
LoadStretches(AggArgs *args, Batch *batch, AggVector *vectors)
{
	int			n[2] = {0, 0};
	int			from = 0;

	if (args->rows[0] == NULL)
	{
		for (int side = 0; side < 2; side++)
			args->rows[side] = MemoryContextAlloc(MemoryContextGetParent(args->cxt),
													BF_BATCH_ROWS * sizeof(uint16));
	}
	for (int s = 0; s < batch->nstretches; s++)
	{
		int			side = batch->stretches[s].left ? 0 : 1;

		for (int e = from; e < batch->stretches[s].to; e++)
			args->rows[side][n[side]++] = (uint16) (batch->selection ? batch->selection[e] : e);
		from = batch->stretches[s].to;
	}
	for (int side = 0; side < 2; side++)
		LoadSide(args, batch, side, args->rows[side], n[side], vectors);
}

void
AggArgsLoad(AggArgs *args, Batch *batch, AggVector *vectors)
{
	MemoryContextReset(args->cxt);
	args->vars.econtext->ecxt_scantuple = args->vars.slot;
	args->nbatches++;
	if (batch->nstretches > 0)
	{
		LoadStretches(args, batch, vectors);
		return;
	}
	LoadSide(args, batch, 0, batch->selection, batch->nselected, vectors);
	LoadSide(args, batch, 1, batch->selection, batch->nselected, vectors);
}
