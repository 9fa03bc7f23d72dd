/*
 * progress.c
 *	  Loads, compaction and what else writes tables in pg_stat_progress_copy.
 *
 * A backend has one entry.  A COPY in a function of the query takes it and
 * clears it at its end, an aborted subtransaction clears it: then it is made
 * anew with what is known.  An entry of anybody else is never touched.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/progress.h"
#include "compat.h"
#include "load/progress.h"
#include "utils/backend_status.h"

/* What was told so far; relid is not valid: nothing. */
static struct
{
	Oid			relid;
	int64		rows;
	int64		done;
	int64		total;
}			progress;

/* Is the entry ours?  No COPY of a client has its rows from a callback. */
static bool
EntryIsOurs(void)
{
	return MyBEEntry->st_progress_command == PROGRESS_COMMAND_COPY &&
		MyBEEntry->st_progress_command_target == progress.relid &&
		MyBEEntry->st_progress_param[PROGRESS_COPY_TYPE] == PROGRESS_COPY_TYPE_CALLBACK;
}

static void
Tell(Oid relid)
{
	const int	what[] = {PROGRESS_COPY_TUPLES_PROCESSED, PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_BYTES_TOTAL};
	const int64 values[] = {progress.rows, progress.done, progress.total};

	if (MyBEEntry == NULL || IsParallelWorker())
		return;
	if (!OidIsValid(progress.relid))
		progress.relid = relid;
	if (!EntryIsOurs())
	{
		if (MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
			return;
		pgstat_progress_start_command(PROGRESS_COMMAND_COPY, progress.relid);
		pgstat_progress_update_param(PROGRESS_COPY_COMMAND, PROGRESS_COPY_COMMAND_FROM);
		pgstat_progress_update_param(PROGRESS_COPY_TYPE, PROGRESS_COPY_TYPE_CALLBACK);
	}
	pgstat_progress_update_multi_param(lengthof(what), what, values);
}

void
ProgressRows(Oid relid, int64 rows)
{
	progress.rows = rows;
	Tell(relid);
}

void
ProgressTotal(Oid relid, int64 bytes)
{
	progress.total = bytes;
	ProgressDone(relid, 0);
}

void
ProgressDone(Oid relid, int64 bytes)
{
	progress.done = bytes;
	Tell(relid);
}

void
ProgressEnd(void)
{
	if (OidIsValid(progress.relid) && MyBEEntry != NULL && EntryIsOurs())
		pgstat_progress_end_command();
	memset(&progress, 0, sizeof(progress));
}
