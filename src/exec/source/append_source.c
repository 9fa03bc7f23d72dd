/*
 * append_source.c
 *	  Several bucketed scans of one partitioned table, read as one sorted
 *	  stream per bucket group.
 *
 * Partitions may have other attribute numbers, bucket counts and runs.  Their
 * streams are merged by key; a merged batch points into the batches of the
 * scans, so it ends where one of these is used up.
 *
 * Where no order is wanted, scans are read one after the other, and whatever
 * the partitions are bucketed by: the source has no keys then.
 */
#include "postgres.h"

#include "exec/source/append_source.h"
#include "executor/instrument.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* rows of a merged batch */
#define APPEND_ROWS 2048

typedef struct AppendChild
{
	BatchSource *source;
	int		   *cols;			/* per output column: batch column of the scan */
	KeyVector	keys;
	Batch	   *batch;			/* being merged, NULL: at the end */
	int			pos;			/* next entry of keys */
} AppendChild;

typedef struct AppendSource
{
	BatchSource base;			/* must be first */
	Instrumentation *instrument;	/* of the Append; NULL: there is none, or it takes no time */
	int			nchildren;
	AppendChild *children;
	int			ncols;

	UnitClaim  *claim;			/* where no order is wanted */
	int			at;				/* then, the child being read; -1: children are merged */

	bool		primed;			/* first batches of the group are there */
	bool		refill;			/* the first child of the heap has used up its batch */
	binaryheap *heap;

	Batch		batch;
	AppendChild *source[APPEND_ROWS];
	uint16		row[APPEND_ROWS];
} AppendSource;

/* BatchColumnLoader: gather a column of the output from the scans' batches. */
static void
GatherAppended(Batch *batch, int col)
{
	AppendSource *append = batch->load_arg;
	Datum	   *values;
	bool	   *nulls;
	bool		anynull = false;
	AppendChild *last = NULL;
	ColumnVector *vec = NULL;

	if (append->at >= 0)
	{
		last = &append->children[append->at];
		batch->cols[col] = *BatchColumn(last->batch, last->cols[col]);
		batch->loaded[col] = true;
		return;
	}
	values = BatchRoom(batch, col)->values;
	nulls = BatchRoom(batch, col)->nulls;
	for (int i = 0; i < batch->nrows; i++)
	{
		int			row = append->row[i];

		if (append->source[i] != last)
		{
			last = append->source[i];
			vec = BatchColumn(last->batch, last->cols[col]);
		}
		values[i] = vec->values[row];
		nulls[i] = vec->nulls ? vec->nulls[row] : false;
		anynull |= nulls[i];
	}
	BatchFilled(batch, col, anynull);
}

/* BatchScaledLoader: of a scan that is read alone. */
static bool
GatherScaled(Batch *batch, int col, ScaledColumn *scaled)
{
	AppendSource *append = batch->load_arg;
	AppendChild *child;

	if (append->at < 0)
		return false;
	child = &append->children[append->at];
	return BatchScaled(child->batch, child->cols[col], scaled);
}

/* binaryheap keeps the greatest first: the smallest key must be it. */
static int
CompareChildren(Datum a, Datum b, void *arg)
{
	AppendChild *x = (AppendChild *) DatumGetPointer(a);
	AppendChild *y = (AppendChild *) DatumGetPointer(b);

	return KeyVectorCompare(&y->keys, y->pos, &x->keys, x->pos);
}

/* describe */
static void
Describe(BatchSource *source)
{
	AppendSource *append = (AppendSource *) source;

	BatchSourceDescribeList(source, source->node->plan->targetlist);
	append->ncols = source->ncols;
	BatchInit(&append->batch, append->ncols, APPEND_ROWS, GatherAppended, append);
	append->batch.load_scaled = GatherScaled;
	append->at = -1;
	append->heap = binaryheap_allocate(Max(append->nchildren, 1), CompareChildren, NULL);
}

