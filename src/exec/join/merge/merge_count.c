/*
 * merge_count.c
 *	  Groups of which the taker wants the rows, not the pairs.
 *
 * The left rows of a key are handed out, then its right rows, read on over
 * batch after batch: n and m entries instead of n times m, and no row is kept.
 * All of them have a match, so that preserved sides need nothing more.  Small
 * groups stay pairs, which cost less than stretches of their own.
 */
#include "postgres.h"

#include "exec/join/merge/merge_join_state.h"
#include "vector/merge_search.h"

void
MergeCountBegin(MergeJoin *join)
{
	/* a group that goes on in the next batch is told by its key, also when the other side is past it */
	if (join->lto == join->left.keys.n || join->rto == join->right.keys.n)
		MergeKeepKey(join);
	join->count_begins = true;
	join->group_rows[0] = join->group_rows[1] = 0;
	join->phase = PHASE_COUNT_LEFT;
}

/* Add a stretch of the side's entries up to "to", as far as there is room. */
static void
AddStretch(MergeJoin *join, MergeSide *side, bool is_left, int to, MergePairs *pairs)
{
	int			end = Min(to, side->pos + MERGE_PAIRS - pairs->n);
	/* the right group stands where it begins as long as left rows are counted */
	int			partner = is_left ? KeyVectorRow(&join->right.keys, join->rfrom) : MERGE_NONE;
	BatchStretch *stretch;

	if (end == side->pos)
		return;
	join->group_rows[is_left ? 0 : 1] += BatchTimes(side->batch->times, side->keys.rows, side->pos, end);
	for (int i = side->pos; i < end; i++)
	{
		int			row = KeyVectorRow(&side->keys, i);

		AddPair(pairs, is_left ? row : partner, is_left ? partner : row);
	}
	side->pos = end;
	stretch = &pairs->stretches[pairs->nstretches++];
	stretch->to = (uint16) pairs->n;
	stretch->left = is_left;
	stretch->begins = join->count_begins;
	join->count_begins = false;
	pairs->settled = pairs->n;
}

/* Count the rows of one side; false when the list must be handed out first. */
static bool
CountSide(MergeJoin *join, MergeSide *side, bool is_left, int *to, MergePairs *pairs)
{
	for (;;)
	{
		bool		more;

		AddStretch(join, side, is_left, *to, pairs);
		if (side->pos < *to)
			return false;
		if (*to < side->keys.n)
			return true;
		/* the list points into this batch */
		if (pairs->n > 0)
			return false;
		more = MergeFetch(join, side, NULL);
		/* the batch from before is gone, also when the side has ended: no column of it may be asked for */
		pairs->left = join->left.batch;
		pairs->right = join->right.batch;
		if (!more || KeyVectorCompareBound(&side->keys, 0, &join->store_key) != 0)
			return true;
		*to = EndOfGroup(&side->keys, 0);
	}
}

bool
MergeCountGroups(MergeJoin *join, MergePairs *pairs)
{
	if (join->phase == PHASE_COUNT_LEFT)
	{
		if (!CountSide(join, &join->left, true, &join->lto, pairs))
			return false;
		join->phase = PHASE_COUNT_RIGHT;
	}
	if (!CountSide(join, &join->right, false, &join->rto, pairs))
		return false;
	join->pairs_counted += (double) join->group_rows[0] * (double) join->group_rows[1];
	join->phase = PHASE_MERGE;
	return true;
}

bool
MergeCountNext(MergeJoin *join)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;
	const KeyVector *lk = &left->keys;
	const KeyVector *rk = &right->keys;
	int			c;

	/* only a preserved side has entries with NULL keys, and is not moved on here */
	if ((lk->entry_null && lk->entry_null[left->pos]) ||
		(rk->entry_null && rk->entry_null[right->pos]))
		return false;
	while ((c = KeyVectorCompare(lk, left->pos, rk, right->pos)) != 0)
	{
		MergeSide  *behind = c < 0 ? left : right;
		MergeSide  *ahead = c < 0 ? right : left;

		if (behind->preserved)
			return false;
		behind->pos = SearchFull(&behind->keys, behind->pos + 1, &ahead->keys, ahead->pos);
		if (behind->pos == behind->keys.n)
			return false;
	}
	join->lfrom = left->pos;
	join->lto = EndOfGroup(lk, left->pos);
	join->rfrom = right->pos;
	join->rto = EndOfGroup(rk, right->pos);
	if (!CountsGroups(join, join->lto - join->lfrom, join->rto - join->rfrom))
		return false;
	MergeCountBegin(join);
	return true;
}
