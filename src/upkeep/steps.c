/*
 * steps.c
 *	  The upkeep of one table, a transaction at a time: runs are merged, rows
 *	  sampled, files removed.
 *
 * The current user is the table's owner or may maintain it; what is called
 * here checks that.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_foreign_table.h"
#include "commands/dbcommands.h"
#include "commands/vacuum.h"
#include "guc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/file_store.h"
#include "storage/lmgr.h"
#include "upkeep/due.h"
#include "upkeep/replace.h"
#include "upkeep/steps.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

Upkeep *
UpkeepBegin(Oid relid, UpkeepWait *wait)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw upkeep look",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Upkeep	   *upkeep = NULL;
	UpkeepDue	due;

	UpkeepLook(relid, NULL, NULL, &due);
	MemoryContextSwitchTo(old);
	wait->garbage = due.garbage_bytes > 0;
	wait->quiet_at = due.quiet_at;
	if (UpkeepIsDue(&due))
	{
		upkeep = palloc0(sizeof(Upkeep));
		upkeep->relid = relid;
		if (due.flush || due.unite || (due.compact && !due.blocked))
			upkeep->compaction = CompactBegin(relid, false, due.quiet, UpkeepDeletedPart(due.quiet));
		upkeep->analyze = due.analyze;
		upkeep->begun = GetCurrentTimestamp();
	}
	MemoryContextDelete(cxt);
	return upkeep;
}

/* ANALYZE, if the table is still there; core goes on as its owner. */
static void
Analyze(Upkeep *upkeep)
{
	Oid			relid = upkeep->relid;
	VacuumStmt *stmt = makeNode(VacuumStmt);
	UpkeepState state;
	double		before;

	LockRelationOid(relid, ShareUpdateExclusiveLock);
	if (!IsBucketTable(relid) || !MayMaintain(relid))
		return;
	before = UpkeepAnalyzedRows(relid);
	stmt->rels = list_make1(makeVacuumRelation(NULL, relid, NIL));
	PushActiveSnapshot(GetTransactionSnapshot());
	ExecVacuum(NULL, stmt, false);
	PopActiveSnapshot();
	CommandCounterIncrement();

	/* owners can be without the right: core has said so in a warning */
	upkeep->analyzed = UpkeepAnalyzedRows(relid) != before;
	upkeep->failed = !upkeep->analyzed;
	if (upkeep->failed)
		return;
	UpkeepStateRead(relid, &state);
	state.last_analysis = GetCurrentTimestamp();
	UpkeepStateWrite(relid, &state);
}

bool
UpkeepStep(Upkeep *upkeep)
{
	switch (upkeep->stage)
	{
		case UPKEEP_COMPACT:
			if (upkeep->compaction != NULL && CompactStep(upkeep->compaction))
				upkeep->compacted++;
			else
				upkeep->stage = upkeep->analyze ? UPKEEP_ANALYZE : UPKEEP_CLEANUP;
			break;
		case UPKEEP_ANALYZE:
			Analyze(upkeep);
			upkeep->stage = UPKEEP_CLEANUP;
			break;
		case UPKEEP_CLEANUP:
			upkeep->removed = StoreReclaimGarbage(upkeep->relid);
			upkeep->stage = UPKEEP_DONE;
			break;
		case UPKEEP_DONE:
			break;
	}
	return upkeep->stage != UPKEEP_DONE;
}

List *
MaintainableTables(void)
{
	Relation	rel = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	List	   *result = NIL;
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Oid			relid = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid;

		if (IsBucketTable(relid) && MayMaintain(relid))
			result = lappend_oid(result, relid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

void
UpkeepLog(const Upkeep *upkeep)
{
	long		ms = TimestampDifferenceMilliseconds(upkeep->begun, GetCurrentTimestamp());
	char	   *relname = get_rel_name(upkeep->relid);

	if (bf_log_upkeep_min_duration < 0 || ms < bf_log_upkeep_min_duration || relname == NULL)
		return;
	ereport(LOG,
			(errmsg("upkeep of table \"%s.%s.%s\": %d steps of compaction, %s, %lld files removed, %ld ms",
					get_database_name(MyDatabaseId), get_namespace_name(get_rel_namespace(upkeep->relid)), relname,
					upkeep->compacted, upkeep->analyzed ? "analyzed" : "not analyzed",
					(long long) upkeep->removed, ms)));
}
