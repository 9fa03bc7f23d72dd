/*
 * agg_groups.c
 *	  The groups of a bucketed input.
 *
 * A group is copied only when a batch ends in it: the next batch may continue
 * it, and takes the place of the memory its values point into; or when the
 * rows of its key come in stretches instead of pairs.
 */
#include "postgres.h"

#include "exec/agg/agg_groups.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "vector/merge_search.h"

struct AggGroups
{
	BatchSource *input;
	int			naggs;
	const BatchAgg *aggs;
	AggCell    *cells;
	AggArgs    *args;
	int			ncolumns;
	int		   *columns;		/* batch columns to show */
	AggVector  *vectors;		/* per aggregate, of the present batch */
	const ColumnVector **shown; /* per column, of the present batch */

	bool		started;
	UnitQueue  *queue;			/* units of the input, not groups of rows */
	bool		in_group;
	KeyVector	keys;
	const Batch *batch;			/* whose keys those are; NULL: it is through */
	int			pos;			/* its next entry */

	AggCounted *counted;		/* NULL: all batches are of pairs */
	int			stretch;		/* the next one of the batch */

	bool		carried;		/* the aggregates hold a group that began in a batch now gone */
	MemoryContext carried_cxt;	/* of what follows */
	Datum	   *key;			/* its key */
	bool	   *key_null;
	Datum	   *first;			/* its columns */
	bool	   *first_null;
};

AggGroups *
AggGroupsCreate(BatchSource *input, UnitQueue *queue, const BatchAgg *aggs, AggCell *cells,
				AggArgs *args, AggCounted *counted, int ncolumns, const int *columns)
{
	AggGroups  *groups = palloc0(sizeof(AggGroups));

	groups->input = input;
	groups->queue = queue;
	groups->naggs = args->n;
	groups->aggs = aggs;
	groups->cells = cells;
	groups->args = args;
	groups->counted = counted;
	groups->ncolumns = ncolumns;
	groups->columns = palloc(Max(ncolumns, 1) * sizeof(int));
	memcpy(groups->columns, columns, ncolumns * sizeof(int));
	groups->vectors = palloc0(Max(args->n, 1) * sizeof(AggVector));
	groups->shown = palloc0(Max(ncolumns, 1) * sizeof(ColumnVector *));
	KeyVectorInit(&groups->keys, input->nkeys, input->keycols, input->keyclasses,
				  input->keytypes);
	groups->carried_cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw carried group",
												ALLOCSET_SMALL_SIZES);
	groups->key = palloc(input->nkeys * sizeof(Datum));
	groups->key_null = palloc(input->nkeys * sizeof(bool));
	groups->first = palloc(Max(ncolumns, 1) * sizeof(Datum));
	groups->first_null = palloc(Max(ncolumns, 1) * sizeof(bool));
	return groups;
}

static void
Advance(AggGroups *groups, int from, int to)
{
	for (int i = 0; i < groups->naggs; i++)
		groups->aggs[i].fn->advance(&groups->aggs[i], &groups->cells[i], &groups->vectors[i],
									groups->keys.rows, from, to);
}

/* A batch column of a row, copied into the current context. */
static void
CopyColumn(const BatchSource *input, int col, const ColumnVector *vec, int row,
		   Datum *value, bool *isnull)
{
	*isnull = vec->nulls && vec->nulls[row];
	*value = *isnull ? (Datum) 0 :
		datumCopy(vec->values[row], input->typbyval[col], input->typlen[col]);
}

/* Keep the group of an entry, whose batch ends. */
static void
Carry(AggGroups *groups, int entry)
{
	const KeyVector *keys = &groups->keys;
	int			row = KeyVectorRow(keys, entry);
	MemoryContext oldcxt;

	MemoryContextReset(groups->carried_cxt);
	oldcxt = MemoryContextSwitchTo(groups->carried_cxt);
	for (int k = 0; k < keys->nkeys; k++)
		CopyColumn(groups->input, keys->cols[k], &keys->batch->cols[keys->cols[k]], row,
				   &groups->key[k], &groups->key_null[k]);
	for (int c = 0; c < groups->ncolumns; c++)
		CopyColumn(groups->input, groups->columns[c], groups->shown[c], row,
				   &groups->first[c], &groups->first_null[c]);
	MemoryContextSwitchTo(oldcxt);
	groups->carried = true;
}

/* Does an entry have the key of the carried group?  NULLs are equal. */
static bool
CarriedGoesOn(const AggGroups *groups, int entry)
{
	const KeyVector *keys = &groups->keys;
	int			row = KeyVectorRow(keys, entry);

	for (int k = 0; k < keys->nkeys; k++)
	{
		const ColumnVector *vec = &keys->batch->cols[keys->cols[k]];
		bool		isnull = vec->nulls && vec->nulls[row];

		if (isnull != groups->key_null[k] ||
			(!isnull && KeyCompare(keys->classes[k], keys->types[k], groups->key[k],
								   keys->types[k], vec->values[row]) != 0))
			return false;
	}
	return true;
}

