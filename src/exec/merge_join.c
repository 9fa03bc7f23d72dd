/*
 * merge_join.c
 *	  Merge two sorted streams of batches into pairs of row numbers.
 *
 * The rows of one key on one input are a group.  Where at least one of the
 * two groups of a key ends inside its batch, pairs are made straight from the
 * batches, the other group passing by batch after batch.  Only where both
 * groups reach the end of their batches is the right one copied to a store.
 *
 * A preserved input (left; right too for full joins) gets an entry without
 * partner for each row once all its pairs are out.  A row that the merge
 * steps over and a row whose group is finished get the same entry: only the
 * taker knows whether one of its pairs held.
 */
#include "postgres.h"

#include "exec/group_store.h"
#include "exec/merge_join.h"
#include "exec/merge_search.h"
#include "exec/merge_single.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

typedef struct MergeSide
{
	MergeInputSpec spec;
	KeyVector	keys;
	Batch	   *batch;			/* NULL: nothing read yet, or ended */
	int			pos;			/* next entry of keys */
	bool		ended;
	bool		preserved;		/* rows without a match are wanted */
	int			nkeyed;			/* entries before the first one with a NULL key */
	bool		single;			/* inner and left joins: each image of those from pos on is there once */
	bool	   *matched;		/* per row of batch; set by the taker */
	Datum	   *bound_values;
	KeyBound	bound;			/* present key, as a bound for the other side */
} MergeSide;

typedef enum MergePhase
{
	PHASE_MERGE,				/* looking for the next common key */
	PHASE_CROSS,				/* pairs of two groups inside the batches */
	PHASE_LEFT_DONE,			/* left rows of a group that are finished */
	PHASE_RIGHT_DONE,			/* right rows of a group that are finished */
	PHASE_STORED,				/* pairs of left rows with the stored right group */
	PHASE_STORED_LEFT_DONE,		/* left rows of it that are finished */
	PHASE_STORED_RIGHT_DONE		/* the stored rows are finished */
} MergePhase;

struct MergeJoin
{
	MergeType	type;
	bool		residual;		/* the taker tests further conditions */
	bool		first_only;		/* one right row per left row is enough */
	MergeSide	left;
	MergeSide	right;
	bool		left_first;
	MergePhase	phase;

	/* the groups of the present key: entries lfrom..lto-1 by rfrom..rto-1 */
	int			lfrom,
				lto,
				rfrom,
				rto;
	int			l,
				r;				/* the next pair, or the next finished row */
	int			chunk;			/* chunk of the store */

	GroupStore *store;
	bool	   *store_matched;	/* GROUP_CHUNK_ROWS per chunk, for full joins */
	KeyBound	store_key;		/* key of the stored group, copied */
	MemoryContext keycxt;		/* holds the two above */
	int64		rows_compared;
};

static void
InitSide(MergeSide *side, int nkeys, const MergeInputSpec *spec, bool preserved, bool flags)
{
	side->spec = *spec;
	side->preserved = preserved;
	KeyVectorInit(&side->keys, nkeys, spec->keycols, spec->keyclasses, spec->keytypes);
	side->bound_values = palloc(nkeys * sizeof(Datum));
	side->bound.nkeys = nkeys;
	side->bound.classes = side->keys.classes;
	side->bound.types = side->keys.types;
	side->bound.values = side->bound_values;
	if (flags)
		side->matched = palloc(BF_BATCH_ROWS * sizeof(bool));
}

