/*
 * sweep.c
 *	  Remove files nobody can need any more: dead ones once the horizon has
 *	  passed, and orphans of crashed sessions.
 *
 * No decision is taken from a transaction id in a file name (there is none):
 * locks and the catalog under the latest snapshot decide.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/directory.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/lmgr.h"
#include "storage/pending.h"
#include "storage/procarray.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/xid8.h"

PG_FUNCTION_INFO_V1(bucketfdw_sweep_at_install);

PGDLLEXPORT Datum bucketfdw_sweep_at_install(PG_FUNCTION_ARGS);

/* The horizon of the manifest as a 64-bit id: rows deleted before it are seen by nobody. */
static FullTransactionId
ManifestHorizon(void)
{
	Relation	rel = table_open(BucketCatalogOid("manifest"), AccessShareLock);
	TransactionId xid = GetOldestNonRemovableTransactionId(rel);
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	table_close(rel, AccessShareLock);

	/* the horizon is at most the next id, so a larger one is of the epoch before */
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

int64
StoreReclaimGarbage(Oid relid)
{
	MemoryContext row_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw dead files",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	FullTransactionId horizon = InvalidFullTransactionId;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_dead];
	int64		removed = 0;

	CatalogScanBegin(&scan, "dead_files", RowExclusiveLock, relid, NULL);
	old = MemoryContextSwitchTo(row_cxt);

	/* what the columns of a newer version say of a row is not known here */
	while (RelationGetNumberOfAttributes(scan.rel) <= Natts_dead &&
		   (tuple = CatalogScanNext(&scan)) != NULL)
	{
		const uint64 *ids;
		const int32 *buckets;
		int			n;
		int			nbuckets;
		Oid			owner;
		bool		done = true;
		bool		ours;

		MemoryContextReset(row_cxt);
		CatalogDeform(scan.rel, tuple, values, Natts_dead);

		/* most writes find nothing here and do not pay for the horizon */
		if (!FullTransactionIdIsValid(horizon))
			horizon = ManifestHorizon();
		if (!FullTransactionIdPrecedes(DatumGetFullTransactionId(values[Anum_dead_deleted_xid - 1]),
									   horizon))
			continue;

		ids = CatalogArray(values[Anum_dead_file_ids - 1], INT8OID, &n);
		buckets = CatalogArray(values[Anum_dead_file_first - 1], INT4OID, &nbuckets);
		owner = DatumGetObjectId(values[Anum_dead_relid - 1]);

		/* rows copied with a template database: the files are another's */
		ours = DatumGetObjectId(values[Anum_dead_database - 1]) == MyDatabaseId;
		for (int i = 0; ours && i < Min(n, nbuckets); i++)
		{
			char		path[MAXPGPATH];

			DirectoryFilePath(path, MyDatabaseId, owner, ids[i], buckets[i]);
			done &= DirectoryUnlink(path, WARNING, &removed);
		}

		/* after the files: a row too many is harmless, a file without a row is an orphan */
		if (done)
			CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot);
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	return removed;
}

/* A file found on disk. */
typedef struct FoundFile
{
	uint64		file_id;
	int			first_bucket;
} FoundFile;

/* Growing list of what a directory holds. */
typedef struct FoundList
{
	int			n;
	int			room;
	Size		elemsize;
	char	   *elems;
} FoundList;

static void *
FoundAdd(FoundList *list)
{
	list->elems = GrowArray(list->elems, CurrentMemoryContext, &list->room, list->n + 1, list->elemsize);
	return list->elems + list->elemsize * list->n++;
}

/* DirectoryCallback: collect the tables of a database's directory, or the databases. */
static void
FindTable(const char *path, const char *name, void *arg)
{
	Oid			relid;

	if (DirectoryParseTable(name, &relid))
		*(Oid *) FoundAdd(arg) = relid;
}

/* DirectoryCallback: collect the files of a table's directory. */
static void
FindFile(const char *path, const char *name, void *arg)
{
	FoundFile	file;

	if (DirectoryParseFile(name, &file.file_id, &file.first_bucket))
		*(FoundFile *) FoundAdd(arg) = file;
}

/* The tables that have a directory in this database, as an array of Oid. */
static FoundList
FindTables(void)
{
	FoundList	list = {.elemsize = sizeof(Oid)};
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/%u", BF_DIRECTORY, MyDatabaseId);
	DirectoryWalk(path, FindTable, &list);
	return list;
}

/* Add the file ids of a relid that a catalog table names to a hash table. */
static void
NameFiles(HTAB *named, const char *table, int anum_ids, Oid relid)
{
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_manifest];

	CatalogScanBegin(&scan, table, AccessShareLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		const uint64 *ids;
		int			n;

		CatalogDeform(scan.rel, tuple, values, anum_ids);
		ids = CatalogArray(values[anum_ids - 1], INT8OID, &n);
		for (int i = 0; i < n; i++)
			(void) hash_search(named, &ids[i], HASH_ENTER, NULL);
	}
	CatalogScanEnd(&scan);
}

