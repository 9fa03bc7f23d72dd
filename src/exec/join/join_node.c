/*
 * join_node.c
 *	  A bucket join as a node: opened group by group, read entry by entry by
 *	  the executor or batch by batch by the join above it.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "exec/join/bucket_join_state.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "rows/row_slot.h"

/* MergeSideNext */
static Batch *
NextOfChild(void *arg, const KeyBound *bound)
{
	return BatchSourceNext(arg, bound);
}

static void
MergeSpecOf(BatchSource *child, MergeSideSpec *spec)
{
	spec->next = NextOfChild;
	spec->arg = child;
	spec->keycols = child->keycols;
	spec->keytypes = child->keytypes;
	spec->keyclasses = child->keyclasses;
	spec->ncols = child->ncols;
	spec->typlen = child->typlen;
	spec->typbyval = child->typbyval;
}

/*
 * The node
 */

static MergeType
MergeTypeOf(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
			return MERGE_INNER;
		case JOIN_LEFT:
			return MERGE_LEFT;
		case JOIN_FULL:
			return MERGE_FULL;
		case JOIN_SEMI:
			return MERGE_SEMI;
		case JOIN_ANTI:
			return MERGE_ANTI;
		default:
			elog(ERROR, "unexpected join type %d of a bucket join", (int) jointype);
			return MERGE_INNER;
	}
}

void
JoinNodeStart(BatchSource *source)
{
	BucketJoinState *state = JoinOf(source);
	MemoryContext old = MemoryContextSwitchTo(state->cxt);

	for (int i = 0; i < 2; i++)
		BatchSourceStart(state->child[i]);

	/* an input without files has no say in how groups are cut */
	state->nbuckets = GreatestCommonDivisor(BatchSourceBuckets(state->child[0]),
											BatchSourceBuckets(state->child[1]));
	if (state->merge == NULL)
	{
		MergeSideSpec left;
		MergeSideSpec right;

		MergeSpecOf(state->child[0], &left);
		MergeSpecOf(state->child[1], &right);
		state->merge = MergeJoinCreate(MergeTypeOf(state->jointype), state->joinqual != NULL,
									   state->child[0]->nkeys,
									   &left, &right, (Size) work_mem * 1024);
		state->pairs = palloc(sizeof(MergePairs));
		if (state->counts)
			MergeJoinCount(state->merge);
	}
	state->pairs->n = 0;
	state->pair = 0;
	state->started = true;
	MemoryContextSwitchTo(old);
}

void
JoinNodeOpenUnit(BatchSource *source, int ngroups, const Unit *unit)
{
	BucketJoinState *state = JoinOf(source);
	int64		rows[2];

	for (int i = 0; i < 2; i++)
	{
		rows[i] = BatchSourceGroupRows(state->child[i], ngroups, unit->group);
		BatchSourceOpenUnit(state->child[i], ngroups, unit);
	}
	/* the smaller input first: it may be empty, or let the other one skip */
	MergeJoinStart(state->merge, rows[0] <= rows[1]);
	state->pairs->n = 0;
	state->pair = 0;
	state->in_group = true;
	state->units++;
}

void
JoinNodeClose(BatchSource *source)
{
	BucketJoinState *state = JoinOf(source);

	if (!state->in_group)
		return;
	MergeJoinReset(state->merge);
	BatchSourceClose(state->child[0]);
	BatchSourceClose(state->child[1]);
	state->in_group = false;
}

void
JoinNodeReset(BucketJoinState *state)
{
	if (state->merge != NULL)
		JoinNodeClose(&state->source);
	state->started = false;
}

void
JoinNodeCounters(const BucketJoinState *state, JoinCounters *counters)
{
	memset(counters, 0, sizeof(JoinCounters));
	counters->units = state->units;
	counters->rows_filtered = state->rows_filtered;
	if (state->merge != NULL)
		MergeJoinGetCounters(state->merge, &counters->merge);
}

void
JoinCountersAdd(JoinCounters *sum, const JoinCounters *add)
{
	sum->units += add->units;
	sum->rows_filtered += add->rows_filtered;
	sum->merge.rows_compared += add->merge.rows_compared;
	sum->merge.peak_memory = Max(sum->merge.peak_memory, add->merge.peak_memory);
	sum->merge.spilled += add->merge.spilled;
	sum->merge.pairs_counted += add->merge.pairs_counted;
}

/*
 * Entries
 */

