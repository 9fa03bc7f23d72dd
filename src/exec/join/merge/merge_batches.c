/*
 * merge_batches.c
 *	  The loops of the merge over the keys of two batches.
 *
 * One loop for what is frequent: one image decides, one of the batches has
 * each key once, nothing is preserved.  The general one does all the rest.
 */
#include "postgres.h"

#include "exec/join/merge/merge_join_state.h"
#include "exec/join/merge/merge_single.h"
#include "vector/merge_search.h"

/*
 * Pairs of an inner join where one of the batches has each image once, as far
 * as that goes: what most joins spend their time in.
 */
static void
MergeSingles(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;
	const KeyVector *lk = &left->keys;
	const KeyVector *rk = &right->keys;
	int			n = pairs->n;
	uint16	   *lout = pairs->lrow + n;
	uint16	   *rout = pairs->rrow + n;
	int			added;

	if (right->single)
		added = MergeSingle(lk->k64, lk->n, &left->pos, rk->k64, rk->n, &right->pos,
							lout, rout, MERGE_PAIRS - n);
	else
		added = MergeSingle(rk->k64, rk->n, &right->pos, lk->k64, lk->n, &left->pos,
							rout, lout, MERGE_PAIRS - n);
	for (int i = 0; lk->rows && i < added; i++)
		lout[i] = lk->rows[lout[i]];
	for (int i = 0; rk->rows && i < added; i++)
		rout[i] = rk->rows[rout[i]];
	if (!(lk->exact && rk->exact))
		added = KeyVectorKeepEqual(lk, lout, rk, rout, added);
	pairs->n = n + added;
}

/*
 * Left rows that were left standing, in case their partners go on in the right
 * batch that was read since: move past those that are finished.  False if one
 * of them is not.
 */
static bool
PassStanding(MergeSide *left, const MergeSide *right)
{
	const KeyVector *lk = &left->keys;

	while (left->pos < left->nkeyed && left->matched[KeyVectorRow(lk, left->pos)])
	{
		if (lk->k64[left->pos] >= right->keys.k64[right->pos])
			return false;
		left->pos++;
	}
	return true;
}

/*
 * Entries of a left, semi or anti join without further conditions whose images
 * decide, as far as that goes.
 */
static void
MergeSettled(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;
	const KeyVector *lk = &left->keys;
	const KeyVector *rk = &right->keys;
	int			n = pairs->n;
	int			room = MERGE_PAIRS - n;
	uint16	   *lout = pairs->lrow + n;
	uint16	   *rout = pairs->rrow + n;
	int			added;

	if (left->pos >= left->nkeyed)
		return;
	if (join->first_only)
		added = MergeExists(lk->k64, left->nkeyed, &left->pos, rk->k64, rk->n, &right->pos,
							lout, rout, room, join->type == MERGE_SEMI);
	else if (right->single)
	{
		if (!PassStanding(left, right))
			return;
		added = MergeOuterOfSingle(lk->k64, left->nkeyed, &left->pos, rk->k64, rk->n, &right->pos,
								   lout, rout, room);
	}
	else if (left->single)
	{
		bool		matched = left->matched[KeyVectorRow(lk, left->pos)];

		added = MergeOuterOfMany(lk->k64, left->nkeyed, &left->pos, rk->k64, rk->n, &right->pos,
								 lout, rout, room, &matched);
		/* its other partners may be in the next batch */
		if (matched)
			left->matched[KeyVectorRow(lk, left->pos)] = true;
	}
	else
		return;
	for (int i = 0; lk->rows && i < added; i++)
		lout[i] = lk->rows[lout[i]];
	for (int i = 0; rk->rows && i < added; i++)
		rout[i] = rout[i] == MERGE_NONE ? MERGE_NONE : rk->rows[rout[i]];
	if (pairs->settled == n)
		pairs->settled = n + added;
	pairs->n = n + added;
}

/*
 * Merge the present batches of an inner join whose images decide.  Positions and the count live in local
 * variables, since the compiler must assume that the lists alias them.
 */
