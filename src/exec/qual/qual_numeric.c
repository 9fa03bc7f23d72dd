/*
 * qual_numeric.c
 *	  Numerics compared as integers, without making them.
 *
 * The integers x of a column stand for x / 10^scale.  Such a number is less
 * than v if and only if x is less than v * 10^scale; where that is no integer,
 * x is compared with the one below it.
 */
#include "postgres.h"

#include "exec/qual/int_test.h"
#include "exec/qual/qual_numeric.h"
#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* more decimals than int64 has make a power that does not fit */
#define MAX_TEST_SCALE	18

/*
 * The greatest integer that is not above value * 10^scale, and whether it is
 * that; 1 or -1: all integers are below the product, or above it.
 */
static int
ScaledFloor(Datum value, int scale, int64 *floor, bool *exact)
{
	int64		power = 1;
	Datum		product;

	/* a number so large may overflow when multiplied; so are infinity and NaN, which is above all */
	*floor = KeyNumericFloor(value);
	if (KeyNumericBeyond(value, exact))
		return *floor > 0 ? 1 : -1;
	for (int i = 0; i < scale; i++)
		power *= 10;
	product = DirectFunctionCall2(numeric_mul, value, NumericGetDatum(int64_to_numeric(power)));
	*floor = KeyNumericFloor(product);
	if (KeyNumericBeyond(product, exact))
		return *floor > 0 ? 1 : -1;
	return 0;
}

/* One of the six comparisons. */
static void
MakeComparison(LeafQual *qual, int scale)
{
	LeafQualOp	op = qual->op;
	int64	   *want = palloc(sizeof(int64));
	bool		exact;
	int			beyond = ScaledFloor(qual->values[0], scale, want, &exact);

	if (beyond != 0)
	{
		/* all integers are on one side of the value */
		bool		below = op == LEAF_LT || op == LEAF_LE;

		IntTestMake(&qual->scaled, LEAF_NOTNULL, 0, NULL);
		qual->scaled.none = op == LEAF_EQ || (op != LEAF_NE && below != (beyond > 0));
		return;
	}
	if (!exact)
	{
		if (op == LEAF_LT)
			op = LEAF_LE;
		else if (op == LEAF_GE)
			op = LEAF_GT;
		else if (op == LEAF_NE)
			op = LEAF_NOTNULL;
	}
	IntTestMake(&qual->scaled, op, 1, want);
	qual->scaled.none = !exact && op == LEAF_EQ;
}

static void
MakeList(LeafQual *qual, int scale)
{
	int64	   *values = MemoryContextAllocExtended(CurrentMemoryContext, qual->nvalues * sizeof(int64), MCXT_ALLOC_HUGE);
	int			n = 0;

	/* they are sorted, and so are the integers among them */
	for (int i = 0; i < qual->nvalues; i++)
	{
		bool		exact;

		if (ScaledFloor(qual->values[i], scale, &values[n], &exact) == 0 && exact)
			n++;
	}
	if (n > 0)
	{
		IntTestMake(&qual->scaled, qual->op, n, values);
		return;
	}
	IntTestMake(&qual->scaled, LEAF_NOTNULL, 0, NULL);
	qual->scaled.none = qual->op == LEAF_ANY;
}

const IntTest *
QualScaledTest(LeafQual *qual, int scale)
{
	MemoryContext old;

	if (qual->scale == scale)
		return &qual->scaled;
	if (scale > MAX_TEST_SCALE)
		return NULL;
	old = MemoryContextSwitchTo(qual->cxt);
	if (LeafQualIsArray(qual))
		MakeList(qual, scale);
	else
		MakeComparison(qual, scale);
	qual->scale = scale;
	MemoryContextSwitchTo(old);
	return &qual->scaled;
}
