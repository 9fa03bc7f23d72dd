/*
 * pending.h
 *	  What this transaction does to files: created ones, unlinked if it
 *	  aborts, and tables dropped, whose files are unlinked if it commits.
 *	  For the files of this folder only.
 */
#ifndef BF_PENDING_H
#define BF_PENDING_H

#include "storage/fd.h"

/* Make room for one more file, so that remembering it cannot fail. */
extern void PendingReserve(void);

/* Remember a file of the current subtransaction, and its open descriptor. */
extern void PendingAddFile(Oid relid, uint64 file_id, int first_bucket, File vfd);

/* A file is written to its end: it is fsynced and closed here, at the latest in StoreSync. */
extern void PendingFileFinished(uint64 file_id);

/* true if this transaction created the file. */
extern bool PendingHasFile(uint64 file_id);

/* Files or manifest were changed: PREPARE TRANSACTION is refused. */
extern void PendingNoteWrite(void);

/* A directory of this transaction was made or written to. */
extern void PendingAddDirectory(Oid relid, bool created);

#endif							/* BF_PENDING_H */
