/*
 * unit_cutter.c
 *	  Cut a bucket group that is too large for one process into parts.
 *
 * Footers tell the first and last key of each block.  Neighbouring blocks of a
 * run are taken together until they are a small part of the limit, so that
 * what is remembered is bounded whatever the number of blocks; sorted by key,
 * these entries tell where about how many rows of all inputs have been passed.
 *
 * A key that fills blocks alone, of more rows than the limit, gets a unit of
 * its own.  If nobody needs the key whole, that unit is read in slices: each
 * of them has other blocks of one input, and all rows of the others.  Rows
 * without a key match nothing, so that all inputs can be sliced there.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "exec/unit/unit_cutter.h"
#include "guc.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* an entry is a run's last, or at least this part of the limit */
#define ENTRIES_PER_LIMIT 16

/* a slice has so many blocks of the input that is sliced, or so many rows */
#define BLOCKS_PER_SLICE 4
#define ROWS_PER_SLICE 8

/* more rows than this are not told apart */
#define MAX_WORK ((double) (INT64CONST(1) << 50))

/* Neighbouring blocks of a run. */
typedef struct CutEntry
{
	KeyBound	key;			/* the first one; unless nulls */
	const CutSource *source;
	int			number;			/* entries are made in this order */
	int64		rows;
	int			nblocks;
	bool		alone;			/* all rows have the key */
	bool		nulls;			/* the first column of the key is NULL in all rows */
} CutEntry;

/* What an owner's sources have of one key. */
typedef struct OwnerTally
{
	const void *owner;			/* NULL: all owners */
	bool		may_slice;
	double		rows;
	int			nblocks;
} OwnerTally;

/* The group being cut. */
typedef struct CutGroup
{
	UnitCutter *cutter;
	int			group;
	int64		limit;
	CutEntry   *entries;
	int			nentries;
	int			room;
	OwnerTally *tallies;		/* one per source at most */
	const KeyCut *from;			/* the last cut */
	List	   *units;
} CutGroup;

void
UnitCutterAdd(UnitCutter *cutter, const CutSource *source)
{
	CutSource  *copy = palloc(sizeof(CutSource));

	*copy = *source;
	cutter->sources = lappend(cutter->sources, copy);
}

/* Can the tuple be the key of a cut: no NULL in it? */
static bool
IsKey(const StatValue *tuple, int nkeys)
{
	for (int k = 0; k < nkeys; k++)
	{
		if (tuple[k].isnull)
			return false;
	}
	return true;
}

/* Has every row of the block the same key? */
static bool
OneKey(const BucketSpec *spec, const FileBlock *block, int nkeys)
{
	for (int k = 0; k < nkeys; k++)
	{
		const StatValue *first = &block->first[k];
		const StatValue *last = &block->last[k];

		if (first->isnull || last->isnull || first->truncated || last->truncated ||
			KeyCompare(spec->sort[k].keyclass, spec->sort[k].typid, first->value,
					   spec->sort[k].typid, last->value) != 0)
			return false;
	}
	return true;
}

/* Is the first key of the block this one? */
static bool
HasKey(const BucketSpec *spec, const FileBlock *block, const KeyBound *key)
{
	for (int k = 0; k < key->nkeys; k++)
	{
		if (KeyCompare(spec->sort[k].keyclass, spec->sort[k].typid, block->first[k].value,
					   key->types[k], key->values[k]) != 0)
			return false;
	}
	return true;
}

/* Copy a key out of the memory of a file that may be closed. */
static void
CopyKey(KeyBound *key, const BucketSpec *spec, const StatValue *tuple, int nkeys)
{
	KeyClass   *classes = palloc(nkeys * sizeof(KeyClass));
	Oid		   *types = palloc(nkeys * sizeof(Oid));
	Datum	   *values = palloc(nkeys * sizeof(Datum));

	for (int k = 0; k < nkeys; k++)
	{
		int16		typlen;
		bool		typbyval;

		classes[k] = spec->sort[k].keyclass;
		types[k] = spec->sort[k].typid;
		get_typlenbyval(types[k], &typlen, &typbyval);
		values[k] = datumCopy(tuple[k].value, typbyval, typlen);
	}
	key->nkeys = nkeys;
	key->classes = classes;
	key->types = types;
	key->values = values;
}

static CutEntry *
NewEntry(CutGroup *cut, const CutSource *source)
{
	CutEntry   *entry;

	if (cut->nentries == cut->room)
	{
		cut->room = Max(2 * cut->room, 64);
		cut->entries = cut->entries ?
			repalloc_huge(cut->entries, cut->room * sizeof(CutEntry)) :
			palloc(cut->room * sizeof(CutEntry));
	}
	entry = &cut->entries[cut->nentries];
	memset(entry, 0, sizeof(CutEntry));
	entry->source = source;
	entry->number = cut->nentries++;
	return entry;
}

