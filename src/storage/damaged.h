/*
 * damaged.h
 *	  Work that may fail, files that cannot be read, and tables without them.
 */
#ifndef BF_DAMAGED_H
#define BF_DAMAGED_H

#include "storage/manifest.h"
#include "utils/elog.h"

/*
 * Do something in a subtransaction, starting in the current memory context.
 * NULL if all went well, then what it did is kept or rolled back; else the
 * error, which is caught, and rolled back.
 */
extern ErrorData *TryWork(void (*work) (void *arg), void *arg, bool keep);

/*
 * The same, and what it did is kept, but only an error about a file that is missing
 * or damaged, or that the disk does not give back, is caught.
 */
extern ErrorData *TryRead(void (*work) (void *arg), void *arg);

/*
 * Read all files of a manifest and take those out, with a warning each, that
 * no scan could read to the end.  Not in parallel mode.
 */
extern void ManifestLeaveOutDamaged(Manifest *manifest);

#endif							/* BF_DAMAGED_H */
