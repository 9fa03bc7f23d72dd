/*
 * merge_join.c
 *	  Merge two sorted streams of batches into pairs of row numbers.
 *
 * The rows of one key on one input are a group.  Where at least one of the
 * two groups of a key ends inside its batch, pairs are made straight from the
 * batches, the other group passing by batch after batch.  Only where both
 * groups reach the end of their batches is the right one copied to a store.
 * A taker that wants numbers of rows only gets the rows of large groups
 * instead of their pairs (merge_count.c).
 *
 * A preserved input (left; right too for full joins) gets an entry without
 * partner for each row once all its pairs are out.  A row that the merge
 * steps over and a row whose group is finished get the same entry: only the
 * taker knows whether one of its pairs held.
 */
#include "postgres.h"

#include "exec/join/merge/merge_join_state.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "vector/merge_search.h"

static void
InitSide(MergeSide *side, int nkeys, const MergeSideSpec *spec, bool preserved, bool flags)
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
				const MergeSideSpec *left, const MergeSideSpec *right, Size work_bytes)
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
MergeJoinCount(MergeJoin *join)
{
	Assert(!join->residual && join->type != MERGE_SEMI && join->type != MERGE_ANTI);
	join->counts = true;
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

/* Where the group of the stored key ends in a batch that was just read; 0: the batch has no row of it. */
static int
StoredGroupEnd(const MergeJoin *join, const KeyVector *keys)
{
	return KeyVectorCompareBound(keys, 0, &join->store_key) == 0 ? EndOfGroup(keys, 0) : 0;
}

/* Copy the whole right group of the present key to the store. */
static void
StoreRightGroup(MergeJoin *join)
{
	MergeSide  *right = &join->right;

	GroupStoreClear(join->store);
	MergeKeepKey(join);
	GroupStoreAdd(join->store, &right->keys, join->rfrom, join->rto);
	right->pos = join->rto;
	while (right->pos >= right->keys.n && MergeFetch(join, right, NULL))
	{
		right->pos = StoredGroupEnd(join, &right->keys);
		GroupStoreAdd(join->store, &right->keys, 0, right->pos);
	}
	if (right->preserved)
		join->store_matched = MemoryContextAllocExtended(join->keycxt,
														 (Size) GroupStoreChunks(join->store) *
														 GROUP_CHUNK_ROWS,
														 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
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
	/* a frequent key that the right side has once, and last in its unit */
	if (chunk->nrows == 1)
	{
		int			end = Min(join->lto, join->l + MERGE_PAIRS - pairs->n);

		while (join->l < end)
			AddPair(pairs, KeyVectorRow(&join->left.keys, join->l++), 0);
	}
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
	if (left->pos >= left->keys.n && MergeFetch(join, left, NULL) &&
		(join->lto = StoredGroupEnd(join, &left->keys)) > 0)
	{
		join->lfrom = 0;
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
		MergeFetch(join, first, MergePresentKey(second));
	if (first->ended && !second->preserved)
		return false;
	if (second->pos >= second->keys.n)
		MergeFetch(join, second, MergePresentKey(first));
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
	pairs->nstretches = 0;
	for (;;)
	{
		/* lists point into the batches, or a chunk: hand out before reading on */
		bool		exhausted = left->pos >= left->keys.n || right->pos >= right->keys.n;

		if (pairs->n > 0 &&
			(IsFull(pairs) || join->phase >= PHASE_STORED ||
			 (join->phase == PHASE_MERGE && exhausted)))
			return true;
		/* nothing but stretches stands in a list with stretches */
		if (pairs->nstretches > 0 && join->phase == PHASE_MERGE && !MergeCountNext(join))
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
					case STEP_COUNT:
						/* as below */
						if (pairs->n > 0)
							return true;
						MergeCountBegin(join);
						break;
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
			case PHASE_COUNT_LEFT:
			case PHASE_COUNT_RIGHT:
				if (!MergeCountGroups(join, pairs))
					return true;
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
	counters->pairs_counted = join->pairs_counted;
}
