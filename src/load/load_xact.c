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
#include "common/pg_prng.h"
#include "load/inline_rows.h"
#include "load/load_internal.h"
#include "load/pending_deletes.h"
#include "load/progress.h"
#include "rows/spill.h"
#include "storage/file_store.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* one of so many writes without a file looks what there is */
#define LOOK_EVERY 256

/* Forget the transaction; memory goes with its context. */
static void
EndTransaction(bool commit)
{
	LoadForgetImages(commit);
	LoadLayoutsAtEnd(commit);
	SpillForget();
	memset(&bf_load, 0, sizeof(bf_load));
}

/*
 * Seal what waits, each table as one write: no snapshot is used after this.
 * A table that got files, and now and then one that did not, gives back the
 * space of those that nobody needs.
 */
static void
PreCommit(bool prepare)
{
	bool		pushed = false;
	ListCell   *lc;

	if (!ActiveSnapshotSet())
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		pushed = true;
	}
	LoadSealPending(LoadPendingSets(InvalidOid), false);
	PendingDeletesSealAll();
	foreach(lc, bf_load.inlined)
	{
		if (pg_prng_uint64_range(&pg_global_prng_state, 1, LOOK_EVERY) > 1)
			continue;
		bf_load.sealed = list_append_unique_oid(bf_load.sealed, lfirst_oid(lc));

		/* a prepared transaction would keep the lock */
		if (!prepare)
			InlineFlushLarge(lfirst_oid(lc));
	}
	foreach(lc, bf_load.sealed)
	{
		CommandCounterIncrement();
		(void) StoreReclaimGarbage(lfirst_oid(lc));
	}
	CommandCounterIncrement();
	if (pushed)
		PopActiveSnapshot();
	bf_load.sealed = NIL;
	bf_load.inlined = NIL;

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
LoadAtXactEvent(XactEvent event)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			bf_load_committing = true;
			if (bf_load.cxt == NULL)
				break;
			PreCommit(event == XACT_EVENT_PRE_PREPARE);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			bf_load_committing = false;
			ProgressEnd();
			EndTransaction(event != XACT_EVENT_ABORT);
			break;
		default:
			break;
	}
}

/*
 * Moves the rows of a state to another one.  Those of the last command stay
 * apart if the other state has none yet.
 */
static void
MoveRows(LoadState *from, LoadState *to)
{
	dlist_iter	iter;

	while (from->older)
	{
		RowSet	   *set = from->older;

		LoadTakeOut(from, set);
		LoadPutAside(to, set, false);
	}
	if (from->open)
	{
		if (to->open == NULL)
			to->open = from->open;
		else
			LoadPutAside(to, from->open, false);
	}
	dlist_foreach(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);

		if (consumed->state == from)
			consumed->state = to;
	}
	dlist_delete(&from->node);
	pfree(from);
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
		target = state->detached ? NULL : LoadFindState(parent, state->layout);
		if (target == NULL)
			state->subid = parent;
		else
			MoveRows(state, target);
	}
	PendingDeletesSubCommit(subid, parent);
	dlist_foreach_modify(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);

		if (consumed->consumed_in == subid)
			consumed->consumed_in = parent;
		if (consumed->state->subid == consumed->consumed_in)
		{
			RowSetFree(consumed->set);
			dlist_delete(&consumed->node);
			pfree(consumed);
		}
	}
}

/* Takes no memory and raises no error. */
static void
SubAbort(SubTransactionId subid)
{
	dlist_mutable_iter iter;

	PendingDeletesSubAbort(subid);
	dlist_foreach_modify(iter, &bf_load.consumed)
	{
		ConsumedSet *consumed = dlist_container(ConsumedSet, node, iter.cur);
		LoadState  *state = consumed->state;

		if (state->subid == subid)
			RowSetFree(consumed->set);
		else if (consumed->consumed_in == subid)
		{
			/* the files are gone, the rows wait again */
			consumed->set->next = state->older;
			state->older = consumed->set;
		}
		else
			continue;
		dlist_delete(&consumed->node);
		pfree(consumed);
	}
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

			LoadDropImages(set);
			LoadTakeOut(state, set);
			RowSetFree(set);
		}
		dlist_delete(&state->node);
		pfree(state);
	}
	LoadForgetReaders(subid);
	/* the command that is counted may have been in it */
	bf_load.counted_cid = InvalidCommandId;
	MemoryContextReset(bf_load.scratch);
}

/*
 * One callback for this folder and src/storage, whose order matters: rows are
 * sealed before it is asked what was written, and descriptors of temporary
 * files are forgotten before files are removed.
 */
static void
AtXactEvent(XactEvent event, void *arg)
{
	LoadAtXactEvent(event);
	StoreAtXactEvent(event);
}

static void
AtSubXactEvent(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (bf_load.cxt != NULL)
	{
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			SubCommit(subid, parent);
		else if (event == SUBXACT_EVENT_ABORT_SUB)
		{
			SubAbort(subid);
			LoadLayoutsAtEnd(false);
		}
	}
	StoreAtSubXactEvent(event);
}

void
LoadInit(void)
{
	RegisterXactCallback(AtXactEvent, NULL);
	RegisterSubXactCallback(AtSubXactEvent, NULL);
	LoadLayoutsInit();
	LoadHooksInit();
}
