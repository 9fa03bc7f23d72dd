/*
 * sweep.c
 *	  Remove files nobody can need any more: dead ones once the horizon has
 *	  passed, and what crashed transactions left.
 *
 * A file is removed by a drop that is logged, never by hand: standbys lose
 * their copies too.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_extension_d.h"
#include "catalog/pg_tablespace_d.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "common/relpath.h"
#include "compat.h"
#include "fmgr.h"
#include "format/file_format.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/fd.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/lmgr.h"
#include "storage/page.h"
#include "storage/procarray.h"
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
	FullTransactionId logged = InvalidFullTransactionId;
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
		FullTransactionId deleted;

		MemoryContextReset(row_cxt);
		CatalogDeform(scan.rel, tuple, values, Natts_dead);
		deleted = DatumGetFullTransactionId(values[Anum_dead_deleted_xid - 1]);

		/* most writes find nothing here and do not pay for the horizon */
		if (!FullTransactionIdIsValid(horizon))
			horizon = ManifestHorizon();
		if (!FullTransactionIdPrecedes(deleted, horizon) ||
			!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			continue;

		/* one record serves all that were deleted before */
		if (!FullTransactionIdIsValid(logged) || FullTransactionIdPrecedes(logged, deleted))
		{
			StoreLogConflict(deleted);
			logged = deleted;
		}
		if (StoreDrop(DeadFileLocator(values), DatumGetInt64(values[Anum_dead_file_id - 1])))
			removed++;
	}
	MemoryContextSwitchTo(old);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	return removed;
}

int64
StoreGarbageBytes(Oid relid, int64 *removable)
{
	FullTransactionId horizon = InvalidFullTransactionId;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_dead];
	int64		bytes = 0;

	*removable = 0;
	CatalogScanBegin(&scan, "dead_files", AccessShareLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_dead);
		if (!FullTransactionIdIsValid(horizon))
			horizon = ManifestHorizon();
		if (FullTransactionIdPrecedes(DatumGetFullTransactionId(values[Anum_dead_deleted_xid - 1]), horizon))
			(*removable)++;
		bytes += DatumGetInt64(values[Anum_dead_bytes - 1]);
	}
	CatalogScanEnd(&scan);
	return bytes;
}

/* A file of ours found on disk. */
typedef struct FoundFile
{
	FileLocator locator;
	uint64		file_id;
	FullTransactionId xid;		/* of its creator */
} FoundFile;

typedef struct FoundList
{
	int			n;
	int			room;
	FoundFile  *files;
} FoundList;

/* Add a file if it begins as ours do.  One that is too short to tell is left. */
static void
LookAtFile(FoundList *list, const char *path, FileLocator locator)
{
	PGAlignedBlock page;
	DiskHeader	header;
	int			fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	bool		whole;

	if (fd < 0)
		return;
	whole = pg_pread(fd, page.data, BLCKSZ, 0) == BLCKSZ;
	CloseTransientFile(fd);
	if (!whole)
		return;
	memcpy(&header, PagePayload(page.data), sizeof(header));
	if (header.magic != BF_HEAD_MAGIC || !PageIsOurs(page.data, header.file_id, 0) ||
		header.crc != FileChecksum(&header, offsetof(DiskHeader, crc)))
		return;
	list->files = GrowArray(list->files, CurrentMemoryContext, &list->room, list->n + 1, sizeof(FoundFile));
	list->files[list->n].locator = locator;
	list->files[list->n].file_id = header.file_id;
	list->files[list->n++].xid = FullTransactionIdFromU64(header.xid);
}

/* The files of this database in one tablespace. */
static void
FindFiles(FoundList *list, Oid tablespace)
{
	char	   *path = GetDatabasePath(MyDatabaseId, tablespace);
	DIR		   *dir = AllocateDir(path);
	struct dirent *entry;

	if (dir == NULL && errno == ENOENT)
		return;
	while ((entry = ReadDir(dir, path)) != NULL)
	{
		FileLocator locator = {.tablespace = FileTablespace(tablespace)};
		char		file[MAXPGPATH];

		CHECK_FOR_INTERRUPTS();

		/* main forks, first segments */
		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		locator.number = (Oid) strtoul(entry->d_name, NULL, 10);
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		LookAtFile(list, file, locator);
	}
	FreeDir(dir);
}

static void
FindAllFiles(FoundList *list)
{
	DIR		   *dir = AllocateDir("pg_tblspc");
	struct dirent *entry;

	FindFiles(list, MyDatabaseTableSpace);
	if (MyDatabaseTableSpace != DEFAULTTABLESPACE_OID)
		FindFiles(list, DEFAULTTABLESPACE_OID);
	while ((entry = ReadDir(dir, "pg_tblspc")) != NULL)
	{
		Oid			tablespace = (Oid) strtoul(entry->d_name, NULL, 10);

		if (OidIsValid(tablespace) && tablespace != MyDatabaseTableSpace)
			FindFiles(list, tablespace);
	}
	FreeDir(dir);
}

/* May the transaction that made a file still commit?  After a crash its id may be another's: then the file waits. */
static bool
CreatorRuns(FullTransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();

	return FullTransactionIdPrecedes(xid, next) &&
		U64FromFullTransactionId(next) - U64FromFullTransactionId(xid) < UINT64CONST(0x80000000) &&
		TransactionIdIsInProgress(XidFromFullTransactionId(xid));
}

