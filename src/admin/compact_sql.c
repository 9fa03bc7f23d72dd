/*
 * compact_sql.c
 *	  CALL bucketfdw.compact, bucketfdw.rebucket and bucketfdw.maintain.
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/procedure.h"
#include "executor/spi.h"
#include "guc.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "upkeep/rebucket.h"
#include "upkeep/spec_change.h"
#include "upkeep/steps.h"
#include "utils/builtins.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(bucketfdw_compact);
PG_FUNCTION_INFO_V1(bucketfdw_maintain);
PG_FUNCTION_INFO_V1(bucketfdw_rebucket);

PGDLLEXPORT Datum bucketfdw_compact(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_maintain(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_rebucket(PG_FUNCTION_ARGS);

/* Each step is a transaction of its own. */
static void
CompactTable(Oid relid, bool full)
{
	Compaction *compaction = CompactBegin(relid, full, false, bf_upkeep_deleted);

	while (CompactStep(compaction))
		SPI_commit();
	SPI_commit();
}

Datum
bucketfdw_compact(PG_FUNCTION_ARGS)
{
	bool		full = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	List	   *tables = ProcedureBegin(fcinfo, "bucketfdw.compact", false);
	ListCell   *lc;

	SPI_commit();
	foreach(lc, tables)
		CompactTable(lfirst_oid(lc), full);
	SPI_finish();
	PG_RETURN_VOID();
}

Datum
bucketfdw_rebucket(PG_FUNCTION_ARGS)
{
	List	   *tables = ProcedureBegin(fcinfo, "bucketfdw.rebucket", false);
	static const char *const options[] = {"bucket_by", "sort_by", "compression"};
	List	   *given = NIL;
	ListCell   *lc;

	if (!PG_ARGISNULL(1))
		given = OptionsSet(given, "buckets", psprintf("%d", PG_GETARG_INT32(1)));
	for (int i = 0; i < lengthof(options); i++)
	{
		if (!PG_ARGISNULL(2 + i))
			given = OptionsSet(given, options[i], text_to_cstring(PG_GETARG_TEXT_PP(2 + i)));
	}

	/* all partitions or none */
	foreach(lc, tables)
	{
		Relation	rel = try_relation_open(lfirst_oid(lc), AccessShareLock);

		if (rel == NULL)
			continue;
		(void) SpecChangeMake(rel, given);
		relation_close(rel, NoLock);
	}
	SPI_commit();
	foreach(lc, tables)
	{
		Rebucketing *rebucketing = RebucketBegin(lfirst_oid(lc), given);

		while (RebucketStep(rebucketing))
		{
			SPI_commit();

			/* steps add runs to the same buckets */
			CompactTable(lfirst_oid(lc), false);
		}
		SPI_commit();
	}
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * What is due for a table, the partitions of one, or all tables the caller may
 * maintain, at once.
 */
Datum
bucketfdw_maintain(PG_FUNCTION_ARGS)
{
	List	   *tables = ProcedureBegin(fcinfo, "bucketfdw.maintain", true);
	ListCell   *lc;

	SPI_commit();
	foreach(lc, tables)
	{
		UpkeepWait	wait;
		Upkeep	   *upkeep = NULL;

		/* one of all may have gone */
		if (IsBucketTable(lfirst_oid(lc)))
			upkeep = UpkeepBegin(lfirst_oid(lc), &wait);
		while (upkeep != NULL && UpkeepStep(upkeep))
			SPI_commit();
		if (upkeep != NULL)
			UpkeepLog(upkeep);
		SPI_commit();
	}
	SPI_finish();
	PG_RETURN_VOID();
}
