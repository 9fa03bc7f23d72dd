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
#include "storage/latest.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* The rows of a file that are deleted by now. */
typedef struct DeletedNow
{
	uint64		file_id;		/* first, as CompareFileIds compares */
	RowNumbers *rows;
} DeletedNow;

struct ChangeCheck
{
	int64		nfiles;
	uint64	   *file_ids;		/* that are there, ascending */
	int			ndeleted;
	DeletedNow *deleted;		/* by file_id */
};

ChangeCheck *
ChangeCheckBegin(Relation rel, const Manifest *seen, bool locked)
{
	ChangeCheck *check = palloc0(sizeof(ChangeCheck));
	Oid			relid = RelationGetRelid(rel);
	TableDeletes *now;
	Snapshot	snapshot;

	if (!locked)
		ChangeLock(relid, CHANGE_WHOLE, CHANGE_LOCK_EXCLUSIVE);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	check->file_ids = LatestFileIds(relid, snapshot, &check->nfiles);
	now = DeletesReadUnnoticed(relid, snapshot);
	check->deleted = palloc((now != NULL ? now->n : 1) * sizeof(DeletedNow));

	/* rows that the statement's own snapshot does not see either are not asked for */
	for (int f = 0; f < seen->nfiles; f++)
	{
		const ManifestFile *file = &seen->files[f];
		const FileDeletes *deletes = DeletesOfFile(now, file->file_id);

		if (deletes == NULL)
			continue;
		check->deleted[check->ndeleted].file_id = file->file_id;
		check->deleted[check->ndeleted++].rows = DeletedRows(deletes, relid, file->rows);
	}
	qsort(check->deleted, check->ndeleted, sizeof(DeletedNow), CompareFileIds);
	UnregisterSnapshot(snapshot);
	return check;
}

void
ChangeCheckRow(const ChangeCheck *check, uint64 file_id, int64 row)
{
	if (bsearch(&file_id, check->file_ids, check->nfiles, sizeof(uint64), CompareFileIds) != NULL)
	{
		const DeletedNow *deleted = bsearch(&file_id, check->deleted, check->ndeleted, sizeof(DeletedNow),
											CompareFileIds);

		if (deleted == NULL || !RowNumbersHas(deleted->rows, row))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update")));
}
