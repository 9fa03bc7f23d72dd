/*
 * qual_columns.c
 *	  A column compared with another one.
 */
#include "postgres.h"

#include "common/int.h"
#include "exec/qual/int_test.h"
#include "exec/qual/qual_columns.h"
#include "utils/date.h"
#include "utils/timestamp.h"

/* One of the two columns as integers that compare as its values do. */
typedef struct CompareSide
{
	int			col;
	KeyClass	keyclass;
	Oid			type;
	const int64 *values;
	const bool *nulls;
	int			scale;			/* of numerics */
	int64	  **room;			/* for integers that have to be made; made when it is needed */
	MemoryContext cxt;
} CompareSide;

static int64 *
SideRoom(CompareSide *side)
{
	if (*side->room == NULL)
		*side->room = MemoryContextAlloc(side->cxt, BF_BATCH_ROWS * sizeof(int64));
	return *side->room;
}

/*
 * A date as the timestamp at its beginning.  Those behind the last timestamp
 * become the one that follows it, which is below infinity and is none.
 */
static inline int64
TimestampOfDate(DateADT date)
{
	if (DATE_IS_NOBEGIN(date))
		return DT_NOBEGIN;
	if (DATE_IS_NOEND(date))
		return DT_NOEND;
	if (date >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
		return END_TIMESTAMP;
	return (int64) date * USECS_PER_DAY;
}

/* The integers of a side that is no numeric. */
static void
SideIntegers(CompareSide *side, Batch *batch, bool as_timestamps)
{
	const ColumnVector *vec = BatchColumn(batch, side->col);

	side->nulls = vec->nulls;
	side->values = (const int64 *) vec->values;
	if (side->keyclass == KEYCLASS_FLOAT)
	{
		int64	   *room = SideRoom(side);

		for (int i = 0; i < batch->nrows; i++)
			room[i] = KeySort64(side->keyclass, side->type, vec->values[i]);
		side->values = room;
	}
	else if (as_timestamps && side->keyclass == KEYCLASS_DATE)
	{
		int64	   *room = SideRoom(side);

		for (int i = 0; i < batch->nrows; i++)
			room[i] = TimestampOfDate(DatumGetDateADT(vec->values[i]));
		side->values = room;
	}
}

/* The integers of a side in units of 10^-scale, if they are there so. */
static bool
SideScaled(CompareSide *side, Batch *batch)
{
	ScaledColumn scaled;

	if (side->keyclass == KEYCLASS_INT)
	{
		SideIntegers(side, batch, false);
		side->scale = 0;
		return true;
	}
	if (!BatchScaled(batch, side->col, &scaled))
		return false;
	side->values = scaled.values;
	side->nulls = scaled.nulls;
	side->scale = scaled.scale;
	return true;
}

/* Bring the integers of a side to a larger scale; false: some would not fit. */
static bool
ScaleUp(CompareSide *side, int scale, int nrows)
{
	int64	   *room = SideRoom(side);
	int64		power = 1;

	for (; side->scale < scale; side->scale++)
	{
		if (pg_mul_s64_overflow(power, 10, &power))
			return false;
	}
	for (int i = 0; i < nrows; i++)
	{
		if (pg_mul_s64_overflow(side->values[i], power, &room[i]))
			return false;
	}
	side->values = room;
	return true;
}

/* Bring both sides to integers that can be compared, unless that cannot be done. */
static bool
SidesAsIntegers(CompareSide *a, CompareSide *b, Batch *batch)
{
	if (a->keyclass == KEYCLASS_NUMERIC || b->keyclass == KEYCLASS_NUMERIC)
		return SideScaled(a, batch) && SideScaled(b, batch) &&
			(a->scale >= b->scale || ScaleUp(a, b->scale, batch->nrows)) &&
			(b->scale >= a->scale || ScaleUp(b, a->scale, batch->nrows));
	if (!KeyClassIsFixed(a->keyclass) || !KeyClassIsFixed(b->keyclass))
		return false;
	SideIntegers(a, batch, b->keyclass == KEYCLASS_TIMESTAMP);
	SideIntegers(b, batch, a->keyclass == KEYCLASS_TIMESTAMP);
	return true;
}

static int
KeepNotNull(const bool *nulls, const uint16 *rows, int n, uint16 *out)
{
	int			kept = 0;

	KEEP_ROWS(true);
	return kept;
}

static int
CompareIntegers(LeafQualOp op, const CompareSide *a, const CompareSide *b, const uint16 *rows, int n, uint16 *out)
{
	const int64 *x = a->values;
	const int64 *y = b->values;
	const bool *nulls = a->nulls;
	int			kept = 0;

	if (b->nulls != NULL)
	{
		n = KeepNotNull(b->nulls, rows, n, out);
		rows = out;
	}
	switch (op)
	{
		case LEAF_EQ:
			KEEP_ROWS(x[row] == y[row]);
			break;
		case LEAF_NE:
			KEEP_ROWS(x[row] != y[row]);
			break;
		case LEAF_LT:
			KEEP_ROWS(x[row] < y[row]);
			break;
		case LEAF_LE:
			KEEP_ROWS(x[row] <= y[row]);
			break;
		case LEAF_GT:
			KEEP_ROWS(x[row] > y[row]);
			break;
		case LEAF_GE:
			KEEP_ROWS(x[row] >= y[row]);
			break;
		default:
			elog(ERROR, "unexpected batch qual operator %d", (int) op);
	}
	return kept;
}

int
QualColumnsRows(LeafQual *qual, Batch *batch, uint16 *out)
{
	const uint16 *rows = batch->selection;
	const ColumnVector *x;
	const ColumnVector *y;
	CompareSide a = {.col = qual->col,.keyclass = qual->keyclass,.type = qual->coltype,
		.room = &qual->room[0],.cxt = qual->cxt};
	CompareSide b = {.col = qual->othercol,.keyclass = KeyClassOfType(qual->othertype),.type = qual->othertype,
		.room = &qual->room[1],.cxt = qual->cxt};
	int			kept = 0;

	if (SidesAsIntegers(&a, &b, batch))
		return CompareIntegers(qual->compare, &a, &b, rows, batch->nselected, out);
	x = BatchColumn(batch, qual->col);
	y = BatchColumn(batch, qual->othercol);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = rows ? rows[i] : i;

		if ((x->nulls && x->nulls[row]) || (y->nulls && y->nulls[row]))
			continue;
		if (ComparisonHolds(qual->compare, KeyCompareAcross(a.keyclass, a.type, x->values[row],
													   b.keyclass, b.type, y->values[row])))
			out[kept++] = (uint16) row;
	}
	return kept;
}
