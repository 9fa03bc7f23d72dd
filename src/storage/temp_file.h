/*
 * temp_file.h
 *	  Temporary files that live as long as the transaction.
 */
#ifndef BF_TEMP_FILE_H
#define BF_TEMP_FILE_H

#include "storage/fd.h"

/*
 * Open one in temp_tablespaces; its owner is the transaction, whatever the
 * subtransaction.  Error if bucketfdw.min_free_space is not free: usually it
 * is on the same volume, and its rows will be written there once more.
 */
extern File TempFileOpen(void);

/* Write or read all of so many bytes; an error if there is no room, or the file ends. */
extern void TempFileWrite(File file, const char *data, Size len, off_t offset);
extern void TempFileRead(File file, char *data, Size len, off_t offset);

#endif							/* BF_TEMP_FILE_H */