MergeJoin *
MergeJoinCreate(MergeType type, bool residual, int nkeys,
				const MergeInputSpec *left, const MergeInputSpec *right, Size work_bytes)
{
	MergeJoin  *join = palloc0(sizeof(MergeJoin));

	join->type = type;
	join->residual = residual;
	join->first_only = !residual && (type == MERGE_SEMI || type == MERGE_ANTI);
	InitSide(&join->left, nkeys, left,
			 type == MERGE_LEFT || type == MERGE_FULL || type == MERGE_ANTI,
			 type != MERGE_INNER);
	InitSide(&join->right, nkeys, right, type == MERGE_FULL, type == MERGE_FULL);
	KeyVectorsAlign(&join->left.keys, &join->right.keys);
	join->store = GroupStoreCreate(right->ncols, right->typlen, right->typbyval, work_bytes);
	join->keycxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw stored key",
										 ALLOCSET_SMALL_SIZES);
	return join;
}

void
MergeJoinReset(MergeJoin *join)
{
	join->left.batch = join->right.batch = NULL;
	join->left.pos = join->right.pos = 0;
	join->left.keys.n = join->right.keys.n = 0;
	join->left.ended = join->right.ended = false;
	join->phase = PHASE_MERGE;
	GroupStoreClear(join->store);
}

void
MergeJoinStart(MergeJoin *join, bool left_first)
{
	MergeJoinReset(join);
	join->left_first = left_first;
}

/* The side's present key, for the other side to skip to; NULL if there is none. */
static const KeyBound *
PresentKey(MergeSide *side)
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

/*
 * Read on until there is an entry; false at the end of the input.  A
 * preserved side reads all its rows; others may skip to the bound.
 */
static bool
Fetch(MergeJoin *join, MergeSide *side, const KeyBound *bound)
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

static inline bool
IsFull(const MergePairs *pairs)
{
	return pairs->n == MERGE_PAIRS;
}

static inline void
AddPair(MergePairs *pairs, int lrow, int rrow)
{
	pairs->lrow[pairs->n] = (uint16) lrow;
	pairs->rrow[pairs->n] = (uint16) rrow;
	pairs->n++;
}

/* Entries without partner for the side's entries from pos to to-1, as far as there is room. */
static void
AddFinished(MergeSide *side, bool is_left, int to, MergePairs *pairs)
{
	int			end = Min(to, side->pos + MERGE_PAIRS - pairs->n);

	for (int i = side->pos; i < end; i++)
	{
		int			row = KeyVectorRow(&side->keys, i);

		AddPair(pairs, is_left ? row : MERGE_NONE, is_left ? MERGE_NONE : row);
	}
	side->pos = end;
}

