/*
 * qual_value.c
 *	  The values that batches are compared with.
 */
#include "postgres.h"

#include "exec/qual/int_test.h"
#include "exec/qual/like_pattern.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* Copy a value; varlena is detoasted so that the kernels may look at its bytes. */
static Datum
CopyValue(Oid typid, Datum value)
{
	int16		typlen;
	bool		typbyval;

	get_typlenbyval(typid, &typlen, &typbyval);
	if (typbyval)
		return value;
	if (typlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, typbyval, typlen);
}

static void
Forget(LeafQual *qual, bool never)
{
	qual->never = never;
	qual->nvalues = 0;
	qual->scale = -1;
	qual->cxt = CurrentMemoryContext;
}

/* Of fixed classes; the values are there. */
static void
MakeTest(LeafQual *qual)
{
	int64	   *values;

	if (!KeyClassIsFixed(qual->keyclass) || qual->nvalues == 0)
		return;
	values = MemoryContextAllocExtended(qual->cxt, qual->nvalues * sizeof(int64), MCXT_ALLOC_HUGE);
	for (int i = 0; i < qual->nvalues; i++)
		values[i] = KeySort64(qual->keyclass, qual->valuetype, qual->values[i]);
	IntTestMake(&qual->test, qual->op, qual->nvalues, values);
}

void
LeafQualSetValue(LeafQual *qual, Datum value, bool isnull)
{
	Forget(qual, isnull);
	if (isnull)
		return;
	if (qual->of_numeric)
	{
		Datum		numeric = PointerGetDatum(PG_DETOAST_DATUM(value));
		bool		exact;

		qual->never = KeyNumericBeyond(numeric, &exact) || !exact;
		if (qual->never)
			return;
		value = Int64GetDatum(KeyNumericFloor(numeric));
	}
	qual->nvalues = 1;
	qual->values = palloc(sizeof(Datum));
	qual->values[0] = CopyValue(qual->valuetype, value);
	if (qual->op == LEAF_LIKE || qual->op == LEAF_NOT_LIKE)
		qual->like = LikePatternMake(qual->values[0]);
	else
		MakeTest(qual);
}

static int
CompareValues(const void *a, const void *b, void *arg)
{
	const LeafQual *qual = arg;

	return KeyCompare(qual->keyclass, qual->valuetype, *(const Datum *) a,
					  qual->valuetype, *(const Datum *) b);
}

void
LeafQualSetArray(LeafQual *qual, Datum array, bool isnull)
{
	ArrayType  *arr;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	int			n = 0;
	bool		anynull;

	Forget(qual, isnull);
	if (isnull)
		return;

	arr = DatumGetArrayTypePCopy(array);
	get_typlenbyvalalign(ARR_ELEMTYPE(arr), &typlen, &typbyval, &typalign);
	deconstruct_array(arr, ARR_ELEMTYPE(arr), typlen, typbyval, typalign,
					  &elems, &nulls, &nelems);
	for (int i = 0; i < nelems; i++)
	{
		if (!nulls[i])
			elems[n++] = CopyValue(qual->valuetype, elems[i]);
	}
	anynull = n < nelems;
	qual->values = elems;
	if (n > 1)
	{
		int			kept = 1;

		qsort_arg(elems, n, sizeof(Datum), CompareValues, qual);
		for (int i = 1; i < n; i++)
		{
			if (CompareValues(&elems[i], &elems[kept - 1], qual) != 0)
				elems[kept++] = elems[i];
		}
		n = kept;
	}
	qual->nvalues = n;
	qual->never = qual->op == LEAF_NONE_OF ? anynull : n == 0;
	MakeTest(qual);
}

void
LeafQualArmsSet(LeafQual *qual)
{
	int			never = 0;

	for (int a = 0; a < qual->narms; a++)
		never += qual->arms[a].never;
	qual->never = never >= (qual->op == LEAF_AND ? 1 : qual->narms);
}