/* The run whose entries are added. */
typedef struct CutRun
{
	CutGroup   *cut;
	const CutSource *source;
} CutRun;

/* CutBlocks: add the entries of a run. */
static void
AddBlocks(void *arg, const BucketSpec *spec, const FileBlock *blocks, int nblocks)
{
	CutGroup   *cut = ((CutRun *) arg)->cut;
	const CutSource *source = ((CutRun *) arg)->source;
	int64		step = cut->limit / ENTRIES_PER_LIMIT;
	CutEntry   *entry = NULL;

	for (int b = 0; b < nblocks; b++)
	{
		const FileBlock *block = &blocks[b];
		bool		alone;

		CHECK_FOR_INTERRUPTS();
		if (block->first[0].isnull)
		{
			if (entry == NULL || !entry->nulls)
			{
				entry = NewEntry(cut, source);
				entry->nulls = true;
			}
			entry->rows += block->nrows;
			entry->nblocks++;
			continue;
		}
		alone = OneKey(spec, block, source->nkeys);
		if (entry != NULL && entry->alone && alone && HasKey(spec, block, &entry->key))
			 /* the same key goes on */ ;
		else if (entry == NULL || entry->rows >= step)
		{
			/* a NULL in the key: the rows go with those before them, if there are any */
			if (IsKey(block->first, source->nkeys))
			{
				entry = NewEntry(cut, source);
				CopyKey(&entry->key, spec, block->first, source->nkeys);
				entry->alone = alone;
			}
			else if (entry == NULL)
				continue;
		}
		else
			entry->alone = false;
		entry->rows += block->nrows;
		entry->nblocks++;
	}
}

static int
CompareKeys(const CutEntry *x, const CutEntry *y)
{
	if (x->nulls || y->nulls)
		return x->nulls - y->nulls;
	for (int k = 0; k < x->key.nkeys; k++)
	{
		int			c = KeyCompareAcross(x->key.classes[k], x->key.types[k], x->key.values[k],
										 y->key.classes[k], y->key.types[k], y->key.values[k]);

		if (c != 0)
			return c;
	}
	return 0;
}

static int
CompareEntries(const void *a, const void *b)
{
	const CutEntry *x = a;
	const CutEntry *y = b;
	int			c = CompareKeys(x, y);

	return c != 0 ? c : (x->number > y->number) - (x->number < y->number);
}

static const KeyCut *
MakeCut(CutGroup *cut, KeyCutKind kind, const CutEntry *entry)
{
	KeyCut	   *made = palloc0(sizeof(KeyCut));
	uint32		hash = 0;

	made->kind = kind;
	if (kind != CUT_BEFORE_NULLS)
	{
		made->key = entry->key;
		for (int k = 0; k < made->key.nkeys; k++)
			hash = KeyHash(made->key.classes[k], made->key.types[k], made->key.values[k], hash);
	}
	cut->cutter->fingerprint =
		hash_combine64(hash_combine64(cut->cutter->fingerprint, (uint64) hash), (uint64) kind);
	return made;
}

/*
 * Add units from the last cut to the next, for that many rows, of which those
 * of the input that is sliced are shared out.
 */
static void
AddUnits(CutGroup *cut, const KeyCut *to, double rows, double work, const OwnerTally *sliced)
{
	int			nslices = 1;
	bool		by_rows = false;
	double		sliced_rows = sliced ? sliced->rows : 0;

	if (sliced != NULL)
	{
		nslices = (int) Min(work / cut->limit + 1, cut->cutter->max_slices);
		/* rows of the others are read for each slice: not more of them than are shared out */
		if (cut->cutter->counts)
			nslices = (int) Max(Min(nslices, sliced_rows / Max(rows - sliced_rows, 1)), 1);
		/* blocks are not decoded twice where there are many of them */
		by_rows = sliced->nblocks < BLOCKS_PER_SLICE * nslices;
		if (by_rows)
			nslices = (int) Max(Min(nslices, sliced_rows / ROWS_PER_SLICE), 1);
	}
	rows -= sliced_rows - sliced_rows / nslices;
	for (int slice = 0; slice < nslices; slice++)
	{
		Unit	   *unit = palloc0(sizeof(Unit));

		unit->group = cut->group;
		unit->rows = Max((int64) Min(rows, MAX_WORK), 1);
		unit->work = Max((int64) (Min(work, MAX_WORK) / nslices), 1);
		unit->part.from = cut->from;
		unit->part.to = to;
		unit->part.slice = slice;
		unit->part.nslices = nslices;
		unit->part.by_rows = by_rows;
		unit->sliced = sliced ? sliced->owner : NULL;
		cut->units = lappend(cut->units, unit);
	}
	cut->from = to;
}

