/*
 * load.c
 *	  Rows in: the collectors of the current transaction and their budget.
 */
#include "postgres.h"

#include "access/xact.h"
#include "load/load_internal.h"
#include "rows/spill.h"
#include "storage/manifest.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* less than this would spill a few rows per bucket */
#define MIN_BUDGET_KB 512

/* a set with so many runs spills all it has in memory */
#define MAX_PARTIAL_RUNS 8

LoadTransaction bf_load;
bool		bf_load_committing = false;

static void
BeginTransaction(int budget_kb)
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
	}
}

static void
RelcacheCallback(Datum arg, Oid relid)
{
	ListCell   *lc;

	foreach(lc, bf_load.tables)
	{
		LoadTable  *table = lfirst(lc);

		if (relid == InvalidOid || table->relid == relid)
		{
			table->valid = false;
			table->invalidated = true;
		}
	}
}

/* A table with its current layout, which all its sets share while it stays the same. */
static LoadTable *
GetTable(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	LoadTable  *table = NULL;
	TableOptions *options;
	MemoryContext oldcxt;
	ListCell   *lc;

	foreach(lc, bf_load.tables)
	{
		table = lfirst(lc);
		if (table->relid == relid)
			break;
		table = NULL;
	}
	if (table && table->valid)
		return table;

	oldcxt = MemoryContextSwitchTo(bf_load.cxt);
	if (table == NULL)
	{
		table = palloc0(sizeof(LoadTable));
		table->relid = relid;
		bf_load.tables = lappend(bf_load.tables, table);
	}
	MemoryContextSwitchTo(oldcxt);

	table->invalidated = false;
	options = TableOptionsGet(rel);
	MemoryContextSwitchTo(bf_load.cxt);
	if (table->layout == NULL || !RowLayoutMatches(table->layout, RelationGetDescr(rel), options))
		table->layout = RowLayoutCreate(relid, RelationGetDescr(rel), options);
	table->valid = !table->invalidated;
	MemoryContextSwitchTo(oldcxt);
	return table;
}

static LoadState *
NewState(LoadTable *table, bool detached)
{
	LoadState  *state = MemoryContextAllocZero(bf_load.cxt, sizeof(LoadState));

	state->subid = GetCurrentSubTransactionId();
	state->table = table;
	state->layout = table->layout;
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
	LoadTable  *table;
	LoadState  *state;

	BeginTransaction(budget_kb);
	LoadNoteStatement();
	table = GetTable(rel);
	state = LoadFindState(GetCurrentSubTransactionId(), table->layout);
	if (state == NULL)
	{
		/* rows added to those of a copied template could never be read */
		ManifestCheckDatabase(RelationGetRelid(rel));

		/* as an INSERT into a heap has one */
		(void) GetCurrentTransactionId();
		state = NewState(table, false);
	}
	return state;
}

LoadState *
LoadBeginDetached(Relation rel, int budget_kb)
{
	BeginTransaction(budget_kb);
	LoadNoteStatement();
	(void) GetCurrentTransactionId();
	return NewState(GetTable(rel), true);
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

/* Put a set to those of earlier commands; it is gone then.  May take a little memory. */
void
LoadPutAside(LoadState *state, RowSet *set)
{
	if (state->older != NULL)
		RowSetMerge(state->older, set);
	else
	{
		set->next = NULL;
		state->older = set;
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

	bf_load.statement_cid = Min(bf_load.statement_cid, cid);
	if (state->open != NULL && state->open->nrows == 0)
		return;
	set = RowSetCreate(&bf_load.pool, state->layout);
	if (state->open != NULL)
		LoadPutAside(state, state->open);
	state->open = set;
}

void
LoadRow(LoadState *state, TupleTableSlot *slot, CommandId cid)
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

	if (unlikely(state->open == NULL || state->open->max_cid != cid))
		BeginCommand(state, cid);
	state->table->changes++;
	bucket = KeyBucket(BucketSpecHash(layout->spec, values, nulls), layout->spec->nbuckets);
	RowPack(layout, RowSetReserve(state->open, bucket, size, cid), size, values, nulls, cid);

	if (unlikely(flattened))
		MemoryContextReset(bf_load.scratch);
	if (unlikely(RowPoolIsFull(&bf_load.pool)))
		Spill();
}

void
LoadRowsInit(void)
{
	CacheRegisterRelcacheCallback(RelcacheCallback, (Datum) 0);
}
