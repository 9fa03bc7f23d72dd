/*
 * forget_file.c
 *	  bucketfdw.forget_file: a table without one of its files.
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/open_checked.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/manifest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(bucketfdw_forget_file);

PGDLLEXPORT Datum bucketfdw_forget_file(PG_FUNCTION_ARGS);

/* Rows are lost for good, past triggers and rights of the table. */
static void
RequireForgettable(Oid relid)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to make a bucketed table forget a file")));
	RequireBucketTable(relid);
}

/* Returns the number of rows that the table loses with the file. */
Datum
bucketfdw_forget_file(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Relation	rel;
	char	   *name;
	int64		rows;
	int64		bytes;

	PreventCommandDuringRecovery("bucketfdw.forget_file()");
	PreventCommandIfReadOnly("bucketfdw.forget_file()");
	rel = OpenChecked(relid, AccessExclusiveLock, RequireForgettable);
	CheckTableNotInUse(rel, "forget a file of");
	name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
	if (!ManifestForget(relid, path, &rows, &bytes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not a file of bucketed table \"%s\"", path, RelationGetRelationName(rel)),
				 errdetail("The files of a table are those that bucketfdw.files names, with their paths relative to the data directory."),
				 errhint("SELECT path FROM bucketfdw.files WHERE relid = '%s'::regclass;", name)));
	ereport(LOG,
			(errmsg("bucketed table %s forgets file \"%s\" with %lld rows in %lld bytes",
					name, path, (long long) rows, (long long) bytes)));
	relation_close(rel, NoLock);
	PG_RETURN_INT64(rows);
}
