/*
 * worker.c
 *	  The background worker that keeps the tables of a database in shape.
 *
 * It looks at all tables, does what is due, and ends when nothing has been due
 * for a while.  Whoever waits for what it holds has it at once: the worker
 * undoes the step it is at and comes back later.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/manifest.h"
#include "tcop/tcopprot.h"
#include "upkeep/give_way.h"
#include "upkeep/start.h"
#include "upkeep/steps.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PGDLLEXPORT void bucketfdw_upkeep_main(Datum arg);

/* it ends when it has done nothing for so long while files or tables are held, */
#define LINGER_MS 35000
/* or not: a commit that came too soon after another to start a worker must be seen */
#define REST_MS 2000
/* between two looks at all tables, or so many times what a look takes */
#define LOOK_MS 1000
#define LOOK_TIMES 20
/* a table is left for now when others wanted it so often */
#define MAX_YIELDS 3

/* A table that could not be done, or not completely. */
typedef struct PutOff
{
	Oid			relid;
	int			yields;
	bool		given_up;
	TimestampTz until;
} PutOff;

static List *put_off = NIL;		/* PutOff, in TopMemoryContext */
static char working_on[2 * NAMEDATALEN + 2];	/* a table's name */

/* As a cancel request, so that what goes on ends at once; the worker then ends with code 0. */
static void
AtTerminate(SIGNAL_ARGS)
{
	int			save_errno = errno;

	ShutdownRequestPending = true;
	InterruptPending = true;
	QueryCancelPending = true;
	SetLatch(MyLatch);
	errno = save_errno;
}

/* Is it to end, whatever is due? */
static bool
MustEnd(void)
{
	return ShutdownRequestPending || bf_give_way == GIVE_WAY_DATABASE;
}

/* What others set for the database or for us must not stop it. */
static void
OverrideSettings(void)
{
	static const char *const timeouts[] = {BF_TIMEOUTS};
	static const char *const others[][2] = {
		{"search_path", ""},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"zero_damaged_pages", "off"},
		{"bucketfdw.ignore_damaged_files", "off"},
	};

	for (int i = 0; i < lengthof(timeouts); i++)
		SetConfigOption(timeouts[i], "0", PGC_SUSET, PGC_S_OVERRIDE);
	for (int i = 0; i < lengthof(others); i++)
		SetConfigOption(others[i][0], others[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		SetConfigOption("synchronous_commit", "local", PGC_SUSET, PGC_S_OVERRIDE);
}

static PutOff *
FindPutOff(Oid relid, bool make)
{
	PutOff	   *found = NULL;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, put_off)
	{
		if (((PutOff *) lfirst(lc))->relid == relid)
			found = lfirst(lc);
	}
	if (found != NULL || !make)
		return found;
	old = MemoryContextSwitchTo(TopMemoryContext);
	found = palloc0(sizeof(PutOff));
	found->relid = relid;
	put_off = lappend(put_off, found);
	MemoryContextSwitchTo(old);
	return found;
}

/* One step of a table as its owner, who may have put code into it; false: no more is to be done. */
static bool
StepAsOwner(Upkeep *upkeep)
{
	static const char *const names[] = {"compact", "analyze", "clean up", "end"};
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(upkeep->relid));
	Form_pg_class form;
	char		activity[sizeof(working_on) + 40];
	Oid			save_userid;
	int			save_sec_context;
	int			nestlevel;
	bool		more;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	snprintf(working_on, sizeof(working_on), "%s.%s", get_namespace_name(form->relnamespace), NameStr(form->relname));
	snprintf(activity, sizeof(activity), "bucketfdw upkeep: %s %s", names[upkeep->stage], working_on);
	pgstat_report_activity(STATE_RUNNING, activity);
	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(form->relowner, save_sec_context | SECURITY_RESTRICTED_OPERATION);
	ReleaseSysCache(tuple);
	nestlevel = NewGUCNestLevel();

	/* those who come after us would wait behind us, too */
	if (upkeep->stage != UPKEEP_CLEANUP && !ConditionalLockRelationOid(upkeep->relid, ShareUpdateExclusiveLock))
		GiveWayTo(GIVE_WAY_TABLE);
	more = UpkeepStep(upkeep);
	AtEOXact_GUC(false, nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
	if (!more)
		UpkeepLog(upkeep);
	return more;
}

/* An error has ended a step, and with it the transaction. */
static void
AfterError(Oid relid)
{
	PutOff	   *entry = FindPutOff(relid, true);

	HOLD_INTERRUPTS();
	if (bf_give_way == GIVE_WAY_NOT && !ShutdownRequestPending)
	{
		errcontext("upkeep of table \"%s\"", working_on);
		EmitErrorReport();
		entry->given_up = true;
	}
	AbortOutOfAnyTransaction();
	FlushErrorState();
	QueryCancelPending = false;
	RESUME_INTERRUPTS();
	if (bf_give_way != GIVE_WAY_TABLE)
		return;
	entry->until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 1000 * ++entry->yields);
	entry->given_up = entry->yields > MAX_YIELDS;
	if (entry->given_up)
		ereport(LOG,
				(errmsg("upkeep of table \"%s\" is put off", working_on),
				 errdetail("Others wanted its lock %d times.", entry->yields)));
}

