/*
 * agg_inputs.c
 *	  What aggregates are advanced with.
 */
#include "postgres.h"

#include "exec/agg_inputs.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

static inline bool
IsComputed(const AggInput *in)
{
	return in->arg != NULL || in->filter != NULL;
}

/* Put the columns that expressions read into the slot. */
static void
FillSlot(AggInputs *inputs, Batch *batch, int row)
{
	TupleTableSlot *slot = inputs->slot;

	ExecClearTuple(slot);
	for (int v = 0; v < inputs->nvars; v++)
	{
		const ColumnVector *vec = BatchColumn(batch, inputs->var_cols[v]);

		slot->tts_values[inputs->var_places[v]] = vec->values[row];
		slot->tts_isnull[inputs->var_places[v]] = vec->nulls && vec->nulls[row];
	}
	ExecStoreVirtualTuple(slot);
}

/* Compute the value of one aggregate for the row in the slot. */
static void
ComputeValue(AggInputs *inputs, AggInput *in, const ColumnVector *column, int row)
{
	Datum		value;
	MemoryContext old;

	in->nulls[row] = true;
	if (in->filter != NULL && !ExecQual(in->filter, inputs->econtext))
		return;
	if (in->arg == NULL)
	{
		/* the filter of a column, or of count(*) */
		in->nulls[row] = column != NULL && column->nulls && column->nulls[row];
		return;
	}
	value = ExecEvalExprSwitchContext(in->arg, inputs->econtext, &in->nulls[row]);
	if (in->nulls[row])
		return;
	if (!in->argbyval)
	{
		old = MemoryContextSwitchTo(inputs->cxt);
		/* kernels look at the bytes of a varlena */
		value = in->arglen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, in->argbyval, in->arglen);
		MemoryContextSwitchTo(old);
	}
	in->values[row] = value;
}

/* Room for computed values, which live as long as the node. */
static void
MakeRoom(AggInputs *inputs, AggInput *in)
{
	MemoryContext owner = MemoryContextGetParent(inputs->cxt);

	in->nulls = MemoryContextAlloc(owner, BF_BATCH_ROWS * sizeof(bool));
	if (in->arg != NULL)
		in->values = MemoryContextAlloc(owner, BF_BATCH_ROWS * sizeof(Datum));
}

/* Find columns, and what computing values takes. */
static void
FindColumns(AggInputs *inputs, Batch *batch, const ColumnVector **vectors)
{
	for (int i = 0; i < inputs->n; i++)
	{
		AggInput   *in = &inputs->inputs[i];

		vectors[i] = in->col >= 0 ? BatchColumn(batch, in->col) : NULL;
		if (IsComputed(in) && in->nulls == NULL)
			MakeRoom(inputs, in);
	}
	if (!inputs->computed)
		return;
	MemoryContextReset(inputs->cxt);
	inputs->econtext->ecxt_scantuple = inputs->slot;
}

/* Compute the values for entries of the batch; side < 0: of all aggregates. */
static void
ComputeValues(AggInputs *inputs, Batch *batch, const ColumnVector **vectors, int from, int to,
			  int side)
{
	for (int e = from; e < to; e++)
	{
		int			row = batch->selection ? batch->selection[e] : e;

		if (e % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		ResetExprContext(inputs->econtext);
		FillSlot(inputs, batch, row);
		for (int i = 0; i < inputs->n; i++)
		{
			AggInput   *in = &inputs->inputs[i];

			if (IsComputed(in) && (side < 0 || in->side == side))
				ComputeValue(inputs, in, vectors[i], row);
		}
	}
}

/* Point to the values that were computed. */
static void
UseComputed(AggInputs *inputs, const ColumnVector **vectors)
{
	for (int i = 0; i < inputs->n; i++)
	{
		AggInput   *in = &inputs->inputs[i];

		if (!IsComputed(in))
			continue;
		in->vec.values = in->arg != NULL ? in->values : vectors[i] ? vectors[i]->values : NULL;
		in->vec.nulls = in->nulls;
		vectors[i] = &in->vec;
	}
}

void
AggInputsLoad(AggInputs *inputs, Batch *batch, const ColumnVector **vectors)
{
	FindColumns(inputs, batch, vectors);
	if (!inputs->computed)
		return;
	ComputeValues(inputs, batch, vectors, 0, batch->nselected, -1);
	UseComputed(inputs, vectors);
}

void
AggInputsLoadStretches(AggInputs *inputs, Batch *batch, const MergeStretch *stretches,
					   int nstretches, const ColumnVector **vectors)
{
	int			from = 0;

	FindColumns(inputs, batch, vectors);
	if (!inputs->computed)
		return;
	for (int s = 0; s < nstretches; s++)
	{
		ComputeValues(inputs, batch, vectors, from, stretches[s].to, stretches[s].left ? 0 : 1);
		from = stretches[s].to;
	}
	UseComputed(inputs, vectors);
}
