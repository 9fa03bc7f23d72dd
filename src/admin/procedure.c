/*
 * procedure.c
 *	  What procedures that do the upkeep of tables in several transactions have
 *	  in common: rights, tables, transactions.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "admin/open_checked.h"
#include "admin/procedure.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "upkeep/steps.h"

List *
ProcedureBegin(FunctionCallInfo fcinfo, const char *name, bool all)
{
	if (PG_ARGISNULL(0) && !all)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the table must not be null")));
	PreventCommandDuringRecovery(psprintf("%s()", name));
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", name),
				 errdetail("It commits after each step.")));
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	return PG_ARGISNULL(0) ? MaintainableTables() : MaintainedTables(PG_GETARG_OID(0));
}