/*
 * Do what is due for a table, or only look; true: something is due, or was.
 */
static bool
WorkOn(Oid relid, bool only_look, UpkeepWait *wait)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "bucketfdw upkeep", ALLOCSET_DEFAULT_SIZES);
	volatile bool worked = false;

	PG_TRY();
	{
		Upkeep	   *upkeep;
		bool		more;

		StartTransactionCommand();
		snprintf(working_on, sizeof(working_on), "%u", relid);
		GiveWayBegin(relid);
		MemoryContextSwitchTo(cxt);
		upkeep = UpkeepBegin(relid, wait);
		CommitTransactionCommand();
		worked = upkeep != NULL;
		more = worked && !only_look;
		LookOut();
		while (more)
		{
			StartTransactionCommand();
			MemoryContextSwitchTo(cxt);
			more = StepAsOwner(upkeep);
			CommitTransactionCommand();
			pgstat_report_stat(false);
			LookOut();
		}
		if (worked && upkeep->failed)
			FindPutOff(relid, true)->given_up = true;
	}
	PG_CATCH();
	{
		AfterError(relid);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(cxt);
	return worked;
}

/* The tables that want upkeep, in cxt. */
static List *
WantedTables(MemoryContext cxt)
{
	List	   *tables = NIL;
	ListCell   *lc;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	foreach(lc, MaintainableTables())
	{
		if (TableWantsUpkeep(lfirst_oid(lc)))
			tables = lappend_oid(tables, lfirst_oid(lc));
	}
	CommitTransactionCommand();
	return tables;
}

/* The same for all tables; *wait is of all. */
static bool
WorkOnAll(bool only_look, UpkeepWait *wait)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "bucketfdw upkeep tables", ALLOCSET_DEFAULT_SIZES);
	bool		worked = false;
	ListCell   *lc;

	foreach(lc, WantedTables(cxt))
	{
		PutOff	   *entry = FindPutOff(lfirst_oid(lc), false);
		UpkeepWait	later = {0};

		if (entry != NULL && (entry->given_up || entry->until > GetCurrentTimestamp()))
			later.garbage = true;
		else
			worked |= WorkOn(lfirst_oid(lc), only_look, &later);
		wait->garbage |= later.garbage;
		wait->quiet_at = Max(wait->quiet_at, later.quiet_at);
		if (MustEnd())
			break;
	}
	MemoryContextDelete(cxt);
	return worked;
}

/* Sleep for so long, unless somebody wants the database. */
static void
Rest(long ms)
{
	pgstat_report_activity(STATE_IDLE, NULL);
	for (; ms > 0 && !MustEnd(); ms -= 100)
	{
		SleepAWhile(Min(ms, 100), PG_WAIT_EXTENSION);
		if (DatabaseIsWanted())
			bf_give_way = GIVE_WAY_DATABASE;
		if (!ShutdownRequestPending)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Work until nothing has been due for a while. */
static void
WorkForAWhile(void)
{
	TimestampTz last_work = GetCurrentTimestamp();

	while (!MustEnd())
	{
		TimestampTz begun = GetCurrentTimestamp();
		TimestampTz now;
		UpkeepWait	wait = {0};
		bool		worked = WorkOnAll(false, &wait);

		now = GetCurrentTimestamp();
		if (worked)
			last_work = now;
		else if (wait.quiet_at < now &&
				 TimestampDifferenceExceeds(last_work, now, wait.garbage ? LINGER_MS : REST_MS))
			break;
		Rest(worked ? LOOK_MS : Max(LOOK_MS, LOOK_TIMES * TimestampDifferenceMilliseconds(begun, now)));
	}
}

/* The lock of the worker of this database; commits that ask for it hold it for a moment. */
static bool
Acquire(const LOCKTAG *tag)
{
	for (int i = 0; i < 3; i++)
	{
		if (LockAcquire(tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
			return true;
		pg_usleep(5000);
	}
	return false;
}

/*
 * Commits that find the lock held start no worker.  So it is given up first,
 * and then it is looked whether one of them left something.
 */
static void
Work(void)
{
	LOCKTAG		tag;
	bool		more = true;

	WorkerTag(&tag);
	while (more && !MustEnd() && Acquire(&tag))
	{
		UpkeepWait	wait = {0};

		WorkForAWhile();
		LockRelease(&tag, ExclusiveLock, true);
		Rest(200);
		more = !MustEnd() && WorkOnAll(true, &wait);
	}
}

void
bucketfdw_upkeep_main(Datum arg)
{
	UpkeepStartNone();
	pqsignal(SIGTERM, AtTerminate);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();

	/* no role: the owners of tables may be without LOGIN */
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid, 0);
	PG_TRY();
	{
		OverrideSettings();
		Work();
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		if (!ShutdownRequestPending)
			EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();

	/* another code is a line in the log */
	proc_exit(0);
}
