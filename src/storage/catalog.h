/*
 * catalog.h
 *	  Rows of the catalog tables of schema bucketfdw.
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
#include "storage/locator.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* no catalog table of ours has more, in newer versions neither */
#define BF_CATALOG_COLUMNS			64

/* columns of bucketfdw.spec */
#define Anum_spec_relid				1
#define Anum_spec_rowtype			2
#define Anum_spec_database			3
#define Anum_spec_tablespace		4
#define Anum_spec_spec_version		5
#define Anum_spec_hash_version		6
#define Natts_spec					12		/* with the seven columns of the spec */

/* columns of bucketfdw.manifest */
#define Anum_manifest_relid			1
#define Anum_manifest_rowtype		2
#define Anum_manifest_database		3
#define Anum_manifest_tablespace	4
#define Anum_manifest_filenode		5
#define Anum_manifest_file_id		6
#define Anum_manifest_rows			7
#define Anum_manifest_bytes			8
#define Anum_manifest_raw_bytes		9
#define Anum_manifest_written_at	10
#define Anum_manifest_written_by	11
#define Anum_manifest_first_bucket	12
#define Anum_manifest_last_bucket	13
#define Anum_manifest_spec_version	14
#define Anum_manifest_format_version 15
#define Anum_manifest_origin		16
#define Anum_manifest_hash_version	17		/* the seven columns of the spec */
#define Anum_manifest_run_buckets	24
#define Anum_manifest_run_rows		25
#define Anum_manifest_run_bytes		26
#define Anum_manifest_stats_rows	27		/* nullable, with the next */
#define Anum_manifest_column_stats	28
#define Anum_manifest_rewritten		29
#define Natts_manifest				29

/* columns of bucketfdw.dead_files */
#define Anum_dead_relid				1
#define Anum_dead_database			2
#define Anum_dead_tablespace		3
#define Anum_dead_filenode			4
#define Anum_dead_file_id			5
#define Anum_dead_bytes				6
#define Anum_dead_deleted_xid		7
#define Anum_dead_deleted_at		8
#define Natts_dead					8

/* columns of bucketfdw.inline_rows */
#define Anum_inline_relid			1
#define Anum_inline_rowtype			2
#define Anum_inline_file_id			3
#define Anum_inline_rows			4
#define Anum_inline_written_at		5
#define Anum_inline_data			6
#define Natts_inline				6

/* columns of bucketfdw.delete_vectors */
#define Anum_delete_relid			1
#define Anum_delete_file_id			2
#define Anum_delete_deleted_rows	3
#define Anum_delete_run_deleted		4
#define Anum_delete_data			5
#define Natts_delete				5

/* columns of bucketfdw.missing_values */
#define Anum_missing_relid			1
#define Anum_missing_rowtype		2
#define Anum_missing_attnum			3
#define Anum_missing_type			4
#define Anum_missing_typmod			5
#define Anum_missing_value			6
#define Natts_missing				6

/* columns of bucketfdw.upkeep_state */
#define Anum_upkeep_state_relid		1
#define Anum_upkeep_state_rowtype	2
#define Anum_upkeep_state_last_write 3	/* nullable, with the next two */
#define Anum_upkeep_state_last_compaction 4
#define Anum_upkeep_state_last_analysis 5
#define Natts_upkeep_state			5

/* A scan of one catalog table, or of its rows of one relid. */
typedef struct CatalogScan
{
	Relation	rel;
	SysScanDesc scan;
	Snapshot	snapshot;		/* registered by the scan */
	bool		unnoticed;
	MemoryContext cxt;			/* the access method allocates here while it goes on */
} CatalogScan;

/* At the load of the library. */
extern void CatalogInit(void);

/* The index on relid that each table has. */
extern Oid	CatalogIndexOid(const char *table);

