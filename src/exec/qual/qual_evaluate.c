/*
 * qual_evaluate.c
 *	  Conditions of one column that core evaluates, once for each value.
 *
 * What comes out is remembered per entry of a dictionary, which is as long as
 * the batch lasts, or per value, if that is no pointer.  Nothing is evaluated
 * ahead: core may raise an error for a value, and must do so only if it would
 * have come to a row that has it.
 */
#include "postgres.h"

#include "exec/qual/qual_evaluate.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "rows/row_slot.h"

#define CACHE_BITS		12
#define CACHE_SIZE		(1 << CACHE_BITS)

/* what is known of a value */
enum
{
	NOT_KNOWN = 0,
	HOLDS,
	FAILS
};

typedef struct QualEvaluation
{
	ExprState  *state;
	ExprContext *econtext;
	TupleTableSlot *slot;
	bool		keep;			/* beyond a rescan */
	bool		byval;
	uint8		of_null;
	uint8	   *known;			/* per place in the cache; NULL: there is none yet */
	Datum	   *values;			/* of which it is known */
} QualEvaluation;

void
LeafQualSetEvaluation(LeafQual *qual, ExprState *state, ExprContext *econtext, TupleTableSlot *slot, bool keep)
{
	QualEvaluation *eval = palloc0(sizeof(QualEvaluation));

	eval->state = state;
	eval->econtext = econtext;
	eval->slot = slot;
	eval->keep = keep;
	eval->byval = TupleDescAttr(slot->tts_tupleDescriptor, qual->attnum - 1)->attbyval;
	qual->evaluation = eval;
	qual->cxt = CurrentMemoryContext;
}

void
LeafQualForget(LeafQual *qual)
{
	QualEvaluation *eval = qual->evaluation;

	if (eval->keep)
		return;
	eval->of_null = NOT_KNOWN;
	if (eval->known != NULL)
		memset(eval->known, NOT_KNOWN, CACHE_SIZE);
}

static uint8
Evaluate(const LeafQual *qual, Datum value, bool isnull)
{
	QualEvaluation *eval = qual->evaluation;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(eval->econtext);
	RowSlotBegin(eval->slot);
	eval->slot->tts_values[qual->attnum - 1] = value;
	eval->slot->tts_isnull[qual->attnum - 1] = isnull;
	RowSlotStore(eval->slot);
	eval->econtext->ecxt_scantuple = eval->slot;
	return ExecQual(eval->state, eval->econtext) ? HOLDS : FAILS;
}

static inline bool
HoldsForNull(const LeafQual *qual)
{
	QualEvaluation *eval = qual->evaluation;

	if (eval->of_null == NOT_KNOWN)
		eval->of_null = Evaluate(qual, (Datum) 0, true);
	return eval->of_null == HOLDS;
}

/* A value that is no pointer. */
static inline bool
HoldsForValue(const LeafQual *qual, Datum value)
{
	QualEvaluation *eval = qual->evaluation;
	uint32		place = (uint32) (((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS));

	if (eval->known[place] == NOT_KNOWN || eval->values[place] != value)
	{
		/* an error leaves nothing behind */
		uint8		known = Evaluate(qual, value, false);

		eval->known[place] = known;
		eval->values[place] = value;
	}
	return eval->known[place] == HOLDS;
}

static int
EvaluateCoded(const LeafQual *qual, const CodedColumn *coded, const uint16 *rows, int n, uint16 *out)
{
	uint8		known[BF_BATCH_ROWS];
	int			kept = 0;

	memset(known, NOT_KNOWN, coded->ndict);
	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;
		bool		holds;

		if (coded->nulls && coded->nulls[row])
			holds = HoldsForNull(qual);
		else
		{
			uint64		code = coded->codes[row];

			if (known[code] == NOT_KNOWN)
				known[code] = Evaluate(qual, coded->dict[code], false);
			holds = known[code] == HOLDS;
		}
		out[kept] = (uint16) row;
		kept += holds;
	}
	return kept;
}

int
QualEvaluateRows(const LeafQual *qual, Batch *batch, uint16 *out)
{
	QualEvaluation *eval = qual->evaluation;
	const uint16 *rows = batch->selection;
	const ColumnVector *vec;
	CodedColumn coded;
	int			kept = 0;

	if (!eval->byval && BatchCoded(batch, qual->col, &coded))
		return EvaluateCoded(qual, &coded, rows, batch->nselected, out);
	vec = BatchColumn(batch, qual->col);
	if (eval->byval && eval->known == NULL)
	{
		eval->values = MemoryContextAlloc(qual->cxt, CACHE_SIZE * sizeof(Datum));
		eval->known = MemoryContextAllocZero(qual->cxt, CACHE_SIZE);
	}
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = rows ? rows[i] : i;
		bool		holds;

		if (vec->nulls && vec->nulls[row])
			holds = HoldsForNull(qual);
		else if (eval->byval)
			holds = HoldsForValue(qual, vec->values[row]);
		else
			holds = Evaluate(qual, vec->values[row], false) == HOLDS;
		out[kept] = (uint16) row;
		kept += holds;
	}
	return kept;
}
