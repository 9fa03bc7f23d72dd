/*
 * change_check.c
 *	  Have others changed the rows that a snapshot sees?
 *
 * What the latest snapshot sees is read besides what the statement sees, and
 * without a trace for serializable transactions.  Files and rows that were
 * added since do not matter, nor do newer vectors over other rows: vectors of
 * a file may be merged at any time, so sets of rows are compared.
 */
#include "postgres.h"

#include "load/change_check.h"
#include "load/change_lock.h"
#include "storage/catalog.h"
#include "storage/delete_vectors.h"
#include "storage/latest.h"
#include "utils/snapmgr.h"

struct ChangeCheck
{
	MemoryContext cxt;
	Oid			relid;
	int64		nfiles;
	uint64	   *file_ids;		/* that are there, ascending */
	TableDeletes *deletes;		/* NULL: none */
	RowNumbers **rows;			/* of its files; NULL: not read yet */
};

ChangeCheck *
ChangeCheckBegin(Oid relid, bool locked)
{
	ChangeCheck *check = palloc0(sizeof(ChangeCheck));
	Snapshot	snapshot;

	if (!locked)
		ChangeLock(relid, CHANGE_WHOLE, CHANGE_LOCK_EXCLUSIVE);
	check->cxt = CurrentMemoryContext;
	check->relid = relid;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	check->file_ids = LatestFileIds(relid, snapshot, &check->nfiles);
	check->deletes = DeletesReadUnnoticed(relid, snapshot);
	if (check->deletes != NULL)
	{
		check->rows = palloc0(check->deletes->n * sizeof(RowNumbers *));

		/* the snapshot, which keeps vectors that others replace, does not live as long as they are wanted */
		for (int i = 0; i < check->deletes->n; i++)
		{
			ListCell   *lc;

			foreach(lc, check->deletes->files[i].vectors)
				lfirst(lc) = PG_DETOAST_DATUM_PACKED(PointerGetDatum(lfirst(lc)));
		}
	}
	UnregisterSnapshot(snapshot);
	return check;
}

/* Is the row of a file that is there deleted by now? */
static bool
IsDeleted(ChangeCheck *check, uint64 file_id, int64 row)
{
	const FileDeletes *deletes = DeletesOfFile(check->deletes, file_id);
	RowNumbers **rows;

	if (deletes == NULL)
		return false;
	rows = &check->rows[deletes - check->deletes->files];
	if (*rows == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(check->cxt);

		*rows = DeletedRows(deletes, check->relid, PG_INT64_MAX);
		MemoryContextSwitchTo(old);
	}
	return RowNumbersHas(*rows, row);
}

void
ChangeCheckRow(ChangeCheck *check, uint64 file_id, int64 row)
{
	if (bsearch(&file_id, check->file_ids, check->nfiles, sizeof(uint64), CompareFileIds) == NULL ||
		IsDeleted(check, file_id, row))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
}
