/*
 * agg_hash.c
 *	  Groups by any columns.
 *
 * Groups are numbered; their values and cells lie in arrays, and a table with
 * open addressing leads from hash to number.  Rows of a batch mostly have few
 * different values, and by-reference ones often the same address: a small
 * cache by the bits of the Datums finds most groups without hashing.
 *
 * When the memory is used up, all groups go to one of 16 files by bits of
 * their hash.  At the end each file is read back, its groups being merged,
 * and divided once more if need be.
 */
#include "postgres.h"

#include "exec/agg/agg_hash.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#define CACHE_BITS 8
#define CACHE_SIZE (1 << CACHE_BITS)

/* so many groups at most, and rows of each in a batch at least, are worth sorting the rows by them */
#define FEW_GROUPS 64
#define ROWS_PER_SORTED_GROUP 16

/* a file for each value of four bits of the hash */
#define PARTITION_BITS 4
#define NPARTITIONS (1 << PARTITION_BITS)
#define MAX_LEVEL (32 / PARTITION_BITS)

/* memory of a file before it is one, in kB */
#define PARTITION_KB 64

/* groups that were written */
typedef struct Partition
{
	Tuplestorestate *store;
	int			level;			/* bits of the hash that are the same in all of them, in files */
} Partition;

struct AggHash
{
	int			ncols;
	Oid		   *types;			/* base types */
	KeyClass   *classes;
	int16	   *typlen;
	bool	   *typbyval;
	int			naggs;
	const BatchAgg *aggs;
	bool		incomplete;
	Size		limit;
	MemoryContext owner;
	MemoryContext cxt;			/* groups and the table */

	int			ngroups;
	int			maxgroups;
	Datum	   *values;			/* ncols per group */
	bool	   *nulls;
	uint32	   *hashes;
	AggCell    *cells;			/* naggs per group */
	uint32		mask;
	uint32	   *table;			/* number of a group + 1; 0: free */

	uint32		cache_group[CACHE_SIZE];	/* + 1 */
	Datum	   *cache_key;		/* ncols per entry */
	uint32	   *groups;			/* per entry of a batch */
	uint16	   *sorted;			/* its rows by group; NULL until needed */

	bool		ended;			/* the input */
	bool		giving;			/* the groups are being given */
	int			given;
	int			level;			/* of the groups in memory */
	Partition  *divided;		/* where they go, NULL: nowhere yet */
	List	   *pending;		/* Partitions to read */
	TupleDesc	desc;			/* of written groups */
	TupleTableSlot *slot;
	MemoryContext tuple_cxt;	/* of one written group */
	Size		peak;
	int64		spilled;
};

AggHash *
AggHashCreate(int ncols, const Oid *types, bool incomplete, Size limit_bytes)
{
	AggHash    *hash = palloc0(sizeof(AggHash));

	hash->ncols = ncols;
	hash->types = palloc(Max(ncols, 1) * sizeof(Oid));
	hash->classes = palloc(Max(ncols, 1) * sizeof(KeyClass));
	hash->typlen = palloc(Max(ncols, 1) * sizeof(int16));
	hash->typbyval = palloc(Max(ncols, 1) * sizeof(bool));
	for (int c = 0; c < ncols; c++)
	{
		hash->types[c] = getBaseType(types[c]);
		hash->classes[c] = KeyClassOfType(hash->types[c]);
		get_typlenbyval(hash->types[c], &hash->typlen[c], &hash->typbyval[c]);
	}
	hash->incomplete = incomplete;
	hash->limit = limit_bytes;
	hash->owner = CurrentMemoryContext;
	hash->cxt = AllocSetContextCreate(CurrentMemoryContext, "BucketAggregate groups",
									  ALLOCSET_DEFAULT_SIZES);
	hash->tuple_cxt = AllocSetContextCreate(CurrentMemoryContext, "BucketAggregate written group",
											ALLOCSET_SMALL_SIZES);
	hash->cache_key = palloc(CACHE_SIZE * Max(ncols, 1) * sizeof(Datum));
	hash->groups = palloc(BF_BATCH_ROWS * sizeof(uint32));
	return hash;
}