static MergeStep
MergeExactInner(MergeJoin *join, MergePairs *pairs)
{
	const KeyVector *lk = &join->left.keys;
	const KeyVector *rk = &join->right.keys;
	const int64 *lkeys = lk->k64;
	const int64 *rkeys = rk->k64;
	const uint16 *lrows = lk->rows;
	const uint16 *rrows = rk->rows;
	uint16	   *lout = pairs->lrow;
	uint16	   *rout = pairs->rrow;
	const int	ln = lk->n;
	const int	rn = rk->n;
	int			l = join->left.pos;
	int			r = join->right.pos;
	int			n = pairs->n;
	MergeStep	step = STEP_EXHAUSTED;

	while (l < ln && r < rn)
	{
		int64		x = lkeys[l];
		int64		y = rkeys[r];
		int			l2,
					r2;

		if (x < y)
		{
			l = Search64(lkeys, l + 1, ln, y);
			continue;
		}
		if (x > y)
		{
			r = Search64(rkeys, r + 1, rn, x);
			continue;
		}
		for (l2 = l + 1; l2 < ln && lkeys[l2] == x; l2++)
			;
		for (r2 = r + 1; r2 < rn && rkeys[r2] == x; r2++)
			;
		if ((l2 == ln && r2 == rn) ||
			(int64) (l2 - l) * (r2 - r) > MERGE_PAIRS - n ||
			CountsGroups(join, l2 - l, r2 - r))
		{
			join->lfrom = l;
			join->lto = l2;
			join->rfrom = r;
			join->rto = r2;
			step = join->counts ? STEP_COUNT : l2 == ln && r2 == rn ? STEP_BOTH_OPEN : STEP_CROSS;
			break;
		}
		for (int i = l; i < l2; i++)
		{
			uint16		lrow = lrows ? lrows[i] : (uint16) i;

			for (int j = r; j < r2; j++)
			{
				lout[n] = lrow;
				rout[n] = rrows ? rrows[j] : (uint16) j;
				n++;
			}
		}
		/* a group that may go on in the next batch keeps its partner */
		if (r2 < rn)
			l = l2;
		if (l2 < ln)
			r = r2;
	}
	join->left.pos = l;
	join->right.pos = r;
	pairs->n = n;
	return step;
}

/*
 * Merge the present batches, adding entries.  On STEP_CROSS, STEP_COUNT and
 * STEP_BOTH_OPEN the two groups are in lfrom..rto.  Where a group reaches the
 * end of its batch and may go on, the other one is left standing as its
 * partner.
 */
