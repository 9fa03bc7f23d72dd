/*
 * load_xact.c
 *	  The transaction side of loading: what becomes of rows that wait when
 *	  transactions and subtransactions end.
 *
 * Rows wait in sets.  Each belongs to the subtransaction that inserted it: it
 * moves to the parent when that commits and is forgotten when it aborts.  A
 * set may be sealed (or discarded by TRUNCATE) inside a deeper subtransaction
 * than its own; then the manifest row goes with the deeper one, and the set
 * is kept, consumed, until that has committed up to the set's own level.
 * When it aborts instead, the rows wait again.
 */
#include "postgres.h"

#include "access/xact.h"
#include "load/load_internal.h"
#include "rows/spill.h"
#include "storage/file_store.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Forget the transaction; memory goes with its context. */
static void
EndTransaction(void)
{
	SpillForget();
	memset(&bf_load, 0, sizeof(bf_load));
}

static void
PreCommit(void)
{
	bool		pushed = false;
	ListCell   *lc;

	if (!ActiveSnapshotSet())
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		pushed = true;
	}
	foreach(lc, LoadPendingTables())
	{
		Oid			relid = lfirst_oid(lc);
		List	   *pending = LoadPendingSets(relid, FirstCommandId, InvalidCommandId);

		if (!LoadSealPending(relid, pending))
			continue;
		CommandCounterIncrement();
		(void) StoreReclaimGarbage(relid);
		CommandCounterIncrement();
	}
	if (pushed)
		PopActiveSnapshot();

	/* the resource owner would complain about files left open */
	while (!dlist_is_empty(&bf_load.states))
	{
		LoadState  *state = dlist_container(LoadState, node, dlist_pop_head_node(&bf_load.states));

		if (state->open)
			RowSetFree(state->open);
		for (RowSet *set = state->older; set != NULL;)
		{
			RowSet	   *next = set->next;

			RowSetFree(set);
			set = next;
		}
	}
	while (!dlist_is_empty(&bf_load.consumed))
		RowSetFree(dlist_container(ConsumedSet, node, dlist_pop_head_node(&bf_load.consumed))->set);
	SpillCloseUnused();
}

static void
XactCallbackLoad(XactEvent event, void *arg)
{
	if (bf_load.cxt == NULL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			PreCommit();
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (LoadPendingTables() != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has written to bucketed table \"%s\"",
								get_rel_name(linitial_oid(LoadPendingTables()))),
						 errhint("Use COMMIT, or write to bucketed tables in a transaction of its own.")));
			PreCommit();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			EndTransaction();
			break;
		default:
			break;
	}
}

/* Put a set to the rows of a state that wait. */
static void
PutBack(LoadState *state, RowSet *set)
{
	if (state->open == NULL)
		state->open = set;
	else
		RowSetMerge(state->open, set);
}

static void
SubCommit(SubTransactionId subid, SubTransactionId parent)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);
		LoadState  *target;

		if (state->subid < subid)
			break;
		if (state->detached)
			target = NULL;
		else
			target = LoadFindState(parent, state->layout, false);
		if (target == NULL)
		{
			state->subid = parent;
			continue;
		}
		if (state->open)
			PutBack(target, state->open);
		while (state->older)
		{
			RowSet	   *set = state->older;

			LoadTakeOut(state, set);
			PutBack(target, set);
		}
		dlist_delete(&state->node);
		pfree(state);
	}
	dlist_foreach_modify(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);

		if (consumed->subid == subid)
			consumed->subid = parent;
		if (consumed->consumed_in == subid)
			consumed->consumed_in = parent;
		if (consumed->subid == consumed->consumed_in)
		{
			RowSetFree(consumed->set);
			dlist_delete(&consumed->node);
			pfree(consumed);
		}
	}
}

static void
SubAbort(SubTransactionId subid)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->subid < subid)
			break;
		if (state->open)
			RowSetFree(state->open);
		while (state->older)
		{
			RowSet	   *set = state->older;

			LoadTakeOut(state, set);
			RowSetFree(set);
		}
		dlist_delete(&state->node);
		pfree(state);
	}
	dlist_foreach_modify(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);
		LoadState  *state;

		if (consumed->subid == subid)
			RowSetFree(consumed->set);
		else if (consumed->consumed_in == subid)
		{
			/* the files are gone, the rows wait again */
			state = LoadFindState(consumed->subid, consumed->set->layout, false);
			if (state == NULL)
				elog(ERROR, "no place for rows of an outer subtransaction");
			PutBack(state, consumed->set);
		}
		else
			continue;
		dlist_delete(&consumed->node);
		pfree(consumed);
	}
	MemoryContextReset(bf_load.scratch);
}

static void
SubXactCallbackLoad(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (bf_load.cxt == NULL)
		return;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		SubCommit(subid, parent);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		SubAbort(subid);
}

void
LoadInit(void)
{
	RegisterXactCallback(XactCallbackLoad, NULL);
	RegisterSubXactCallback(SubXactCallbackLoad, NULL);
	LoadRowsInit();
	LoadSealInit();
}