/*
 * Is a row undone?  What its transaction made was dropped with it, or left by
 * a crash; until vacuum comes the row itself is there.
 */
static bool
IsUndone(HeapTupleHeader row)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row);

	return !HeapTupleHeaderXminCommitted(row) && !TransactionIdIsCurrentTransactionId(xmin) &&
		!TransactionIdIsInProgress(xmin) && !TransactionIdDidCommit(xmin);
}

/*
 * Is a row deleted for good?  Its file has a row in dead_files, or was dropped
 * by that very commit; and a crash can come between the commit and the unlink,
 * with a checkpoint before that keeps replay from doing it.
 */
static bool
IsDeleted(HeapTupleHeader row)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(row);

	return (row->t_infomask & (HEAP_XMAX_INVALID | HEAP_XMAX_IS_MULTI)) == 0 &&
		!HEAP_XMAX_IS_LOCKED_ONLY(row->t_infomask) && !TransactionIdIsCurrentTransactionId(xmax) &&
		!TransactionIdIsInProgress(xmax) && TransactionIdDidCommit(xmax);
}

/* Add the files that a catalog table names in rows that are there, or may be for somebody. */
static void
NameFiles(HTAB *named, const char *table, int anum_tablespace, int anum_filenode)
{
	Relation	rel = table_open(BucketCatalogOid(table), AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, SnapshotAny, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		FileLocator locator;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (IsUndone(tuple->t_data) || IsDeleted(tuple->t_data))
			continue;
		locator.tablespace = DatumGetObjectId(heap_getattr(tuple, anum_tablespace, RelationGetDescr(rel), &isnull));
		locator.number = DatumGetObjectId(heap_getattr(tuple, anum_filenode, RelationGetDescr(rel), &isnull));
		(void) hash_search(named, &locator, HASH_ENTER, NULL);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Files whose creator is gone.  To be called before this transaction gets an
 * id, which may be the one that a crash took back.
 */
static FoundList
FindFinished(void)
{
	FoundList	found = {0};
	int			n = 0;

	FindAllFiles(&found);
	for (int i = 0; i < found.n; i++)
		if (!CreatorRuns(found.files[i].xid))
			found.files[n++] = found.files[i];
	found.n = n;
	return found;
}

/*
 * Drop those of the files that no row names.  In this order: first files are
 * found, then it is asked whether their creators run, then the catalog is read.
 * What was committed in between is named by then.
 */
static int64
SweepOrphans(const FoundList *found)
{
	HASHCTL		ctl = {.keysize = sizeof(FileLocator), .entrysize = sizeof(FileLocator),
	.hcxt = CurrentMemoryContext};
	HTAB	   *named;
	int64		removed = 0;

	if (found->n == 0)
		return 0;

	named = hash_create("bucketfdw named files", 1024, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	NameFiles(named, "manifest", Anum_manifest_tablespace, Anum_manifest_filenode);
	NameFiles(named, "dead_files", Anum_dead_tablespace, Anum_dead_filenode);
	for (int i = 0; i < found->n; i++)
	{
		FileLocator locator = found->files[i].locator;

		CHECK_FOR_INTERRUPTS();
		if (hash_search(named, &locator, HASH_FIND, NULL) == NULL &&
			!OidIsValid(BfFileOwner(locator.tablespace, locator.number)) &&
			StoreDrop(locator, found->files[i].file_id))
			removed++;
	}
	hash_destroy(named);
	return removed;
}

/* The tables that have a row in a catalog table, in order of oid. */
static List *
KnownTables(void)
{
	static const char *const tables[] = {"spec", "manifest", "dead_files", "inline_rows"};
	List	   *result = NIL;

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
	FoundList	found;
	int64		removed;

	/*
	 * One at a time: a file that two sweeps drop may have gone with the first
	 * when the second commits (it may be prepared), and its number be another's.
	 */
	LockDatabaseObject(ExtensionRelationId, get_extension_oid("bucketfdw", false), 0,
					   ShareUpdateExclusiveLock);
	CheckExtensionVersion();
	found = FindFinished();
	removed = StoreReclaimGarbage(InvalidOid);
	foreach(lc, KnownTables())
	{
		Oid			relid = lfirst_oid(lc);

		CHECK_FOR_INTERRUPTS();
		if (!ConditionalLockRelationOid(relid, ShareLock))
			continue;
		if (IsBucketTable(relid))
			(void) ManifestDelete(relid, false, false);
		else if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) && CatalogNamesTable(relid))
			WarnUnrecognized(relid);
		else
		{
			/* the lock is kept until the files are gone */
			removed += CatalogForgetTable(relid);
			continue;
		}
		UnlockRelationOid(relid, ShareLock);
	}
	removed += SweepOrphans(&found);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return removed;
}

/* Called by the install script: what is there is of an earlier installation. */
Datum
bucketfdw_sweep_at_install(PG_FUNCTION_ARGS)
{
	FoundList	found;

	if (!creating_extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this function is for the installation script of bucketfdw")));
	found = FindFinished();
	(void) SweepOrphans(&found);
	PG_RETURN_VOID();
}