/* A key value in a wider type of its class. */
static Datum
WidenKey(Oid from, Oid to, Datum value)
{
	int64		number;

	if (from == to)
		return value;
	if (from == FLOAT4OID && to == FLOAT8OID)
		return Float8GetDatum((float8) DatumGetFloat4(value));
	if (from == INT2OID)
		number = DatumGetInt16(value);
	else if (from == INT4OID)
		number = DatumGetInt32(value);
	else
		return value;
	return to == INT8OID ? Int64GetDatum(number) : Int32GetDatum((int32) number);
}

/* The key of whichever side has a row. */
static inline Datum
MergedKey(const JoinOutput *out, const ColumnVector *outer, int lrow, const ColumnVector *inner,
		  int rrow, bool *isnull)
{
	int			s = lrow != MERGE_NONE ? 0 : 1;
	const ColumnVector *vec = s == 0 ? outer : inner;
	int			row = s == 0 ? lrow : rrow;

	*isnull = vec->nulls && vec->nulls[row];
	return *isnull ? (Datum) 0 : WidenKey(out->keytypes[s], out->type, vec->values[row]);
}

/* Find the vectors of a list of pairs once, not for each row. */
static void
FindSources(BucketJoinState *state)
{
	MergePairs *pairs = state->pairs;

	if (state->sources == NULL)
		state->sources = MemoryContextAlloc(state->cxt, Max(state->nout, 1) * sizeof(JoinSource));
	for (int i = 0; i < state->nout; i++)
	{
		JoinOutput *out = &state->out[i];
		Batch	   *batch = out->side == 0 ? pairs->left : pairs->right;
		JoinSource *source = &state->sources[i];

		source->values = NULL;
		source->nulls = NULL;
		source->rows = out->side == 0 ? pairs->lrow : pairs->rrow;
		if (batch != NULL && out->side != JOIN_SIDE_EITHER && out->col >= 0)
		{
			ColumnVector *vec = BatchColumn(batch, out->col);

			source->values = vec->values;
			source->nulls = vec->nulls;
		}
	}
	state->found = true;
}

/* A column of an entry that is in no vector: a merged key, or an attribute of a side's row. */
static Datum
MakeColumn(BucketJoinState *state, const JoinOutput *out, int entry, bool *isnull)
{
	MergePairs *pairs = state->pairs;
	int			lrow = pairs->lrow[entry];
	int			rrow = pairs->rrow[entry];
	BatchSource *child;

	if (out->side == JOIN_SIDE_EITHER)
		return MergedKey(out, lrow == MERGE_NONE ? NULL : BatchColumn(pairs->left, out->keycols[0]), lrow,
						 lrow == MERGE_NONE ? BatchColumn(pairs->right, out->keycols[1]) : NULL, rrow,
						 isnull);
	child = state->child[out->side];
	*isnull = false;
	return child->ops->attribute(child, out->side == 0 ? pairs->left : pairs->right,
								 out->side == 0 ? lrow : rrow, out->attribute);
}

/* Put an entry into the scan slot; a side without partner is NULL. */
static inline void
FillSlot(BucketJoinState *state, TupleTableSlot *slot, int entry)
{
	Datum	   *values = slot->tts_values;
	bool	   *isnull = slot->tts_isnull;
	const JoinSource *source;

	if (!state->found)
		FindSources(state);
	source = state->sources;
	RowSlotBegin(slot);
	for (int i = 0; i < state->nout; i++, source++)
	{
		const JoinOutput *out = &state->out[i];
		int			row = source->rows[entry];

		if (row == MERGE_NONE && out->side != JOIN_SIDE_EITHER)
		{
			values[i] = (Datum) 0;
			isnull[i] = true;
		}
		else if (likely(source->values != NULL))
		{
			values[i] = source->values[row];
			isnull[i] = source->nulls && source->nulls[row];
		}
		else
			values[i] = MakeColumn(state, out, entry, &isnull[i]);
	}
	RowSlotStore(slot);
}

/*
 * Does an entry make an output row?  *filled tells whether it is in the slot.
 */
