/*
 * rebucket.c
 *	  A table gets another bucket spec, and its files are written anew.
 *
 * Files may have different numbers of buckets, so another number is only set
 * first, for all later writes, and files of other numbers are replaced in
 * steps under ShareUpdateExclusiveLock, as compaction does it; readers and
 * appends go on.  Which files are left to do is seen from the manifest alone.
 *
 * All files of a table have the same key and order, so others are changed in
 * one transaction that locks out writers, and at its end readers: none may
 * come with a plan made for the old key.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "exec/scan/leaf_reader.h"
#include "executor/executor.h"
#include "load/load.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/lmgr.h"
#include "storage/row_id.h"
#include "upkeep/lock_out.h"
#include "upkeep/rebucket.h"
#include "upkeep/replace.h"
#include "upkeep/spec_change.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* of a step, about: their numbers have 32 bits */
#define STEP_ROWS (INT64CONST(1) << 31)

struct Rebucketing
{
	Oid			relid;
	List	   *given;			/* options that are wanted */
	bool		recompress;		/* compression is among them */
	bool		begun;			/* the spec is set */
	bool		changed;		/* something was done */
};

Rebucketing *
RebucketBegin(Oid relid, List *given)
{
	Rebucketing *rebucketing = palloc0(sizeof(Rebucketing));
	ListCell   *lc;

	rebucketing->relid = relid;
	rebucketing->given = given;
	foreach(lc, given)
		rebucketing->recompress |= strcmp(lfirst_node(DefElem, lc)->defname, "compression") == 0;
	return rebucketing;
}

/* A file, and to which buckets of the new spec its rows go. */
typedef struct FileClass
{
	int			file;
	int			bucket;			/* its first one, modulo the divisor of both counts */
} FileClass;

static int
CompareFiles(const void *a, const void *b)
{
	const FileClass *x = a;
	const FileClass *y = b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

/*
 * Choose the files of one step among those that are not as files are written
 * now; returns how many of these there are.  Files whose rows meet in the same
 * buckets are taken together, so that these have few runs afterwards.
 */
static int
ChooseFiles(const Rebucketing *rebucketing, const BucketSpec *spec, const Manifest *manifest, bool *chosen)
{
	FileClass  *files = palloc(Max(manifest->nfiles, 1) * sizeof(FileClass));
	int			version = SpecVersion(rebucketing->relid, spec);
	int64		bytes = 0;
	int64		rows = 0;
	int			n = 0;

	for (int f = 0; f < manifest->nfiles; f++)
	{
		const ManifestFile *file = &manifest->files[f];
		const BucketSpec *have = manifest->specs[file->spec];

		/* another compression is another version */
		if (BucketSpecAlike(have, spec) &&
			!(rebucketing->recompress && file->spec_version < version))
			continue;
		files[n].file = f;
		files[n++].bucket = file->first_bucket % GreatestCommonDivisor(have->nbuckets, spec->nbuckets);
	}
	qsort(files, n, sizeof(FileClass), CompareFiles);
	for (int i = 0; i < n && bytes < STEP_BYTES && rows < STEP_ROWS; i++)
	{
		chosen[files[i].file] = true;
		bytes += manifest->files[files[i].file].bytes;
		rows += manifest->files[files[i].file].rows;
	}
	return n;
}

/* SealedRows */
static void
AddSources(void *sources, char *const *rows, int n)
{
	for (int i = 0; i < n; i++)
		RowSourcesAdd(sources, RowCid(rows[i]));
}

/*
 * Collect the rows of some files by the present spec of the table and write
 * them; sources, unless NULL, are told where they come from.
 */
static ManifestWrite *
WriteAnew(Relation rel, const RowLayout *layout, Manifest *inputs, RowSources *sources)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			ncols = layout->ncols + (sources != NULL);
	AttrNumber *attnums = palloc(Max(ncols, 1) * sizeof(AttrNumber));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	CommandId	cid = GetCurrentCommandId(true);
	LoadState  *load = LoadBeginDetached(rel, layout->options, maintenance_work_mem);
	LeafReader *leaf;
	Batch	   *batch;

	for (int c = 0; c < layout->ncols; c++)
		attnums[c] = layout->cols[c].attnum;
	if (sources != NULL)
		attnums[layout->ncols] = SelfItemPointerAttributeNumber;
	memset(slot->tts_isnull, true, desc->natts * sizeof(bool));
	leaf = LeafReaderCreate(rel, inputs, ncols, attnums, 0, NULL);
	LeafOpenAll(leaf, NULL);
	while ((batch = LeafNextBatch(leaf, NULL)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < ncols; c++)
			(void) BatchColumn(batch, c);
		for (int i = 0; i < batch->nselected; i++)
		{
			int			row = batch->selection ? batch->selection[i] : i;

			ExecClearTuple(slot);
			for (int c = 0; c < layout->ncols; c++)
			{
				const ColumnVector *vector = &batch->cols[c];
				int			at = attnums[c] - 1;

				slot->tts_isnull[at] = vector->nulls != NULL && vector->nulls[row];
				slot->tts_values[at] = vector->values[row];
			}
			ExecStoreVirtualTuple(slot);
			if (sources == NULL)
				LoadRow(load, slot, cid);
			else
				LoadNumberedRow(load, slot, cid, (uint32)
								RowIdGet((ItemPointer) DatumGetPointer(batch->cols[layout->ncols].values[row])));
		}
	}
	LeafClose(leaf);
	LeafReaderEnd(leaf);
	ExecDropSingleTupleTableSlot(slot);
	return LoadWriteDetached(rel, load, sources ? AddSources : NULL, sources);
}

