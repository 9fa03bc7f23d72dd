/*
 * routed_input.c
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs.
 *
 * On the way in rows are put into their groups only, which is cheap; a group
 * is sorted when it is opened, and then mostly fits the processor's caches.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/join/bucket_join_state.h"
#include "exec/source/routed_input.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "rows/routed_sort.h"
#include "utils/memutils.h"

/* a batch ends at so many rows, or bytes of values that are copied for it */
#define ROUTED_ROWS 2048
#define ROUTED_BYTES (1024 * 1024)

struct RoutedInput
{
	PlanState  *planstate;
	BucketJoinState *join;		/* the plan, if it is a join that is read in batches */
	int		   *join_cols;		/* per column, that of the batches */
	MemoryContext cxt;
	MemoryContext rowcxt;		/* values of the row being routed */
	MemoryContext batchcxt;		/* values of the present batch */
	TupleDesc	desc;			/* of the plan's rows */
	RoutedLayout *layout;
	RoutedKey	key;
	bool		drop_nulls;
	bool		keep_rows;		/* for rescans */

	RoutedStore *store;			/* NULL: rows not read yet */
	RoutedSort *sort;
	Datum	   *values;			/* of the row being routed */
	bool	   *nulls;

	char	  **rows;			/* next rows of the group */
	int			nrows;
	int			next;			/* the first of them that is not in a batch */
	Batch		batch;
	bool	  **nulls_buffers;	/* per column */

	bool		read;			/* in some pass */
	int64		memory_kb;		/* most memory, and files, of all passes */
	int64		disk_kb;
};

RoutedInput *
RoutedInputCreate(PlanState *planstate)
{
	RoutedInput *routed = palloc0(sizeof(RoutedInput));
	Batch	   *batch = &routed->batch;
	int			ncols;

	routed->planstate = planstate;
	routed->desc = ExecGetResultType(planstate);
	ncols = Max(routed->desc->natts, 1);
	routed->cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw routed input",
										ALLOCSET_DEFAULT_SIZES);
	routed->rowcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed row",
										   ALLOCSET_SMALL_SIZES);
	routed->batchcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed batch",
											 ALLOCSET_DEFAULT_SIZES);
	routed->layout = RoutedLayoutCreate(routed->desc);
	routed->values = palloc(ncols * sizeof(Datum));
	routed->nulls = palloc(ncols * sizeof(bool));

	batch->ncols = routed->desc->natts;
	batch->cols = palloc0(ncols * sizeof(ColumnVector));
	batch->loaded = palloc0(ncols * sizeof(bool));
	return routed;
}

/* Is the plan a join of ours that gives columns, so that it can be read in batches? */
static void
FindJoin(RoutedInput *routed)
{
	BucketJoinState *join = BucketJoinOf(routed->planstate);
	int		   *cols;
	ListCell   *lc;
	int			c = 0;

	if (join == NULL || !BucketJoinGivesBatches(join))
		return;
	cols = palloc(Max(routed->desc->natts, 1) * sizeof(int));
	foreach(lc, routed->planstate->plan->targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != INDEX_VAR || var->varattno <= 0)
			return;
		cols[c++] = var->varattno - 1;
	}
	routed->join = join;
	routed->join_cols = cols;
}

void
RoutedInputSetKeys(RoutedInput *routed, int nkeys, const int *keycols,
				   const KeyClass *classes, const Oid *types)
{
	routed->key.nkeys = nkeys;
	routed->key.cols = keycols;
	routed->key.classes = classes;
	routed->key.types = types;
	routed->sort = RoutedSortCreate(routed->layout, &routed->key);
	FindJoin(routed);
}

void
RoutedInputDropNulls(RoutedInput *routed)
{
	routed->drop_nulls = true;
}

/* Take down what was used, before it is gone. */
static void
NoteUsage(RoutedInput *routed)
{
	int64		memory = (int64) RoutedStorePeakMemory(routed->store) / 1024;
	int64		disk = RoutedStoreWritten(routed->store) / 1024 + RoutedSortDisk(routed->sort);

	routed->memory_kb = Max(routed->memory_kb, memory);
	routed->disk_kb = Max(routed->disk_kb, disk);
}

/* No group is open. */
static void
CloseGroup(RoutedInput *routed)
{
	RoutedSortClose(routed->sort);
	routed->next = routed->nrows = 0;
}