static inline MergeStep
MergeBatches(MergeJoin *join, MergePairs *pairs, const bool exact, const bool lkeep,
			 const bool rkeep)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;
	KeyVector  *lk = &left->keys;
	KeyVector  *rk = &right->keys;

	while (left->pos < lk->n && right->pos < rk->n)
	{
		int			l = left->pos;
		int			r = right->pos;
		int			l2,
					r2,
					npairs;
		int			c;

		if (rkeep && ((lk->entry_null && lk->entry_null[l]) ||
					  (rk->entry_null && rk->entry_null[r])))
		{
			/* NULLs match nothing, but of both inputs stand at one place: a join above merges by it */
			c = KeyVectorCompare(lk, l, rk, r);
			if (c == 0)
				c = -1;
		}
		else if (lkeep && lk->entry_null && lk->entry_null[l])
			c = -1;
		else if (exact)
			c = lk->k64[l] < rk->k64[r] ? -1 : lk->k64[l] > rk->k64[r];
		else
			c = KeyVectorCompare(lk, l, rk, r);

		if (c < 0)
		{
			int			to = l + 1;

			if (!(lkeep && lk->entry_null && lk->entry_null[l]))
				to = exact && !(lkeep && lk->entry_null) ?
					Search64(lk->k64, to, lk->n, rk->k64[r]) : SearchFull(lk, to, rk, r);
			if (!lkeep)
				left->pos = to;
			else
			{
				AddFinished(left, true, to, pairs);
				if (IsFull(pairs))
					return STEP_FULL;
			}
			continue;
		}
		if (c > 0)
		{
			int			to = r + 1;

			if (!(rkeep && rk->entry_null && rk->entry_null[r]))
				to = exact && !(rkeep && rk->entry_null) ?
					Search64(rk->k64, to, rk->n, lk->k64[l]) : SearchFull(rk, to, lk, l);
			if (!rkeep)
				right->pos = to;
			else
			{
				AddFinished(right, false, to, pairs);
				if (IsFull(pairs))
					return STEP_FULL;
			}
			continue;
		}

		l2 = GroupEnd(lk, l, exact && !(lkeep && lk->entry_null));
		if (join->first_only && join->type == MERGE_ANTI)
		{
			/* all of them have a match: nothing to say about them */
			left->pos = l2;
			continue;
		}
		if (join->first_only)
		{
			/*
			 * The first right row serves all left rows of the key, also those
			 * of the next batch: it stays until the left side has passed it.
			 */
			int			end = Min(l2, l + MERGE_PAIRS - pairs->n);

			for (int i = l; i < end; i++)
				AddPair(pairs, KeyVectorRow(lk, i), KeyVectorRow(rk, r));
			left->pos = end;
			if (IsFull(pairs))
				return STEP_FULL;
			continue;
		}

		r2 = GroupEnd(rk, r, exact && !(rkeep && rk->entry_null));
		join->lfrom = l;
		join->lto = l2;
		join->rfrom = r;
		join->rto = r2;
		if (CountsGroups(join, l2 - l, r2 - r))
			return STEP_COUNT;
		if (l2 == lk->n && r2 == rk->n)
			return join->counts ? STEP_COUNT : STEP_BOTH_OPEN;
		if ((int64) (l2 - l) * (r2 - r) + (lkeep ? l2 - l : 0) + (rkeep ? r2 - r : 0) >
			MERGE_PAIRS - pairs->n)
			return join->counts ? STEP_COUNT : STEP_CROSS;
		npairs = pairs->n;
		for (int i = l; i < l2; i++)
		{
			uint16		lrow = (uint16) KeyVectorRow(lk, i);

			for (int j = r; j < r2; j++)
			{
				pairs->lrow[npairs] = lrow;
				pairs->rrow[npairs] = (uint16) KeyVectorRow(rk, j);
				npairs++;
			}
		}
		pairs->n = npairs;
		if (r2 < rk->n)
		{
			if (lkeep)
				AddFinished(left, true, l2, pairs);
			left->pos = l2;
		}
		if (l2 < lk->n)
		{
			if (rkeep)
				AddFinished(right, false, r2, pairs);
			right->pos = r2;
		}
	}
	return STEP_EXHAUSTED;
}

/* The compiler makes one tight loop for each frequent case. */
MergeStep
MergeSome(MergeJoin *join, MergePairs *pairs)
{
	bool		exact = join->left.keys.exact && join->right.keys.exact;

	if (!join->left.preserved)
	{
		if (join->type == MERGE_INNER && (join->left.single || join->right.single))
			MergeSingles(join, pairs);
		else if (join->first_only && exact)
			MergeSettled(join, pairs);
		if (IsFull(pairs))
			return STEP_FULL;
		if (!exact)
			return MergeBatches(join, pairs, false, false, false);
		return join->first_only ? MergeBatches(join, pairs, true, false, false) :
			MergeExactInner(join, pairs);
	}
	if (!join->right.preserved && !join->residual && exact)
	{
		MergeSettled(join, pairs);
		if (IsFull(pairs))
			return STEP_FULL;
	}
	if (!join->right.preserved)
		return exact ? MergeBatches(join, pairs, true, true, false) :
			MergeBatches(join, pairs, false, true, false);
	return exact ? MergeBatches(join, pairs, true, true, true) :
		MergeBatches(join, pairs, false, true, true);
}