/*
 * Begin a scan of "manifest", "spec" and so on under the given snapshot; NULL
 * means the latest one.  relid InvalidOid reads all rows.  The snapshot is the
 * active one until the scan ends, so that toasted values can be read.
 */
extern void CatalogScanBegin(CatalogScan *scan, const char *table, LOCKMODE lockmode,
							 Oid relid, Snapshot snapshot);

/*
 * The same of one relid, but what a serializable transaction reads so does not
 * count as read: writers look whether others were faster.
 */
extern void CatalogScanBeginUnnoticed(CatalogScan *scan, const char *table, Oid relid, Snapshot snapshot);

extern HeapTuple CatalogScanNext(CatalogScan *scan);
extern void CatalogScanEnd(CatalogScan *scan);

/* Which tables a snapshot sees rows of, in catalog tables that have some of few (census.c). */
typedef struct CatalogCensus CatalogCensus;

typedef enum CensusTable
{
	CENSUS_DELETES,
	CENSUS_GARBAGE,
	CENSUS_INLINE,
	CENSUS_UPKEEP
} CensusTable;

/* In the current context. */
extern CatalogCensus *CatalogCensusRead(Snapshot snapshot);

/* Are there rows of the table?  Without a census (NULL) there may be. */
extern bool CatalogCensusHas(const CatalogCensus *census, CensusTable table, Oid relid);

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

/* For qsort and bsearch of file ids, uint64. */
extern int	CompareFileIds(const void *a, const void *b);

/* Delete all rows of a relid that the latest snapshot sees. */
extern void CatalogDeleteRows(const char *table, Oid relid);

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

/*
 * The newest spec row of a table, its version and tablespace; NULL: there is
 * none.  Of all that a snapshot sees (NULL: the latest), or only of those of a
 * spec.
 */
extern BucketSpec *SpecNewest(Oid relid, int *version);
extern BucketSpec *SpecNewestRow(Oid relid, const BucketSpec *wanted, Snapshot snapshot, int *version,
								 Oid *tablespace);

/*
 * Version of a spec of a table: that of the newest row when it is equal, else
 * a row is written; spec rows that an older table of this oid left are removed
 * before the first.
 */
extern int	SpecRecord(Oid relid, const BucketSpec *spec);

/*
 * The same for files: of whichever row is equal, as who began to write before
 * the spec was changed must not bring it back.
 */
extern int	SpecVersion(Oid relid, const BucketSpec *spec);

/* A new version, also of an equal spec: how files are written has changed. */
extern int	SpecRenew(Oid relid, const BucketSpec *spec);

/* Set the tablespace of a table that has a spec row; InvalidOid: the database's. */
extern void SpecSetTablespace(Oid relid, Oid tablespace);

/* The option list with one option set; other elements are shared. */
extern List *OptionsSet(List *options, const char *name, const char *value);

/*
 * manifest.c: delete manifest rows of a relid that the latest snapshot sees.
 * all: those of the present table too, else only what an older table of this
 * oid left.  Their files become garbage or, if drop says so, are dropped at
 * commit: nobody may be able to read them then.  Returns the number of rows.
 */
extern int64 ManifestDelete(Oid relid, bool all, bool drop);

/* Delete all rows about a table that is gone and drop its files.  Returns their number. */
extern int64 CatalogForgetTable(Oid relid);

/* Record the file of a row of the manifest, which is deleted, as dead. */
extern void DeadFilesInsert(Oid relid, const Datum *manifest_values);

/* Places of the files that a row of the manifest and of dead_files name. */
extern FileLocator ManifestLocator(const Datum *values);
extern FileLocator DeadFileLocator(const Datum *values);

/* inline_catalog.c: the part of ManifestDelete that is about rows in no file. */
extern void InlineDelete(Oid relid, bool all);

/* Does a row of the table as it is now, of its row type, stand in the spec, the manifest or among the inline rows? */
extern bool CatalogNamesTable(Oid relid);

#endif							/* BF_CATALOG_H */
