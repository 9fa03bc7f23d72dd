/*
 * waiting.c
 *	  Rows that wait, for readers of their own transaction.
 *
 * The rows of a set that a reader's snapshot sees, those of commands before its
 * curcid, are written to a file image, which it reads like any other file of
 * the table.  The image stays as it is, whatever becomes of the rows, and
 * serves all readers as long as the set is there.
 */
#include "postgres.h"

#include "guc.h"
#include "load/inline_rows.h"
#include "load/load_internal.h"
#include "load/pending_deletes.h"
#include "storage/damaged.h"
#include "storage/kept_manifest.h"
#include "storage/row_id.h"
#include "utils/lsyscache.h"

/* rows of commands before this one are seen */
static CommandId
SeenBefore(Snapshot snapshot)
{
	return snapshot && snapshot->snapshot_type == SNAPSHOT_MVCC ? snapshot->curcid : InvalidCommandId;
}

/* The sets of a table that have rows a reader sees, and will have no others. */
static List *
SeenSets(Oid relid, CommandId before)
{
	List	   *pending;
	List	   *seen = NIL;
	ListCell   *lc;

	if (bf_load.cxt == NULL || !LoadPending(relid))
		return NIL;
	LoadPutAsideSeen(relid, before);
	pending = LoadPendingSets(relid);
	foreach(lc, pending)
	{
		RowSet	   *set = ((PendingSet *) lfirst(lc))->set;

		if (set->min_cid < before)
			seen = lappend(seen, set);
	}
	list_free_deep(pending);
	return seen;
}

/* The image of the rows of a set that are seen. */
static WaitingImage *
GetImage(RowSet *set, CommandId before, bool with_stats)
{
	WaitingImage *image;
	FileImage  *file;
	ManifestWrite write;
	MemoryContext old;
	ListCell   *lc;

	/* readers of other snapshots that see the same rows get the same image */
	before = Min(before, set->max_cid + 1);
	foreach(lc, bf_load.images)
	{
		image = lfirst(lc);
		if (image->set == set->id && image->before == before &&
			(image->write.column_stats != NULL || !with_stats))
			return image;
	}

	file = SealImage(&set, 1, before, with_stats, &write, NULL);
	old = MemoryContextSwitchTo(bf_load.cxt);
	image = palloc0(sizeof(WaitingImage));
	image->set = set->id;
	image->before = before;
	image->image = file;
	image->write = write;
	bf_load.images = lappend(bf_load.images, image);
	MemoryContextSwitchTo(old);
	return image;
}

/* Add the rows that wait and that the snapshot sees. */
static void
AddWaiting(Manifest *manifest, Snapshot snapshot)
{
	CommandId	before = SeenBefore(snapshot);
	ListCell   *lc;

	foreach(lc, SeenSets(manifest->relid, before))
	{
		WaitingImage *image = GetImage(lfirst(lc), before, false);
		ManifestWrite write = image->write;

		write.column_stats = NULL;
		ImagePin(image->image);
		ManifestAdd(manifest, &write);
	}
}

/* Files, inline rows and rows that wait, all without those that are deleted. */
static Manifest *
ReadAll(Oid relid, Snapshot snapshot, bool leave_out_damaged, bool to_change)
{
	Manifest   *manifest = ManifestRead(relid, snapshot);

	(void) PendingDeletesApply(manifest, SeenBefore(snapshot));
	if (leave_out_damaged)
		ManifestLeaveOutDamaged(manifest);
	InlineAdd(manifest, snapshot, false, to_change);
	AddWaiting(manifest, snapshot);
	return manifest;
}

Manifest *
LoadManifest(Oid relid, Snapshot snapshot)
{
	return ReadAll(relid, snapshot, false, false);
}

/* A transaction that wrote nothing, and leaves nothing out, has no rows to add but inline ones. */
Manifest *
LoadManifestToRead(Oid relid, Snapshot snapshot)
{
	Manifest   *manifest;
	bool		no_inline_rows;

	if (bf_load.cxt != NULL || bf_load.deletes != NULL || bf_ignore_damaged_files)
		return ReadAll(relid, snapshot, bf_ignore_damaged_files, false);
	manifest = ManifestReadKept(relid, snapshot, &no_inline_rows);
	if (!no_inline_rows)
	{
		ManifestOwn(manifest);
		InlineAdd(manifest, snapshot, false, false);
	}
	return manifest;
}

Manifest *
LoadManifestToChange(Oid relid, Snapshot snapshot)
{
	Manifest   *manifest;

	/* rows that wait have no place yet */
	LoadSealPending(LoadPendingSets(relid), true);
	manifest = ReadAll(relid, snapshot, bf_ignore_damaged_files, true);
	if (ManifestNumberRows(manifest) > ROW_ID_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bucketed table \"%s\" has too many rows to be changed", get_rel_name(relid))));
	return manifest;
}

/* Add what a set will take in a file, about. */
static void
AddSizes(Manifest *manifest, const RowSet *set, int64 packed)
{
	const RowLayout *layout = set->layout;
	ManifestFile file = {.rows = set->nrows};
	ManifestWrite write = {.spec = layout->spec, .nfiles = 1, .files = &file};

	file.bytes = packed / (layout->options->compression == BF_COMPRESS_NONE ? 2 : 4);
	write.nruns = (int) Min(set->nrows, layout->spec->nbuckets);
	file.raw_bytes = packed;
	ManifestAdd(manifest, &write);
}

/*
 * Few rows are made the image that their reader will want, which gives
 * statistics.  Many are counted, with those that may not be seen.
 */
Manifest *
LoadManifestSizes(Oid relid, Snapshot snapshot, bool with_stats)
{
	Manifest   *manifest = ManifestReadSizes(relid, snapshot, with_stats);
	CommandId	before = SeenBefore(snapshot);
	ListCell   *lc;

	InlineAddSizes(manifest, snapshot, with_stats);
	(void) PendingDeletesApply(manifest, before);
	foreach(lc, SeenSets(relid, before))
	{
		RowSet	   *set = lfirst(lc);
		int64		packed = LoadSetBytes(set);

		if (packed > IMAGE_MEMORY / 2)
			AddSizes(manifest, set, packed);
		else
			ManifestAdd(manifest, &GetImage(set, before, with_stats)->write);
	}
	return manifest;
}

int64
LoadWaitingDeletes(Oid relid, Snapshot snapshot)
{
	Manifest	sizes = {.relid = relid};

	return PendingDeletesApply(&sizes, SeenBefore(snapshot));
}

int64
LoadWaitingRows(Oid relid, Snapshot snapshot)
{
	CommandId	before = SeenBefore(snapshot);
	int64		rows = -LoadWaitingDeletes(relid, snapshot);
	ListCell   *lc;

	foreach(lc, SeenSets(relid, before))
	{
		WaitingImage *image = GetImage(lfirst(lc), before, false);

		rows += image->write.nfiles > 0 ? image->write.files[0].rows : 0;
	}
	return rows;
}

/* The transaction ends: memory goes with its context. */
void
LoadForgetImages(bool commit)
{
	bf_load.images = NIL;
	ImagesEnd(commit);
}
