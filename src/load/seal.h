/*
 * seal.h
 *	  Collected rows become files and manifest rows, or an image to be read.
 */
#ifndef BF_SEAL_H
#define BF_SEAL_H

#include "rows/row_buffer.h"
#include "storage/file_image.h"
#include "storage/manifest.h"
#include "utils/relcache.h"

/* What was written; EXPLAIN ANALYZE shows it. */
typedef struct SealCounters
{
	int64		rows;
	int64		files;
	int64		runs;
	int64		bytes;
	int64		temp_bytes;		/* of the temporary files the rows came from */
} SealCounters;

/*
 * Write the rows of some sets of one layout that belong to commands from
 * "from" on and before "before" as one write of the table.  Snapshots that see
 * all of these commands see it.  The sets stay as they are.
 */
extern void SealSets(Relation rel, RowSet **sets, int nsets, CommandId from, CommandId before,
					 SealCounters *counters);

/* Told of rows in the order in which they are written. */
typedef void (*SealedRows) (void *arg, char *const *rows, int n);

/*
 * Write all rows of a set to files that no manifest row names yet; the result
 * is in the current context.  sealed may be NULL.
 */
extern ManifestWrite *SealFiles(Relation rel, RowSet *set, SealedRows sealed, void *arg);

/*
 * Write the rows of commands before "before" to an image.  What ManifestAdd
 * wants, with column statistics if asked for, lives as long as the image.
 * *tags, unless NULL, become the command ids of all rows in order of the image,
 * in the current context.
 */
extern FileImage *SealImage(RowSet **sets, int nsets, CommandId before, bool with_stats,
							ManifestWrite *write, CommandId **tags);

#endif							/* BF_SEAL_H */
