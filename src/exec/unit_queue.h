/*
 * unit_queue.h
 *	  Units of work (groups of buckets, or runs), given out one by one: to this
 *	  process alone, or to all processes of a parallel plan.
 *
 * Every process makes the same list from the same manifest and snapshot; all
 * they share is the place of the next one.
 */
#ifndef BF_UNIT_QUEUE_H
#define BF_UNIT_QUEUE_H

#include "port/atomics.h"

/* In dynamic shared memory. */
typedef struct UnitShared
{
	pg_atomic_uint64 fingerprint;	/* of the list, to be the same in all; 0: nobody has made it yet */
	pg_atomic_uint32 next;
} UnitShared;

/* Rows of a unit at most; 0: nothing to do there. */
typedef int64 (*UnitRows) (void *arg, int nunits, int unit);

typedef struct UnitQueue
{
	UnitShared *shared;			/* NULL: all units are ours */
	int			nunits;
	UnitRows	rows;
	void	   *arg;
	int			next;			/* not shared: the next unit to look at */
	int		   *order;			/* shared: units with rows, biggest first */
	int			norder;
} UnitQueue;

extern void UnitSharedInit(UnitShared *shared);

/* Begin anew, when no process works on it. */
extern void UnitSharedReset(UnitShared *shared);

/*
 * Raise an error unless every process that calls it for this list gives the
 * same number: they would skip work or do it twice.
 */
extern void UnitSharedCheck(UnitShared *shared, uint64 fingerprint);

/* The place of the next unit in the list. */
static inline uint32
UnitSharedClaim(UnitShared *shared)
{
	return pg_atomic_fetch_add_u32(&shared->next, 1);
}

/*
 * Start on units 0 .. nunits - 1, or on one when there is none; shared must be
 * set (or NULL).  Allocates in the current context.
 */
extern void UnitQueueStart(UnitQueue *queue, int nunits, UnitRows rows, void *arg);

/* The next unit that is ours, -1: no more. */
extern int	UnitQueueNext(UnitQueue *queue);

#endif							/* BF_UNIT_QUEUE_H */
