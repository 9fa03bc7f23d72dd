/*
 * catalog.h
 *	  Rows of the catalog tables of schema bucketfdw: the spec, the manifest
 *	  and the dead files.
 *
 * They are ordinary heap tables.  Rows are inserted without a trace for
 * logical decoding and deleted, never updated.  For the files of this folder
 * and the inspection functions.
 */
#ifndef BF_CATALOG_H
#define BF_CATALOG_H

#include "access/genam.h"
#include "nodes/pg_list.h"
#include "spec/bucket_spec.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* columns of bucketfdw.spec */
#define Anum_spec_relid				1
#define Anum_spec_rowtype			2
#define Anum_spec_database			3
#define Anum_spec_spec_version		4
#define Anum_spec_hash_version		5
#define Natts_spec					11		/* with the seven columns of the spec */

/* columns of bucketfdw.manifest */
#define Anum_manifest_relid			1
#define Anum_manifest_rowtype		2
#define Anum_manifest_database		3
#define Anum_manifest_spec_version	4
#define Anum_manifest_format_version 5
#define Anum_manifest_hash_version	6
#define Anum_manifest_logged		13
#define Anum_manifest_written_at	14
#define Anum_manifest_rows			15
#define Anum_manifest_bytes			16
#define Anum_manifest_raw_bytes		17
#define Anum_manifest_file_ids		18
#define Anum_manifest_file_first	19
#define Anum_manifest_file_last		20
#define Anum_manifest_file_rows		21
#define Anum_manifest_file_bytes	22
#define Anum_manifest_run_files		23
#define Anum_manifest_run_numbers	24
#define Anum_manifest_run_buckets	25
#define Anum_manifest_run_rows		26
#define Anum_manifest_run_bytes		27
#define Anum_manifest_column_stats	28		/* nullable */
#define Natts_manifest				28

/* columns of bucketfdw.dead_files */
#define Anum_dead_relid				1
#define Anum_dead_database			2
#define Anum_dead_deleted_xid		3
#define Anum_dead_deleted_at		4
#define Anum_dead_file_ids			5
#define Anum_dead_file_first		6
#define Anum_dead_file_bytes		7
#define Natts_dead					7

/* A scan of one catalog table, or of its rows of one relid. */
typedef struct CatalogScan
{
	Relation	rel;
	SysScanDesc scan;
	Snapshot	snapshot;		/* registered by the scan */
	MemoryContext cxt;			/* the access method allocates here while it goes on */
} CatalogScan;

/*
 * Begin a scan of "manifest", "spec" or "dead_files" under the given MVCC
 * snapshot; NULL means the latest one.  relid InvalidOid reads all rows.  The
 * snapshot is the active one until the scan ends, so that toasted values can
 * be read.
 */
extern void CatalogScanBegin(CatalogScan *scan, const char *table, LOCKMODE lockmode,
							 Oid relid, Snapshot snapshot);
extern HeapTuple CatalogScanNext(CatalogScan *scan);
extern void CatalogScanEnd(CatalogScan *scan);

/*
 * Insert a row of natts columns, visible to snapshots whose curcid is greater
 * than cid.  Error if the table has more columns: a newer version's.
 */
extern void CatalogInsert(Relation rel, const Datum *values, const bool *nulls, int natts,
						  CommandId cid);

/*
 * Delete a row found by a scan.  A row that somebody else is deleting or has
 * deleted is left alone: returns false.
 */
extern bool CatalogDelete(Relation rel, ItemPointer tid, Snapshot snapshot);

/*
 * The first columns of a row, as many as this library knows (values has room
 * for natts); a newer version's table may have more.  Only nullable columns
 * may be null: then the value is 0, which no other value of them is.
 */
extern void CatalogDeform(Relation rel, HeapTuple tuple, Datum *values, int natts);

/*
 * Version of the extension's SQL objects in this database, palloc'd; NULL: it
 * is not installed.
 */
extern char *ExtensionVersion(void);

/* The version whose catalog tables this library knows all about. */
#define BF_EXTENSION_VERSION "1.0"

/*
 * Elements of an array value, in place or detoasted in the current context;
 * error unless it is a plain array of elements of that type.
 */
extern const void *CatalogArray(Datum value, Oid elemtype, int *nelems);

/* Number of elements of such an array, without reading one that is stored elsewhere. */
extern int	CatalogArrayLength(Datum value);

/* One-dimensional array of fixed-size elements as they lie in memory. */
extern Datum CatalogMakeArray(const void *elems, int nelems, Oid elemtype, int elemsize);

/*
 * The seven columns of a spec, as they stand in spec and manifest rows from the
 * hash version on: hash_version, buckets, key_columns, attnums, classes,
 * types, flags (first is the number of hash_version).
 */
extern BucketSpec *CatalogGetSpec(const Datum *values, int first);
extern void CatalogSetSpec(const BucketSpec *spec, Datum *values, int first);

/* spec_catalog.c: the spec rows of a table */

/* The newest spec row of a table and its version; NULL when there is none. */
extern BucketSpec *SpecNewest(Oid relid, int *version);

/*
 * Version of a spec of a table: that of the newest row when it is equal, else
 * a row is written; spec rows that an older table of this oid left are removed
 * before the first.
 */
extern int	SpecRecord(Oid relid, const BucketSpec *spec);

/* The option list with one option set; other elements are shared. */
extern List *OptionsSet(List *options, const char *name, const char *value);

/* Delete all spec rows of a relid. */
extern void SpecDelete(Oid relid);

/*
 * manifest.c: delete manifest rows of a relid that the latest snapshot sees.
 * all: those of the present table too, else only what an older table of this
 * oid left.  Their files become garbage, unless unlinked says that the caller
 * removes them at commit.  Calls ForceSyncCommit when there was any.
 */
extern void ManifestDelete(Oid relid, bool all, bool unlinked);

/* Delete the rows about dead files of a relid. */
extern void DeadFilesDelete(Oid relid);

/* Does a row of the table as it is now, of its row type, stand in the spec or the manifest? */
extern bool CatalogNamesTable(Oid relid);

#endif							/* BF_CATALOG_H */
