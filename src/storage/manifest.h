/*
 * manifest.h
 *	  The file manifest and the spec rows: heap tables of schema bucketfdw.
 *
 * One manifest row per file.  A row is inserted in the transaction that wrote
 * the file and deleted by the one that replaces it: MVCC, savepoints and
 * rollback are PostgreSQL's.  Rows are never updated.
 */
#ifndef BF_MANIFEST_H
#define BF_MANIFEST_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "spec/bucket_spec.h"
#include "storage/delete_vectors.h"
#include "storage/locator.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

typedef struct ManifestFile
{
	uint64		file_id;
	FileLocator locator;
	Oid			database;		/* that wrote it: another if this one was copied */
	int64		bytes;			/* of payload */
	int64		raw_bytes;
	int64		rows;			/* with those that are deleted */
	int			first_bucket;
	int			last_bucket;
	int			spec;			/* index in Manifest.specs */
	int			spec_version;
	int64		rewritten;		/* how often compaction wrote its rows, sum over them */
	const FileDeletes *deletes; /* rows of it that are deleted; NULL: none */
	int64		first_number;	/* of its rows, see ManifestNumberRows */
	const struct RowOrigin *origins;	/* per row, if they are inline rows that may be changed; else NULL */
} ManifestFile;

/* Where a row of an image of inline rows stands: in which write, as which of its rows. */
typedef struct RowOrigin
{
	uint64		file_id;
	int64		row;
} RowOrigin;

typedef struct ManifestRun
{
	int			bucket;
	int64		rows;			/* with those that are deleted */
	int64		deleted;
	int64		bytes;			/* of the run's chunks */
	int			file;			/* index in Manifest.files */
	int			run;			/* index of the run in its file */
} ManifestRun;

/* The column statistics of one write, see format/column_summary.h. */
typedef struct ManifestStats
{
	int64		rows;			/* of the write */
	char	   *data;
	Size		len;
} ManifestStats;

typedef struct Manifest
{
	Oid			relid;
	int			nfiles;
	ManifestFile *files;		/* NULL if only sizes were read */
	int			nruns;
	ManifestRun *runs;			/* in order of file, then run; NULL if only sizes were read */
	int			nspecs;
	BucketSpec **specs;			/* the distinct specs of the visible files */
	int64		rows;			/* without those that are deleted */
	int64		deleted;
	int64		bytes;			/* of the files */
	int64		raw_bytes;
	TimestampTz last_write;		/* of the files that are there, 0: none; likewise the next */
	TimestampTz last_compaction;
	int			nstats;			/* writes that have statistics; 0 if these were not asked for */
	ManifestStats *stats;
	TableDeletes *deletes;		/* of files and inline writes; NULL: none, or only sizes were read */
} Manifest;

/* Rows of a file that are not deleted. */
static inline int64
ManifestFileLive(const ManifestFile *file)
{
	return file->rows - (file->deletes ? file->deletes->rows : 0);
}

/* Rows of all files, with those that are deleted: sizes are theirs. */
static inline int64
ManifestStoredRows(const Manifest *manifest)
{
	return manifest->rows + manifest->deleted;
}

/*
 * Read the manifest of a table under a snapshot; palloc'd in the current
 * context.  A table without a row gives an empty manifest.
 */
extern Manifest *ManifestRead(Oid relid, Snapshot snapshot);

/* The same of the files alone, as if nothing of them were deleted. */
extern Manifest *ManifestReadStored(Oid relid, Snapshot snapshot);

/*
 * The same without files and runs, of which only the numbers are there, and
 * with the column statistics if they are wanted: for the planner.
 */
extern Manifest *ManifestReadSizes(Oid relid, Snapshot snapshot, bool with_stats);

/*
 * What manifest->deletes says holds for its files and runs: after these were
 * read, or when it has become more.
 */
extern void ManifestApplyDeletes(Manifest *manifest);

/* The rows of a file that are deleted by its runs: an array, palloc'd. */
extern int64 *ManifestCountByRun(const Manifest *manifest, int file, const RowNumbers *rows, int *nruns);

/*
 * Give all rows of the files numbers, from 0 on, in order of the files; so
 * rows of a table are told apart within one manifest.  Returns how many there
 * are.  A file that has such a number; and its row there.
 */
extern int64 ManifestNumberRows(Manifest *manifest);
extern int	ManifestFileOfNumber(const Manifest *manifest, int64 number, int64 *row);

/* gcd of the bucket counts of all files; 0 when there are none. */
extern int	ManifestBuckets(const Manifest *manifest);

/*
 * How many leading sort columns of "want" every visible file is sorted by
 * (same column, class and flags).
 */
extern int	ManifestCommonOrder(const Manifest *manifest, const BucketSpec *want);

