/*
 * spill_file.c
 *	  Temporary files of sorted runs.
 */
#include "postgres.h"

#include "nodes/pg_list.h"
#include "rows/spill_file.h"
#include "storage/temp_file.h"

/* all temporary files of the transaction */
static List *files = NIL;

SpillFile *
SpillFileCreate(RowPool *pool)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(pool->cxt);
	SpillFile  *spill = palloc0(sizeof(SpillFile));

	spill->vfd = TempFileOpen();
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
