/*
 * inline_rows.h
 *	  Small writes wait in the catalog, not in files.
 */
#ifndef BF_INLINE_ROWS_H
#define BF_INLINE_ROWS_H

#include "load/seal.h"
#include "storage/inline_catalog.h"

/* more than this of a table is made files, and ten times as much by whoever commits a write */
#define INLINE_WRITES 200
#define INLINE_BYTES (256 * 1024)

/*
 * Write the rows that SealSets would as inline rows, if they take no more than
 * bucketfdw.inline_limit; false: they take more.
 */
extern bool InlineSeal(RowSet **sets, int nsets, CommandId from, CommandId before, SealCounters *counters);

/*
 * Add the inline rows of its table that the snapshot sees to a manifest, as
 * images that stay until the current memory context is reset, and have column
 * statistics if asked for, and origins of their rows if these are to be changed.  All processes of a query make the same ones.
 */
extern void InlineAdd(Manifest *manifest, Snapshot snapshot, bool with_stats, bool to_change);

/* The same to one of which only sizes were read. */
extern void InlineAddSizes(Manifest *manifest, Snapshot snapshot, bool with_stats);

/* Is that more than should be, or so many times more?  And what the latest snapshot sees of a table? */
extern bool InlineAreMany(const InlineCounts *counts, int times);
extern bool InlineDue(Oid relid, int times);

/* Something that looks at a type with which values of a column were stored. */
typedef void (*StoredTypeFunction) (void *arg, Oid typid, int32 typmod);

/* Call it for each write that the latest snapshot sees and that has the column: with its base type then. */
extern void InlineColumnTypes(Relation rel, AttrNumber attnum, StoredTypeFunction take, void *arg);

/*
 * Make files of all inline rows that are committed and of those of this
 * transaction.  Needs ShareUpdateExclusiveLock on the table; false: there were
 * none.
 */
extern bool InlineFlush(Relation rel);

/* A transaction that wrote to a table commits: flush it if there is very much, and nobody works on it. */
extern void InlineFlushLarge(Oid relid);

#endif							/* BF_INLINE_ROWS_H */
