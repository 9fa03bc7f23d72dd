/*
 * due.h
 *	  What upkeep would do for a table.
 */
#ifndef BF_DUE_H
#define BF_DUE_H

#include "storage/inline_catalog.h"
#include "storage/manifest.h"

typedef struct UpkeepDue
{
	const Manifest *manifest;
	InlineCounts inlined;
	int64		rows;			/* in both */
	const BucketSpec *spec;		/* of new files, NULL: the table has never been used */
	int			version;		/* of it */
	Oid			tablespace;
	UpkeepState state;
	int			max_runs;		/* of a bucket */
	double		analyzed_rows;	/* -1: never analyzed */
	int64		garbage_bytes;
	int64		removable;		/* replaced files that nobody needs any more */
	bool		flush;			/* inline rows are to become files */
	bool		unite;			/* delete vectors are to become fewer */
	bool		merge;			/* there are runs to merge */
	bool		clean;			/* deleted rows are to be taken out */
	bool		compact;		/* one of these two, */
	bool		quiet;			/* as nothing is appended any more */
	TimestampTz quiet_at;		/* until then there may be; 0: there will not */
	bool		blocked;		/* but too many replaced files are still needed */
	bool		analyze;
	bool		cleanup;
} UpkeepDue;

/*
 * Look at a table without a lock; snapshot NULL is the latest one.  What is
 * found is palloc'd in the current context.  A census, unless NULL, spares looks
 * into catalog tables that have nothing of the table.
 */
extern void UpkeepLook(Oid relid, Snapshot snapshot, const CatalogCensus *census, UpkeepDue *due);

/* Is there anything that can be done now? */
extern bool UpkeepIsDue(const UpkeepDue *due);

/* Rows that the last ANALYZE counted; -1: there was none. */
extern double UpkeepAnalyzedRows(Oid relid);

/* The part of a file's rows that may be deleted. */
extern double UpkeepDeletedPart(bool quiet);

/* Rows by which a table of so many has to change before it is analyzed. */
extern double UpkeepAnalyzeThreshold(double analyzed_rows);

#endif							/* BF_DUE_H */
