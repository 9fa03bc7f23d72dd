/*
 * load_seal.c
 *	  Which of the rows that wait become files, and as how many writes.
 *
 * A snapshot sees a write or not, by the last of its commands.  So rows of
 * two commands go to one write only if no snapshot that may still be used
 * tells them apart.
 */
#include "postgres.h"

#include <limits.h>

#include "access/relation.h"
#include "access/xact.h"
#include "counters/counters.h"
#include "load/inline_rows.h"
#include "load/load_internal.h"
#include "load/pending_deletes.h"
#include "load/progress.h"
#include "miscadmin.h"
#include "rows/spill.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* packed rows of a statement that are sealed at its end */
#define STATEMENT_BYTES (4 * 1024 * 1024)

/* more writes are not made for the sake of workers */
#define MAX_WRITES_FOR_WORKERS 16

/* A set of a state is sealed or discarded by the current subtransaction. */
static void
Consume(LoadState *state, RowSet *set)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	ConsumedSet *consumed = NULL;

	if (state->subid != current)
		consumed = MemoryContextAllocZero(bf_load.cxt, sizeof(ConsumedSet));
	LoadDropImages(set);
	LoadTakeOut(state, set);
	if (consumed == NULL)
	{
		RowSetFree(set);
		return;
	}
	consumed->state = state;
	consumed->consumed_in = current;
	consumed->set = set;
	dlist_push_head(&bf_load.consumed, &consumed->node);
}

static List *
AddPending(List *list, LoadState *state, RowSet *set)
{
	PendingSet *pending;

	if (set == NULL || set->nrows == 0)
		return list;
	pending = palloc(sizeof(PendingSet));
	pending->state = state;
	pending->set = set;
	return lappend(list, pending);
}

/* The sets of a table that have rows; InvalidOid: of all tables. */
List *
LoadPendingSets(Oid relid)
{
	List	   *result = NIL;
	dlist_iter	iter;

	if (bf_load.cxt == NULL)
		return NIL;
	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->detached || (OidIsValid(relid) && state->layout->relid != relid))
			continue;
		result = AddPending(result, state, state->open);
		for (RowSet *set = state->older; set != NULL; set = set->next)
			result = AddPending(result, state, set);
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

/* Bytes of the rows of a set, as packed. */
int64
LoadSetBytes(const RowSet *set)
{
	int64		bytes = LoadSpilledBytes(set);

	for (int c = 0; c < set->nchunks; c++)
	{
		for (int b = 0; set->chunks[c] != NULL && b < ROW_CHUNK_BUCKETS; b++)
			bytes += set->chunks[c][b].bytes;
	}
	return bytes;
}

int64
LoadSpilledBytes(const RowSet *set)
{
	int64		bytes = 0;
	ListCell   *lc;

	foreach(lc, set->runs)
		bytes += ((SpillRun *) lfirst(lc))->bytes;
	return bytes;
}

/*
 * Add the commands of the present statement of the client that have rows in a
 * set; no more than "limit" need be found.
 */
static Bitmapset *
AddCommands(Bitmapset *commands, RowSet *set, int limit)
{
	CommandId	first = bf_load.statement_cid;
	int			found = 0;
	RowMerge   *merge;

	if (set->max_cid < first)
		return commands;
	if (set->min_cid == set->max_cid)
		return bms_add_member(commands, (int) (set->max_cid - first));
	SpillReduceRuns(set, SPILL_FAN_IN);
	merge = RowMergeBegin(&set, 1);
	while (found < limit && RowMergeNextBucket(merge) >= 0)
	{
		const SortEntry *entries;
		CommandId	last = InvalidCommandId;
		int64		n;

		while (found < limit && (n = RowMergeNextRows(merge, &entries)) > 0)
		{
			for (int64 i = 0; i < n; i++)
			{
				CommandId	cid = RowCid(entries[i].row);

				if (cid == last || cid < first)
					continue;
				last = cid;
				if (bms_is_member((int) (cid - first), commands))
					continue;
				commands = bms_add_member(commands, (int) (cid - first));
				found++;
			}
		}
	}
	RowMergeEnd(merge);
	return commands;
}

/*
 * Where the rows of some sets of one layout are divided: *borders are
 * commands, ascending; from one to the next goes one write.  The present
 * statement of the client may have snapshots from between any two of its
 * commands; of earlier ones only the snapshots of open cursors are left.
 * If there are more than "limit" commands, some may be left out.
 */
