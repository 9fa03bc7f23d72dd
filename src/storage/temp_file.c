/*
 * temp_file.c
 *	  Temporary files that live as long as the transaction.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "compat.h"
#include "storage/free_space.h"
#include "storage/temp_file.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

/* longest single read or write call */
#define MAX_IO_BYTES (1024 * 1024 * 1024)

File
TempFileOpen(void)
{
	ResourceOwner old = CurrentResourceOwner;
	File		file;

	StoreCheckSpace(InvalidOid, InvalidOid, 0, true);
	PrepareTempTablespaces();

	/* a subtransaction's owner would close the file at its end */
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		file = OpenTemporaryFile(false);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = old;
	}
	PG_END_TRY();
	return file;
}

void
TempFileWrite(File file, const char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n;

		StoreCheckSpace(InvalidOid, InvalidOid, Min(len, MAX_IO_BYTES), false);
		errno = 0;
		n = FileWrite(file, unconstify(char *, data), Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_WRITE);
		if (n <= 0)
		{
			/* nothing was written: that the disk is full is all it can be */
			if (errno == 0)
				errno = ENOSPC;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to temporary file: %m")));
		}
		data += n;
		offset += n;
		len -= n;
	}
}

void
TempFileRead(File file, char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n = FileRead(file, data, Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_READ);

		if (n < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: %m")));
		if (n == 0)
			elog(ERROR, "temporary file ends early");
		data += n;
		offset += n;
		len -= n;
	}
}