void
RoutedInputForget(RoutedInput *routed)
{
	if (routed->store == NULL)
		return;
	NoteUsage(routed);
	CloseGroup(routed);
	RoutedStoreFree(routed->store);
	routed->store = NULL;
}

void
RoutedInputKeepRows(RoutedInput *routed)
{
	routed->keep_rows = true;
}

bool
RoutedInputKeepsRows(const RoutedInput *routed)
{
	return routed->keep_rows;
}

/*
 * Reading the plan
 */

/* Put a row into the store, unless it can match nothing. */
static void
RouteRow(RoutedInput *routed)
{
	const RoutedKey *key = &routed->key;
	Datum	   *values = routed->values;
	bool	   *nulls = routed->nulls;
	uint32		hash = 0;
	int			group;
	Size		size;

	for (int k = 0; k < key->nkeys; k++)
	{
		int			col = key->cols[k];

		/* a NULL adds nothing to the hash: any group will do, but always the same one */
		if (nulls[col])
		{
			if (routed->drop_nulls)
				return;
			continue;
		}
		if (routed->layout->cols[col].len == -1)
			values[col] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[col]));
		hash = KeyHash(key->classes[k], key->types[k], values[col], hash);
	}
	group = KeyBucket(hash, RoutedStoreGroups(routed->store));
	size = RoutedRowMeasure(routed->layout, values, nulls);
	RoutedRowPack(routed->layout, RoutedStoreAdd(routed->store, group, size), size, values, nulls);
}

/* Put the rows of a plan that gives them one by one into the store. */
static void
RouteSlots(RoutedInput *routed)
{
	int			natts = routed->desc->natts;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(routed->planstate);
		MemoryContext old;

		if (TupIsNull(slot))
			return;
		slot_getallattrs(slot);
		memcpy(routed->values, slot->tts_values, natts * sizeof(Datum));
		memcpy(routed->nulls, slot->tts_isnull, natts * sizeof(bool));
		MemoryContextReset(routed->rowcxt);
		old = MemoryContextSwitchTo(routed->rowcxt);
		RouteRow(routed);
		MemoryContextSwitchTo(old);
	}
}

/* Put the rows of a join of ours into the store. */
static void
RouteBatches(RoutedInput *routed)
{
	int			ncols = routed->desc->natts;
	const ColumnVector **vectors = palloc(Max(ncols, 1) * sizeof(ColumnVector *));
	Batch	   *batch;

	while ((batch = BucketJoinNextBatch(routed->join)) != NULL)
	{
		MemoryContext old;

		for (int c = 0; c < ncols; c++)
			vectors[c] = BatchColumn(batch, routed->join_cols[c]);
		MemoryContextReset(routed->rowcxt);
		old = MemoryContextSwitchTo(routed->rowcxt);
		for (int i = 0; i < batch->nselected; i++)
		{
			int			row = batch->selection ? batch->selection[i] : i;

			for (int c = 0; c < ncols; c++)
			{
				routed->values[c] = vectors[c]->values[row];
				routed->nulls[c] = vectors[c]->nulls && vectors[c]->nulls[row];
			}
			RouteRow(routed);
		}
		MemoryContextSwitchTo(old);
	}
	pfree(vectors);
}

/* Read the plan to its end. */
static void
RouteRows(RoutedInput *routed, int ngroups)
{
	MemoryContext old = MemoryContextSwitchTo(routed->cxt);

	routed->store = RoutedStoreCreate(routed->layout, ngroups, (Size) work_mem * 1024);
	MemoryContextSwitchTo(old);
	routed->read = true;
	if (routed->join != NULL)
		RouteBatches(routed);
	else
		RouteSlots(routed);
	RoutedStoreFinish(routed->store);
}

/*
 * Groups
 */

void
RoutedInputStart(RoutedInput *routed)
{
	CloseGroup(routed);
}

static void
CheckGroups(RoutedInput *routed, int ngroups)
{
	if (routed->store == NULL)
		RouteRows(routed, ngroups);
	if (ngroups != RoutedStoreGroups(routed->store))
		elog(ERROR, "rows routed to %d groups are read as %d",
			 RoutedStoreGroups(routed->store), ngroups);
}

int64
RoutedInputGroupRows(RoutedInput *routed, int ngroups, int group)
{
	CheckGroups(routed, ngroups);
	return RoutedStoreRows(routed->store, group);
}

void
RoutedInputOpenGroup(RoutedInput *routed, int ngroups, int group)
{
	CheckGroups(routed, ngroups);
	CloseGroup(routed);
	RoutedSortOpen(routed->sort, routed->store, group);
}

