/*
 * counters.h
 *	  Cumulative counters per table in shared memory, where the library is in
 *	  shared_preload_libraries.
 *
 * They are added to at the end of a scan, a write or a step of upkeep; what
 * failed before its end is not counted.
 */
#ifndef BF_COUNTERS_H
#define BF_COUNTERS_H

#include "datatype/timestamp.h"

typedef enum TableCounter
{
	COUNT_SCANS,
	COUNT_BUCKET_JOINS,			/* scans that a bucket join read */
	COUNT_BLOCKS_READ,
	COUNT_BLOCKS_SKIPPED,
	COUNT_BYTES_READ,
	COUNT_WRITES,
	COUNT_ROWS_WRITTEN,
	COUNT_BYTES_WRITTEN,
	COUNT_UPKEEP_STEPS,
	COUNT_UPKEEP_ROWS,
	COUNT_UPKEEP_BYTES,
	COUNT_FALLBACKS				/* and so on: scans that fed a join of another kind, per reason */
} TableCounter;

/* reasons there can be */
#define COUNTER_REASONS 40
#define TABLE_COUNTERS (COUNT_FALLBACKS + COUNTER_REASONS)

typedef struct TableCounts
{
	int64		n[TABLE_COUNTERS];
} TableCounts;

/* Are there counters? */
extern bool CountersKept(void);

/* Add to those of a table of this database. */
extern void CountersAdd(Oid relid, const TableCounts *counts);

/* Those of a table, all zero if there is nothing; *since: when they began, 0: nothing is there. */
extern void CountersGet(Oid relid, TableCounts *counts, TimestampTz *since);

/* Forget those of all tables of this database. */
extern void CountersReset(void);

/* Ask for the shared memory; once, from _PG_init. */
extern void CountersInit(void);

#endif							/* BF_COUNTERS_H */
