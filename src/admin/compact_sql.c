/*
 * compact_sql.c
 *	  CALL bucketfdw.compact: rights, tables, transactions.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "admin/open_checked.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "upkeep/compact.h"

PG_FUNCTION_INFO_V1(bucketfdw_compact);

PGDLLEXPORT Datum bucketfdw_compact(PG_FUNCTION_ARGS);

/*
 * Each step is a transaction of its own.  A table: its owner or pg_maintain; a
 * partitioned table: its bucketed partitions, of all of which that must be
 * true.
 */
Datum
bucketfdw_compact(PG_FUNCTION_ARGS)
{
	bool		full = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	List	   *tables = NIL;
	ListCell   *lc;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the table must not be null")));
	PreventCommandDuringRecovery("bucketfdw.compact()");
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("bucketfdw.compact cannot run inside a transaction block"),
				 errdetail("It commits after each step.")));

	/* what is allocated from now on outlives transactions */
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	tables = MaintainedTables(PG_GETARG_OID(0));
	SPI_commit();
	foreach(lc, tables)
	{
		Compaction *compaction = CompactBegin(lfirst_oid(lc), full);

		while (CompactStep(compaction))
			SPI_commit();
		SPI_commit();
	}
	SPI_finish();
	PG_RETURN_VOID();
}