static inline bool
EntryIsOutput(BucketJoinState *state, int entry, bool *filled)
{
	MergePairs *pairs = state->pairs;
	TupleTableSlot *slot = state->base.css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = state->base.css.ss.ps.ps_ExprContext;
	ExprState  *qual = state->base.css.ss.ps.qual;
	int			l = pairs->lrow[entry];
	int			r = pairs->rrow[entry];

	*filled = false;
	if (entry < pairs->settled)
	{
		/* a pair without further conditions, or a row without a match */
	}
	else if (r == MERGE_NONE)
	{
		if (pairs->lmatched[l])
			return false;
	}
	else if (l == MERGE_NONE)
	{
		if (pairs->rmatched[r])
			return false;
	}
	else
	{
		/* one match is enough */
		if ((state->jointype == JOIN_SEMI || state->jointype == JOIN_ANTI) &&
			pairs->lmatched[l])
			return false;
		if (state->joinqual != NULL)
		{
			FillSlot(state, slot, entry);
			*filled = true;
			econtext->ecxt_scantuple = slot;
			if (!ExecQual(state->joinqual, econtext))
			{
				state->rows_filtered++;
				return false;
			}
		}
		if (pairs->lmatched)
			pairs->lmatched[l] = true;
		if (pairs->rmatched)
			pairs->rmatched[r] = true;
		if (state->jointype == JOIN_ANTI)
			return false;
	}
	if (qual != NULL)
	{
		if (!*filled)
			FillSlot(state, slot, entry);
		*filled = true;
		econtext->ecxt_scantuple = slot;
		if (!ExecQual(qual, econtext))
		{
			InstrCountFiltered1(state, 1);
			return false;
		}
	}
	return true;
}

bool
JoinNodeNextEntry(BucketJoinState *state)
{
	ExprContext *econtext = state->base.css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->base.css.ss.ss_ScanTupleSlot;

	for (;;)
	{
		while (state->pair < state->pairs->n)
		{
			int			entry = state->pair++;
			bool		filled;
			MemoryContext old;
			bool		output;

			/* whole rows are made in per-tuple memory */
			ResetExprContext(econtext);
			old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
			output = EntryIsOutput(state, entry, &filled);
			if (output && !filled)
				FillSlot(state, slot, entry);
			MemoryContextSwitchTo(old);
			if (output)
			{
				econtext->ecxt_scantuple = slot;
				return true;
			}
		}
		CHECK_FOR_INTERRUPTS();
		state->pair = 0;
		state->found = false;
		if (!MergeJoinNext(state->merge, state->pairs))
		{
			state->pairs->n = 0;
			return false;
		}
	}
}

/*
 * Batches
 */

/* BatchColumnLoader: gather one column of the output from the two sides. */
static void
GatherOutput(Batch *batch, int col)
{
	BucketJoinState *state = batch->load_arg;
	JoinOutput *out = &state->out[col];
	Batch	   *source = out->side == 0 ? state->pairs->left : state->pairs->right;
	const uint16 *rows = out->side == 0 ? state->lrow : state->rrow;
	ColumnVector *vec;
	Datum	   *values = BatchRoom(batch, col)->values;
	bool	   *nulls = BatchRoom(batch, col)->nulls;
	bool		anynull = false;

	if (out->side == JOIN_SIDE_EITHER)
	{
		ColumnVector *outer = state->pairs->left ?
			BatchColumn(state->pairs->left, out->keycols[0]) : NULL;
		ColumnVector *inner = state->pairs->right ?
			BatchColumn(state->pairs->right, out->keycols[1]) : NULL;

		for (int i = 0; i < batch->nrows; i++)
		{
			values[i] = MergedKey(out, outer, state->lrow[i], inner, state->rrow[i], &nulls[i]);
			anynull |= nulls[i];
		}
		BatchFilled(batch, col, anynull);
		return;
	}
	/* a list of rows without partner has no batch on the other side */
	vec = source ? BatchColumn(source, out->col) : NULL;
	for (int i = 0; i < batch->nrows; i++)
	{
		int			row = rows[i];

		nulls[i] = row == MERGE_NONE || (vec->nulls && vec->nulls[row]);
		values[i] = nulls[i] ? (Datum) 0 : vec->values[row];
		anynull |= nulls[i];
	}
	BatchFilled(batch, col, anynull);
}

/* BatchScaledLoader: the same of a column of a side that is not loaded there. */
static bool
GatherScaled(Batch *batch, int col, ScaledColumn *scaled)
{
	BucketJoinState *state = batch->load_arg;
	JoinOutput *out = &state->out[col];
	Batch	   *source = out->side == 0 ? state->pairs->left : state->pairs->right;
	const uint16 *rows = out->side == 0 ? state->lrow : state->rrow;
	ScaledColumn from;
	bool		anynull = false;

	if (out->side == JOIN_SIDE_EITHER || source == NULL || !BatchScaled(source, out->col, &from))
		return false;
	if (state->scaled[col].values == NULL)
	{
		state->scaled[col].values = MemoryContextAlloc(state->cxt, MERGE_PAIRS * sizeof(int64));
		state->scaled[col].nulls = MemoryContextAlloc(state->cxt, MERGE_PAIRS * sizeof(bool));
	}
	*scaled = state->scaled[col];
	scaled->scale = from.scale;
	for (int i = 0; i < batch->nrows; i++)
	{
		int			row = rows[i];
		bool		isnull = row == MERGE_NONE || (from.nulls && from.nulls[row]);

		scaled->nulls[i] = isnull;
		scaled->values[i] = isnull ? 0 : from.values[row];
		anynull |= isnull;
	}
	if (!anynull)
		scaled->nulls = NULL;
	return true;
}

