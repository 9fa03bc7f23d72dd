/*
 * upkeep_state.c
 *	  What upkeep remembers of a table: one row, written by upkeep alone.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

void
UpkeepStateRead(Oid relid, UpkeepState *state)
{
	Oid			rowtype = get_rel_type_id(relid);
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_upkeep_state];

	memset(state, 0, sizeof(UpkeepState));
	CatalogScanBegin(&scan, "upkeep_state", AccessShareLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_upkeep_state);
		if (DatumGetObjectId(values[Anum_upkeep_state_rowtype - 1]) != rowtype)
			continue;
		state->last_write = DatumGetTimestampTz(values[Anum_upkeep_state_last_write - 1]);
		state->last_compaction = DatumGetTimestampTz(values[Anum_upkeep_state_last_compaction - 1]);
		state->last_analysis = DatumGetTimestampTz(values[Anum_upkeep_state_last_analysis - 1]);
	}
	CatalogScanEnd(&scan);
}

void
UpkeepStateWrite(Oid relid, const UpkeepState *state)
{
	Relation	rel;
	Datum		values[Natts_upkeep_state];
	bool		nulls[Natts_upkeep_state] = {false};

	CatalogDeleteRows("upkeep_state", relid);
	values[Anum_upkeep_state_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_upkeep_state_rowtype - 1] = ObjectIdGetDatum(get_rel_type_id(relid));
	values[Anum_upkeep_state_last_write - 1] = TimestampTzGetDatum(state->last_write);
	values[Anum_upkeep_state_last_compaction - 1] = TimestampTzGetDatum(state->last_compaction);
	values[Anum_upkeep_state_last_analysis - 1] = TimestampTzGetDatum(state->last_analysis);
	nulls[Anum_upkeep_state_last_write - 1] = state->last_write == 0;
	nulls[Anum_upkeep_state_last_compaction - 1] = state->last_compaction == 0;
	nulls[Anum_upkeep_state_last_analysis - 1] = state->last_analysis == 0;
	rel = table_open(BucketCatalogOid("upkeep_state"), RowExclusiveLock);
	CatalogInsert(rel, values, nulls, Natts_upkeep_state, GetCurrentCommandId(true));
	table_close(rel, NoLock);
	CommandCounterIncrement();
}
