/*
 * file_store.h
 *	  Files on disk: names, directories, fsync, and what happens to them at
 *	  commit and abort.
 *
 * bucketfdw/<database oid>/<table oid>/<16 hex digits of the id>_<first bucket>
 * under the data directory.  A file gets its final name at once (O_EXCL);
 * only a committed manifest row makes it visible.
 */
#ifndef BF_FILE_STORE_H
#define BF_FILE_STORE_H

#include "access/xact.h"
#include "format/file_io.h"
#include "storage/manifest.h"

/* A file being written. */
typedef struct StoreWriter StoreWriter;

/*
 * Create a file with a fresh random id in the table's directory (made when
 * missing).  Checks free space (bucketfdw.min_free_space) and, again, while
 * writing.  The file is unlinked when the current subtransaction aborts.
 */
extern StoreWriter *StoreCreate(Oid relid, int first_bucket);
extern uint64 StoreFileId(StoreWriter *writer);
extern FileSink *StoreSink(StoreWriter *writer);

/* Write what is left; it is fsynced with other files, at the latest by StoreSync. */
extern void StoreFinish(StoreWriter *writer);

/*
 * fsync the finished files, then the directories this transaction created
 * files or directories in.  Call once per write, before the manifest row is
 * inserted.
 */
extern void StoreSync(void);

/*
 * Open a file for reading.  A missing file raises an error naming it and what
 * to do, never an empty result.  The descriptor is closed by StoreClose or,
 * on error, when the memory context it was opened in is reset.
 */
extern FileSource *StoreOpen(Oid relid, const char *relname, uint64 file_id, int first_bucket);
extern void StoreClose(FileSource *source);

/* Path of a file relative to the data directory, palloc'd. */
extern char *StorePath(Oid dboid, Oid relid, uint64 file_id, int first_bucket);

/* Unlink all files and the directory of a table after the current transaction commits (DROP). */
extern void StoreDropAtCommit(Oid relid);

/*
 * Remove what the horizon allows: garbage rows of relid (InvalidOid: all
 * tables of this database).  Returns the number of files unlinked.
 */
extern int64 StoreReclaimGarbage(Oid relid);

/*
 * Remove all that nobody needs of this database: dead files, files that no
 * catalog row names, rows and files of tables that are gone; and files of
 * dropped databases.  A table that exists and that a catalog row names loses
 * nothing, even if it is not recognised as ours: that is a warning.  Returns
 * the number of files unlinked.
 */
extern int64 StoreCleanup(void);

/*
 * What is to be done at the ends of transactions and subtransactions.  The
 * load layer calls them from its own callbacks, after its own work.
 */
extern void StoreAtXactEvent(XactEvent event);
extern void StoreAtSubXactEvent(SubXactEvent event);

#endif							/* BF_FILE_STORE_H */
