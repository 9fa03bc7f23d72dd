/*
 * merge_join.c
 *	  Merge two sorted streams of batches into pairs of row numbers.
 *
 * The rows of one key on one input are a group.  Where at least one of the
 * two groups of a key ends inside its batch, pairs are made straight from the
 * batches, the other group passing by batch after batch.  Only where both
 * groups reach the end of their batches is the right one copied to a store.
 */
#include "postgres.h"

#include "exec/group_store.h"
#include "exec/merge_join.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* steps taken one by one before a search starts to gallop */
#define LINEAR_STEPS 8

typedef struct MergeSide
{
	MergeInputSpec spec;
	KeyVector	keys;
	Batch	   *batch;			/* NULL: nothing read yet, or ended */
	int			pos;			/* next entry of keys */
	bool		ended;
	Datum	   *bound_values;
	KeyBound	bound;			/* present key, as a bound for the other side */
} MergeSide;

typedef enum MergePhase
{
	PHASE_MERGE,				/* looking for the next common key */
	PHASE_CROSS,				/* pairs of two groups inside the batches */
	PHASE_STORED				/* pairs of left rows with the stored right group */
} MergePhase;

struct MergeJoin
{
	MergeSide	left;
	MergeSide	right;
	bool		left_first;
	MergePhase	phase;

	/* PHASE_CROSS: entries lfrom..lto-1 by rfrom..rto-1; PHASE_STORED: left range only */
	int			lfrom,
				lto,
				rfrom,
				rto;
	int			l,
				r;				/* the next pair */
	int			chunk;			/* PHASE_STORED: chunk of the store */

	GroupStore *store;
	KeyBound	store_key;		/* key of the stored group, copied */
	MemoryContext keycxt;
	int64		rows_compared;
};

static void
InitSide(MergeSide *side, int nkeys, const KeyClass *classes, const MergeInputSpec *spec)
{
	side->spec = *spec;
	KeyVectorInit(&side->keys, nkeys, spec->keycols, classes, spec->keytypes);
	side->bound_values = palloc(nkeys * sizeof(Datum));
	side->bound.nkeys = nkeys;
	side->bound.classes = side->keys.classes;
	side->bound.types = side->keys.types;
	side->bound.values = side->bound_values;
}

