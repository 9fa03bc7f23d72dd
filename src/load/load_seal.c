/*
 * load_seal.c
 *	  Which of the rows that wait become files when somebody reads them.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "load/load_internal.h"
#include "load/seal.h"
#include "miscadmin.h"
#include "rows/spill.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

static ExecutorStart_hook_type prev_ExecutorStart = NULL;

/* Divide a set by command id: rows before cid and the others. */
static void
SplitSet(RowSet *set, CommandId cid, RowSet **before, RowSet **after)
{
	RowMerge   *merge;
	int			bucket;

	*before = RowSetCreate(set->pool, set->layout);
	*after = RowSetCreate(set->pool, set->layout);
	PG_TRY();
	{
		SpillReduceRuns(set, SPILL_FAN_IN);
		merge = RowMergeBegin(&set, 1);
		while ((bucket = RowMergeNextBucket(merge)) >= 0)
		{
			const SortEntry *entries;
			int64		n;

			while ((n = RowMergeNextRows(merge, &entries)) > 0)
			{
				for (int64 i = 0; i < n; i++)
				{
					char	   *row = entries[i].row;
					RowSet	   *to = RowCid(row) < cid ? *before : *after;
					char	   *place = RowSetReserve(to, bucket, RowSize(row), RowCid(row));

					memcpy(place, row, RowSize(row));

					/* only the copies: the set is being read */
					if (to->mem > set->pool->budget / 4)
						SpillSet(to, 0);
				}
			}
		}
		RowMergeEnd(merge);
	}
	PG_CATCH();
	{
		/* an outer subtransaction may go on with the set */
		RowSetFree(*before);
		RowSetFree(*after);
		PG_RE_THROW();
	}
	PG_END_TRY();
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

/* A set of a state that has rows on both sides of cid, or NULL. */
static RowSet *
FindStraddling(const LoadState *state, CommandId cid)
{
	if (state->open && state->open->nrows > 0 &&
		state->open->min_cid < cid && state->open->max_cid >= cid)
		return state->open;
	for (RowSet *set = state->older; set != NULL; set = set->next)
	{
		if (set->min_cid < cid && set->max_cid >= cid)
			return set;
	}
	return NULL;
}

/* Divide the sets of a state until none has rows on both sides of cid. */
static void
DivideState(LoadState *state, CommandId cid)
{
	RowSet	   *set;

	while ((set = FindStraddling(state, cid)) != NULL)
	{
		bool		was_open = set == state->open;
		RowSet	   *before;
		RowSet	   *after;

		SplitSet(set, cid, &before, &after);
		LoadTakeOut(state, set);
		RowSetFree(set);
		before->next = state->older;
		state->older = before;
		if (was_open)
			state->open = after;
		else
		{
			after->next = state->older;
			state->older = after;
		}
	}
}

/* A set of a state is sealed or discarded by the current subtransaction. */
static void
Consume(LoadState *state, RowSet *set)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	ConsumedSet *consumed = NULL;

	if (state->subid != current)
		consumed = MemoryContextAllocZero(bf_load.cxt, sizeof(ConsumedSet));
	LoadTakeOut(state, set);
	if (consumed == NULL)
	{
		RowSetFree(set);
		return;
	}
	consumed->subid = state->subid;
	consumed->consumed_in = current;
	consumed->set = set;
	dlist_push_head(&bf_load.consumed, &consumed->node);
}

static List *
AddPending(List *list, LoadState *state, RowSet *set)
{
	PendingSet *pending = palloc(sizeof(PendingSet));

	pending->state = state;
	pending->set = set;
	return lappend(list, pending);
}

/*
 * The sets of a table whose rows all belong to commands from "from" on and
 * before "before".
 */
List *
LoadPendingSets(Oid relid, CommandId from, CommandId before)
{
	List	   *result = NIL;
	dlist_iter	iter;

	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->layout->relid != relid || state->detached)
			continue;
		if (state->open && state->open->nrows > 0 &&
			state->open->min_cid >= from && state->open->max_cid < before)
			result = AddPending(result, state, state->open);
		for (RowSet *set = state->older; set != NULL; set = set->next)
		{
			if (set->nrows > 0 && set->min_cid >= from && set->max_cid < before)
				result = AddPending(result, state, set);
		}
	}
	return result;
}

/*
 * Seal sets of one table: one write for each layout they have.  The table is
 * locked since its rows came, so it is opened without.  Returns false when
 * nothing was written.
 */