static int
FindBorders(RowSet **sets, int nsets, int limit, CommandId **borders)
{
	CommandId	first = bf_load.statement_cid;
	Bitmapset  *commands = NULL;
	Bitmapset  *earlier = NULL;
	int			member = -1;
	int			n = 0;

	for (int s = 0; s < nsets; s++)
		commands = AddCommands(commands, sets[s], limit);
	for (int i = 0; i < bf_load.nreaders; i++)
	{
		CommandId	curcid = bf_load.readers[i].curcid;

		for (int s = 0; s < nsets; s++)
		{
			if (curcid < first && sets[s]->min_cid < curcid)
				earlier = bms_add_member(earlier, (int) curcid);
		}
	}
	*borders = palloc(sizeof(CommandId) * (bms_num_members(commands) + bms_num_members(earlier) + 2));
	(*borders)[n++] = FirstCommandId;
	while ((member = bms_next_member(earlier, member)) >= 0)
		(*borders)[n++] = (CommandId) member;
	member = -1;
	while ((member = bms_next_member(commands, member)) >= 0)
		(*borders)[n++] = first + member;
	if (n > 1 && (*borders)[1] == FirstCommandId)
		memmove(*borders, *borders + 1, --n * sizeof(CommandId));
	(*borders)[n] = InvalidCommandId;
	bms_free(commands);
	bms_free(earlier);
	return n;
}

/* Some sets of one layout, taken out of a list of pending ones. */
typedef struct SetGroup
{
	RowLayout  *layout;
	List	   *pending;
	RowSet	  **sets;
	int			nsets;
} SetGroup;

static List *
TakeGroup(List *pending, SetGroup *group)
{
	ListCell   *lc;

	group->layout = ((PendingSet *) linitial(pending))->set->layout;
	group->pending = NIL;
	group->sets = palloc(sizeof(RowSet *) * list_length(pending));
	group->nsets = 0;
	foreach(lc, pending)
	{
		PendingSet *p = lfirst(lc);

		if (p->set->layout != group->layout)
			continue;
		group->sets[group->nsets++] = p->set;
		group->pending = lappend(group->pending, p);
		pending = foreach_delete_current(pending, lc);
	}
	return pending;
}

/* Seal a group as one write, or as many as FindBorders says; were files written? */
static bool
SealGroup(const SetGroup *group, bool divide)
{
	/* the table is locked since its rows came */
	Relation	rel = try_relation_open(group->layout->relid, NoLock);
	SealCounters counters = {0};
	TableCounts counts = {0};
	CommandId	all[] = {FirstCommandId, InvalidCommandId};
	CommandId  *borders = all;
	int			nwrites = 1;
	int64		bytes = 0;
	ListCell   *lc;

	/* dropped while the drop trigger was away: the rows are forgotten */
	if (rel != NULL)
	{
		if (divide)
			nwrites = FindBorders(group->sets, group->nsets, INT_MAX, &borders);
		for (int i = 0; i < group->nsets; i++)
			bytes += LoadSetBytes(group->sets[i]);
		ProgressTotal(group->layout->relid, bytes);
		for (int i = 0; i < nwrites; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!InlineSeal(group->sets, group->nsets, borders[i], borders[i + 1], &counters))
				SealSets(rel, group->sets, group->nsets, borders[i], borders[i + 1], &counters);
		}
		counts.n[COUNT_WRITES] = nwrites;
		counts.n[COUNT_ROWS_WRITTEN] = counters.rows;
		counts.n[COUNT_BYTES_WRITTEN] = counters.bytes;
		CountersAdd(RelationGetRelid(rel), &counts);
		relation_close(rel, NoLock);
	}
	for (int i = 0; i < group->nsets; i++)
		counters.temp_bytes += LoadSpilledBytes(group->sets[i]);
	foreach(lc, group->pending)
	{
		PendingSet *p = lfirst(lc);

		p->state->sealed_cid = divide ? InvalidCommandId : p->set->max_cid;
		p->state->sealed = counters;
		Consume(p->state, p->set);
	}
	return counters.files > 0;
}

/*
 * Seal sets; divide: so that snapshots that may still be used see of them what
 * they saw.
 */
