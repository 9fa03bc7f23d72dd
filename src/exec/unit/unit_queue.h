/*
 * unit_queue.h
 *	  Units of work (groups of buckets, parts of groups, or runs), given out
 *	  one by one: to this process alone, or to all processes of a parallel
 *	  plan.
 *
 * Every process makes the same list from the same manifest, snapshot and
 * files; all they share is the place of the next one.
 */
#ifndef BF_UNIT_QUEUE_H
#define BF_UNIT_QUEUE_H

#include "exec/unit/key_cut.h"
#include "exec/unit/unit_meter.h"
#include "port/atomics.h"

struct UnitCutter;

/* In dynamic shared memory. */
typedef struct UnitShared
{
	pg_atomic_uint64 fingerprint;	/* of the list, to be the same in all; 0: nobody has made it yet */
	pg_atomic_uint32 next;
	int			nprocesses;		/* that may work on it */
} UnitShared;

/* Rows read for a group at most; 0: nothing to do there. */
typedef int64 (*UnitRows) (void *arg, int ngroups, int group);

/* Name what is read for all groups, so that they can be cut; false: they cannot. */
typedef bool (*UnitCutSources) (void *arg, struct UnitCutter *cutter);

typedef struct Unit
{
	int			group;
	int			number;			/* units are made in this order */
	int64		rows;			/* read for it; estimated for parts of groups */
	int64		work;			/* rows, and pairs where they are known to be many: biggest first */
	UnitPart	part;
	const void *sliced;			/* the source that is read in slices; NULL: all are */
} Unit;

typedef struct UnitQueue
{
	UnitShared *shared;			/* NULL: all units are ours; set by the owner */
	bool		split;			/* nobody above needs all rows of a key in one unit; set by the owner */
	bool		counts;			/* pairs of a frequent key are no work; set by the owner */
	int			ngroups;
	UnitRows	rows;
	void	   *arg;
	int			next;			/* of the groups, or of the list */
	Unit		group;			/* without a list: the present unit */
	MemoryContext parent;		/* lives as long as the queue; set by the owner */
	MemoryContext cxt;			/* of the list, below it */
	Unit	   *list;			/* units with rows; NULL: each group is one, none is shared */
	int			nlist;
	UnitMeter	meter;			/* its instrument is set by the owner */
} UnitQueue;

extern void UnitSharedInit(UnitShared *shared, int nprocesses);

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

/* Where a process stands in lists that all processes go through, one list after the other. */
typedef struct UnitClaim
{
	UnitShared *shared;			/* NULL: all is ours */
	uint32		before;			/* units of the lists before */
	uint32		at;				/* of all lists, claimed last */
	bool		kept;			/* and in none of them so far */
} UnitClaim;

/* The place of the next unit that is ours in the present list, of n; n: none, the next list follows. */
static inline uint32
UnitClaimNext(UnitClaim *claim, uint32 n)
{
	uint32		place;

	if (!claim->kept)
		claim->at = UnitSharedClaim(claim->shared);
	place = claim->at - claim->before;
	claim->kept = place >= n;
	if (!claim->kept)
		return place;
	claim->before += n;
	return n;
}

/* Rows of a unit at most, where that many are shared out; 0: no limit. */
extern int64 UnitLimit(const UnitShared *shared, int64 rows);

/*
 * Start on groups 0 .. ngroups - 1, or on one when there is none.  Groups
 * larger than a process's share are cut into parts.
 */
extern void UnitQueueStart(UnitQueue *queue, int ngroups, UnitRows rows, UnitCutSources sources,
						   void *arg);

/* The next unit that is ours, valid until the call after; NULL: no more. */
extern const Unit *UnitQueueNext(UnitQueue *queue);

#endif							/* BF_UNIT_QUEUE_H */
