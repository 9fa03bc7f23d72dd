/*
 * row_slot.h
 *	  Rows of batches in a node's own slot: its arrays are filled in place, row
 *	  after row, with values that live in the batch.
 */
#ifndef BF_ROW_SLOT_H
#define BF_ROW_SLOT_H

#include "executor/tuptable.h"

/* Where a column of the slot comes from, while one batch lasts. */
typedef struct RowSource
{
	const Datum *values;
	const bool *nulls;			/* NULL: there is none */
	int			at;				/* in the slot's arrays */
} RowSource;

/* Before the arrays are filled: a node above may have made a copy of the last row for the slot to keep. */
static inline void
RowSlotBegin(TupleTableSlot *slot)
{
	if (unlikely(TTS_SHOULDFREE(slot)))
		ExecClearTuple(slot);
}

/* ExecStoreVirtualTuple without the call, also for a slot that is not empty. */
static inline void
RowSlotStore(TupleTableSlot *slot)
{
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
}

#endif							/* BF_ROW_SLOT_H */
