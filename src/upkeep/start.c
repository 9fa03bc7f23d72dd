/*
 * start.c
 *	  The commit that leaves a table in need starts a worker.
 *
 * Whether one is needed is found out before the commit, where errors may come;
 * it is started after it, where the worker sees what was committed, and where
 * starting takes no memory and fails quietly without a free slot.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "common/pg_prng.h"
#include "guc.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "replication/walsender.h"
#include "storage/written.h"
#include "upkeep/due.h"
#include "upkeep/give_way.h"
#include "upkeep/start.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* the manifest is looked at once in so many writes of a table, others' writes being about as many, */
#define LOOK_WRITES 16
/* those that make no file counted apart, */
#define LOOK_INLINE 128
/* or when so much time has passed */
#define LOOK_MS 30000
/* between two starts of this process */
#define START_MS 1000
/* tables of which a process remembers when to look */
#define KNOWN_TABLES 1024

/* What this process may still write to a table before it looks at its manifest. */
typedef struct KnownTable
{
	Oid			relid;
	int			count[WRITTEN_KINDS];
	double		rows;
	double		deleted;
	TimestampTz looked;
} KnownTable;

static HTAB *known_tables = NULL;
static bool start_none = false;
static bool start_wanted = false;	/* at commit; stays until it has been done */
static TimestampTz last_start = 0;

void
UpkeepStartNone(void)
{
	start_none = true;
}

/* A new one must be looked at. */
static KnownTable *
FindKnown(Oid relid, bool *found)
{
	KnownTable *known;

	if (known_tables != NULL && hash_get_num_entries(known_tables) >= KNOWN_TABLES)
	{
		hash_destroy(known_tables);
		known_tables = NULL;
	}
	if (known_tables == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(KnownTable), .hcxt = TopMemoryContext};

		known_tables = hash_create("bucketfdw tables written to", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	known = hash_search(known_tables, &relid, HASH_ENTER, found);
	if (!*found)
	{
		memset(known->count, 0, sizeof(known->count));
		known->rows = 0;
		known->deleted = 0;
		known->looked = 0;
	}
	return known;
}

/* Look at the manifest: is something due, or will be, and how much may be written before the next look? */
static bool
Look(KnownTable *known)
{
	UpkeepDue	due;

	UpkeepLook(known->relid, NULL, NULL, &due);
	known->looked = GetCurrentTimestamp();
	known->count[WRITTEN_FILES] = Min(LOOK_WRITES, Max(1, bf_upkeep_runs - due.max_runs));
	known->count[WRITTEN_INLINE] = LOOK_INLINE;
	known->count[WRITTEN_DELETES] = LOOK_WRITES;
	known->rows = UpkeepAnalyzeThreshold(due.analyzed_rows) - (due.rows - Max(due.analyzed_rows, 0));
	known->deleted = bf_upkeep_deleted * due.rows / LOOK_WRITES;
	return (UpkeepIsDue(&due) || due.quiet_at != 0) && TableWantsUpkeep(known->relid);
}

/* The worker that runs looks again when we have committed; this mode does not look like one to others. */
static bool
WorkerRuns(void)
{
	LOCKTAG		tag;

	WorkerTag(&tag);
	return !CanLock(&tag, ShareLock);
}

/* Does what the transaction wrote to a table leave it in need? */
static bool
IsInNeed(const WrittenTable *written)
{
	bool		found;
	KnownTable *known;

	if (!IsBucketTable(written->relid))
		return false;

	/* it cannot go before the commit, and soon after */
	if (written->count[WRITTEN_GARBAGE] > 0)
		return TableWantsUpkeep(written->relid);

	known = FindKnown(written->relid, &found);
	if (found)
	{
		for (int kind = 0; kind < WRITTEN_KINDS; kind++)
			known->count[kind] -= written->count[kind];
		known->rows -= written->rows;
		known->deleted -= written->deleted;
		if (known->count[WRITTEN_FILES] > 0 && known->count[WRITTEN_INLINE] > 0 && known->count[WRITTEN_DELETES] > 0 &&
			known->rows >= 0 && known->deleted >= 0 &&
			!TimestampDifferenceExceeds(known->looked, GetCurrentTimestamp(), LOOK_MS))
			return false;
	}

	/* with many runs a look takes longer than a small write */
	if (start_wanted || WorkerRuns())
		return start_wanted;

	/* a look would count as a read of the whole table; the worker's does not */
	if (IsolationIsSerializable())
	{
		known->count[WRITTEN_FILES] = LOOK_WRITES;
		known->count[WRITTEN_INLINE] = LOOK_INLINE;
		known->count[WRITTEN_DELETES] = LOOK_WRITES;
		known->rows = PG_INT64_MAX;
		known->deleted = PG_INT64_MAX;
		known->looked = GetCurrentTimestamp();
		return found || pg_prng_uint32(&pg_global_prng_state) % LOOK_WRITES == 0;
	}
	return Look(known);
}

/* Before the commit: is a worker to be started? */
static void
Decide(void)
{
	MemoryContext cxt;
	MemoryContext old;
	const ListCell *lc;

	if (WrittenTables() == NIL || start_none || !bf_upkeep || IsParallelWorker() || am_walsender ||
		IsBinaryUpgrade || !IsUnderPostmaster || !IsNormalProcessingMode())
		return;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw upkeep look", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	foreach(lc, WrittenTables())
	{
		if (IsInNeed(lfirst(lc)))
			start_wanted = true;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);

	if (start_wanted && WorkerRuns())
		start_wanted = false;
}

/* After the commit: no errors, and no memory. */
static void
Start(void)
{
	BackgroundWorker worker = {
		.bgw_name = "bucketfdw upkeep",
		.bgw_type = "bucketfdw upkeep",
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "$libdir/bucketfdw",
		.bgw_function_name = "bucketfdw_upkeep_main",
		.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId)
	};
	TimestampTz now = GetCurrentTransactionStopTimestamp();

	if (last_start != 0 && !TimestampDifferenceExceeds(last_start, now, START_MS))
		return;
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
	{
		last_start = now;
		start_wanted = false;
	}
}

static void
AtXactEvent(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
		Decide();
	else if (event == XACT_EVENT_COMMIT && start_wanted && bf_upkeep)
		Start();
}

void
UpkeepInit(void)
{
	RegisterXactCallback(AtXactEvent, NULL);
}
