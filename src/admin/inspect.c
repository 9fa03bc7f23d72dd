/*
 * inspect.c
 *	  SQL functions that show buckets and versions, and cleanup().
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/open_checked.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "compat.h"
#include "format/file_format.h"
#include "funcapi.h"
#include "load/load.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#define BF_LIBRARY_VERSION "1.0.0"

/* sizes of a bucket that a parallel or in-memory step handles well */
#define SMALL_BUCKET (INT64CONST(128) * 1024 * 1024)
#define LARGE_BUCKET (INT64CONST(1024) * 1024 * 1024)

PG_FUNCTION_INFO_V1(bucketfdw_bucket_stats);
PG_FUNCTION_INFO_V1(bucketfdw_file_path);
PG_FUNCTION_INFO_V1(bucketfdw_info);
PG_FUNCTION_INFO_V1(bucketfdw_cleanup);
PG_FUNCTION_INFO_V1(bucketfdw_waiting_rows);

PGDLLEXPORT Datum bucketfdw_bucket_stats(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_file_path(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_info(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_cleanup(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_waiting_rows(PG_FUNCTION_ARGS);

/* The sizes of a table's buckets: for those who may read it, or all statistics. */
static void
RequireStatsRight(Oid relid)
{
	(void) BucketTables(relid);
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
}

/* What one bucket holds. */
typedef struct BucketTotal
{
	int64		rows;
	int64		bytes;
	int			runs;
} BucketTotal;

/* The files of a table, with rows of earlier commands of this transaction, which have no size yet: *nfiles are files. */
static Manifest *
ReadForStats(Oid relid, Snapshot snapshot, int *nfiles)
{
	*nfiles = ManifestRead(relid, snapshot)->nfiles;
	return LoadManifest(relid, snapshot);
}

/*
 * One row for each bucket, of a partitioned table for those of all bucketed
 * partitions together.  Files and partitions with other bucket counts are folded
 * to the count that all of them share, their greatest common divisor.
 */
Datum
bucketfdw_bucket_stats(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = OpenChecked(relid, AccessShareLock, RequireStatsRight);
	List	   *tables = BucketTables(relid);
	Manifest  **manifests = palloc0(list_length(tables) * sizeof(Manifest *));
	int		   *nfiles = palloc0(list_length(tables) * sizeof(int));
	Snapshot	snapshot;
	BucketTotal *totals;
	int			nbuckets = 0;
	int64		rows = 0;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	foreach(lc, tables)
	{
		int			i = foreach_current_index(lc);
		Relation	table = relation_open(lfirst_oid(lc), AccessShareLock);
		int			n;

		manifests[i] = ReadForStats(lfirst_oid(lc), snapshot, &nfiles[i]);
		rows += manifests[i]->rows;
		n = manifests[i]->nfiles > 0 ? ManifestBuckets(manifests[i]) : TableOptionsGet(table)->spec->nbuckets;
		nbuckets = nbuckets == 0 ? n : GreatestCommonDivisor(nbuckets, n);
		relation_close(table, AccessShareLock);
	}
	UnregisterSnapshot(snapshot);

	totals = palloc0(sizeof(BucketTotal) * nbuckets);
	for (int m = 0; m < list_length(tables); m++)
	{
		for (int i = 0; i < manifests[m]->nruns; i++)
		{
			const ManifestRun *run = &manifests[m]->runs[i];
			BucketTotal *total = &totals[run->bucket % nbuckets];

			total->rows += run->rows - run->deleted;
			if (run->file >= nfiles[m])
				continue;
			total->bytes += run->bytes;
			total->runs++;
		}
	}

	for (int i = 0; i < nbuckets; i++)
	{
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = Int32GetDatum(i);
		values[1] = Int64GetDatum(totals[i].rows);
		values[2] = Int64GetDatum(totals[i].bytes);
		values[3] = Int32GetDatum(totals[i].runs);
		nulls[4] = rows == 0;
		values[4] = Float8GetDatum(nulls[4] ? 0.0 :
								   (double) totals[i].rows * nbuckets / rows);
		values[5] = CStringGetTextDatum(totals[i].bytes < SMALL_BUCKET ? "small" :
										totals[i].bytes > LARGE_BUCKET ? "large" : "ok");
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* For the views: where a file is. */
Datum
bucketfdw_file_path(PG_FUNCTION_ARGS)
{
	FileLocator locator = {.tablespace = PG_GETARG_OID(0), .number = PG_GETARG_OID(1)};

	/* has no folders of databases */
	if (locator.tablespace == GLOBALTABLESPACE_OID)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(StorePath(locator)));
}

/* true if a list of preloaded libraries names ours. */
static bool
ListNamesLibrary(const char *list)
{
	List	   *libraries;
	ListCell   *lc;

	if (list == NULL || !SplitDirectoriesString(pstrdup(list), ',', &libraries))
		return false;
	foreach(lc, libraries)
	{
		const char *name = last_dir_separator(lfirst(lc));

		name = name ? name + 1 : lfirst(lc);
		if (strcmp(name, "bucketfdw") == 0 || strcmp(name, "bucketfdw.so") == 0)
			return true;
	}
	return false;
}

Datum
bucketfdw_info(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	char	   *values[] = {
		BF_LIBRARY_VERSION,
		ExtensionVersion(),
		psprintf("%d", BF_FORMAT_VERSION),
		psprintf("%d", BF_HASH_VERSION),
		"{none,lz4,zstd}",
		ListNamesLibrary(shared_preload_libraries_string) ||
		ListNamesLibrary(session_preload_libraries_string) ? "t" : "f",
		GetDatabasePath(MyDatabaseId, MyDatabaseTableSpace)
	};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(BuildTupleFromCStrings(TupleDescGetAttInMetadata(desc), values)));
}

/* For the view of tables: rows that earlier commands of this transaction collected. */
Datum
bucketfdw_waiting_rows(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(LoadWaitingRows(PG_GETARG_OID(0), GetActiveSnapshot()));
}

/* EXECUTE on it is the right to use it. */
Datum
bucketfdw_cleanup(PG_FUNCTION_ARGS)
{
	PreventCommandDuringRecovery("bucketfdw.cleanup()");
	PreventCommandIfReadOnly("bucketfdw.cleanup()");
	PG_RETURN_INT64(StoreCleanup());
}