/*
 * Files of one live table that neither catalog nor transaction names, and the
 * manifest rows of older tables of its oid.  Needs ShareLock.
 */
static int64
SweepTable(Oid relid)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(uint64),
	.hcxt = CurrentMemoryContext};
	HTAB	   *named;
	FoundList	found = {.elemsize = sizeof(FoundFile)};
	char		path[MAXPGPATH];
	int64		removed = 0;

	/* first the directory, then the catalog: what is committed in between is named */
	snprintf(path, sizeof(path), "%s/%u/%u", BF_DIRECTORY, MyDatabaseId, relid);
	DirectoryWalk(path, FindFile, &found);
	ManifestDelete(relid, false, false);
	if (found.n == 0)
		return 0;

	named = hash_create("bucketfdw named files", 1024, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	NameFiles(named, "manifest", Anum_manifest_file_ids, relid);
	NameFiles(named, "dead_files", Anum_dead_file_ids, relid);

	for (int i = 0; i < found.n; i++)
	{
		FoundFile  *file = &((FoundFile *) found.elems)[i];

		CHECK_FOR_INTERRUPTS();
		if (hash_search(named, &file->file_id, HASH_FIND, NULL) != NULL ||
			PendingHasFile(file->file_id))
			continue;
		DirectoryFilePath(path, MyDatabaseId, relid, file->file_id, file->first_bucket);
		(void) DirectoryUnlink(path, WARNING, &removed);
	}
	hash_destroy(named);
	return removed;
}

/*
 * Everything about a table that is gone, also when another relation has its
 * oid now; its files are unlinked at commit.
 */
static int64
SweepDropped(Oid relid)
{
	FoundList	found = {.elemsize = sizeof(FoundFile)};
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/%u/%u", BF_DIRECTORY, MyDatabaseId, relid);
	DirectoryWalk(path, FindFile, &found);
	ManifestDelete(relid, true, true);
	DeadFilesDelete(relid);
	SpecDelete(relid);
	StoreDropAtCommit(relid);
	return found.n;
}

/* The tables that have a directory or a row in a catalog table, in order of oid. */
static List *
KnownTables(void)
{
	static const char *const tables[] = {"spec", "manifest", "dead_files"};
	FoundList	found = FindTables();
	List	   *result = NIL;

	for (int i = 0; i < found.n; i++)
		result = lappend_oid(result, ((Oid *) found.elems)[i]);
	for (int i = 0; i < lengthof(tables); i++)
	{
		CatalogScan scan;
		HeapTuple	tuple;
		Datum		relid;

		/* relid is the first column of every table */
		CatalogScanBegin(&scan, tables[i], AccessShareLock, InvalidOid, NULL);
		while ((tuple = CatalogScanNext(&scan)) != NULL)
		{
			CatalogDeform(scan.rel, tuple, &relid, 1);
			if (result == NIL || llast_oid(result) != DatumGetObjectId(relid))
				result = lappend_oid(result, DatumGetObjectId(relid));
		}
		CatalogScanEnd(&scan);
	}
	list_sort(result, list_oid_cmp);
	list_deduplicate_oid(result);
	return result;
}

