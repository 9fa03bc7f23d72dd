/*
 * give_way.c
 *	  Upkeep in the background gives way to whoever waits for it, and sleeps
 *	  between pieces of work.
 *
 * The worker does not set PROC_IS_AUTOVACUUM, for which core would end it:
 * CREATE INDEX CONCURRENTLY on our catalog would not wait for its snapshots
 * then, and rows of the manifest would be missed.  So it asks itself.
 */
#include "postgres.h"

#include "catalog/pg_database_d.h"
#include "compat.h"
#include "fdw/pace.h"
#include "guc.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/catalog.h"
#include "storage/latch.h"
#include "storage/manifest.h"
#include "upkeep/give_way.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#define POLL_MS 50

/* cost of a page read and written, as for vacuum */
#define PAGE_COST 22

GiveWay		bf_give_way = GIVE_WAY_NOT;

static Oid	table = InvalidOid;
static Oid	manifest = InvalidOid;
static TimestampTz last_poll = 0;
static double cost = 0;

bool
CanLock(const LOCKTAG *tag, LOCKMODE mode)
{
	bool		can;

	/* without a resource owner, and so outside of transactions too */
	HOLD_INTERRUPTS();
	can = LockAcquire(tag, mode, true, true) != LOCKACQUIRE_NOT_AVAIL;
	if (can)
		LockRelease(tag, mode, true);
	RESUME_INTERRUPTS();
	return can;
}

/*
 * Users' advisory locks have 1 and 2 in the fourth field.  Of their lock method
 * session locks go when a process ends, however that comes; of relations they
 * would stay with the next process in its place.
 */
void
WorkerTag(LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, 0x62666477, 0, 7);
}

/* DROP DATABASE, or CREATE DATABASE that copies it, holds or waits for a lock on it. */
bool
DatabaseIsWanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	return !CanLock(&tag, RowExclusiveLock);
}

/*
 * Does somebody wait for the table, if we have locked it, or for the manifest?
 * Of that we hold the weakest lock, by a path that has no queue: a lock that
 * conflicts with all who could wait for us shows them.
 */
static bool
TableIsWanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
	if (BfLockHeldByMe(&tag, ShareUpdateExclusiveLock) && LockHasWaiters(&tag, ShareUpdateExclusiveLock, false))
		return true;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, manifest);
	return !CanLock(&tag, RowShareLock);
}

void
GiveWayTo(GiveWay whom)
{
	bf_give_way = whom;
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("upkeep gives way")));
}

void
LookOut(void)
{
	TimestampTz now = GetCurrentTimestamp();

	CHECK_FOR_INTERRUPTS();
	if (!TimestampDifferenceExceeds(last_poll, now, POLL_MS))
		return;
	last_poll = now;
	if (DatabaseIsWanted())
		GiveWayTo(GIVE_WAY_DATABASE);
	if (TableIsWanted())
		GiveWayTo(GIVE_WAY_TABLE);
}

void
SleepAWhile(long ms, uint32 event)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, event);
	ResetLatch(MyLatch);
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* PaceFunction: so many bytes were read, and about as many written. */
static void
Pace(int64 bytes)
{
	if (bf_upkeep_cost_delay > 0)
		cost += (double) PAGE_COST * bytes / BLCKSZ;
	LookOut();
	while (bf_upkeep_cost_delay > 0 && cost >= bf_upkeep_cost_limit)
	{
		double		ms = Min(cost / bf_upkeep_cost_limit * bf_upkeep_cost_delay, POLL_MS);

		cost -= ms / bf_upkeep_cost_delay * bf_upkeep_cost_limit;
		SleepAWhile(Max((long) ms, 1), WAIT_EVENT_VACUUM_DELAY);
		LookOut();
	}
}

void
GiveWayBegin(Oid relid)
{
	table = relid;
	manifest = BucketCatalogOid("manifest");
	bf_give_way = GIVE_WAY_NOT;
	bf_pace = Pace;
}
