/*
 * routed_source.c
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs.
 *
 * On the way in rows are put into their groups only, which is cheap; a group
 * is sorted when it is opened, and then mostly fits the processor's caches.
 */
#include "postgres.h"

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/source/routed_source.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "rows/routed_sort.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

/* a batch ends at so many rows, or bytes of values that are copied for it */
#define ROUTED_ROWS 2048
#define ROUTED_BYTES (1024 * 1024)

typedef struct RoutedSource
{
	BatchSource base;			/* must be first */
	BatchSource *below;			/* the plan, if it can be read in batches */
	int		   *below_cols;		/* per column, that of the batches */
	MemoryContext cxt;
	MemoryContext rowcxt;		/* values of the row being routed */
	MemoryContext batchcxt;		/* values of the present batch */
	TupleDesc	desc;			/* of the plan's rows */
	RowLayout  *layout;
	bool		drop_nulls;

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
} RoutedSource;

/* Can the plan be read in batches: a node of ours that gives nothing but their columns? */
static void
FindBelow(RoutedSource *routed)
{
	BatchSource *below = BatchSourceFind(routed->base.node);
	int		   *cols;
	ListCell   *lc;

	if (below == NULL || below->gate != NULL || below->ops->next_of_all == NULL)
		return;
	cols = palloc(Max(routed->desc->natts, 1) * sizeof(int));
	foreach(lc, routed->base.node->plan->targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;
		int			col;

		if (!IsA(var, Var) || var->varno != INDEX_VAR || var->varattno <= 0)
			return;
		col = below->ops->column ? below->ops->column(below, var->varattno - 1) : var->varattno - 1;
		if (col < 0)
			return;
		cols[foreach_current_index(lc)] = col;
	}
	routed->below = below;
	routed->below_cols = cols;
}

/* Take down what was used, before it is gone. */
static void
NoteUsage(RoutedSource *routed)
{
	int64		memory = (int64) RoutedStorePeakMemory(routed->store) / 1024;
	int64		disk = RoutedStoreWritten(routed->store) / 1024 + RoutedSortDisk(routed->sort);

	routed->memory_kb = Max(routed->memory_kb, memory);
	routed->disk_kb = Max(routed->disk_kb, disk);
}

/* No group is open. */
static void
CloseGroup(RoutedSource *routed)
{
	RoutedSortClose(routed->sort);
	routed->next = routed->nrows = 0;
}

/* restarted: forget all rows */
static void
Forget(BatchSource *source)
{
	RoutedSource *routed = (RoutedSource *) source;

	if (routed->store == NULL)
		return;
	NoteUsage(routed);
	CloseGroup(routed);
	RoutedStoreFree(routed->store);
	routed->store = NULL;
}

static void
Want(BatchSource *source, int wants)
{
	((RoutedSource *) source)->drop_nulls |= (wants & WANT_NO_NULL_KEYS) != 0;
	source->keeps_rows |= (wants & WANT_KEPT_ROWS) != 0;
}

/*
 * Reading the plan
 */

/* Put a row into the store, unless it can match nothing. */
static void
RouteRow(RoutedSource *routed)
{
	const BatchSource *base = &routed->base;
	Datum	   *values = routed->values;
	bool	   *nulls = routed->nulls;
	uint32		hash = 0;
	int			group;
	Size		size;

	for (int k = 0; k < base->nkeys; k++)
	{
		int			col = base->keycols[k];

		/* a NULL adds nothing to the hash: any group will do, but always the same one */
		if (nulls[col])
		{
			if (routed->drop_nulls)
				return;
			continue;
		}
		if (TupleDescAttr(routed->desc, col)->attlen == -1)
			values[col] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[col]));
		hash = KeyHash(base->keyclasses[k], base->keytypes[k], values[col], hash);
	}
	group = KeyBucket(hash, RoutedStoreGroups(routed->store));
	size = RowMeasure(routed->layout, values, nulls);
	if (unlikely(size == 0))
	{
		RowFlatten(routed->layout, values, nulls);
		size = RowMeasure(routed->layout, values, nulls);
	}
	RowPack(routed->layout, RoutedStoreAdd(routed->store, group, size), size, values, nulls, InvalidCommandId);
}

