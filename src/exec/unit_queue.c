/*
 * unit_queue.c
 *	  Units of work, given out one by one.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "exec/unit_queue.h"
#include "miscadmin.h"

/* A unit and its size, to be sorted. */
typedef struct SizedUnit
{
	int			unit;
	int64		rows;
} SizedUnit;

void
UnitSharedInit(UnitShared *shared)
{
	pg_atomic_init_u64(&shared->fingerprint, 0);
	pg_atomic_init_u32(&shared->next, 0);
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

/* Biggest first, so that the last ones to finish are small. */
static int
CompareUnits(const void *a, const void *b)
{
	const SizedUnit *x = a;
	const SizedUnit *y = b;

	if (x->rows != y->rows)
		return x->rows > y->rows ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

void
UnitQueueStart(UnitQueue *queue, int nunits, UnitRows rows, void *arg)
{
	SizedUnit  *units;
	uint64		fingerprint = (uint64) nunits;

	/* rows may be routed to the only group of inputs that have no file */
	queue->nunits = nunits = Max(nunits, 1);
	queue->rows = rows;
	queue->arg = arg;
	queue->next = 0;
	if (queue->shared == NULL)
		return;

	units = palloc(nunits * sizeof(SizedUnit));
	queue->norder = 0;
	for (int u = 0; u < nunits; u++)
	{
		int64		n = rows(arg, nunits, u);

		CHECK_FOR_INTERRUPTS();
		if (n == 0)
			continue;
		units[queue->norder].unit = u;
		units[queue->norder++].rows = n;
		fingerprint = hash_combine64(hash_combine64(fingerprint, (uint64) u), (uint64) n);
	}
	qsort(units, queue->norder, sizeof(SizedUnit), CompareUnits);
	if (queue->order != NULL)
		pfree(queue->order);
	queue->order = palloc(Max(queue->norder, 1) * sizeof(int));
	for (int i = 0; i < queue->norder; i++)
		queue->order[i] = units[i].unit;
	pfree(units);
	UnitSharedCheck(queue->shared, fingerprint);
}

int
UnitQueueNext(UnitQueue *queue)
{
	if (queue->shared != NULL)
	{
		uint32		at = UnitSharedClaim(queue->shared);

		return at < (uint32) queue->norder ? queue->order[at] : -1;
	}
	while (queue->next < queue->nunits)
	{
		int			unit = queue->next++;

		CHECK_FOR_INTERRUPTS();
		if (queue->rows(queue->arg, queue->nunits, unit) > 0)
			return unit;
	}
	return -1;
}