/* The column of a child, as plans name it, that is column c of the output. */
static AttrNumber
ChildColumn(const AppendChild *child, int c)
{
	List	   *tlist = child->source->node->plan->targetlist;
	Var		   *var = (Var *) list_nth_node(TargetEntry, tlist, c)->expr;

	if (!IsA(var, Var))
		elog(ERROR, "a partition under a bucket join computes an expression");
	return var->varattno;
}

/* use_keys */
static void
UseKeys(BatchSource *source, List *keys)
{
	AppendSource *append = (AppendSource *) source;

	for (int i = 0; i < append->nchildren; i++)
	{
		AppendChild *child = &append->children[i];
		int			ncols = list_length(child->source->node->plan->targetlist);
		List	   *attnums = NIL;

		if (ncols != append->ncols)
			elog(ERROR, "a partition under a bucket join has %d columns instead of %d",
				 ncols, append->ncols);
		for (int k = 0; k < source->nkeys; k++)
			attnums = lappend_int(attnums, ChildColumn(child, source->keycols[k]));
		BatchSourceDescribe(child->source, attnums);
		for (int k = 0; k < source->nkeys; k++)
		{
			if (child->source->keyclasses[k] != source->keyclasses[k])
				elog(ERROR, "a partition under a bucket join has a key of another class");
		}
		if (source->nkeys > 0)
			BatchSourceCheckOrder(child->source, attnums);
		KeyVectorInit(&child->keys, source->nkeys, child->source->keycols, child->source->keyclasses,
					  child->source->keytypes);
		child->cols = palloc(Max(ncols, 1) * sizeof(int));
		for (int c = 0; c < ncols; c++)
			child->cols[c] = BatchSourceColumn(child->source, ChildColumn(child, c));
	}
}

static void
Start(BatchSource *source)
{
	AppendSource *append = (AppendSource *) source;

	for (int i = 0; i < append->nchildren; i++)
		BatchSourceStart(append->children[i].source);
}

static int
Buckets(BatchSource *source)
{
	AppendSource *append = (AppendSource *) source;
	int			buckets = 0;

	for (int i = 0; i < append->nchildren; i++)
		buckets = GreatestCommonDivisor(buckets, BatchSourceBuckets(append->children[i].source));
	return buckets;
}

static int64
GroupRows(BatchSource *source, int ngroups, int group)
{
	AppendSource *append = (AppendSource *) source;
	int64		rows = 0;

	for (int i = 0; i < append->nchildren; i++)
		rows += BatchSourceGroupRows(append->children[i].source, ngroups, group);
	return rows;
}

/* cut_sources: all children are one source that is sliced, or not */
static bool
CutSources(BatchSource *source, UnitCutter *cutter, bool may_slice)
{
	AppendSource *append = (AppendSource *) source;
	ListCell   *lc;
	int			n = list_length(cutter->sources);

	for (int i = 0; i < append->nchildren; i++)
	{
		if (!BatchSourceCutSources(append->children[i].source, cutter, may_slice))
			return false;
	}
	for_each_from(lc, cutter->sources, n)
		((CutSource *) lfirst(lc))->owner = source;
	return true;
}

static void
OpenUnit(BatchSource *source, int ngroups, const Unit *unit)
{
	AppendSource *append = (AppendSource *) source;
	Unit		own = *unit;

	own.part = BatchSourcePart(source, unit);
	own.sliced = NULL;
	for (int i = 0; i < append->nchildren; i++)
		BatchSourceOpenUnit(append->children[i].source, ngroups, &own);
	append->primed = false;
	append->refill = false;
	binaryheap_reset(append->heap);
}

/* Open the next child to be read alone, if there is one with rows. */
static void
OpenNextChild(AppendSource *append)
{
	if (append->at >= 0)
		BatchSourceClose(append->children[append->at].source);
	while (++append->at < append->nchildren && append->children[append->at].source->gate_closed)
		;
	if (append->at < append->nchildren)
		(void) BatchSourceOpenAll(append->children[append->at].source, append->claim);
}

