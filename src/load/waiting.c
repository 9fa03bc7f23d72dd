/*
 * waiting.c
 *	  Rows that wait, for readers of their own transaction.
 *
 * The rows that a reader's snapshot sees, those of commands before its curcid,
 * are written to a file image, which it reads like any other file of the
 * table.  The image stays as it is, whatever becomes of the rows, and serves
 * all readers until the rows that wait change.
 */
#include "postgres.h"

#include "load/load_internal.h"
#include "utils/memutils.h"

/* rows of commands before this one are seen */
static CommandId
SeenBefore(Snapshot snapshot)
{
	return snapshot && snapshot->snapshot_type == SNAPSHOT_MVCC ? snapshot->curcid : InvalidCommandId;
}

/* Forget the images that were made before the rows changed. */
static void
DropOldImages(const LoadTable *table)
{
	ListCell   *lc;

	foreach(lc, bf_load.images)
	{
		WaitingImage *image = lfirst(lc);

		if (image->table == table && image->changes != table->changes)
		{
			bf_load.images = foreach_delete_current(bf_load.images, lc);
			ImageRelease(image->image);
			pfree(image);
		}
	}
}

/* The image of the rows of one layout that wait in some sets. */
static WaitingImage *
GetImage(LoadTable *table, RowSet **sets, int nsets, CommandId before, bool with_stats)
{
	WaitingImage *image;
	FileImage  *file;
	ManifestWrite write;
	MemoryContext old;
	CommandId	last = FirstCommandId;
	ListCell   *lc;

	/* readers of other snapshots that see the same rows get the same image */
	for (int s = 0; s < nsets; s++)
		last = Max(last, sets[s]->max_cid);
	before = Min(before, last + 1);
	DropOldImages(table);
	foreach(lc, bf_load.images)
	{
		image = lfirst(lc);
		if (image->layout == sets[0]->layout && image->before == before &&
			(image->write.column_stats != NULL || !with_stats))
			return image;
	}

	file = SealImage(sets, nsets, before, with_stats, &write);
	old = MemoryContextSwitchTo(bf_load.cxt);
	image = palloc0(sizeof(WaitingImage));
	image->table = table;
	image->layout = sets[0]->layout;
	image->before = before;
	image->changes = table->changes;
	image->image = file;
	image->write = write;
	bf_load.images = lappend(bf_load.images, image);
	MemoryContextSwitchTo(old);
	return image;
}

/*
 * The sets of a table that have rows of commands before one, which are all of
 * one layout; those of other layouts are left in *pending.
 */
static LoadTable *
TakeSets(List **pending, CommandId before, RowSet **sets, int *nsets)
{
	LoadTable  *table = NULL;
	RowLayout  *layout = NULL;
	ListCell   *lc;

	*nsets = 0;
	foreach(lc, *pending)
	{
		PendingSet *p = lfirst(lc);

		if (layout != NULL && p->set->layout != layout)
			continue;
		if (p->set->min_cid < before)
		{
			layout = p->set->layout;
			table = p->state->table;
			sets[(*nsets)++] = p->set;
		}
		*pending = foreach_delete_current(*pending, lc);
	}
	return table;
}

Manifest *
LoadManifest(Oid relid, Snapshot snapshot)
{
	Manifest   *manifest = ManifestRead(relid, snapshot);
	CommandId	before = SeenBefore(snapshot);
	List	   *pending = LoadPendingSets(relid);

	while (pending != NIL)
	{
		RowSet	  **sets = palloc(sizeof(RowSet *) * list_length(pending));
		int			nsets;
		LoadTable  *table = TakeSets(&pending, before, sets, &nsets);

		if (nsets > 0)
		{
			WaitingImage *image = GetImage(table, sets, nsets, before, false);
			ManifestWrite write = image->write;

			if (write.nfiles > 0)
			{
				write.column_stats = NULL;
				ImagePin(image->image);
				ManifestAdd(manifest, &write);
			}
		}
		pfree(sets);
	}
	return manifest;
}

/* Add what sets of one layout, of packed bytes so many, will take in a file, about. */
static void
AddSizes(Manifest *manifest, RowSet **sets, int nsets, int64 packed)
{
	const RowLayout *layout = sets[0]->layout;
	ManifestFile file = {0};
	ManifestWrite write = {.spec = layout->spec, .nfiles = 1, .files = &file};

	for (int s = 0; s < nsets; s++)
		file.rows += sets[s]->nrows;
	for (int b = 0; b < layout->spec->nbuckets; b++)
	{
		bool		found = false;

		for (int s = 0; s < nsets && !found; s++)
		{
			const RowBucket *bucket = RowSetBucket(sets[s], b);

			found = sets[s]->runs != NIL || (bucket != NULL && bucket->rows > 0);
		}
		write.nruns += found;
	}
	file.bytes = packed / (layout->options->compression == BF_COMPRESS_NONE ? 2 : 4);
	write.raw_bytes = packed;
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
	List	   *pending = LoadPendingSets(relid);

	while (pending != NIL)
	{
		RowSet	  **sets = palloc(sizeof(RowSet *) * list_length(pending));
		int			nsets;
		LoadTable  *table = TakeSets(&pending, SeenBefore(snapshot), sets, &nsets);
		int64		packed = 0;

		for (int s = 0; s < nsets; s++)
			packed += LoadSetBytes(sets[s]);
		if (packed > IMAGE_MEMORY / 2)
			AddSizes(manifest, sets, nsets, packed);
		else if (nsets > 0)
		{
			WaitingImage *image = GetImage(table, sets, nsets, SeenBefore(snapshot), with_stats);

			if (image->write.nfiles > 0)
				ManifestAdd(manifest, &image->write);
		}
		pfree(sets);
	}
	return manifest;
}

int64
LoadWaitingRows(Oid relid, Snapshot snapshot)
{
	CommandId	before = SeenBefore(snapshot);
	List	   *pending = LoadPendingSets(relid);
	int64		rows = 0;

	while (pending != NIL)
	{
		RowSet	  **sets = palloc(sizeof(RowSet *) * list_length(pending));
		int			nsets;
		LoadTable  *table = TakeSets(&pending, before, sets, &nsets);

		if (nsets > 0)
		{
			WaitingImage *image = GetImage(table, sets, nsets, before, false);

			for (int f = 0; f < image->write.nfiles; f++)
				rows += image->write.files[f].rows;
		}
		pfree(sets);
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