MemoryContext
AggHashContext(AggHash *hash)
{
	return hash->cxt;
}

/* Begin with no group in memory. */
static void
ClearGroups(AggHash *hash)
{
	hash->peak = Max(hash->peak, MemoryContextMemAllocated(hash->cxt, true));
	MemoryContextReset(hash->cxt);
	hash->ngroups = 0;
	hash->maxgroups = 0;
	hash->table = NULL;
	memset(hash->cache_group, 0, sizeof(hash->cache_group));
}

void
AggHashSetAggs(AggHash *hash, int naggs, const BatchAgg *aggs)
{
	hash->naggs = naggs;
	hash->aggs = aggs;
	AggHashReset(hash);
}

/* Room for more groups, with a table of twice as many places. */
static void
Grow(AggHash *hash)
{
	int			max = Max(64, hash->maxgroups * 2);
	MemoryContext old = MemoryContextSwitchTo(hash->cxt);

#define RESIZE(array, count) \
	array = hash->maxgroups == 0 ? \
		MemoryContextAllocHuge(hash->cxt, Max((Size) (count), 1) * sizeof(*array)) : \
		repalloc_huge(array, Max((Size) (count), 1) * sizeof(*array))

	RESIZE(hash->values, (Size) max * hash->ncols);
	RESIZE(hash->nulls, (Size) max * hash->ncols);
	RESIZE(hash->hashes, max);
	RESIZE(hash->cells, (Size) max * hash->naggs);
	RESIZE(hash->table, (Size) max * 2);
	hash->maxgroups = max;
	hash->mask = (uint32) max * 2 - 1;
	memset(hash->table, 0, (Size) max * 2 * sizeof(uint32));
	for (int g = 0; g < hash->ngroups; g++)
	{
		uint32		at = hash->hashes[g] & hash->mask;

		while (hash->table[at] != 0)
			at = (at + 1) & hash->mask;
		hash->table[at] = (uint32) g + 1;
	}
	MemoryContextSwitchTo(old);
}

static bool
SameGroup(const AggHash *hash, int group, const Datum *values, const bool *nulls)
{
	const Datum *have = &hash->values[(Size) group * hash->ncols];
	const bool *have_null = &hash->nulls[(Size) group * hash->ncols];

	for (int c = 0; c < hash->ncols; c++)
	{
		if (have_null[c] != nulls[c])
			return false;
		if (!nulls[c] && KeyCompare(hash->classes[c], hash->types[c], have[c],
									hash->types[c], values[c]) != 0)
			return false;
	}
	return true;
}

/* The group with these values, made if it is new. */
static uint32
FindGroup(AggHash *hash, const Datum *values, const bool *nulls)
{
	uint32		h = 0;
	uint32		at;
	uint32		group;
	MemoryContext old;

	for (int c = 0; c < hash->ncols; c++)
	{
		if (!nulls[c])
			h = KeyHash(hash->classes[c], hash->types[c], values[c], h);
	}
	if (hash->ngroups == hash->maxgroups)
		Grow(hash);
	for (at = h & hash->mask; hash->table[at] != 0; at = (at + 1) & hash->mask)
	{
		group = hash->table[at] - 1;
		if (hash->hashes[group] == h && SameGroup(hash, group, values, nulls))
			return group;
	}
	group = (uint32) hash->ngroups++;
	hash->table[at] = group + 1;
	hash->hashes[group] = h;
	memset(&hash->cells[(Size) group * hash->naggs], 0, hash->naggs * sizeof(AggCell));
	old = MemoryContextSwitchTo(hash->cxt);
	for (int c = 0; c < hash->ncols; c++)
	{
		hash->nulls[(Size) group * hash->ncols + c] = nulls[c];
		hash->values[(Size) group * hash->ncols + c] = nulls[c] ? (Datum) 0 :
			datumCopy(values[c], hash->typbyval[c], hash->typlen[c]);
	}
	MemoryContextSwitchTo(old);
	return group;
}