MergeJoin *
MergeJoinCreate(int nkeys, const KeyClass *classes,
				const MergeInputSpec *left, const MergeInputSpec *right,
				Size work_bytes)
{
	MergeJoin  *join = palloc0(sizeof(MergeJoin));

	InitSide(&join->left, nkeys, classes, left);
	InitSide(&join->right, nkeys, classes, right);
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

/* The side's present key, for the other side to skip to. */
static const KeyBound *
PresentKey(MergeSide *side)
{
	int			row;

	if (side->batch == NULL || side->pos >= side->keys.n)
		return NULL;
	row = KeyVectorRow(&side->keys, side->pos);
	for (int k = 0; k < side->keys.nkeys; k++)
		side->bound_values[k] = side->batch->cols[side->keys.cols[k]].values[row];
	return &side->bound;
}

/* Read batches until there is an entry; false at the end of the input. */
static bool
Fetch(MergeJoin *join, MergeSide *side, const KeyBound *bound)
{
	while (!side->ended)
	{
		CHECK_FOR_INTERRUPTS();
		side->batch = side->spec.next(side->spec.arg, bound);
		side->pos = 0;
		if (side->batch == NULL)
		{
			side->ended = true;
			side->keys.n = 0;
			break;
		}
		KeyVectorFill(&side->keys, side->batch, false);
		join->rows_compared += side->keys.n;
		if (side->keys.n > 0)
			return true;
	}
	return false;
}

/* First index at or after from with k[index] >= want; starts slow, then gallops. */
static inline int
Search64(const int64 *k, int from, int n, int64 want)
{
	int			step = 1;
	int			lo = from;
	int			hi;

	for (int i = 0; i < LINEAR_STEPS; i++)
	{
		if (lo >= n || k[lo] >= want)
			return lo;
		lo++;
	}
	hi = lo;
	while (hi < n && k[hi] < want)
	{
		lo = hi + 1;
		hi += step;
		step *= 2;
	}
	hi = Min(hi, n);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (k[mid] < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same over full comparisons with an entry of the other side. */
static int
SearchFull(const KeyVector *kv, int from, const KeyVector *other, int entry)
{
	int			step = 1;
	int			lo = from;
	int			hi = from;

	while (hi < kv->n && KeyVectorCompare(kv, hi, other, entry) < 0)
	{
		lo = hi + 1;
		hi += step;
		step *= 2;
	}
	hi = Min(hi, kv->n);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (KeyVectorCompare(kv, mid, other, entry) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* End of the group that starts at "from". */
static inline int
GroupEnd(const KeyVector *kv, int from, bool exact)
{
	int			i = from + 1;

	if (exact)
	{
		int64		key = kv->k64[from];

		while (i < kv->n && kv->k64[i] == key)
			i++;
	}
	else
	{
		while (i < kv->n && KeyVectorCompare(kv, i, kv, from) == 0)
			i++;
	}
	return i;
}

/* How one common key was left by MergeBatches. */
typedef enum MergeStep
{
	STEP_EXHAUSTED,				/* a batch is used up */
	STEP_CROSS,					/* a product too large for the room left in pairs */
	STEP_BOTH_OPEN				/* both groups reach the end of their batches */
} MergeStep;

/*
 * Merge the present batches, adding pairs.  On STEP_CROSS and STEP_BOTH_OPEN
 * the ranges of the two groups are in lfrom..rto.  Positions are advanced so
 * that a group which may go on in the next batch finds its partner still there.
 */
static inline MergeStep
MergeBatches(MergeJoin *join, MergePairs *pairs, const bool exact)
{
	KeyVector  *lk = &join->left.keys;
	KeyVector  *rk = &join->right.keys;
	int			l = join->left.pos;
	int			r = join->right.pos;
	int			ln = lk->n;
	int			rn = rk->n;
	int			n = pairs->n;
	MergeStep	step = STEP_EXHAUSTED;

	while (l < ln && r < rn)
	{
		int			l2,
					r2;

		if (exact)
		{
			int64		x = lk->k64[l];
			int64		y = rk->k64[r];

			if (x < y)
			{
				l = Search64(lk->k64, l + 1, ln, y);
				continue;
			}
			if (x > y)
			{
				r = Search64(rk->k64, r + 1, rn, x);
				continue;
			}
		}
		else
		{
			int			c = KeyVectorCompare(lk, l, rk, r);

			if (c < 0)
			{
				l = SearchFull(lk, l + 1, rk, r);
				continue;
			}
			if (c > 0)
			{
				r = SearchFull(rk, r + 1, lk, l);
				continue;
			}
		}

		l2 = GroupEnd(lk, l, exact);
		r2 = GroupEnd(rk, r, exact);
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
			uint16		lrow = (uint16) KeyVectorRow(lk, i);

			for (int j = r; j < r2; j++)
			{
				pairs->lrow[n] = lrow;
				pairs->rrow[n] = (uint16) KeyVectorRow(rk, j);
				n++;
			}
		}
		/* a group that reaches the end of its batch may go on: keep its partner */
		if (r2 == rn)
			r = r2;
		else if (l2 == ln)
			l = l2;
		else
		{
			l = l2;
			r = r2;
		}
	}
	join->left.pos = l;
	join->right.pos = r;
	pairs->n = n;
	return step;
}

/* After all pairs of the two groups are out: step over what is finished. */
static void
LeaveGroups(MergeJoin *join)
{
	if (join->rto == join->right.keys.n)
		join->right.pos = join->rto;
	else if (join->lto == join->left.keys.n)
		join->left.pos = join->lto;
	else
	{
		join->left.pos = join->lto;
		join->right.pos = join->rto;
	}
	join->phase = PHASE_MERGE;
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
	MemoryContextSwitchTo(old);
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
	join->phase = PHASE_STORED;
	join->l = join->lfrom;
	join->r = 0;
	join->chunk = 0;
}

/* Pairs of two groups inside the present batches. */
static void
EmitCross(MergeJoin *join, MergePairs *pairs)
{
	KeyVector  *lk = &join->left.keys;
	KeyVector  *rk = &join->right.keys;
	int			n = pairs->n;

	pairs->left = join->left.batch;
	pairs->right = join->right.batch;
	while (join->l < join->lto && n < MERGE_PAIRS)
	{
		pairs->lrow[n] = (uint16) KeyVectorRow(lk, join->l);
		pairs->rrow[n] = (uint16) KeyVectorRow(rk, join->r);
		n++;
		if (++join->r == join->rto)
		{
			join->r = join->rfrom;
			join->l++;
		}
	}
	pairs->n = n;
	if (join->l == join->lto)
		LeaveGroups(join);
}

/*
 * Pairs of the present left range with one chunk of the store.  Returns with
 * at least one pair, or with none when the left group is finished.
 */
static void
EmitStored(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;

	for (;;)
	{
		Batch	   *chunk;
		int			n = 0;

		if (join->chunk == GroupStoreChunks(join->store))
		{
			/* done with this left range; does the group go on in the next batch? */
			left->pos = join->lto;
			if (left->pos < left->keys.n || !Fetch(join, left, NULL) ||
				KeyVectorCompareBound(&left->keys, 0, &join->store_key) != 0)
			{
				GroupStoreClear(join->store);
				join->phase = PHASE_MERGE;
				return;
			}
			join->lfrom = 0;
			join->lto = GroupEnd(&left->keys, 0, left->keys.exact);
			join->l = 0;
			join->r = 0;
			join->chunk = 0;
		}

		chunk = GroupStoreChunk(join->store, join->chunk);
		pairs->left = left->batch;
		pairs->right = chunk;
		while (join->l < join->lto && n < MERGE_PAIRS)
		{
			pairs->lrow[n] = (uint16) KeyVectorRow(&left->keys, join->l);
			pairs->rrow[n] = (uint16) join->r;
			n++;
			if (++join->r == chunk->nrows)
			{
				join->r = 0;
				join->l++;
			}
		}
		pairs->n = n;
		if (join->l == join->lto)
		{
			join->l = join->lfrom;
			join->r = 0;
			join->chunk++;
		}
		if (n > 0)
			return;
	}
}

bool
MergeJoinNext(MergeJoin *join, MergePairs *pairs)
{
	MergeSide  *left = &join->left;
	MergeSide  *right = &join->right;
	bool		exact = left->keys.exact && right->keys.exact;

	pairs->n = 0;
	for (;;)
	{
		MergeStep	step;

		if (join->phase == PHASE_CROSS)
		{
			EmitCross(join, pairs);
			if (pairs->n == MERGE_PAIRS || join->phase == PHASE_CROSS)
				return true;
		}
		else if (join->phase == PHASE_STORED)
		{
			EmitStored(join, pairs);
			if (pairs->n > 0)
				return true;
		}

		/* pairs point into the batches: hand them out before reading on */
		if (left->pos >= left->keys.n || right->pos >= right->keys.n)
		{
			if (pairs->n > 0)
				return true;
			if (join->left_first)
			{
				if (left->pos >= left->keys.n && !Fetch(join, left, PresentKey(right)))
					return false;
				if (right->pos >= right->keys.n && !Fetch(join, right, PresentKey(left)))
					return false;
			}
			else
			{
				if (right->pos >= right->keys.n && !Fetch(join, right, PresentKey(left)))
					return false;
				if (left->pos >= left->keys.n && !Fetch(join, left, PresentKey(right)))
					return false;
			}
		}

		pairs->left = left->batch;
		pairs->right = right->batch;
		step = exact ? MergeBatches(join, pairs, true) : MergeBatches(join, pairs, false);
		if (step == STEP_CROSS)
		{
			join->phase = PHASE_CROSS;
			join->l = join->lfrom;
			join->r = join->rfrom;
		}
		else if (step == STEP_BOTH_OPEN)
		{
			if (pairs->n > 0)
				return true;	/* the same step comes again with no pair waiting */
			StoreRightGroup(join);
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
