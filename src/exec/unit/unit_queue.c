/*
 * unit_queue.c
 *	  Units of work, given out one by one.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "exec/unit/unit_cutter.h"
#include "exec/unit/unit_queue.h"
#include "guc.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/*
 * A group is cut when it is more than this part of a process's share: the
 * last unit can then keep the others waiting for no longer than that.
 */
#define UNITS_PER_PROCESS 4

void
UnitSharedInit(UnitShared *shared, int nprocesses)
{
	pg_atomic_init_u64(&shared->fingerprint, 0);
	pg_atomic_init_u32(&shared->next, 0);
	shared->nprocesses = nprocesses;
}

void
UnitSharedReset(UnitShared *shared)
{
	pg_atomic_write_u64(&shared->fingerprint, 0);
	pg_atomic_write_u32(&shared->next, 0);
}

void
UnitSharedCheck(UnitShared *shared, uint64 fingerprint)
{
	uint64		expected = 0;

	/* 0 means that nobody came yet */
	fingerprint |= 1;
	if (!pg_atomic_compare_exchange_u64(&shared->fingerprint, &expected, fingerprint) &&
		expected != fingerprint)
		elog(ERROR, "processes of a parallel plan see different files of a bucketed table");
}

int64
UnitLimit(const UnitShared *shared, int64 rows)
{
	if (bf_debug_unit_rows > 0)
		return bf_debug_unit_rows;
	if (shared == NULL || shared->nprocesses < 2)
		return 0;
	return rows / ((int64) UNITS_PER_PROCESS * shared->nprocesses) + 1;
}

/*
 * Biggest first, so that the last ones to finish are small.  Which of two
 * equal ones comes first must be the same in every process.
 */
static int
CompareUnits(const void *a, const void *b)
{
	const Unit *x = a;
	const Unit *y = b;

	if (x->work != y->work)
		return x->work > y->work ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * Make the list, unless the groups cannot be cut and nothing is shared.  To
 * count rows may mean to run a plan: that is not done in our memory.
 */
static void
MakeList(UnitQueue *queue, UnitCutSources sources)
{
	MemoryContext old = MemoryContextSwitchTo(queue->cxt);
	UnitCutter	cutter = {.split = queue->split,.counts = queue->counts};
	int64	   *rows = palloc(queue->ngroups * sizeof(int64));
	int64		total = 0;
	int64		limit;
	bool		can_cut = sources(queue->arg, &cutter);
	List	   *units = NIL;
	ListCell   *lc;
	uint64		fingerprint = (uint64) queue->ngroups;

	MemoryContextSwitchTo(old);
	if (queue->shared == NULL && (bf_debug_unit_rows == 0 || !can_cut))
		return;
	for (int g = 0; g < queue->ngroups; g++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[g] = queue->rows(queue->arg, queue->ngroups, g);
		total += rows[g];
	}
	MemoryContextSwitchTo(queue->cxt);
	limit = UnitLimit(queue->shared, total);
	cutter.max_slices = UNITS_PER_PROCESS * (queue->shared ? queue->shared->nprocesses : 1);
	for (int g = 0; g < queue->ngroups; g++)
	{
		List	   *parts = NIL;

		CHECK_FOR_INTERRUPTS();
		if (rows[g] == 0)
			continue;
		if (can_cut && limit > 0 && rows[g] > limit)
			parts = UnitCutterCut(&cutter, queue->ngroups, g, rows[g], limit);
		if (parts == NIL)
		{
			Unit	   *unit = palloc0(sizeof(Unit));

			unit->group = g;
			unit->rows = unit->work = rows[g];
			parts = list_make1(unit);
		}
		units = list_concat(units, parts);
	}
	queue->list = palloc(Max(list_length(units), 1) * sizeof(Unit));
	queue->nlist = 0;
	foreach(lc, units)
	{
		Unit	   *unit = &queue->list[queue->nlist];

		*unit = *(Unit *) lfirst(lc);
		unit->number = queue->nlist++;
		fingerprint = hash_combine64(hash_combine64(fingerprint, (uint64) unit->group),
									 (uint64) unit->work);
		UnitMeterCount(&queue->meter, queue->ngroups, unit->group,
					   unit->part.from || unit->part.to, unit->rows);
	}
	qsort(queue->list, queue->nlist, sizeof(Unit), CompareUnits);
	if (queue->shared != NULL)
		UnitSharedCheck(queue->shared, hash_combine64(fingerprint, cutter.fingerprint));
	MemoryContextSwitchTo(old);
}

void
UnitQueueStart(UnitQueue *queue, int ngroups, UnitRows rows, UnitCutSources sources, void *arg)
{
	/* rows may be routed to the only group of inputs that have no file */
	queue->ngroups = Max(ngroups, 1);
	queue->rows = rows;
	queue->arg = arg;
	queue->next = 0;
	queue->list = NULL;
	UnitMeterBegin(&queue->meter);
	if (queue->cxt != NULL)
		MemoryContextReset(queue->cxt);
	if (queue->shared == NULL && bf_debug_unit_rows == 0)
		return;
	if (queue->cxt == NULL)
		queue->cxt = AllocSetContextCreate(queue->parent, "bucketfdw units", ALLOCSET_SMALL_SIZES);
	MakeList(queue, sources);
}

const Unit *
UnitQueueNext(UnitQueue *queue)
{
	UnitMeterStop(&queue->meter);
	if (queue->list != NULL)
	{
		uint32		at = queue->shared ? UnitSharedClaim(queue->shared) : (uint32) queue->next++;

		if (at >= (uint32) queue->nlist)
			return NULL;
		UnitMeterStart(&queue->meter);
		return &queue->list[at];
	}
	while (queue->next < queue->ngroups)
	{
		Unit	   *unit = &queue->group;

		CHECK_FOR_INTERRUPTS();
		memset(unit, 0, sizeof(Unit));
		unit->group = queue->next++;
		unit->rows = unit->work = queue->rows(queue->arg, queue->ngroups, unit->group);
		if (unit->rows > 0)
		{
			UnitMeterCount(&queue->meter, queue->ngroups, unit->group, false, unit->rows);
			UnitMeterStart(&queue->meter);
			return unit;
		}
	}
	return NULL;
}