static void
OpenAll(BatchSource *source, UnitClaim *claim)
{
	AppendSource *append = (AppendSource *) source;

	append->claim = claim;
	append->at = -1;
	OpenNextChild(append);
}

/* The next batch of the children one after the other. */
static Batch *
NextInTurn(AppendSource *append)
{
	Batch	   *batch = &append->batch;

	while (append->at < append->nchildren)
	{
		AppendChild *child = &append->children[append->at];

		CHECK_FOR_INTERRUPTS();
		child->batch = BatchSourceNext(child->source, NULL);
		if (child->batch != NULL)
		{
			BatchReset(batch, child->batch->nrows);
			batch->nselected = child->batch->nselected;
			batch->selection = child->batch->selection;
			return batch;
		}
		OpenNextChild(append);
	}
	return NULL;
}

/* Read the child's next batch with an entry at or after the bound; false at its end. */
static bool
ReadChild(AppendChild *child, const KeyBound *bound)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		child->batch = BatchSourceNext(child->source, bound);
		if (child->batch == NULL)
			return false;
		KeyVectorFill(&child->keys, child->batch, true);
		child->pos = bound ? KeyVectorLowerBound(&child->keys, 0, bound) : 0;
	} while (child->pos >= child->keys.n);
	return true;
}

/* Let all children skip what is below the bound, and order them anew. */
static void
SkipTo(AppendSource *append, const KeyBound *bound)
{
	binaryheap_reset(append->heap);
	for (int i = 0; i < append->nchildren; i++)
	{
		AppendChild *child = &append->children[i];

		if (!append->primed || child->batch == NULL)
		{
			if (append->primed || !ReadChild(child, bound))
				continue;
		}
		else
		{
			if (bound)
				child->pos = KeyVectorLowerBound(&child->keys, child->pos, bound);
			if (child->pos >= child->keys.n && !ReadChild(child, bound))
				continue;
		}
		binaryheap_add_unordered(append->heap, PointerGetDatum(child));
	}
	binaryheap_build(append->heap);
	append->primed = true;
	append->refill = false;
}

/* Merge the next batch. */
static Batch *
MergeNext(AppendSource *append, const KeyBound *bound)
{
	Batch	   *batch = &append->batch;
	int			n = 0;

	if (!append->primed || bound != NULL)
		SkipTo(append, bound);
	else if (append->refill)
	{
		AppendChild *child = (AppendChild *) DatumGetPointer(binaryheap_first(append->heap));

		if (ReadChild(child, NULL))
			binaryheap_replace_first(append->heap, PointerGetDatum(child));
		else
			(void) binaryheap_remove_first(append->heap);
		append->refill = false;
	}

	while (n < APPEND_ROWS && !binaryheap_empty(append->heap))
	{
		AppendChild *child = (AppendChild *) DatumGetPointer(binaryheap_first(append->heap));

		append->source[n] = child;
		append->row[n] = (uint16) KeyVectorRow(&child->keys, child->pos);
		n++;
		child->pos++;
		if (child->pos >= child->keys.n)
		{
			/* the scan's next batch would take the place of the one we point into */
			append->refill = true;
			break;
		}
		binaryheap_replace_first(append->heap, PointerGetDatum(child));
	}
	if (n == 0)
		return NULL;
	BatchReset(batch, n);
	return batch;
}

static Batch *
Next(BatchSource *source, const KeyBound *bound)
{
	AppendSource *append = (AppendSource *) source;
	Batch	   *batch;

	if (append->instrument)
		InstrStartNode(append->instrument);
	batch = append->at >= 0 ? NextInTurn(append) : MergeNext(append, bound);
	if (append->instrument)
		InstrStopNode(append->instrument, batch ? batch->nselected : 0);
	return batch;
}

static void
Close(BatchSource *source)
{
	AppendSource *append = (AppendSource *) source;

	for (int i = 0; i < append->nchildren; i++)
	{
		BatchSourceClose(append->children[i].source);
		append->children[i].batch = NULL;
	}
	append->primed = false;
	append->at = -1;
}