void
LoadSealPending(List *pending, bool divide)
{
	MemoryContext cxt;
	MemoryContext old;

	if (pending == NIL)
		return;
	LoadNoteStatement();
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal list", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	while (pending != NIL)
	{
		SetGroup	group;
		MemoryContext list;
		bool		files;

		pending = TakeGroup(pending, &group);
		files = SealGroup(&group, divide);
		list = MemoryContextSwitchTo(bf_load.cxt);
		if (files)
			bf_load.sealed = list_append_unique_oid(bf_load.sealed, group.layout->relid);
		else
			bf_load.inlined = list_append_unique_oid(bf_load.inlined, group.layout->relid);
		MemoryContextSwitchTo(list);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	ProgressEnd();
}

void
LoadSealTable(Oid relid)
{
	LoadSealPending(LoadPendingSets(relid), true);
	PendingDeletesSeal(relid);
}

void
LoadSealAll(void)
{
	LoadSealPending(LoadPendingSets(InvalidOid), true);
	PendingDeletesSeal(InvalidOid);
}

/*
 * Seal all rows, unless that makes many small writes, or nothing may be
 * written now: in a transaction that is read only, or below a query that has
 * workers already.  Then false, and nothing is done.
 */
bool
LoadSealForWorkers(void)
{
	List	   *pending = LoadPendingSets(InvalidOid);
	int			nwrites = 0;

	if (pending == NIL && bf_load.deletes == NULL)
		return true;
	if (XactReadOnly || IsInParallelMode() || !PendingDeletesAreFew())
		return false;
	LoadNoteStatement();
	while (pending != NIL)
	{
		SetGroup	group;
		CommandId  *borders;

		pending = TakeGroup(pending, &group);
		nwrites += FindBorders(group.sets, group.nsets, MAX_WRITES_FOR_WORKERS + 2, &borders) - 1;
		if (nwrites > MAX_WRITES_FOR_WORKERS)
			return false;
	}
	LoadSealAll();
	return true;
}

void
LoadEndCommand(CommandId cid, bool always)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	List	   *pending = NIL;
	int64		bytes = 0;
	dlist_iter	iter;
	ListCell   *lc;

	if (bf_load.cxt == NULL)
		return;
	if (bf_load_committing)
	{
		/* nobody comes after us to write what waits */
		LoadSealAll();
		SpillCloseUnused();
		return;
	}
	dlist_foreach(iter, &bf_load.states)
	{
		LoadState  *state = dlist_container(LoadState, node, iter.cur);

		if (state->subid != current)
			break;
		if (state->detached)
			continue;
		if (state->open != NULL && state->open->max_cid == cid)
			pending = AddPending(pending, state, state->open);
		for (RowSet *set = state->older; set != NULL; set = set->next)
		{
			if (set->min_cid == cid && set->max_cid == cid)
				pending = AddPending(pending, state, set);
		}
	}
	foreach(lc, pending)
		bytes += LoadSetBytes(((PendingSet *) lfirst(lc))->set);
	if (always || bytes >= STATEMENT_BYTES)
		LoadSealPending(pending, false);
	else
		list_free_deep(pending);
	PendingDeletesEndCommand(cid);
	if (cid == bf_load.counted_cid)
	{
		bf_load.counted_cid = InvalidCommandId;
		bf_load.ncounted = 0;
		ProgressEnd();
	}
}

bool
LoadCommandSealed(const LoadState *state, CommandId cid, SealCounters *counters)
{
	if (state->sealed_cid != cid)
		return false;
	*counters = state->sealed;
	return true;
}

void
LoadSealDetached(LoadState *state)
{
	Assert(state->detached && state->subid == GetCurrentSubTransactionId());
	LoadSealPending(AddPending(NIL, state, state->open), false);
	dlist_delete(&state->node);
	pfree(state);
}

ManifestWrite *
LoadWriteDetached(Relation rel, LoadState *state, SealedRows sealed, void *arg)
{
	ManifestWrite *write = NULL;

	Assert(state->detached && state->subid == GetCurrentSubTransactionId());
	if (state->open != NULL)
	{
		ProgressTotal(state->layout->relid, LoadSetBytes(state->open));
		write = SealFiles(rel, state->open, sealed, arg);
		RowSetFree(state->open);
		ProgressEnd();
	}
	dlist_delete(&state->node);
	pfree(state);
	return write;
}

void
LoadDiscard(Oid relid)
{
	ListCell   *lc;

	foreach(lc, LoadPendingSets(relid))
		Consume(((PendingSet *) lfirst(lc))->state, ((PendingSet *) lfirst(lc))->set);
	PendingDeletesDiscard(relid);
}
