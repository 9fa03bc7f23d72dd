/*
 * counters.c
 *	  Cumulative counters per table in shared memory.
 *
 * A hash of a fixed number of tables: where there are more, the one that was
 * not added to for longest gives its place.
 */
#include "postgres.h"

#include "access/xact.h"
#include "counters/counters.h"
#include "guc.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

typedef struct CountersKey
{
	Oid			database;
	Oid			relid;
} CountersKey;

typedef struct CountersEntry
{
	CountersKey key;			/* must be first */
	slock_t		mutex;			/* of what follows */
	TimestampTz since;
	TimestampTz used;
	TableCounts counts;
} CountersEntry;

/* the lock of the hash: exclusive to add and remove entries */
static LWLock *counters_lock = NULL;
static HTAB *counters = NULL;

static shmem_request_hook_type prev_shmem_request = NULL;
static shmem_startup_hook_type prev_shmem_startup = NULL;

static void
RequestShmem(void)
{
	if (prev_shmem_request)
		prev_shmem_request();
	RequestAddinShmemSpace(hash_estimate_size(bf_max_counted_tables, sizeof(CountersEntry)));
	RequestNamedLWLockTranche("bucketfdw", 1);
}

static void
StartupShmem(void)
{
	HASHCTL		ctl = {.keysize = sizeof(CountersKey), .entrysize = sizeof(CountersEntry)};

	if (prev_shmem_startup)
		prev_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	counters = ShmemInitHash("bucketfdw counters", bf_max_counted_tables, bf_max_counted_tables, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	counters_lock = &GetNamedLWLockTranche("bucketfdw")->lock;
	LWLockRelease(AddinShmemInitLock);
}

void
CountersInit(void)
{
	if (!process_shared_preload_libraries_in_progress || bf_max_counted_tables == 0)
		return;
	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = RequestShmem;
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = StartupShmem;
}

bool
CountersKept(void)
{
	return counters != NULL;
}

/* Make room for an entry. */
static void
RemoveOldest(void)
{
	HASH_SEQ_STATUS scan;
	CountersEntry *entry;
	CountersEntry *oldest = NULL;

	hash_seq_init(&scan, counters);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (oldest == NULL || entry->used < oldest->used)
			oldest = entry;
	}
	if (oldest != NULL)
		(void) hash_search(counters, &oldest->key, HASH_REMOVE, NULL);
}

/* Find the entry of a table with the lock held; make it if it is not there. */
static CountersEntry *
FindOrMake(const CountersKey *key)
{
	CountersEntry *entry;
	bool		found;

	LWLockAcquire(counters_lock, LW_SHARED);
	entry = hash_search(counters, key, HASH_FIND, NULL);
	if (entry != NULL)
		return entry;
	LWLockRelease(counters_lock);
	LWLockAcquire(counters_lock, LW_EXCLUSIVE);
	if (hash_get_num_entries(counters) >= bf_max_counted_tables &&
		hash_search(counters, key, HASH_FIND, NULL) == NULL)
		RemoveOldest();
	entry = hash_search(counters, key, HASH_ENTER, &found);
	if (!found)
	{
		SpinLockInit(&entry->mutex);
		entry->since = GetCurrentTimestamp();
		memset(&entry->counts, 0, sizeof(TableCounts));
	}
	return entry;
}

void
CountersAdd(Oid relid, const TableCounts *counts)
{
	CountersKey key = {MyDatabaseId, relid};
	TimestampTz now;
	CountersEntry *entry;

	if (counters == NULL)
		return;
	now = GetCurrentStatementStartTimestamp();
	entry = FindOrMake(&key);
	SpinLockAcquire(&entry->mutex);
	for (int i = 0; i < TABLE_COUNTERS; i++)
		entry->counts.n[i] += counts->n[i];
	entry->used = now;
	SpinLockRelease(&entry->mutex);
	LWLockRelease(counters_lock);
}

void
CountersGet(Oid relid, TableCounts *counts, TimestampTz *since)
{
	CountersKey key = {MyDatabaseId, relid};
	CountersEntry *entry;

	memset(counts, 0, sizeof(TableCounts));
	*since = 0;
	LWLockAcquire(counters_lock, LW_SHARED);
	entry = hash_search(counters, &key, HASH_FIND, NULL);
	if (entry != NULL)
	{
		SpinLockAcquire(&entry->mutex);
		*counts = entry->counts;
		*since = entry->since;
		SpinLockRelease(&entry->mutex);
	}
	LWLockRelease(counters_lock);
}

void
CountersReset(void)
{
	HASH_SEQ_STATUS scan;
	CountersEntry *entry;

	if (counters == NULL)
		return;
	LWLockAcquire(counters_lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, counters);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->key.database == MyDatabaseId)
			(void) hash_search(counters, &entry->key, HASH_REMOVE, NULL);
	}
	LWLockRelease(counters_lock);
}