static BatchSource *
Child(BatchSource *source, int i)
{
	AppendSource *append = (AppendSource *) source;

	return i < append->nchildren ? append->children[i].source : NULL;
}

/*
 * EXPLAIN
 */

/* The name of an entry of the target list of an Append, or of what is left in its place. */
static char *
KeyName(BatchSource *source, int key, int k, ExplainState *es)
{
	Plan	   *plan = source->node->plan;
	Plan	   *child = plan;
	Index		named;
	Var		   *var;
	RangeTblEntry *rte;

	if (IsA(plan, Append))
		child = linitial(((Append *) plan)->appendplans);
	if (IsA(child, Result))
		child = outerPlan(child);
	var = (Var *) list_nth_node(TargetEntry, child->targetlist, key)->expr;
	named = ((Scan *) child)->scanrelid;
	rte = list_nth_node(RangeTblEntry, es->rtable, named - 1);
	/* a column has the same name in the partition and in its parent */
	if (IsA(plan, Append) && bms_next_member(((Append *) plan)->apprelids, -1) > 0)
		named = bms_next_member(((Append *) plan)->apprelids, -1);
	return psprintf("%s.%s", quote_identifier(list_nth(es->rtable_names, named - 1)),
					quote_identifier(get_attname(rte->relid, var->varattno, false)));
}

/* The partitions' counts as one. */
static List *
BucketCounts(BatchSource *source, List *counts)
{
	AppendSource *append = (AppendSource *) source;
	int			buckets = 0;

	for (int i = 0; i < append->nchildren; i++)
	{
		BatchSource *child = append->children[i].source;

		buckets = GreatestCommonDivisor(buckets, linitial_int(child->ops->bucket_counts(child, NIL)));
	}
	return buckets > 0 ? lappend_int(counts, buckets) : counts;
}

/* All runs of a group are merged at once. */
static void
AddCounters(BatchSource *source, SourceCounters *counters)
{
	AppendSource *append = (AppendSource *) source;
	int			runs = 0;

	for (int i = 0; i < append->nchildren; i++)
	{
		BatchSource *child = append->children[i].source;
		SourceCounters own = {0};

		child->ops->add_counters(child, &own);
		runs += own.runs;
		counters->memory += own.memory;
	}
	counters->runs = Max(counters->runs, runs);
}

static const BatchSourceOps append_source_ops = {
	.describe = Describe,
	.use_keys = UseKeys,
	.start = Start,
	.buckets = Buckets,
	.group_rows = GroupRows,
	.cut_sources = CutSources,
	.open_unit = OpenUnit,
	.open_all = OpenAll,
	.next = Next,
	.close = Close,
	.child = Child,
	.key_name = KeyName,
	.bucket_counts = BucketCounts,
	.add_counters = AddCounters,
};

BatchSource *
AppendSourceCreate(PlanState *planstate)
{
	AppendSource *append = palloc0(sizeof(AppendSource));
	PlanState  *node = planstate;
	PlanState **children = &node;

	if (IsA(planstate, ResultState) && outerPlanState(planstate) != NULL &&
		IsA(outerPlanState(planstate), AppendState))
	{
		append->base.gate = (ResultState *) planstate;
		node = outerPlanState(planstate);
	}
	append->base.ops = &append_source_ops;
	append->base.planstate = planstate;
	append->base.node = node;
	append->nchildren = 1;
	/* the one child in the place of an Append takes its own time */
	if (IsA(node, AppendState))
	{
		/* what pruning by the executor left */
		append->nchildren = ((AppendState *) node)->as_nplans;
		children = ((AppendState *) node)->appendplans;
		append->instrument = node->instrument;
	}
	append->children = palloc0(Max(append->nchildren, 1) * sizeof(AppendChild));
	for (int i = 0; i < append->nchildren; i++)
	{
		append->children[i].source = BatchSourceFind(children[i]);
		if (append->children[i].source == NULL)
			elog(ERROR, "a partition under a bucket join is not bucketed");
	}
	return &append->base;
}