/* Which entry of the cache may know these bits. */
static inline uint32
CacheSlot(const Datum *values, int ncols)
{
	uint64		mix = 0;

	for (int c = 0; c < ncols; c++)
		mix = (mix ^ (uint64) values[c]) * UINT64CONST(0x9E3779B97F4A7C15);
	return (uint32) (mix >> (64 - CACHE_BITS));
}

static inline bool
SameBits(const Datum *a, const Datum *b, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* Find the group of each entry of a batch, by one column: what most queries group by. */
static void
FindGroupsOfColumn(AggHash *hash, const Batch *batch, const ColumnVector *column)
{
	const Datum *values = column->values;
	const bool *nulls = column->nulls;
	const uint16 *selection = batch->selection;
	int			n = batch->nselected;
	uint32	   *cache_group = hash->cache_group;
	Datum	   *cache_key = hash->cache_key;
	uint32	   *groups = hash->groups;

	for (int i = 0; i < n; i++)
	{
		int			row = selection ? selection[i] : i;
		Datum		value = values[row];
		bool		isnull = nulls && nulls[row];
		uint32		slot = CacheSlot(&value, 1);

		if (isnull)
			groups[i] = FindGroup(hash, &value, &isnull);
		else
		{
			if (cache_group[slot] == 0 || cache_key[slot] != value)
			{
				cache_group[slot] = FindGroup(hash, &value, &isnull) + 1;
				cache_key[slot] = value;
			}
			groups[i] = cache_group[slot] - 1;
		}
	}
}

/* The same by any columns. */
static void
FindGroups(AggHash *hash, const Batch *batch, const ColumnVector **columns)
{
	int			ncols = hash->ncols;
	Datum	   *values = palloc(ncols * sizeof(Datum));
	bool	   *nulls = palloc(ncols * sizeof(bool));

	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = batch->selection ? batch->selection[i] : i;
		bool		anynull = false;
		uint32		slot;
		Datum	   *key;

		for (int c = 0; c < ncols; c++)
		{
			nulls[c] = columns[c]->nulls && columns[c]->nulls[row];
			values[c] = columns[c]->values[row];
			anynull |= nulls[c];
		}
		if (anynull)
		{
			hash->groups[i] = FindGroup(hash, values, nulls);
			continue;
		}
		slot = CacheSlot(values, ncols);
		key = &hash->cache_key[slot * ncols];
		if (hash->cache_group[slot] == 0 || !SameBits(key, values, ncols))
		{
			hash->cache_group[slot] = FindGroup(hash, values, nulls) + 1;
			memcpy(key, values, ncols * sizeof(Datum));
		}
		hash->groups[i] = hash->cache_group[slot] - 1;
	}
	pfree(values);
	pfree(nulls);
}

/*
 * Sort the rows of a batch by their groups, of which there are few: each
 * aggregate is then advanced over the rows of one group after the other.
 */
static void
AddSorted(AggHash *hash, const Batch *batch, const AggVector *vectors)
{
	int			end[FEW_GROUPS] = {0};
	int			from = 0;

	if (hash->sorted == NULL)
		hash->sorted = MemoryContextAlloc(hash->owner, BF_BATCH_ROWS * sizeof(uint16));
	for (int i = 0; i < batch->nselected; i++)
		end[hash->groups[i]]++;
	for (int g = 0; g < hash->ngroups; g++)
	{
		int			n = end[g];

		end[g] = from;
		from += n;
	}
	for (int i = 0; i < batch->nselected; i++)
		hash->sorted[end[hash->groups[i]]++] = batch->selection ? batch->selection[i] : (uint16) i;
	from = 0;
	for (int g = 0; g < hash->ngroups; g++)
	{
		for (int i = 0; from < end[g] && i < hash->naggs; i++)
			hash->aggs[i].fn->advance(&hash->aggs[i], &hash->cells[g * hash->naggs + i], &vectors[i],
									  hash->sorted, from, end[g]);
		from = end[g];
	}
}

