/*
 * agg_hash.h
 *	  Groups by any columns, in a hash table that is written to temporary
 *	  files, or handed out half done, when it outgrows its memory.
 */
#ifndef BF_AGG_HASH_H
#define BF_AGG_HASH_H

#include "exec/agg/vector_agg.h"
#include "vector/batch.h"

typedef struct AggHash AggHash;

/*
 * A table for groups by ncols columns of the given types; 0 columns: one
 * group, which is there from the start.  incomplete: groups may be given
 * before all their rows are read, and then again.  limit_bytes bounds the
 * memory of the groups.
 */
extern AggHash *AggHashCreate(int ncols, const Oid *types, bool incomplete, Size limit_bytes);

/* What lives as long as a group: the context of the aggregates. */
extern MemoryContext AggHashContext(AggHash *hash);

/* The aggregates, once, before anything is added. */
extern void AggHashSetAggs(AggHash *hash, int naggs, const BatchAgg *aggs);

/* Add the selected rows of a batch: vectors of the columns and of the aggregates. */
extern void AggHashAddBatch(AggHash *hash, const Batch *batch, const ColumnVector **columns,
							const AggVector *vectors);

/* Add a group given as values of its columns and packed cells. */
extern void AggHashAddPacked(AggHash *hash, const Datum *values, const bool *nulls,
							 const Datum *packed);

/* Add more of the input, a batch or a group; false: there is no more. */
typedef bool (*AggHashRead) (void *arg);

/*
 * The next group: values of its columns and its cells, valid until the next
 * call.  Reads all of the input first, as far as memory allows.
 */
extern bool AggHashNext(AggHash *hash, AggHashRead read, void *arg, Datum **values, bool **nulls,
						AggCell **cells);

/* Forget all groups and begin anew. */
extern void AggHashReset(AggHash *hash);

/* Most memory so far, and bytes of groups that went to temporary files. */
extern Size AggHashPeakMemory(const AggHash *hash);
extern int64 AggHashSpilled(const AggHash *hash);

#endif							/* BF_AGG_HASH_H */
