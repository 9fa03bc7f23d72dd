/*
 * handler.c
 *	  The wrapper's handler and option validator.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_table.h"
#include "fdw/modify.h"
#include "fdw/scan.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "spec/bucket_spec.h"

PG_FUNCTION_INFO_V1(bucketfdw_handler);
PG_FUNCTION_INFO_V1(bucketfdw_validator);

PGDLLEXPORT Datum bucketfdw_handler(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_validator(PG_FUNCTION_ARGS);

Datum
bucketfdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	ScanRoutine(routine);
	ModifyRoutine(routine);
	AnalyzeRoutine(routine);
	PG_RETURN_POINTER(routine);
}

/*
 * Only tables have options.  Columns are not known here: the event trigger,
 * or the first use, checks the options against them.
 */
Datum
bucketfdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);

	if (catalog == ForeignTableRelationId)
		TableOptionsValidate(options);
	else if (options != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", ((DefElem *) linitial(options))->defname),
				 errhint("Only foreign tables of wrapper \"bucketfdw\" have options.")));
	PG_RETURN_VOID();
}
