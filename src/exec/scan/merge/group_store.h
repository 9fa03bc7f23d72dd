/*
 * group_store.h
 *	  Rows of one key of one join input, kept while the other input's rows of
 *	  that key pass by; goes to a temporary file beyond a memory limit.
 *
 * Needed only where a key's rows cross batch borders on both inputs.
 */
#ifndef BF_GROUP_STORE_H
#define BF_GROUP_STORE_H

#include "vector/batch.h"
#include "vector/key_vector.h"

/* rows of a chunk, at most */
#define GROUP_CHUNK_ROWS 1024

typedef struct GroupStore GroupStore;

/*
 * A store for rows of ncols columns with the given lengths and by-value flags
 * (as in pg_type).  limit_bytes bounds what is kept in memory.
 */
extern GroupStore *GroupStoreCreate(int ncols, const int16 *typlen, const bool *typbyval,
									Size limit_bytes);

/* From now on, make chunks of so many bytes at most, unless one row takes more. */
extern void GroupStoreLimitChunks(GroupStore *store, Size bytes);

/* Empty the store; memory and files are given back. */
extern void GroupStoreClear(GroupStore *store);

/* Copy entries from .. to-1 of a key vector's batch, all columns. */
extern void GroupStoreAdd(GroupStore *store, const KeyVector *kv, int from, int to);

extern int	GroupStoreChunks(const GroupStore *store);

/* One chunk as a batch; valid until the next call for another chunk, or Clear. */
extern Batch *GroupStoreChunk(GroupStore *store, int chunk);

/* Greatest memory held and bytes written to temporary files so far. */
extern Size GroupStorePeakMemory(const GroupStore *store);
extern int64 GroupStoreSpilled(const GroupStore *store);

#endif							/* BF_GROUP_STORE_H */
