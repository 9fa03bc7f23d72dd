/*
 * load.c
 *	  Rows in: the collectors of the current transaction and their budget.
 */
#include "postgres.h"

#include "access/xact.h"
#include "load/load_internal.h"
#include "load/progress.h"
#include "rows/spill.h"
#include "storage/manifest.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* less than this would spill a few rows per bucket */
#define MIN_BUDGET_KB 512

/* a set with so many runs spills all it has in memory */
#define MAX_PARTIAL_RUNS 8

/* sets that wait are merged with the next ones that have so few rows, or no more than so many times as many */
#define SMALL_SET_ROWS 32
#define SET_GROWTH 4

LoadTransaction bf_load;
bool		bf_load_committing = false;
int			bf_load_changing = 0;

void
LoadBeginTransaction(int budget_kb)
{
	if (bf_load.cxt == NULL)
	{
		bf_load.cxt = AllocSetContextCreate(TopTransactionContext, "bucketfdw load",
										 ALLOCSET_DEFAULT_SIZES);
		bf_load.scratch = AllocSetContextCreate(bf_load.cxt, "bucketfdw load row",
											 ALLOCSET_SMALL_SIZES);
		bf_load.pool.cxt = bf_load.cxt;
		dlist_init(&bf_load.states);
		dlist_init(&bf_load.consumed);
	}
	bf_load.pool.budget = Max(bf_load.pool.budget, (Size) Max(budget_kb, MIN_BUDGET_KB) * 1024);
}

void
LoadAllowMemory(int budget_kb)
{
	LoadBeginTransaction(budget_kb);
}

/*
 * Rows of earlier statements of the client are seen by every snapshot that
 * this one uses, except those of open cursors; rows of this statement only by
 * some.  Note where it began.
 */
void
LoadNoteStatement(void)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if (now != bf_load.statement)
	{
		bf_load.statement = now;
		bf_load.statement_cid = GetCurrentCommandId(false);
		bf_load.counted_cid = InvalidCommandId;
		bf_load.ncounted = 0;
	}
}

static LoadState *
NewState(RowLayout *layout, bool detached)
{
	LoadState  *state = MemoryContextAllocZero(bf_load.cxt, sizeof(LoadState));

	state->subid = GetCurrentSubTransactionId();
	state->layout = layout;
	state->sealed_cid = InvalidCommandId;
	state->detached = detached;
	dlist_push_head(&bf_load.states, &state->node);
	return state;
}

/* The state of a subtransaction for a layout, or NULL; states are in order of nesting. */
LoadState *
LoadFindState(SubTransactionId subid, const RowLayout *layout)
{
	dlist_iter	iter;

	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->subid < subid)
			break;
		if (state->subid == subid && state->layout == layout && !state->detached)
			return state;
	}
	return NULL;
}

LoadState *
LoadBegin(Relation rel, int budget_kb)
{
	RowLayout  *layout;
	LoadState  *state;

	LoadBeginTransaction(budget_kb);
	LoadNoteStatement();
	layout = LoadGetLayout(rel);
	state = LoadFindState(GetCurrentSubTransactionId(), layout);
	if (state == NULL)
	{
		/* as an INSERT into a heap has one */
		(void) GetCurrentTransactionId();
		state = NewState(layout, false);
	}
	return state;
}

LoadState *
LoadBeginDetached(Relation rel, const TableOptions *options, int budget_kb)
{
	MemoryContext oldcxt;
	RowLayout  *layout;

	LoadBeginTransaction(budget_kb);
	LoadNoteStatement();
	(void) GetCurrentTransactionId();
	oldcxt = MemoryContextSwitchTo(bf_load.cxt);
	layout = RowLayoutCreate(RelationGetRelid(rel), RelationGetDescr(rel), options);
	MemoryContextSwitchTo(oldcxt);
	return NewState(layout, true);
}

/*
 * The set with the most memory; on the way note what sorting the largest
 * bucket of all sets in memory needs.
 */
static RowSet *
LargestSet(void)
{
	RowSet	   *largest = NULL;
	int64		rows = 0;
	dlist_iter	iter;

#define LOOK_AT(candidate) \
	do { \
		if (largest == NULL || (candidate)->mem > largest->mem) \
			largest = (candidate); \
		rows = Max(rows, (candidate)->max_bucket_rows); \
	} while (0)

	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->open)
			LOOK_AT(state->open);
		for (RowSet *set = state->older; set != NULL; set = set->next)
			LOOK_AT(set);
	}
	dlist_foreach(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);

		LOOK_AT(consumed->set);
	}
#undef LOOK_AT

	bf_load.pool.sort = (Size) rows * ROW_SORT_BYTES;
	return largest;
}

/*
 * Spill until half the budget is free: with many tables open, each of them
 * has little, and freeing just enough would spill again at once.  The first
 * buckets stay in memory, perhaps to the end; with many runs this matters
 * little, and there are to be no more of them than needed.
 */
