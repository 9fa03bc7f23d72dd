/*
 * absent_column.c
 *	  Columns that were added to the table after a file was written: one value,
 *	  or null, for all its rows.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "format/encoding/scaled_convert.h"
#include "spec/numeric_form.h"
#include "storage/missing_catalog.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* A column of the reader, for files that lack it. */
struct AbsentColumn
{
	bool		isnull;
	Datum		value;
	KeyClass	keyclass;
	Datum	   *values;			/* BF_BATCH_ROWS times the value; NULL: not needed yet, or null */
	ScaledColumn scaled;		/* the same of an integer instead of a numeric */
};

void
AbsentColumnsFind(LeafReader *leaf)
{
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	MemoryContext old;
	Datum	   *values;
	bool	   *nulls;

	if (leaf->absent != NULL)
		return;
	old = MemoryContextSwitchTo(leaf->cxt);
	values = palloc(desc->natts * sizeof(Datum));
	nulls = palloc(desc->natts * sizeof(bool));
	leaf->absent = palloc0(leaf->ncols * sizeof(AbsentColumn));
	MissingValuesRead(leaf->rel, values, nulls);
	for (int c = 0; c < leaf->ncols; c++)
	{
		AbsentColumn *column = &leaf->absent[c];
		int			att = leaf->attnums[c] - 1;

		/* a system column is in no file */
		column->isnull = att < 0 || nulls[att];
		if (att < 0)
			continue;
		column->value = values[att];
		column->keyclass = KeyClassOfType(getBaseType(TupleDescAttr(desc, att)->atttypid));
		column->scaled.scale = NumericTypmodScale(TupleDescAttr(desc, att)->atttypmod);
	}
	pfree(values);
	pfree(nulls);
	MemoryContextSwitchTo(old);
}

/* BF_BATCH_ROWS times a value. */
static Datum *
Repeat(LeafReader *leaf, Datum value)
{
	Datum	   *values = MemoryContextAlloc(leaf->cxt, BF_BATCH_ROWS * sizeof(Datum));

	for (int i = 0; i < BF_BATCH_ROWS; i++)
		values[i] = value;
	return values;
}

void
AbsentColumnVector(LeafReader *leaf, int col, ColumnVector *vector)
{
	AbsentColumn *column = &leaf->absent[col];

	if (column->isnull)
	{
		if (leaf->all_nulls == NULL)
		{
			leaf->all_nulls = MemoryContextAlloc(leaf->cxt, BF_BATCH_ROWS * sizeof(bool));
			memset(leaf->all_nulls, true, BF_BATCH_ROWS * sizeof(bool));
			leaf->zeros = MemoryContextAllocZero(leaf->cxt, BF_BATCH_ROWS * sizeof(Datum));
		}
		vector->values = leaf->zeros;
		vector->nulls = leaf->all_nulls;
		return;
	}
	if (column->values == NULL)
		column->values = Repeat(leaf, column->value);
	vector->values = column->values;
	vector->nulls = NULL;
}

bool
AbsentColumnScaled(LeafReader *leaf, int col, ScaledColumn *scaled)
{
	AbsentColumn *column = &leaf->absent[col];
	int64		value;

	if (column->keyclass != KEYCLASS_NUMERIC || column->scaled.scale > BF_MAX_NUMERIC_SCALE)
		return false;
	if (column->isnull)
	{
		ColumnVector vector;

		AbsentColumnVector(leaf, col, &vector);
		column->scaled.values = (int64 *) vector.values;
		column->scaled.nulls = vector.nulls;
	}
	else if (column->scaled.values == NULL)
	{
		if (!NumericToScaled(DatumGetPointer(column->value), &value, &column->scaled.scale))
			return false;
		column->scaled.values = (int64 *) Repeat(leaf, Int64GetDatum(value));
	}
	*scaled = column->scaled;
	return true;
}

void
AbsentColumnStats(LeafReader *leaf, int col, int nrows, BlockColumnStats *stats)
{
	const AbsentColumn *column = &leaf->absent[col];

	memset(stats, 0, sizeof(*stats));
	stats->null_count = column->isnull ? nrows : 0;
	stats->has_minmax = !column->isnull && column->keyclass != KEYCLASS_NONE;
	stats->min.value = stats->max.value = column->value;
}