/* The output batch, made on first use. */
static Batch *
MakeOutputBatch(BucketJoinState *state)
{
	Batch	   *batch = &state->batch;

	if (state->lrow_buffer == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(state->cxt);

		state->lrow_buffer = palloc(MERGE_PAIRS * sizeof(uint16));
		state->rrow_buffer = palloc(MERGE_PAIRS * sizeof(uint16));
		state->scaled = palloc0(Max(state->nout, 1) * sizeof(ScaledColumn));
		BatchInit(batch, state->nout, MERGE_PAIRS, GatherOutput, state);
		batch->load_scaled = GatherScaled;
		MemoryContextSwitchTo(old);
	}
	return batch;
}

static double
PairsCounted(const BucketJoinState *state)
{
	MergeJoinCounters counters;

	if (!state->counts)
		return 0;
	MergeJoinGetCounters(state->merge, &counters);
	return counters.pairs_counted;
}

/*
 * How often entries of the list stand for a row of the output: as often as
 * their rows of the inputs do; and those of a stretch as often as the row they
 * are there for.  NULL: once.
 */
static const int64 *
EntryTimes(BucketJoinState *state, int n)
{
	const MergePairs *pairs = state->pairs;
	const int64 *left = pairs->left ? pairs->left->times : NULL;
	const int64 *right = pairs->right ? pairs->right->times : NULL;
	int			from = 0;
	int64	   *times;

	if (left == NULL && right == NULL)
		return NULL;
	if (state->times == NULL)
		state->times = MemoryContextAlloc(state->cxt, MERGE_PAIRS * sizeof(int64));
	times = state->times;
	for (int s = 0; s < pairs->nstretches; s++)
	{
		const int64 *side = pairs->stretches[s].left ? left : right;
		const uint16 *rows = pairs->stretches[s].left ? state->lrow : state->rrow;

		for (; from < pairs->stretches[s].to; from++)
			times[from] = side ? side[rows[from]] : 1;
	}
	for (int i = from; i < n; i++)
		times[i] = (left && state->lrow[i] != MERGE_NONE ? left[state->lrow[i]] : 1) *
			(right && state->rrow[i] != MERGE_NONE ? right[state->rrow[i]] : 1);
	return times;
}

Batch *
JoinNodeNextBatch(BatchSource *source, const KeyBound *bound)
{
	BucketJoinState *state = JoinOf(source);
	PlanState  *ps = &state->base.css.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;
	Batch	   *batch = MakeOutputBatch(state);
	double		counted = PairsCounted(state);
	int			first;
	int			n = 0;

	if (ps->instrument)
		InstrStartNode(ps->instrument);
	while (n == 0 && state->in_group)
	{
		CHECK_FOR_INTERRUPTS();
		state->found = false;
		if (!MergeJoinNext(state->merge, state->pairs))
			break;
		/* what needs no test, from the start of the list on */
		first = !state->unconditional ? 0 :
			state->jointype == JOIN_INNER ? state->pairs->n : state->pairs->settled;
		if (first == state->pairs->n)
		{
			n = first;
			state->lrow = state->pairs->lrow;
			state->rrow = state->pairs->rrow;
			break;
		}
		n = first;
		memcpy(state->lrow_buffer, state->pairs->lrow, n * sizeof(uint16));
		memcpy(state->rrow_buffer, state->pairs->rrow, n * sizeof(uint16));
		state->lrow = state->lrow_buffer;
		state->rrow = state->rrow_buffer;
		for (int i = first; i < state->pairs->n; i++)
		{
			bool		filled;
			bool		output;
			MemoryContext old;

			ResetExprContext(econtext);
			old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
			output = EntryIsOutput(state, i, &filled);
			MemoryContextSwitchTo(old);
			state->lrow_buffer[n] = state->pairs->lrow[i];
			state->rrow_buffer[n] = state->pairs->rrow[i];
			n += output;
		}
	}
	BatchReset(batch, n);
	if (n > 0)
	{
		batch->times = EntryTimes(state, n);
		batch->nstretches = state->pairs->nstretches;
		batch->stretches = state->pairs->stretches;
	}
	/* rows are pairs, made or not */
	if (ps->instrument)
		InstrStopNode(ps->instrument,
					  (batch->nstretches > 0 ? 0 : BatchTimes(batch->times, NULL, 0, n)) +
					  PairsCounted(state) - counted);
	return n > 0 ? batch : NULL;
}
