/*
 * append_input.c
 *	  Several bucketed scans of one partitioned table, read as one sorted
 *	  stream per bucket group.
 *
 * Partitions may have other attribute numbers, bucket counts and runs.  Their
 * streams are merged by key; a merged batch points into the batches of the
 * scans, so it ends where one of these is used up.
 */
#include "postgres.h"

#include "exec/source/append_input.h"
#include "exec/source/batch_input.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* rows of a merged batch */
#define APPEND_ROWS 2048

typedef struct AppendChild
{
	BatchInput	input;
	int		   *cols;			/* per output column: batch column of the scan */
	KeyVector	keys;
	Batch	   *batch;			/* being merged, NULL: at the end */
	int			pos;			/* next entry of keys */
} AppendChild;

struct AppendInput
{
	int			nchildren;
	AppendChild *children;
	int			ncols;
	MemoryContext cxt;

	int			nkeys;
	int		   *keycols;		/* output columns */
	KeyClass   *classes;

	bool		primed;			/* first batches of the group are there */
	bool		refill;			/* the first child of the heap has used up its batch */
	binaryheap *heap;

	Batch		batch;
	AppendChild *source[APPEND_ROWS];
	uint16		row[APPEND_ROWS];
	Datum	  **values;			/* per column, made on first use */
	bool	  **nulls;
};

/* BatchColumnLoader: gather a column of the output from the scans' batches. */
static void
GatherAppended(Batch *batch, int col)
{
	AppendInput *append = batch->load_arg;
	Datum	   *values;
	bool	   *nulls;
	bool		anynull = false;
	AppendChild *last = NULL;
	ColumnVector *vec = NULL;

	if (append->values[col] == NULL)
	{
		append->values[col] = MemoryContextAlloc(append->cxt, APPEND_ROWS * sizeof(Datum));
		append->nulls[col] = MemoryContextAlloc(append->cxt, APPEND_ROWS * sizeof(bool));
	}
	values = append->values[col];
	nulls = append->nulls[col];
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
	batch->cols[col].values = values;
	batch->cols[col].nulls = anynull ? nulls : NULL;
	batch->loaded[col] = true;
}

/* binaryheap keeps the greatest first: the smallest key must be it. */
static int
CompareChildren(Datum a, Datum b, void *arg)
{
	AppendChild *x = (AppendChild *) DatumGetPointer(a);
	AppendChild *y = (AppendChild *) DatumGetPointer(b);

	return KeyVectorCompare(&y->keys, y->pos, &x->keys, x->pos);
}

AppendInput *
AppendInputCreate(PlanState *planstate)
{
	AppendInput *append = palloc0(sizeof(AppendInput));
	PlanState **children = &planstate;

	append->nchildren = 1;
	if (IsA(planstate, AppendState))
	{
		/* what pruning by the executor left */
		append->nchildren = ((AppendState *) planstate)->as_nplans;
		children = ((AppendState *) planstate)->appendplans;
	}
	append->cxt = CurrentMemoryContext;
	append->ncols = list_length(planstate->plan->targetlist);
	append->children = palloc0(Max(append->nchildren, 1) * sizeof(AppendChild));
	append->values = palloc0(Max(append->ncols, 1) * sizeof(Datum *));
	append->nulls = palloc0(Max(append->ncols, 1) * sizeof(bool *));
	append->batch.ncols = append->ncols;
	append->batch.cols = palloc0(Max(append->ncols, 1) * sizeof(ColumnVector));
	append->batch.loaded = palloc0(Max(append->ncols, 1) * sizeof(bool));
	append->batch.load = GatherAppended;
	append->batch.load_arg = append;
	append->heap = binaryheap_allocate(Max(append->nchildren, 1), CompareChildren, NULL);
	for (int i = 0; i < append->nchildren; i++)
	{
		AppendChild *child = &append->children[i];
		ListCell   *lc;
		int			c = 0;

		BatchInputResolve(&child->input, children[i], BATCH_INPUT_NODE);
		if (child->input.scan == NULL)
			elog(ERROR, "a partition under a bucket join is not bucketed");
		child->cols = palloc(Max(append->ncols, 1) * sizeof(int));
		foreach(lc, child->input.node->plan->targetlist)
		{
			Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

			if (!IsA(var, Var))
				elog(ERROR, "a partition under a bucket join computes an expression");
			child->cols[c++] = BatchInputColumn(&child->input, var->varattno);
		}
		if (c != append->ncols)
			elog(ERROR, "a partition under a bucket join has %d columns instead of %d",
				 c, append->ncols);
	}
	return append;
}

void
AppendInputSetKeys(AppendInput *append, int nkeys, const int *keycols, const KeyClass *classes)
{
	append->nkeys = nkeys;
	for (int i = 0; i < append->nchildren; i++)
	{
		AppendChild *child = &append->children[i];
		List	   *attnums = NIL;
		BucketScanState *scan = child->input.scan;

		for (int k = 0; k < nkeys; k++)
			attnums = lappend_int(attnums, scan->attnums[child->cols[keycols[k]]]);
		BatchInputDescribe(&child->input, attnums);
		for (int k = 0; k < nkeys; k++)
		{
			if (child->input.keyclasses[k] != classes[k])
				elog(ERROR, "a partition under a bucket join has a key of another class");
		}
		BatchInputCheckOrder(&child->input, attnums);
		KeyVectorInit(&child->keys, nkeys, child->input.keycols, child->input.keyclasses,
					  child->input.keytypes);
	}
}

void
AppendInputStart(AppendInput *append)
{
	for (int i = 0; i < append->nchildren; i++)
		BatchInputStart(&append->children[i].input);
}

int
AppendInputBuckets(AppendInput *append)
{
	int			buckets = 0;

	for (int i = 0; i < append->nchildren; i++)
		buckets = GreatestCommonDivisor(buckets, BatchInputBuckets(&append->children[i].input));
	return buckets;
}

int64
AppendInputGroupRows(AppendInput *append, int ngroups, int group)
{
	int64		rows = 0;

	for (int i = 0; i < append->nchildren; i++)
		rows += BatchInputGroupRows(&append->children[i].input, ngroups, group);
	return rows;
}

void
AppendInputOpenUnit(AppendInput *append, int ngroups, const Unit *unit)
{
	for (int i = 0; i < append->nchildren; i++)
		BatchInputOpenUnit(&append->children[i].input, ngroups, unit);
	append->primed = false;
	append->refill = false;
	binaryheap_reset(append->heap);
}

/* Read the child's next batch with an entry at or after the bound; false at its end. */
static bool
ReadChild(AppendChild *child, const KeyBound *bound)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		child->batch = BatchInputNext(&child->input, bound);
		if (child->batch == NULL)
			return false;
		KeyVectorFill(&child->keys, child->batch, true);
		child->pos = bound ? KeyVectorLowerBound(&child->keys, 0, bound) : 0;
	} while (child->pos >= child->keys.n);
	return true;
}

/* Let all children skip what is below the bound, and order them anew. */
static void
SkipTo(AppendInput *append, const KeyBound *bound)
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

Batch *
AppendInputNext(AppendInput *append, const KeyBound *bound)
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

void
AppendInputClose(AppendInput *append)
{
	for (int i = 0; i < append->nchildren; i++)
	{
		BatchInputClose(&append->children[i].input);
		append->children[i].batch = NULL;
	}
	append->primed = false;
}

int
AppendInputCount(const AppendInput *append)
{
	return append->nchildren;
}

BatchInput *
AppendInputChild(AppendInput *append, int child)
{
	return &append->children[child].input;
}
