/*
 * verify_deletes.h
 *	  Defects of what is deleted of a table.
 */
#ifndef BF_VERIFY_DELETES_H
#define BF_VERIFY_DELETES_H

#include "storage/manifest.h"
#include "utils/snapshot.h"

/* Told of a defect; path is what it is of, bucket -1: unknown. */
typedef void (*DeletesDefect) (void *arg, const char *path, int bucket, char *detail);

/*
 * Compare the delete vectors of a table that a snapshot sees with each other,
 * and with files and inline writes.  The manifest is that of ManifestReadStored.
 * An error if a vector cannot be read.
 */
extern void VerifyDeletes(const Manifest *manifest, Snapshot snapshot, DeletesDefect defect, void *arg);

#endif							/* BF_VERIFY_DELETES_H */