void
AggHashAddBatch(AggHash *hash, const Batch *batch, const ColumnVector **columns,
				const AggVector *vectors)
{
	/* addresses mean other values now */
	memset(hash->cache_group, 0, sizeof(hash->cache_group));
	if (hash->ncols == 1)
		FindGroupsOfColumn(hash, batch, columns[0]);
	else
		FindGroups(hash, batch, columns);
	if (hash->ngroups <= FEW_GROUPS && hash->naggs > 1 &&
		batch->nselected >= hash->ngroups * ROWS_PER_SORTED_GROUP)
	{
		AddSorted(hash, batch, vectors);
		return;
	}
	for (int i = 0; i < hash->naggs; i++)
		hash->aggs[i].fn->scatter(&hash->aggs[i], &hash->cells[i], hash->naggs, hash->groups, &vectors[i],
								  batch->selection, batch->nselected);
}

void
AggHashAddPacked(AggHash *hash, const Datum *values, const bool *nulls, const Datum *packed)
{
	uint32		group = FindGroup(hash, values, nulls);
	MemoryContext old = MemoryContextSwitchTo(hash->tuple_cxt);

	for (int i = 0; i < hash->naggs; i++)
	{
		AggCell		cell;

		AggCellUnpack(&hash->aggs[i], (const bytea *) DatumGetPointer(packed[i]), &cell);
		AggCellCombine(&hash->aggs[i], &hash->cells[(Size) group * hash->naggs + i], &cell);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(hash->tuple_cxt);
}

/*
 * Groups in files
 */

static void
DescribeWritten(AggHash *hash)
{
	MemoryContext old = MemoryContextSwitchTo(hash->owner);

	hash->desc = CreateTemplateTupleDesc(hash->ncols + hash->naggs);
	for (int c = 0; c < hash->ncols; c++)
		TupleDescInitEntry(hash->desc, (AttrNumber) (c + 1), NULL, hash->types[c], -1, 0);
	for (int i = 0; i < hash->naggs; i++)
		TupleDescInitEntry(hash->desc, (AttrNumber) (hash->ncols + i + 1), NULL, BYTEAOID, -1, 0);
	hash->slot = MakeSingleTupleTableSlot(hash->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
}

/* Write all groups to files, and have none in memory. */
static void
Divide(AggHash *hash)
{
	int			natts = hash->ncols + hash->naggs;
	Datum	   *values = palloc0(natts * sizeof(Datum));
	bool	   *nulls = palloc0(natts * sizeof(bool));
	MemoryContext old;

	if (hash->desc == NULL)
		DescribeWritten(hash);
	if (hash->divided == NULL)
	{
		old = MemoryContextSwitchTo(hash->owner);
		hash->divided = palloc(NPARTITIONS * sizeof(Partition));
		for (int p = 0; p < NPARTITIONS; p++)
		{
			hash->divided[p].store = tuplestore_begin_heap(false, false, PARTITION_KB);
			hash->divided[p].level = hash->level + 1;
		}
		MemoryContextSwitchTo(old);
	}
	for (int g = 0; g < hash->ngroups; g++)
	{
		int			p = (hash->hashes[g] >> (32 - PARTITION_BITS * (hash->level + 1))) & (NPARTITIONS - 1);

		CHECK_FOR_INTERRUPTS();
		memcpy(values, &hash->values[(Size) g * hash->ncols], hash->ncols * sizeof(Datum));
		memcpy(nulls, &hash->nulls[(Size) g * hash->ncols], hash->ncols * sizeof(bool));
		old = MemoryContextSwitchTo(hash->tuple_cxt);
		for (int i = 0; i < hash->naggs; i++)
		{
			bytea	   *packed = AggCellPack(&hash->aggs[i],
											 &hash->cells[(Size) g * hash->naggs + i]);

			values[hash->ncols + i] = PointerGetDatum(packed);
			hash->spilled += VARSIZE(packed);
		}
		MemoryContextSwitchTo(old);
		tuplestore_putvalues(hash->divided[p].store, hash->desc, values, nulls);
		MemoryContextReset(hash->tuple_cxt);
	}
	pfree(values);
	pfree(nulls);
	ClearGroups(hash);
}

/* Must the groups go somewhere before more is added? */
static bool
IsFull(const AggHash *hash)
{
	return hash->ncols > 0 && hash->level < MAX_LEVEL &&
		MemoryContextMemAllocated(hash->cxt, true) > hash->limit;
}

/* The files that were filled are to be read; the last groups go there too. */
static void
FinishDividing(AggHash *hash)
{
	MemoryContext old;

	Divide(hash);
	old = MemoryContextSwitchTo(hash->owner);
	for (int p = 0; p < NPARTITIONS; p++)
		hash->pending = lappend(hash->pending, &hash->divided[p]);
	MemoryContextSwitchTo(old);
	hash->divided = NULL;
}

/* Read the next file; false when there is none. */
static bool
ReadPartition(AggHash *hash)
{
	Partition  *partition;

	if (hash->pending == NIL)
		return false;
	partition = llast(hash->pending);
	hash->pending = list_delete_last(hash->pending);
	hash->level = partition->level;
	while (tuplestore_gettupleslot(partition->store, true, false, hash->slot))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(hash->slot);
		AggHashAddPacked(hash, hash->slot->tts_values, hash->slot->tts_isnull,
						 hash->slot->tts_values + hash->ncols);
		if (IsFull(hash))
			Divide(hash);
	}
	ExecClearTuple(hash->slot);
	tuplestore_end(partition->store);
	if (hash->divided != NULL)
		FinishDividing(hash);
	return true;
}

/* Read input until it ends or memory does; then there are groups to give, or files. */
static void
ReadInput(AggHash *hash, AggHashRead read, void *arg)
{
	while (!hash->ended)
	{
		CHECK_FOR_INTERRUPTS();
		hash->ended = !read(arg);
		if (hash->ended || !IsFull(hash))
			continue;
		if (hash->incomplete)
			return;
		Divide(hash);
	}
	if (hash->divided != NULL)
		FinishDividing(hash);
}

bool
AggHashNext(AggHash *hash, AggHashRead read, void *arg, Datum **values, bool **nulls,
			AggCell **cells)
{
	for (;;)
	{
		if (hash->giving && hash->given < hash->ngroups)
		{
			int			g = hash->given++;

			*values = &hash->values[(Size) g * hash->ncols];
			*nulls = &hash->nulls[(Size) g * hash->ncols];
			*cells = &hash->cells[(Size) g * hash->naggs];
			return true;
		}
		if (hash->giving)
			ClearGroups(hash);
		hash->giving = false;
		if (!hash->ended)
			ReadInput(hash, read, arg);
		else if (!ReadPartition(hash))
			return false;
		hash->giving = true;
		hash->given = 0;
	}
}

static void
EndPartitions(Partition *partitions)
{
	for (int p = 0; p < NPARTITIONS; p++)
		tuplestore_end(partitions[p].store);
}

void
AggHashReset(AggHash *hash)
{
	ListCell   *lc;

	foreach(lc, hash->pending)
		tuplestore_end(((Partition *) lfirst(lc))->store);
	list_free(hash->pending);
	hash->pending = NIL;
	if (hash->divided != NULL)
		EndPartitions(hash->divided);
	hash->divided = NULL;
	ClearGroups(hash);
	hash->ended = false;
	hash->giving = false;
	hash->given = 0;
	hash->level = 0;
	if (hash->ncols == 0)
		(void) FindGroup(hash, NULL, NULL);
}

Size
AggHashPeakMemory(const AggHash *hash)
{
	return Max(hash->peak, MemoryContextMemAllocated(hash->cxt, true));
}

int64
AggHashSpilled(const AggHash *hash)
{
	return hash->spilled;
}
