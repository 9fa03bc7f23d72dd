/*
 * spill_file.h
 *	  Temporary files of sorted runs.
 */
#ifndef BF_SPILL_FILE_H
#define BF_SPILL_FILE_H

#include "rows/row_pool.h"
#include "storage/fd.h"

/* A temporary file, shared by the runs written to it. */
typedef struct SpillFile
{
	File		vfd;
	int			nruns;			/* runs that refer to it */
	off_t		end;			/* where the next run begins */
} SpillFile;

/*
 * A sorted run: for each bucket that has rows, ascending, a segment: header
 * and packed rows in order.
 */
typedef struct SpillRun
{
	SpillFile  *file;
	off_t		offset;			/* where it begins */
	int64		bytes;
} SpillRun;

/* A new file, written and read with storage/temp_file.h, that lives as long as the transaction, unless closed. */
extern SpillFile *SpillFileCreate(RowPool *pool);

extern void SpillRunFree(SpillRun *run);

/*
 * Close the temporary files nobody refers to any more.  RowSetFree only puts
 * them aside, because it is called when a subtransaction aborts and closing
 * may have to write.
 */
extern void SpillCloseUnused(void);

/* Forget all temporary files: the transaction aborts and its resource owner closes them. */
extern void SpillForget(void);

#endif							/* BF_SPILL_FILE_H */
