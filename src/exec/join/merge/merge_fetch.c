/*
 * merge_fetch.c
 *	  Batches and keys of the sides of a merge.
 */
#include "postgres.h"

#include "exec/join/merge/merge_join_state.h"
#include "exec/join/merge/merge_single.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

const KeyBound *
MergePresentKey(MergeSide *side)
{
	int			row;

	if (side->batch == NULL || side->pos >= side->keys.n ||
		(side->keys.entry_null && side->keys.entry_null[side->pos]))
		return NULL;
	row = KeyVectorRow(&side->keys, side->pos);
	for (int k = 0; k < side->keys.nkeys; k++)
		side->bound_values[k] = side->batch->cols[side->keys.cols[k]].values[row];
	return &side->bound;
}

/* Look at the keys of a batch: what MergeSingles and MergeSettled want to know. */
static void
InspectKeys(MergeJoin *join, MergeSide *side)
{
	const KeyVector *keys = &side->keys;

	side->nkeyed = keys->n;
	if (keys->entry_null)
	{
		const bool *null = memchr(keys->entry_null, true, keys->n * sizeof(bool));

		side->nkeyed = null ? null - keys->entry_null : keys->n;
	}
	side->single = (join->type == MERGE_INNER || (join->type == MERGE_LEFT && !join->residual)) &&
		side->pos < side->nkeyed &&
		ImagesDiffer(keys->k64 + side->pos, side->nkeyed - side->pos);
}

bool
MergeFetch(MergeJoin *join, MergeSide *side, const KeyBound *bound)
{
	MergeSide  *other = side == &join->left ? &join->right : &join->left;

	while (!side->ended)
	{
		CHECK_FOR_INTERRUPTS();
		side->batch = side->spec.next(side->spec.arg, side->preserved ? NULL : bound);
		side->pos = 0;
		if (side->batch == NULL)
		{
			side->ended = true;
			side->keys.n = 0;
			break;
		}
		if (KeyVectorFillBeside(&side->keys, side->batch, side->preserved, &other->keys, other->pos))
			InspectKeys(join, other);
		InspectKeys(join, side);
		join->rows_compared += side->keys.n;
		if (side->matched)
			memset(side->matched, 0, side->batch->nrows * sizeof(bool));
		if (side->keys.n > 0)
			return true;
	}
	return false;
}

void
MergeKeepKey(MergeJoin *join)
{
	MergeSide  *right = &join->right;
	const KeyBound *key = MergePresentKey(right);
	MemoryContext old;
	Datum	   *values;

	MemoryContextReset(join->keycxt);
	old = MemoryContextSwitchTo(join->keycxt);
	values = palloc(key->nkeys * sizeof(Datum));
	for (int k = 0; k < key->nkeys; k++)
	{
		int			col = right->keys.cols[k];

		values[k] = datumCopy(key->values[k], right->spec.typbyval[col],
							  right->spec.typlen[col]);
	}
	join->store_key = *key;
	join->store_key.values = values;
	MemoryContextSwitchTo(old);
}
