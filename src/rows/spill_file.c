/*
 * spill_file.c
 *	  Temporary files of sorted runs.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "compat.h"
#include "rows/spill_file.h"
#include "storage/file_store.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

/* longest single read or write call */
#define MAX_IO_BYTES (1024 * 1024 * 1024)

/* all temporary files of the transaction */
static List *files = NIL;

SpillFile *
SpillFileCreate(RowPool *pool)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(pool->cxt);
	ResourceOwner oldowner = CurrentResourceOwner;
	SpillFile  *spill = palloc0(sizeof(SpillFile));

	/* usually on the same volume, and their rows have to be written there once more */
	StoreCheckSpace(InvalidOid, 0, true);
	PrepareTempTablespaces();

	/* a subtransaction's owner would close the file at its end */
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		spill->vfd = OpenTemporaryFile(false);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = oldowner;
	}
	PG_END_TRY();
	files = lappend(files, spill);
	MemoryContextSwitchTo(oldcxt);
	return spill;
}

void
SpillCloseUnused(void)
{
	ListCell   *lc;

	foreach(lc, files)
	{
		SpillFile  *spill = lfirst(lc);

		if (spill->nruns > 0)
			continue;
		/* first out of the list: closing may fail */
		files = foreach_delete_current(files, lc);
		FileClose(spill->vfd);
		pfree(spill);
	}
}

void
SpillForget(void)
{
	files = NIL;
}

void
SpillRunFree(SpillRun *run)
{
	run->file->nruns--;
	pfree(run);
}

void
SpillFileWrite(SpillFile *spill, const char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n;

		StoreCheckSpace(InvalidOid, Min(len, MAX_IO_BYTES), false);
		errno = 0;
		n = FileWrite(spill->vfd, unconstify(char *, data), Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_WRITE);
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
SpillFileRead(SpillFile *spill, char *data, Size len, off_t offset)
{
	while (len > 0)
	{
		int			n = FileRead(spill->vfd, data, Min(len, MAX_IO_BYTES), offset, WAIT_EVENT_BUFFILE_READ);

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
