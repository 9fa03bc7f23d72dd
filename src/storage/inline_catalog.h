/*
 * inline_catalog.h
 *	  Writes that are too small for a file: rows of bucketfdw.inline_rows.
 *
 * Such a row is inserted by the transaction that wrote, and deleted by the one
 * that brings its rows into a file: MVCC, savepoints and rollback are
 * PostgreSQL's.
 */
#ifndef BF_INLINE_CATALOG_H
#define BF_INLINE_CATALOG_H

#include "postgres.h"

#include "storage/catalog.h"

/* What stands inline of a table. */
typedef struct InlineCounts
{
	int64		writes;
	int64		rows;			/* without those that are deleted */
	int64		deleted;
	int64		bytes;
	TimestampTz last_write;		/* 0: there is nothing */
} InlineCounts;

/* Count what a snapshot sees; NULL: the latest.  Reads no data. */
extern void InlineCount(Oid relid, Snapshot snapshot, InlineCounts *counts);

/*
 * Insert a write of so many rows; cid is the command they belong to, as in
 * ManifestInsert.  The spec must be recorded.
 */
extern void InlineInsert(Oid relid, int64 rows, const char *data, Size len, CommandId cid);

/* The ids of the writes that a snapshot sees, an array of *n, ascending. */
extern uint64 *InlineIds(Oid relid, Snapshot snapshot, int64 *n);

/* Delete a write, that the latest snapshot sees, of which so many rows are deleted, if these are all. */
extern bool InlineDeleteEmpty(Oid relid, uint64 id, int64 deleted);

/* Does the latest snapshot see a write? */
extern bool InlineIsThere(Oid relid, uint64 id);

/* The next row of the table in a scan of them, or NULL. */
extern HeapTuple InlineScanNext(CatalogScan *scan, Oid rowtype, Datum *values);

#endif							/* BF_INLINE_CATALOG_H */