/* How MergeBatches stopped. */
typedef enum MergeStep
{
	STEP_EXHAUSTED,				/* a batch is used up */
	STEP_FULL,					/* no room for another entry */
	STEP_CROSS,					/* a product too large for the room left */
	STEP_BOTH_OPEN				/* both groups reach the end of their batches */
} MergeStep;

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
			(int64) (l2 - l) * (r2 - r) > MERGE_PAIRS - n)
		{
			join->lfrom = l;
			join->lto = l2;
			join->rfrom = r;
			join->rto = r2;
			step = (l2 == ln && r2 == rn) ? STEP_BOTH_OPEN : STEP_CROSS;
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
 * Merge the present batches, adding entries.  On STEP_CROSS and STEP_BOTH_OPEN
 * the two groups are in lfrom..rto.  Where a group reaches the end of its
 * batch and may go on, the other one is left standing as its partner.
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
		if (l2 == lk->n && r2 == rk->n)
			return STEP_BOTH_OPEN;
		if ((int64) (l2 - l) * (r2 - r) + (lkeep ? l2 - l : 0) + (rkeep ? r2 - r : 0) >
			MERGE_PAIRS - pairs->n)
			return STEP_CROSS;
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
static MergeStep
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

/* Copy the whole right group of the present key to the store. */
static void
StoreRightGroup(MergeJoin *join)
{
	MergeSide  *right = &join->right;
	MemoryContext old;
	Datum	   *values;
	const KeyBound *key = PresentKey(right);

	GroupStoreClear(join->store);
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

	GroupStoreAdd(join->store, &right->keys, join->rfrom, join->rto);
	right->pos = join->rto;
	while (right->pos >= right->keys.n && Fetch(join, right, NULL))
	{
		int			i = 0;

		while (i < right->keys.n &&
			   KeyVectorCompareBound(&right->keys, i, &join->store_key) == 0)
			i++;
		GroupStoreAdd(join->store, &right->keys, 0, i);
		right->pos = i;
	}
	if (right->preserved)
		join->store_matched = MemoryContextAllocExtended(join->keycxt,
														 (Size) GroupStoreChunks(join->store) *
														 GROUP_CHUNK_ROWS,
														 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	MemoryContextSwitchTo(old);
	join->phase = PHASE_STORED;
	join->l = join->lfrom;
	join->r = 0;
	join->chunk = 0;
}

/* Point pairs at one chunk of the store. */
static Batch *
UseChunk(MergeJoin *join, MergePairs *pairs)
{
	pairs->right = GroupStoreChunk(join->store, join->chunk);
	pairs->rmatched = join->right.preserved ?
		join->store_matched + (Size) join->chunk * GROUP_CHUNK_ROWS : NULL;
	return pairs->right;
}

/* Pairs of two groups inside the present batches. */
static void
EmitCross(MergeJoin *join, MergePairs *pairs)
{
	KeyVector  *lk = &join->left.keys;
	KeyVector  *rk = &join->right.keys;

	while (join->l < join->lto && !IsFull(pairs))
	{
		AddPair(pairs, KeyVectorRow(lk, join->l), KeyVectorRow(rk, join->r));
		if (++join->r == join->rto)
		{
			join->r = join->rfrom;
			join->l++;
		}
	}
	if (join->l == join->lto)
		join->phase = PHASE_LEFT_DONE;
}

/* The left rows of the group are finished, unless the right group may go on. */
static void
EmitLeftDone(MergeJoin *join, MergePairs *pairs)
{
	if (join->rto < join->right.keys.n)
	{
		if (join->left.preserved)
			AddFinished(&join->left, true, join->lto, pairs);
		else
			join->left.pos = join->lto;
		if (join->left.pos < join->lto)
			return;
	}
	join->phase = PHASE_RIGHT_DONE;
}

/* The same of the right rows. */
static void
EmitRightDone(MergeJoin *join, MergePairs *pairs)
{
	if (join->lto < join->left.keys.n)
	{
		if (join->right.preserved)
			AddFinished(&join->right, false, join->rto, pairs);
		else
			join->right.pos = join->rto;
		if (join->right.pos < join->rto)
			return;
	}
	join->phase = PHASE_MERGE;
}

/*
 * Pairs of the present left range with one chunk of the store.  One chunk a
 * list: the next one takes its place in memory.
 */
static void
EmitStored(MergeJoin *join, MergePairs *pairs)
{
	Batch	   *chunk;

	if (join->chunk == GroupStoreChunks(join->store))
	{
		join->phase = PHASE_STORED_LEFT_DONE;
		return;
	}
	chunk = UseChunk(join, pairs);
	while (join->l < join->lto && !IsFull(pairs))
	{
		AddPair(pairs, KeyVectorRow(&join->left.keys, join->l), join->r);
		if (++join->r == chunk->nrows)
		{
			join->r = 0;
			join->l++;
		}
	}
	if (join->l == join->lto)
	{
		join->l = join->lfrom;
		join->r = 0;
		join->chunk++;
	}
}

/* The left range is done with the store; does its group go on in the next batch? */
static void
EmitStoredLeftDone(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;

	if (left->preserved && left->pos < join->lto)
	{
		AddFinished(left, true, join->lto, pairs);
		return;
	}
	left->pos = join->lto;
	if (left->pos >= left->keys.n && Fetch(join, left, NULL) &&
		KeyVectorCompareBound(&left->keys, 0, &join->store_key) == 0)
	{
		join->lfrom = 0;
		join->lto = 1;
		while (join->lto < left->keys.n &&
			   KeyVectorCompareBound(&left->keys, join->lto, &join->store_key) == 0)
			join->lto++;
		join->phase = PHASE_STORED;
	}
	else
		join->phase = PHASE_STORED_RIGHT_DONE;
	join->l = join->lfrom;
	join->r = 0;
	join->chunk = 0;
}

static void
EmitStoredRightDone(MergeJoin *join, MergePairs *pairs)
{
	if (join->right.preserved && join->chunk < GroupStoreChunks(join->store))
	{
		Batch	   *chunk = UseChunk(join, pairs);

		for (int i = 0; i < chunk->nrows; i++)
			AddPair(pairs, MERGE_NONE, i);
		join->chunk++;
		return;
	}
	GroupStoreClear(join->store);
	join->phase = PHASE_MERGE;
}

/*
 * Read on where a batch is used up.  False at the end of the unit.  A side
 * that goes on alone, because the other ended, only hands out its rows.
 */
static bool
ReadOn(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *first = join->left_first ? &join->left : &join->right;
	MergeSide  *second = join->left_first ? &join->right : &join->left;

	if (first->pos >= first->keys.n)
		Fetch(join, first, PresentKey(second));
	if (first->ended && !second->preserved)
		return false;
	if (second->pos >= second->keys.n)
		Fetch(join, second, PresentKey(first));
	if (second->ended && !first->preserved)
		return false;
	if (first->ended && second->ended)
		return false;
	pairs->left = join->left.batch;
	pairs->right = join->right.batch;
	if (join->left.ended)
		AddFinished(&join->right, false, join->right.keys.n, pairs);
	else if (join->right.ended)
		AddFinished(&join->left, true, join->left.keys.n, pairs);
	return true;
}

bool
MergeJoinNext(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;

	pairs->n = 0;
	pairs->settled = 0;
	for (;;)
	{
		/* lists point into the batches, or a chunk: hand out before reading on */
		bool		exhausted = left->pos >= left->keys.n || right->pos >= right->keys.n;

		if (pairs->n > 0 &&
			(IsFull(pairs) || join->phase >= PHASE_STORED ||
			 (join->phase == PHASE_MERGE && exhausted)))
			return true;

		pairs->left = left->batch;
		pairs->right = right->batch;
		pairs->lmatched = left->matched;
		pairs->rmatched = right->matched;
		switch (join->phase)
		{
			case PHASE_MERGE:
				if (exhausted)
				{
					if (!ReadOn(join, pairs))
						return false;
					break;
				}
				switch (MergeSome(join, pairs))
				{
					case STEP_CROSS:
						join->phase = PHASE_CROSS;
						join->l = join->lfrom;
						join->r = join->rfrom;
						break;
					case STEP_BOTH_OPEN:
						/* the same step comes again when nothing waits to be handed out */
						if (pairs->n > 0)
							return true;
						StoreRightGroup(join);
						break;
					case STEP_EXHAUSTED:
					case STEP_FULL:
						break;
				}
				break;
			case PHASE_CROSS:
				EmitCross(join, pairs);
				break;
			case PHASE_LEFT_DONE:
				EmitLeftDone(join, pairs);
				break;
			case PHASE_RIGHT_DONE:
				EmitRightDone(join, pairs);
				break;
			case PHASE_STORED:
				EmitStored(join, pairs);
				break;
			case PHASE_STORED_LEFT_DONE:
				EmitStoredLeftDone(join, pairs);
				break;
			case PHASE_STORED_RIGHT_DONE:
				EmitStoredRightDone(join, pairs);
				break;
		}
	}
}

void
MergeJoinGetCounters(const MergeJoin *join, MergeJoinCounters *counters)
{
	counters->rows_compared = join->rows_compared;
	counters->peak_memory = GroupStorePeakMemory(join->store);
	counters->spilled = GroupStoreSpilled(join->store);
}