/*
 * Put n values of a column into its vector; returns less than n where those
 * that had to be detoasted take much memory.
 */
static int
GatherColumn(RoutedInput *routed, int c, int n)
{
	const RoutedLayout *layout = routed->layout;
	const RoutedColumn *col = &layout->cols[c];
	char	  **rows = routed->rows + routed->next;
	Datum	   *values = routed->batch.cols[c].values;
	bool	   *nulls = routed->nulls_buffers[c];
	bool		any_null = false;
	Size		bytes = 0;

	for (int i = 0; i < n; i++)
	{
		nulls[i] = RoutedRowIsNull(layout, rows[i], c);
		any_null |= nulls[i];
	}
	routed->batch.cols[c].nulls = any_null ? nulls : NULL;
	if (col->byval && col->len == 8)
	{
		for (int i = 0; i < n; i++)
			values[i] = (Datum) *(int64 *) (rows[i] + col->offset);
		return n;
	}
	if (col->byval && col->len == 4)
	{
		for (int i = 0; i < n; i++)
			values[i] = Int32GetDatum(*(int32 *) (rows[i] + col->offset));
		return n;
	}
	for (int i = 0; i < n; i++)
	{
		values[i] = nulls[i] ? (Datum) 0 : RoutedRowValue(col, rows[i]);
		if (col->len == -1 && !nulls[i] && VARATT_IS_EXTENDED(DatumGetPointer(values[i])) &&
			!VARATT_IS_SHORT(DatumGetPointer(values[i])))
		{
			/* in batches everything is plain */
			values[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[i]));
			bytes += VARSIZE_ANY(DatumGetPointer(values[i]));
			if (bytes > ROUTED_BYTES)
				return i + 1;
		}
	}
	return n;
}

/* Room for the rows of a batch, made on first use. */
static void
MakeBatch(RoutedInput *routed)
{
	MemoryContext old = MemoryContextSwitchTo(routed->cxt);
	Batch	   *batch = &routed->batch;

	routed->rows = palloc(ROUTED_ROWS * sizeof(char *));
	routed->nulls_buffers = palloc(Max(batch->ncols, 1) * sizeof(bool *));
	for (int c = 0; c < batch->ncols; c++)
	{
		batch->cols[c].values = palloc(ROUTED_ROWS * sizeof(Datum));
		routed->nulls_buffers[c] = palloc(ROUTED_ROWS * sizeof(bool));
	}
	MemoryContextSwitchTo(old);
}

/* Merging compares oid keys as 64-bit numbers; in a packed row they have a sign. */
static void
UnsignKeys(RoutedInput *routed, int n)
{
	for (int k = 0; k < routed->key.nkeys; k++)
	{
		Datum	   *values = routed->batch.cols[routed->key.cols[k]].values;

		if (routed->key.classes[k] != KEYCLASS_OID)
			continue;
		for (int i = 0; i < n; i++)
			values[i] = ObjectIdGetDatum(DatumGetObjectId(values[i]));
	}
}

Batch *
RoutedInputNext(RoutedInput *routed)
{
	Batch	   *batch = &routed->batch;
	MemoryContext old;
	int			n;

	if (routed->rows == NULL)
		MakeBatch(routed);
	CHECK_FOR_INTERRUPTS();
	if (routed->next == routed->nrows)
	{
		routed->nrows = RoutedSortNext(routed->sort, routed->rows, ROUTED_ROWS, ROUTED_BYTES);
		routed->next = 0;
	}
	n = routed->nrows - routed->next;
	if (n == 0)
		return NULL;
	MemoryContextReset(routed->batchcxt);
	old = MemoryContextSwitchTo(routed->batchcxt);
	for (int c = 0; c < batch->ncols; c++)
		n = GatherColumn(routed, c, n);
	MemoryContextSwitchTo(old);
	UnsignKeys(routed, n);
	routed->next += n;
	BatchReset(batch, n);
	memset(batch->loaded, true, batch->ncols * sizeof(bool));
	return batch;
}

bool
RoutedInputStats(RoutedInput *routed, int64 *memory_kb, int64 *disk_kb)
{
	if (routed->store != NULL)
		NoteUsage(routed);
	*memory_kb = routed->memory_kb;
	*disk_kb = routed->disk_kb;
	return routed->read;
}

void
RoutedInputEnd(RoutedInput *routed)
{
	RoutedInputForget(routed);
}