/* One write, to be recorded. */
typedef struct ManifestWrite
{
	const BucketSpec *spec;
	int			nfiles;
	ManifestFile *files;		/* field spec ignored */
	int			nruns;
	ManifestRun *runs;
	char		origin;			/* of the files, if they are to be recorded: BF_ORIGIN_LOAD and so on */
	int64		stats_rows;		/* rows that the next describes: of a load, all of them */
	bytea	   *column_stats;	/* NULL: none */
} ManifestWrite;

/* what wrote a file */
#define BF_ORIGIN_LOAD			'l'
#define BF_ORIGIN_COMPACTION	'c'
#define BF_ORIGIN_REBUCKET		'r'

/*
 * Add a write that has no row to a manifest, or its numbers and statistics to
 * one of which only sizes were read.  The current context is the manifest's.
 */
extern void ManifestAdd(Manifest *manifest, const ManifestWrite *write);

/*
 * Insert the manifest rows of a write; cid is the command the rows belong to:
 * snapshots whose curcid is greater see them.  Records the spec in
 * bucketfdw.spec when it is not there yet.  An active snapshot is not needed.
 */
extern void ManifestInsert(Relation rel, const ManifestWrite *write, CommandId cid);

/*
 * Delete the manifest rows of the files of a manifest, which are replaced by
 * the write that is inserted next; the files become garbage.  Error if one of
 * the rows is not there any more.  *stats are the column statistics that the
 * rows had; returns their number.
 */
extern int	ManifestTakeOut(const Manifest *taken, ManifestStats **stats);

/*
 * manifest_drop.c: delete the manifest rows and the vectors of some files, sorted by id, that
 * have no row left; snapshots from before this command go on to see them.
 * Needs the lock of those who delete rows.  Returns the number of files.
 */
extern int	ManifestDropFiles(Oid relid, const uint64 *file_ids, int nfiles);

/*
 * Take files out of a manifest, with their runs and their numbers: all but
 * those that keep, one flag a file, names.  Specs and statistics stay.
 */
extern void ManifestKeepFiles(Manifest *manifest, const bool *keep);

/*
 * Delete all manifest rows of a table that the latest snapshot sees and send
 * their files to bucketfdw.garbage (TRUNCATE, overwrite).  Needs
 * AccessExclusiveLock on the table; its collected rows are the caller's to
 * discard.
 */
extern void ManifestTruncate(Oid relid);

/*
 * Delete the manifest row of the file of a table that has this path, and drop
 * the file at commit if it is there.  Needs AccessExclusiveLock on the table.
 * false: no file of the table has it; else its rows that were not deleted, and
 * its bytes.
 */
extern bool ManifestForget(Oid relid, const char *path, int64 *rows, int64 *bytes);

/*
 * Error, as core raises it, if the transaction keeps one snapshot and a file
 * that it sees has been replaced since: what does not fit to the table as it is
 * now will not until the transaction ends.
 */
extern void ManifestCheckReplaced(Relation rel, uint64 file_id);

/*
 * Move the files of a table that the latest snapshot sees to a tablespace, as
 * the catalog has it (InvalidOid: the database's).  Needs AccessExclusiveLock
 * on the table; rows that wait go there when they are sealed.
 */
extern void ManifestMove(Relation rel, Oid tablespace);

/* true if the latest snapshot sees at least one file of the table, or rows that are inline. */
extern bool ManifestHasRows(Oid relid);

/*
 * The effective options of a table of ours: parsed from the options; names
 * that were renamed behind the triggers' back are taken from the newest spec
 * row.  Result palloc'd in the current context.
 */
extern TableOptions *TableOptionsGet(Relation rel);

/* May upkeep come to the table by itself?  Its option says so. */
extern bool TableWantsUpkeep(Oid relid);

/* What upkeep remembers of a table; times are 0 if it never happened. */
typedef struct UpkeepState
{
	TimestampTz last_write;		/* as of the last compaction: files that were replaced tell no more */
	TimestampTz last_compaction;
	TimestampTz last_analysis;	/* by upkeep */
} UpkeepState;

extern void UpkeepStateRead(Oid relid, UpkeepState *state);

/* Needs ShareUpdateExclusiveLock on the table. */
extern void UpkeepStateWrite(Oid relid, const UpkeepState *state);

/* The tablespace that new files of a table go to; InvalidOid: the database's. */
extern Oid	SpecTablespace(Oid relid);

/* true if relid is a foreign table whose wrapper's handler is bucketfdw's. */
extern bool IsBucketTable(Oid relid);

/* Oid of a catalog table of ours, e.g. "manifest"; error when the extension is not installed. */
extern Oid	BucketCatalogOid(const char *name);

#endif							/* BF_MANIFEST_H */