/* Give the carried group away. */
static bool
ShowCarried(AggGroups *groups, Datum *values, bool *nulls)
{
	memcpy(values, groups->first, groups->ncolumns * sizeof(Datum));
	memcpy(nulls, groups->first_null, groups->ncolumns * sizeof(bool));
	groups->carried = false;
	return true;
}

/* Read the next batch with rows of the open bucket group; false at its end. */
static bool
ReadBatch(AggGroups *groups)
{
	KeyVector  *keys = &groups->keys;
	Batch	   *batch;

	do
	{
		CHECK_FOR_INTERRUPTS();
		batch = BatchSourceNext(groups->input, NULL);
		if (batch == NULL)
			return false;
	} while (batch->nselected == 0);
	KeyVectorFill(keys, batch, true);
	groups->stretch = 0;
	if (groups->counted && batch->nstretches == 0)
		AggCountedFinish(groups->counted);
	AggArgsLoad(groups->args, batch, groups->vectors);
	for (int c = 0; c < groups->ncolumns; c++)
		groups->shown[c] = BatchColumn(batch, groups->columns[c]);
	groups->pos = 0;
	groups->batch = batch;
	return true;
}

/*
 * Add stretches to the carried group, which is begun if there is none; true:
 * the next one belongs to another group.
 */
static bool
AddStretches(AggGroups *groups)
{
	for (; groups->stretch < groups->batch->nstretches; groups->stretch++)
	{
		const BatchStretch *stretch = &groups->batch->stretches[groups->stretch];

		if (stretch->begins)
		{
			AggCountedFinish(groups->counted);
			if (groups->carried && !CarriedGoesOn(groups, groups->pos))
				return true;
			if (!groups->carried)
			{
				for (int i = 0; i < groups->naggs; i++)
					AggCellReset(&groups->aggs[i], &groups->cells[i]);
				Carry(groups, groups->pos);
			}
		}
		AggCountedAdd(groups->counted, groups->vectors, groups->batch, groups->stretch);
		groups->pos = stretch->to;
	}
	groups->batch = NULL;
	return false;
}

bool
AggGroupsNext(AggGroups *groups, Datum *values, bool *nulls)
{
	const KeyVector *keys = &groups->keys;

	if (!groups->started)
	{
		BatchSourceStart(groups->input);
		BatchSourceStartUnits(groups->input, groups->queue);
		groups->started = true;
	}
	for (;;)
	{
		if (!groups->in_group && !BatchSourceOpenNext(groups->input, groups->queue))
			return false;
		groups->in_group = true;
		if (groups->batch == NULL)
		{
			if (!ReadBatch(groups))
			{
				/* a key lies in one unit */
				BatchSourceClose(groups->input);
				groups->in_group = false;
				if (groups->counted)
					AggCountedFinish(groups->counted);
				if (groups->carried)
					return ShowCarried(groups, values, nulls);
				continue;
			}
			if (groups->carried && groups->batch->nstretches == 0)
			{
				if (!CarriedGoesOn(groups, 0))
					return ShowCarried(groups, values, nulls);
				groups->pos = EndOfGroup(keys, 0);
				Advance(groups, 0, groups->pos);
				if (groups->pos < keys->n)
					return ShowCarried(groups, values, nulls);
				groups->batch = NULL;
				continue;
			}
		}
		else if (groups->batch->nstretches > 0)
		{
			if (AddStretches(groups))
				return ShowCarried(groups, values, nulls);
		}
		else if (groups->pos < keys->n)
		{
			int			from = groups->pos;
			int			row = KeyVectorRow(keys, from);

			groups->pos = EndOfGroup(keys, from);
			for (int i = 0; i < groups->naggs; i++)
				AggCellReset(&groups->aggs[i], &groups->cells[i]);
			Advance(groups, from, groups->pos);
			if (groups->pos >= keys->n)
			{
				Carry(groups, from);
				groups->batch = NULL;
				continue;
			}
			for (int c = 0; c < groups->ncolumns; c++)
			{
				values[c] = groups->shown[c]->values[row];
				nulls[c] = groups->shown[c]->nulls && groups->shown[c]->nulls[row];
			}
			return true;
		}
	}
}

void
AggGroupsReset(AggGroups *groups)
{
	if (groups->in_group)
		BatchSourceClose(groups->input);
	groups->started = false;
	groups->in_group = false;
	groups->batch = NULL;
	groups->carried = false;
	if (groups->counted)
		AggCountedReset(groups->counted);
}
