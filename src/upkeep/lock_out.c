/*
 * lock_out.c
 *	  Files are exchanged while nobody changes rows of the table.
 */
#include "postgres.h"

#include "fdw/pace.h"
#include "load/change_lock.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "upkeep/give_way.h"
#include "upkeep/lock_out.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* the lock is asked for so often, and so long, or for lock_timeout */
#define ASK_MS 100
#define PATIENCE_MS 10000

/* Ask until the lock is free, and take it or not. */
static bool
Ask(Relation rel, bool take)
{
	Oid			relid = RelationGetRelid(rel);
	TimestampTz begun = GetCurrentTimestamp();
	int			patience = LockTimeout > 0 ? Min(LockTimeout, PATIENCE_MS) : PATIENCE_MS;

	while (take ? !ChangeLockIfFree(relid, CHANGE_WHOLE, CHANGE_LOCK_EXCLUSIVE) : !ChangeLockIsFree(relid))
	{
		if (TimestampDifferenceExceeds(begun, GetCurrentTimestamp(), patience))
		{
			if (bf_pace != NULL)
				GiveWayTo(GIVE_WAY_TABLE);
			ereport(NOTICE,
					(errmsg("\"%s\" is not rewritten further now", RelationGetRelationName(rel)),
					 errdetail("A transaction that changes or locks rows of it has not ended for %d ms.", patience),
					 errhint("Try again when it has ended.")));
			return false;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ASK_MS, PG_WAIT_LOCK);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();

		/* others may wait for us */
		if (bf_pace != NULL)
			bf_pace(0);
	}
	return true;
}

bool
LockOutChangers(Relation rel)
{
	return Ask(rel, true);
}

bool
WaitForChangers(Relation rel)
{
	return Ask(rel, false);
}