/*
 * The work for the n entries of one key: the rows of blocks that have it
 * alone, and the pairs they make, unless those are counted.  *best is the input with most of them that
 * may be sliced (NULL: none), *rows are those of all inputs.
 */
static double
KeyWork(CutGroup *cut, const CutEntry *entries, int n, double *rows, const OwnerTally **best)
{
	double		pairs = 1;
	int			ntallies = 0;

	*rows = 0;
	*best = NULL;
	for (int i = 0; i < n; i++)
	{
		const CutSource *source = entries[i].source;
		OwnerTally *tally = cut->tallies;

		if (!entries[i].alone)
			continue;
		while (tally < cut->tallies + ntallies && tally->owner != source->owner)
			tally++;
		if (tally == cut->tallies + ntallies)
		{
			memset(tally, 0, sizeof(OwnerTally));
			tally->owner = source->owner;
			tally->may_slice = source->may_slice;
			ntallies++;
		}
		tally->rows += (double) entries[i].rows;
		tally->nblocks += entries[i].nblocks;
	}
	for (int t = 0; t < ntallies; t++)
	{
		const OwnerTally *tally = &cut->tallies[t];

		*rows += tally->rows;
		pairs *= tally->rows;
		if (tally->may_slice && (*best == NULL || tally->rows > (*best)->rows))
			*best = tally;
	}
	return ntallies > 1 && !cut->cutter->counts ? *rows + pairs : *rows;
}

/* Add the unit from the last cut to the next. */
static void
AddUnit(CutGroup *cut, const KeyCut *to, double rows)
{
	AddUnits(cut, to, rows, rows, NULL);
}

/* Go through the entries and cut. */
static void
CutEntries(CutGroup *cut, int64 rows)
{
	const CutEntry *entries = cut->entries;
	/* parts of one size */
	double		size = (double) rows / ((rows + cut->limit - 1) / cut->limit);
	double		passed = 0;		/* rows since the last cut */
	int			i = 0;

	while (i < cut->nentries && !entries[i].nulls)
	{
		const OwnerTally *best;
		double		here = 0;
		double		alone;
		double		work;
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		for (; i + n < cut->nentries && CompareKeys(&entries[i], &entries[i + n]) == 0; n++)
			here += (double) entries[i + n].rows;
		work = KeyWork(cut, entries + i, n, &alone, &best);
		if (work >= cut->limit)
		{
			AddUnit(cut, MakeCut(cut, CUT_BEFORE_KEY, &entries[i]), passed);
			AddUnits(cut, MakeCut(cut, CUT_AFTER_KEY, &entries[i]), alone, work, best);
			passed = here - alone;
		}
		else
		{
			if (passed > 0 && passed + here / 2 > size)
			{
				AddUnit(cut, MakeCut(cut, CUT_BEFORE_KEY, &entries[i]), passed);
				passed = 0;
			}
			passed += here;
		}
		i += n;
	}
	if (i < cut->nentries)
	{
		OwnerTally	all = {.owner = NULL};

		for (; i < cut->nentries; i++)
		{
			all.rows += (double) entries[i].rows;
			all.nblocks += entries[i].nblocks;
		}
		if (cut->cutter->split && all.rows >= cut->limit)
		{
			AddUnit(cut, MakeCut(cut, CUT_BEFORE_NULLS, NULL), passed);
			AddUnits(cut, NULL, all.rows, all.rows, &all);
			return;
		}
		passed += all.rows;
	}
	AddUnit(cut, NULL, passed);
}

List *
UnitCutterCut(UnitCutter *cutter, int ngroups, int group, int64 rows, int64 limit)
{
	CutGroup	cut = {.cutter = cutter,.group = group,.limit = limit};
	int64		stored = 0;
	ListCell   *lc;

	cut.tallies = palloc(list_length(cutter->sources) * sizeof(OwnerTally));
	foreach(lc, cutter->sources)
	{
		CutRun		run = {&cut, lfirst(lc)};
		int			nruns;
		const int  *runs = run.source->ops->group_runs(run.source->table, ngroups, group, &nruns);

		for (int r = 0; r < nruns; r++)
			run.source->ops->visit_run(run.source->table, runs[r], AddBlocks, &run);
	}
	/* blocks have deleted rows besides, which are read, too: parts become so much larger, not more */
	for (int i = 0; i < cut.nentries; i++)
		stored += cut.entries[i].rows;
	if (stored > rows)
	{
		cut.limit = (int64) Min((double) limit * stored / rows, MAX_WORK);
		rows = stored;
	}
	if (cut.nentries > 1)
		qsort(cut.entries, cut.nentries, sizeof(CutEntry), CompareEntries);
	CutEntries(&cut, rows);
	if (cut.entries != NULL)
		pfree(cut.entries);
	pfree(cut.tallies);
	return cut.units;
}
