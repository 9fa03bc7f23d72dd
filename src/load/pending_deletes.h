/*
 * pending_deletes.h
 *	  Rows that the current transaction deleted, until they are delete vectors.
 *
 * They wait in memory as inserted rows do, in a set for each file and command,
 * and become rows of bucketfdw.delete_vectors at the end of the statement that
 * deleted many, before a query with workers, and before commit.  Until then
 * readers of the transaction leave them out of the manifest they read.
 */
#ifndef BF_PENDING_DELETES_H
#define BF_PENDING_DELETES_H

#include "storage/manifest.h"

/* What became of a row that was to be deleted. */
typedef enum DeleteResult
{
	DELETE_DONE,
	DELETE_SAME_COMMAND,		/* the command has deleted it before */
	DELETE_LATER_COMMAND		/* something that the command called has */
} DeleteResult;

/* Delete a row of a file, or of an inline write, by a command. */
extern DeleteResult PendingDelete(Oid relid, uint64 file_id, int64 row, bool inlined, CommandId cid);

/*
 * Leave the rows that commands before one deleted out of a manifest, which has
 * no images yet; of one of which only sizes were read only the number of rows
 * changes.  Returns how many rows there are, also of inline writes.
 */
extern int64 PendingDeletesApply(Manifest *manifest, CommandId before);

/* Make vectors of all; no snapshot is used after this: before commit. */
extern void PendingDeletesSealAll(void);

/* Make a vector of each set, of one table or InvalidOid: of all. */
extern void PendingDeletesSeal(Oid relid);

/* Would PendingDeletesSeal write few vectors, if any? */
extern bool PendingDeletesAreFew(void);

/* A command has ended: if it deleted much, this becomes vectors. */
extern void PendingDeletesEndCommand(CommandId cid);

/* Forget those of a table, whose files are replaced; restored if the subtransaction aborts. */
extern void PendingDeletesDiscard(Oid relid);

/* At the end of subtransactions; memory goes with that of the transaction. */
extern void PendingDeletesSubCommit(SubTransactionId subid, SubTransactionId parent);
extern void PendingDeletesSubAbort(SubTransactionId subid);

#endif							/* BF_PENDING_DELETES_H */
