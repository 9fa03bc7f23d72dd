/*
 * file_store.h
 *	  Files: written once, named by a row of the manifest, read, dropped.
 *
 * A file is the main fork of a relation without a row in pg_class.  Core's
 * storage manager makes it, removes it when the subtransaction aborts, logs
 * it, replays it on standbys and drops it at commit.
 */
#ifndef BF_FILE_STORE_H
#define BF_FILE_STORE_H

#include "access/xact.h"
#include "format/file_io.h"
#include "storage/manifest.h"

/* A file being written. */
typedef struct StoreWriter StoreWriter;

/*
 * A new file with an id (0: a random one), in a tablespace (InvalidOid: the
 * database's).  relid is for messages.  Writing checks
 * bucketfdw.min_free_space.
 */
extern StoreWriter *StoreCreate(Oid relid, Oid tablespace, uint64 file_id);
extern uint64 StoreFileId(StoreWriter *writer);
extern FileSink *StoreSink(StoreWriter *writer);

/*
 * Write what is left and free the writer.  The file is as durable as the
 * transaction then: nothing is to be synced.
 */
extern FileLocator StoreFinish(StoreWriter *writer);

/*
 * Open a file for reading.  A missing file raises an error naming it and what
 * to do, never an empty result.  Descriptors are closed by StoreClose or when
 * the memory context it was opened in is reset.
 */
extern FileSource *StoreOpen(Oid relid, const char *relname, const ManifestFile *file);
extern void StoreClose(FileSource *source);

/*
 * Read every page of an open file and check its tag and, where the server has
 * them, its checksum: an error if one is not right.  The payloads are written
 * to a sink, unless that is NULL.
 */
extern void StoreVerifyPages(FileSource *source, FileSink *sink);

/*
 * Copy a file of a table, with its id, into a tablespace (InvalidOid: the
 * database's).  It belongs to the transaction as a new one does.
 */
extern FileLocator StoreCopy(Oid relid, const char *relname, const ManifestFile *file, Oid tablespace);

/* Is there a file at this place, and is it this one? */
typedef enum StoreFound
{
	STORE_MISSING,
	STORE_FOREIGN,				/* another file, or one without a sound page */
	STORE_OURS
} StoreFound;

extern StoreFound StoreLookAt(FileLocator locator, uint64 file_id);

/* Path of a file relative to the data directory, palloc'd. */
extern char *StorePath(FileLocator locator);

/*
 * Drop a file when the transaction commits.  Once more in one transaction does
 * nothing.  A file that is missing already is no error; one that is not the one
 * meant is left, with a warning.  Returns whether it will be dropped.
 */
extern bool StoreDrop(FileLocator locator, uint64 file_id);

/*
 * Before files are dropped that snapshots on standbys may still need: replay
 * waits for those that see rows deleted by xid, or cancels them.
 */
extern void StoreLogConflict(FullTransactionId xid);

/*
 * Remove what the horizon allows: dead files of relid (InvalidOid: of all
 * tables of this database).  Returns the number of files.
 */
extern int64 StoreReclaimGarbage(Oid relid);

/* Bytes of the dead files of a table that are still there, and how many of them the horizon allows to remove. */
extern int64 StoreGarbageBytes(Oid relid, int64 *removable);

/*
 * Remove all that nobody needs of this database: dead files, files that no
 * catalog row names, rows and files of tables that are gone.  A table that
 * exists and that a catalog row names loses nothing, even if it is not
 * recognised as ours: that is a warning.  Returns the number of files.
 */
extern int64 StoreCleanup(void);

/*
 * What is to be done at the ends of transactions and subtransactions.  The
 * load layer calls them from its own callbacks, after its own work.
 */
extern void StoreAtXactEvent(XactEvent event);
extern void StoreAtSubXactEvent(SubXactEvent event);

#endif							/* BF_FILE_STORE_H */