/*
 * The first step sets the spec.  Is another key or order wanted, all files are
 * replaced in it: false then.
 */
static bool
FirstStep(Rebucketing *rebucketing, Relation rel)
{
	SpecChange *change = SpecChangeMake(rel, rebucketing->given);
	BucketSpec *spec = BucketSpecCopy(change->now->spec);
	RowLayout  *layout;
	Manifest   *manifest;

	rebucketing->begun = true;
	rebucketing->changed = SpecChanges(change);
	spec->nbuckets = change->wanted->spec->nbuckets;
	if (BucketSpecEqual(spec, change->wanted->spec))
	{
		if (rebucketing->changed)
			SpecChangeApply(rebucketing->relid, change);
		return true;
	}

	LockRelationOid(rebucketing->relid, ShareRowExclusiveLock);
	SpecChangeApply(rebucketing->relid, change);
	layout = RowLayoutCreate(rebucketing->relid, RelationGetDescr(rel), change->wanted);
	manifest = ManifestToReplace(rebucketing->relid);
	(void) ReplaceFiles(rel, layout, manifest, WriteAnew(rel, layout, manifest, NULL), BF_ORIGIN_REBUCKET, NULL);

	/* the last thing before the commit: nobody has planned for the old key then and not begun to read */
	LockRelationOid(rebucketing->relid, AccessExclusiveLock);
	return false;
}

/* The manifest as it is, and the files of the step; returns how many there are that are not as wanted. */
static int
ReadAndChoose(const Rebucketing *rebucketing, const BucketSpec *spec, Manifest **manifest, bool **chosen)
{
	*manifest = ManifestToReplace(rebucketing->relid);
	*chosen = palloc0(Max((*manifest)->nfiles, 1) * sizeof(bool));
	return ChooseFiles(rebucketing, spec, *manifest, *chosen);
}

/* A further step: some files are written anew. */
static bool
FileStep(Rebucketing *rebucketing, Relation rel)
{
	TableOptions *options = TableOptionsGet(rel);
	RowLayout  *layout = RowLayoutCreate(rebucketing->relid, RelationGetDescr(rel), options);
	RowSources *sources = NULL;
	Manifest   *manifest;
	bool	   *chosen;
	bool		replaced;

	if (ReadAndChoose(rebucketing, options->spec, &manifest, &chosen) == 0)
	{
		if (!rebucketing->changed)
			ereport(NOTICE,
					(errmsg("all files of bucketed table \"%s\" are of this spec already",
							RelationGetRelationName(rel))));
		return false;
	}
	if (TooMuchGarbage(rel, manifest) || !WaitForChangers(rel))
		return false;
	ManifestKeepFiles(manifest, chosen);
	if (ManifestNumberRows(manifest) <= PG_UINT32_MAX)
		sources = RowSourcesBegin(manifest);
	else
	{
		/* a file of so many rows: nobody may write meanwhile */
		LockRelationOid(rebucketing->relid, ShareRowExclusiveLock);
		(void) ReadAndChoose(rebucketing, options->spec, &manifest, &chosen);
		ManifestKeepFiles(manifest, chosen);
	}
	replaced = ReplaceFiles(rel, layout, manifest, WriteAnew(rel, layout, manifest, sources), BF_ORIGIN_REBUCKET,
							sources);
	if (sources != NULL)
		RowSourcesEnd(sources);
	if (!replaced)
		return false;
	rebucketing->changed = true;
	ereport(DEBUG1,
			(errmsg_internal("rebucketed %d files of \"%s\"", manifest->nfiles, RelationGetRelationName(rel))));
	return true;
}

/* StepOfTable's work */
static bool
Step(void *state, Relation rel)
{
	Rebucketing *rebucketing = state;

	return rebucketing->begun ? FileStep(rebucketing, rel) : FirstStep(rebucketing, rel);
}

bool
RebucketStep(Rebucketing *rebucketing)
{
	return StepOfTable(rebucketing->relid, Step, rebucketing);
}