static void
Spill(void)
{
	RowPool    *pool = &bf_load.pool;

	for (;;)
	{
		RowSet	   *set = LargestSet();
		Size		wanted = pool->used + pool->sort;
		Size		excess = wanted - Min(wanted, pool->budget / 2);
		Size		keep = 0;

		if (set == NULL || set->mem == 0 || (excess == 0 && !RowPoolHoldsTooMuch(pool)))
			break;
		if (!RowPoolHoldsTooMuch(pool) && list_length(set->runs) < MAX_PARTIAL_RUNS)
			keep = set->mem - Min(set->mem, excess);
		SpillSet(set, keep);
	}
}

/* Take a set out of a state; the caller owns it then. */
void
LoadTakeOut(LoadState *state, RowSet *set)
{
	if (state->open == set)
		state->open = NULL;
	else
	{
		RowSet	  **link = &state->older;

		while (*link != set)
			link = &(*link)->next;
		*link = set->next;
	}
	set->next = NULL;
}

/*
 * A set is to change or to go, and its images with it, but for those who read
 * them.  Takes no memory and raises no error.
 */
void
LoadDropImages(const RowSet *set)
{
	ListCell   *lc;

	foreach(lc, bf_load.images)
	{
		WaitingImage *image = lfirst(lc);

		if (image->set != set->id)
			continue;
		bf_load.images = foreach_delete_current(bf_load.images, lc);
		ImageRelease(image->image);
		pfree(image);
	}
}

/*
 * Put a set to those that take no more rows; the caller's pointer may be gone
 * then.  The sets of a state grow from one to the next: so there are few, and
 * what readers made of the large ones serves when small ones come.  If the
 * command may go on, its rows stay apart from others: LoadEndCommand looks for
 * them.  May take a little memory.
 */
void
LoadPutAside(LoadState *state, RowSet *set, bool goes_on)
{
	RowSet	   *next;

	while ((next = state->older) != NULL &&
		   (next->nrows < SMALL_SET_ROWS || next->nrows < SET_GROWTH * set->nrows))
	{
		if (goes_on && (next->min_cid != set->max_cid || next->max_cid != set->max_cid))
			break;
		state->older = next->next;
		next->next = NULL;
		LoadDropImages(next);
		LoadDropImages(set);
		RowSetMerge(next, set);
		set = next;
		set->id = ++bf_load.last_id;
	}
	set->next = state->older;
	state->older = set;
}

/* Put the rows aside that readers of commands before one see. */
void
LoadPutAsideSeen(Oid relid, CommandId before)
{
	dlist_iter	iter;

	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);
		RowSet	   *set = state->open;

		if (state->layout->relid != relid || state->detached ||
			set == NULL || set->nrows == 0 || set->min_cid >= before)
			continue;
		state->open = NULL;
		LoadPutAside(state, set, true);
	}
}

/*
 * Rows of a command come.  They have a set of their own: if they are many they
 * are sealed alone at its end.
 */
static void
BeginCommand(LoadState *state, CommandId cid)
{
	RowSet	   *set;
	RowSet	   *last = state->open ? state->open : state->older;

	bf_load.statement_cid = Min(bf_load.statement_cid, cid);
	if (state->open != NULL && state->open->nrows == 0)
		return;
	set = RowSetCreate(&bf_load.pool, state->layout);
	set->id = ++bf_load.last_id;
	if (last != NULL && last->max_cid != cid)
	{
		LoadTakeOut(state, last);
		LoadPutAside(state, last, false);
	}
	state->open = set;
}

/* Collect a row; number is its command's, or its own. */
static inline void
Collect(LoadState *state, TupleTableSlot *slot, CommandId cid, CommandId number)
{
	const RowLayout *layout = state->layout;
	Datum	   *values;
	bool	   *nulls;
	bool		flattened = false;
	Size		size;
	int			bucket;

	slot_getallattrs(slot);
	values = slot->tts_values;
	nulls = slot->tts_isnull;
	size = RowMeasure(layout, values, nulls);
	if (unlikely(size == 0))
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(bf_load.scratch);
		Datum	   *copy = palloc(sizeof(Datum) * layout->desc->natts);

		memcpy(copy, values, sizeof(Datum) * layout->desc->natts);
		RowFlatten(layout, copy, nulls);
		values = copy;
		flattened = true;
		MemoryContextSwitchTo(oldcxt);
		size = RowMeasure(layout, values, nulls);
	}

	if (unlikely(state->open == NULL || (state->open->max_cid != cid && !state->detached)))
		BeginCommand(state, cid);
	bucket = KeyBucket(BucketSpecHash(layout->spec, values, nulls), layout->spec->nbuckets);
	RowPack(layout, RowSetReserve(state->open, bucket, size, number), size, values, nulls, number);

	/* commands in functions of it have higher numbers */
	if (cid <= bf_load.counted_cid)
	{
		bf_load.counted_cid = cid;
		if (unlikely(++bf_load.ncounted % PROGRESS_ROWS == 0))
			ProgressRows(layout->relid, bf_load.ncounted);
	}
	if (unlikely(flattened))
		MemoryContextReset(bf_load.scratch);
	if (unlikely(RowPoolIsFull(&bf_load.pool)))
		Spill();
}

void
LoadRow(LoadState *state, TupleTableSlot *slot, CommandId cid)
{
	Collect(state, slot, cid, cid);
}

void
LoadNumberedRow(LoadState *state, TupleTableSlot *slot, CommandId cid, uint32 number)
{
	Assert(state->detached);
	Collect(state, slot, cid, number);
}