bool
LoadSealPending(Oid relid, List *pending)
{
	Relation	rel;

	if (pending == NIL)
		return false;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		/* dropped while the drop trigger was away */
		ListCell   *lc;

		foreach(lc, pending)
			Consume(((PendingSet *) lfirst(lc))->state, ((PendingSet *) lfirst(lc))->set);
		return false;
	}

	while (pending != NIL)
	{
		RowLayout  *layout = ((PendingSet *) linitial(pending))->set->layout;
		RowSet	  **sets = palloc(sizeof(RowSet *) * list_length(pending));
		List	   *sealed = NIL;
		CommandId	cid = FirstCommandId;
		int			nsets = 0;
		ListCell   *lc;

		foreach(lc, pending)
		{
			PendingSet *p = lfirst(lc);

			if (p->set->layout != layout)
				continue;
			sets[nsets++] = p->set;
			cid = Max(cid, p->set->max_cid);
			sealed = lappend(sealed, p);
			pending = foreach_delete_current(pending, lc);
		}
		SealSets(rel, sets, nsets, cid);
		foreach(lc, sealed)
			Consume(((PendingSet *) lfirst(lc))->state, ((PendingSet *) lfirst(lc))->set);
		pfree(sets);
	}
	relation_close(rel, NoLock);
	return true;
}

/* Seal the rows of a table that belong to commands before cid. */
static void
SealBefore(Oid relid, CommandId cid)
{
	MemoryContext cxt;
	MemoryContext oldcxt;
	dlist_iter	iter;
	CommandId	border;

	if (bf_load.cxt == NULL)
		return;
	LoadNoteStatement();
	border = Min(bf_load.statement_cid, cid);

	/*
	 * A snapshot older than this reader's may be in use higher up in the same
	 * statement of the client.  It must go on to see the rows of earlier
	 * statements, so these get a manifest row of their own.
	 */
	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->layout->relid != relid || state->detached)
			continue;
		DivideState(state, cid);
		if (border < cid)
			DivideState(state, border);
	}

	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal list", ALLOCSET_SMALL_SIZES);
	oldcxt = MemoryContextSwitchTo(cxt);
	(void) LoadSealPending(relid, LoadPendingSets(relid, FirstCommandId, border));
	(void) LoadSealPending(relid, LoadPendingSets(relid, border, cid));
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

void
LoadSealForRead(Oid relid, Snapshot snapshot)
{
	if (!LoadPending(relid))
		return;
	SealBefore(relid, snapshot && snapshot->snapshot_type == SNAPSHOT_MVCC ?
			   snapshot->curcid : InvalidCommandId);
}

void
LoadSealAllForRead(Snapshot snapshot)
{
	List	   *tables = LoadPendingTables();
	ListCell   *lc;

	foreach(lc, tables)
		LoadSealForRead(lfirst_oid(lc), snapshot);
	list_free(tables);
}

void
LoadSealTable(Oid relid)
{
	if (LoadPending(relid))
		SealBefore(relid, InvalidCommandId);
}

void
LoadSealDetached(LoadState *state)
{
	List	   *pending = NIL;

	Assert(state->detached && state->subid == GetCurrentSubTransactionId());
	if (state->open && state->open->nrows > 0)
		pending = AddPending(pending, state, state->open);
	(void) LoadSealPending(state->layout->relid, pending);
	dlist_delete(&state->node);
	pfree(state);
}

void
LoadDiscard(Oid relid)
{
	ListCell   *lc;

	if (bf_load.cxt == NULL)
		return;
	foreach(lc, LoadPendingSets(relid, FirstCommandId, InvalidCommandId))
		Consume(((PendingSet *) lfirst(lc))->state, ((PendingSet *) lfirst(lc))->set);
}

/* Relations that have rows waiting, without duplicates. */
List *
LoadPendingTables(void)
{
	List	   *result = NIL;
	dlist_iter	iter;

	if (bf_load.cxt == NULL)
		return NIL;
	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (!state->detached && (state->older || (state->open && state->open->nrows > 0)))
			result = list_append_unique_oid(result, state->layout->relid);
	}
	return result;
}

bool
LoadPending(Oid relid)
{
	dlist_iter	iter;

	if (bf_load.cxt == NULL)
		return false;
	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->layout->relid == relid && !state->detached &&
			(state->older || (state->open && state->open->nrows > 0)))
			return true;
	}
	return false;
}

/*
 * Workers see files, not rows that wait in the leader: before a parallel
 * query starts, all that its functions could read is sealed.
 */
static void
LoadExecutorStart(QueryDesc *queryDesc, int eflags)
{
	if (bf_load.cxt != NULL && queryDesc->plannedstmt->parallelModeNeeded &&
		!(eflags & EXEC_FLAG_EXPLAIN_ONLY) && !IsParallelWorker())
		LoadSealAllForRead(queryDesc->snapshot);
	if (prev_ExecutorStart)
		prev_ExecutorStart(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
}

void
LoadSealInit(void)
{
	prev_ExecutorStart = ExecutorStart_hook;
	ExecutorStart_hook = LoadExecutorStart;
}