/* Put the rows of a plan that gives them one by one into the store. */
static void
RouteSlots(RoutedSource *routed)
{
	int			natts = routed->desc->natts;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(routed->base.node);
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

/* Put the rows of a node that gives batches into the store. */
static void
RouteBatches(RoutedSource *routed)
{
	int			ncols = routed->desc->natts;
	const ColumnVector **vectors = palloc(Max(ncols, 1) * sizeof(ColumnVector *));
	Batch	   *batch;

	while ((batch = routed->below->ops->next_of_all(routed->below)) != NULL)
	{
		MemoryContext old;

		for (int c = 0; c < ncols; c++)
			vectors[c] = BatchColumn(batch, routed->below_cols[c]);
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
RouteRows(RoutedSource *routed, int ngroups)
{
	MemoryContext old = MemoryContextSwitchTo(routed->cxt);

	routed->store = RoutedStoreCreate(routed->layout, ngroups, (Size) work_mem * 1024);
	MemoryContextSwitchTo(old);
	routed->read = true;
	if (routed->below != NULL)
		RouteBatches(routed);
	else
		RouteSlots(routed);
	RoutedStoreFinish(routed->store);
}

/*
 * Groups
 */

static void
Describe(BatchSource *source)
{
	BatchSourceDescribeList(source, source->node->plan->targetlist);
}

static void
UseKeys(BatchSource *source, List *keys)
{
	RoutedSource *routed = (RoutedSource *) source;
	Batch	   *batch = &routed->batch;
	SortColumn *sort;
	int			ncols;

	routed->desc = ExecGetResultType(source->node);
	ncols = Max(routed->desc->natts, 1);
	routed->cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw routed source",
										ALLOCSET_DEFAULT_SIZES);
	routed->rowcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed row",
										   ALLOCSET_SMALL_SIZES);
	routed->batchcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed batch",
											 ALLOCSET_DEFAULT_SIZES);
	routed->values = palloc(ncols * sizeof(Datum));
	routed->nulls = palloc(ncols * sizeof(bool));

	batch->ncols = routed->desc->natts;
	batch->cols = palloc0(ncols * sizeof(ColumnVector));
	batch->loaded = palloc0(ncols * sizeof(bool));

	sort = palloc0(source->nkeys * sizeof(SortColumn));
	for (int k = 0; k < source->nkeys; k++)
	{
		sort[k].attnum = (AttrNumber) (source->keycols[k] + 1);
		sort[k].keyclass = source->keyclasses[k];
		sort[k].typid = source->keytypes[k];
	}
	routed->layout = RowLayoutOfRows(routed->desc, source->nkeys, sort);
	routed->sort = RoutedSortCreate(routed->layout);
	FindBelow(routed);
}

static void
Start(BatchSource *source)
{
	CloseGroup((RoutedSource *) source);
}

/* No say in the number of groups. */
static int
Buckets(BatchSource *source)
{
	return 0;
}

static void
CheckGroups(RoutedSource *routed, int ngroups)
{
	if (routed->store == NULL)
		RouteRows(routed, ngroups);
	if (ngroups != RoutedStoreGroups(routed->store))
		elog(ERROR, "rows routed to %d groups are read as %d",
			 RoutedStoreGroups(routed->store), ngroups);
}

static int64
GroupRows(BatchSource *source, int ngroups, int group)
{
	RoutedSource *routed = (RoutedSource *) source;

	CheckGroups(routed, ngroups);
	return RoutedStoreRows(routed->store, group);
}

/* Where rows are in no file no group can be cut. */
static bool
CutSources(BatchSource *source, UnitCutter *cutter, bool may_slice)
{
	return false;
}

static void
OpenUnit(BatchSource *source, int ngroups, const Unit *unit)
{
	RoutedSource *routed = (RoutedSource *) source;

	CheckGroups(routed, ngroups);
	CloseGroup(routed);
	RoutedSortOpen(routed->sort, routed->store, unit->group);
}