/*
 * A table that exists and that the catalog names, but that has no handler of
 * ours: its wrapper may get the handler back, and then it must have its rows.
 */
static void
WarnUnrecognized(Oid relid)
{
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("files of table \"%s\" are left alone", get_rel_name(relid)),
			 errdetail("The catalog of bucketfdw names the table, but the handler of its foreign-data wrapper is not bucketfdw.handler."),
			 errhint("Give the wrapper its handler back with ALTER FOREIGN DATA WRAPPER ... HANDLER bucketfdw.handler, or drop the table.")));
}

static bool
DatabaseExists(Oid dboid)
{
	Relation	rel = table_open(DatabaseRelationId, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyData key;
	SysScanDesc scan;
	bool		exists;

	ScanKeyInit(&key, Anum_pg_database_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(dboid));
	scan = systable_beginscan(rel, DatabaseOidIndexId, true, snapshot, 1, &key);
	exists = systable_getnext(scan) != NULL;
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return exists;
}

/*
 * Files of databases that were dropped.  Whoever writes files is connected to
 * a database whose creation is committed, so one that is not there after the
 * directory was listed is gone for good, unless its oid is given out again:
 * the lock keeps everybody from connecting to such a one.
 */
static int64
SweepDatabases(void)
{
	FoundList	databases = {.elemsize = sizeof(Oid)};
	int64		removed = 0;

	DirectoryWalk(BF_DIRECTORY, FindTable, &databases);
	for (int i = 0; i < databases.n; i++)
	{
		Oid			dboid = ((Oid *) databases.elems)[i];

		CHECK_FOR_INTERRUPTS();
		if (dboid == MyDatabaseId || DatabaseExists(dboid))
			continue;
		LockSharedObject(DatabaseRelationId, dboid, 0, AccessExclusiveLock);
		if (!DatabaseExists(dboid))
			removed += DirectoryRemoveDatabase(dboid);
		UnlockSharedObject(DatabaseRelationId, dboid, 0, AccessExclusiveLock);
	}
	return removed;
}

/* Error unless this library knows all columns and tables that may name files. */
static void
CheckExtensionVersion(void)
{
	char	   *version = ExtensionVersion();

	if (version == NULL || strcmp(version, BF_EXTENSION_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot tell which files of bucketed tables are still needed"),
				 errdetail("The extension bucketfdw is of version %s here; this library is of version %s.",
						   version ? version : "?", BF_EXTENSION_VERSION),
				 errhint("Install the library of that version, or run ALTER EXTENSION bucketfdw UPDATE.")));
}

/*
 * A lock on the oid keeps out every writer, prepared ones included, and the
 * creator of a table we cannot see yet; where it cannot be had at once, the
 * table is left for another time.
 */
int64
StoreCleanup(void)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw sweep",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	ListCell   *lc;
	int64		removed;

	CheckExtensionVersion();
	removed = StoreReclaimGarbage(InvalidOid);
	foreach(lc, KnownTables())
	{
		Oid			relid = lfirst_oid(lc);

		CHECK_FOR_INTERRUPTS();
		if (!ConditionalLockRelationOid(relid, ShareLock))
			continue;
		if (IsBucketTable(relid))
			removed += SweepTable(relid);
		else if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) && CatalogNamesTable(relid))
			WarnUnrecognized(relid);
		else
		{
			/* the lock is kept until the files are gone */
			removed += SweepDropped(relid);
			continue;
		}
		UnlockRelationOid(relid, ShareLock);
	}
	removed += SweepDatabases();

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return removed;
}

/*
 * Called by the install script: files in this database's directory belong to
 * an earlier installation.  They are removed at commit, as its removal may be
 * part of this very transaction.
 */
Datum
bucketfdw_sweep_at_install(PG_FUNCTION_ARGS)
{
	FoundList	tables;

	if (!creating_extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this function is for the installation script of bucketfdw")));
	tables = FindTables();
	for (int i = 0; i < tables.n; i++)
		StoreDropAtCommit(((Oid *) tables.elems)[i]);
	PG_RETURN_VOID();
}
