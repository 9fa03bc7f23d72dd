/*
 * delete_vectors.h
 *	  Rows of files that are deleted: rows of bucketfdw.delete_vectors.
 *
 * A catalog row is the rows of one file, or of one inline write, that one
 * command deleted.  It is added and never changed, so what a snapshot sees of
 * them is what is deleted for it.  Whoever takes a file out of the manifest
 * takes its vectors out, too.
 */
#ifndef BF_DELETE_VECTORS_H
#define BF_DELETE_VECTORS_H

#include "format/row_numbers.h"
#include "nodes/pg_list.h"
#include "utils/snapshot.h"

/* What is deleted of one file. */
typedef struct FileDeletes
{
	uint64		file_id;
	int64		rows;
	int			nvectors;
	int			nruns;			/* 0: counts per run are not there, as of inline writes */
	int64	   *run_deleted;
	List	   *vectors;		/* bytea *, perhaps toasted */
} FileDeletes;

typedef struct TableDeletes
{
	int			n;
	FileDeletes *files;			/* by file_id */
	int64		rows;
} TableDeletes;

/* All that a snapshot (NULL: the latest) sees of a table, palloc'd in the current context; NULL: nothing. */
extern TableDeletes *DeletesRead(Oid relid, Snapshot snapshot);

/* The same as no read of a serializable transaction, see CatalogScanBeginUnnoticed. */
extern TableDeletes *DeletesReadUnnoticed(Oid relid, Snapshot snapshot);

/* Only how many rows: of files, or of inline writes. */
extern int64 DeletesCount(Oid relid, Snapshot snapshot, bool inlined);

/* Add rows of a file to what is deleted of a table (NULL: nothing is yet); returns that. */
extern TableDeletes *DeletesAdd(TableDeletes *deletes, uint64 file_id, const RowNumbers *rows,
								const int64 *run_deleted, int nruns);

/* Error: vectors do not fit to each other, or to their file. */
extern void DeletesMalformed(Oid relid);

/* What is deleted of a file, or NULL. */
extern FileDeletes *DeletesOfFile(const TableDeletes *deletes, uint64 file_id);

/*
 * The rows of a file of nrows rows, in the current context.  The snapshot that
 * saw the vectors must still be registered.  Error if they are malformed or
 * not disjoint.
 */
extern RowNumbers *DeletedRows(const FileDeletes *deletes, Oid relid, int64 nrows);

/*
 * Record deleted rows of a file, visible to snapshots whose curcid is greater
 * than cid.  run_deleted: how many of each run; of an inline write nruns is 0.
 */
extern void DeletesInsert(Oid relid, uint64 file_id, const RowNumbers *rows, const int64 *run_deleted, int nruns,
						  CommandId cid);

/*
 * Make one vector of those of each file, or inline write, that has
 * DELETES_MANY or more.  Needs the lock of those who delete rows and of those who
 * replace files.
 */
#define DELETES_MANY 8
extern void DeletesMerge(Oid relid);

/* The most vectors that one of them has. */
extern int	DeletesMostVectors(const TableDeletes *deletes);

/* Remove the vectors of some files, sorted by id, that the latest snapshot sees; returns how many rows they have. */
extern int64 DeletesRemove(Oid relid, const uint64 *file_ids, int nfiles);

#endif							/* BF_DELETE_VECTORS_H */