/* The group stays open until the next one is. */
static void
Close(BatchSource *source)
{
}

/*
 * Put n values of a column into its vector; returns less than n where those
 * that had to be detoasted take much memory.
 */
static int
GatherColumn(RoutedSource *routed, int c, int n)
{
	const RowLayout *layout = routed->layout;
	int			place = layout->col_of[c];
	const RowColumn *col = &layout->cols[place];
	char	  **rows = routed->rows + routed->next;
	Datum	   *values = routed->batch.cols[c].values;
	bool	   *nulls = routed->nulls_buffers[c];
	bool		any_null = false;
	Size		bytes = 0;

	for (int i = 0; i < n; i++)
	{
		nulls[i] = RowColumnIsNull(layout, rows[i], place);
		any_null |= nulls[i];
	}
	routed->batch.cols[c].nulls = any_null ? nulls : NULL;
	if (col->kind == ROW_INT64)
	{
		for (int i = 0; i < n; i++)
			values[i] = (Datum) *(int64 *) (rows[i] + col->offset);
		return n;
	}
	if (col->kind == ROW_INT32)
	{
		for (int i = 0; i < n; i++)
			values[i] = Int32GetDatum(*(int32 *) (rows[i] + col->offset));
		return n;
	}
	for (int i = 0; i < n; i++)
	{
		values[i] = nulls[i] ? (Datum) 0 : RowColumnValue(col, rows[i]);
		if (col->len == -1 && !nulls[i] &&
			(VARATT_IS_EXTERNAL(DatumGetPointer(values[i])) || VARATT_IS_COMPRESSED(DatumGetPointer(values[i]))))
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
MakeBatch(RoutedSource *routed)
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
UnsignKeys(RoutedSource *routed, int n)
{
	for (int k = 0; k < routed->base.nkeys; k++)
	{
		Datum	   *values = routed->batch.cols[routed->base.keycols[k]].values;

		if (routed->base.keyclasses[k] != KEYCLASS_OID)
			continue;
		for (int i = 0; i < n; i++)
			values[i] = ObjectIdGetDatum(DatumGetObjectId(values[i]));
	}
}

static Batch *
Next(BatchSource *source, const KeyBound *bound)
{
	RoutedSource *routed = (RoutedSource *) source;
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

/* As EXPLAIN VERBOSE prints an entry of the target list. */
static char *
KeyName(BatchSource *source, int key, int k, ExplainState *es)
{
	Plan	   *plan = source->node->plan;
	TargetEntry *tle = list_nth_node(TargetEntry, plan->targetlist, key);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, plan, NIL);

	return deparse_expression((Node *) tle->expr, context, true, false);
}

static List *
BucketCounts(BatchSource *source, List *counts)
{
	return counts;
}

/* Which side of the join is not bucketed by the key, and what keeping and sorting its rows took. */
static void
Explain(BatchSource *source, const char *side, ExplainState *es)
{
	RoutedSource *routed = (RoutedSource *) source;

	ExplainPropertyText("Routed", side, es);
	if (!es->analyze || !routed->read)
		return;
	if (routed->store != NULL)
		NoteUsage(routed);
	ExplainPropertyInteger("Sort Memory", "kB", routed->memory_kb, es);
	if (routed->disk_kb > 0)
		ExplainPropertyInteger("Sort Disk", "kB", routed->disk_kb, es);
}

static const BatchSourceOps routed_source_ops = {
	.describe = Describe,
	.use_keys = UseKeys,
	.want = Want,
	.start = Start,
	.restarted = Forget,
	.buckets = Buckets,
	.group_rows = GroupRows,
	.cut_sources = CutSources,
	.open_unit = OpenUnit,
	.next = Next,
	.close = Close,
	.end = Forget,
	.key_name = KeyName,
	.bucket_counts = BucketCounts,
	.explain = Explain,
};

BatchSource *
RoutedSourceCreate(PlanState *planstate)
{
	RoutedSource *routed = palloc0(sizeof(RoutedSource));

	routed->base.ops = &routed_source_ops;
	routed->base.planstate = routed->base.node = planstate;
	return &routed->base;
}
