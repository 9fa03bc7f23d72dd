/*
 * int_values.c
 *	  Encoding INT: what is passed by value, except floats, as an int stream.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"

static bool
fits(const FileColumn *col)
{
	return col->typbyval && col->keyclass != KEYCLASS_FLOAT;
}

static EncodingChoice
choose(const ColumnValues *values, EncodeWork *work)
{
	IntStreamMakePlan((const int64 *) values->values, values->n, &work->plan);
	return CHOOSE;
}

static void
write_int(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	IntStreamWrite(out, (const int64 *) values->values, values->n, &work->plan);
}

static const char *
open_int(EncodedValues *ev)
{
	ev->ints = ev->in;
	ev->ints_len = ev->len;
	return NULL;
}

/* The range [*low, *low + *span) of the integers of a column, a power of two; *span is 0 if it is all of int64. */
static void
column_range(const FileColumn *col, int64 *low, uint64 *span)
{
	*low = 0;
	*span = KeyClasses[col->keyclass].span;
	if (*span == 0 && col->typlen < (int) sizeof(int64))
	{
		*span = UINT64CONST(1) << (8 * col->typlen);
		*low = -(int64) (*span / 2);
	}
}

/* Do all integers have the range of the type? */
static const char *
check_range(const FileColumn *col, const Datum *values, int n)
{
	int64		low;
	uint64		span;
	uint64		all = 0;

	column_range(col, &low, &span);
	if (span == 0)
		return NULL;
	for (int i = 0; i < n; i++)
		all |= (uint64) values[i] - (uint64) low;
	return all < span ? NULL : "value is outside the range of its type";
}

static const char *
read_int(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	const char *problem = ReadInts(ev, (int64 *) values);

	return problem ? problem : check_range(ev->col, values, ev->n);
}

static const char *
take(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
	 ByteBuffer *made)
{
	IntIndexTake(&index->ints, n, at, (int64 *) values);
	return check_range(ev->col, values, n);
}

static int
search(const EncodedValues *ev, const ValueIndex *index, int from, int to, Oid valuetype,
	   Datum value, bool above)
{
	int64		want = KeySort64(ev->col->keyclass, valuetype, value);

	if (above && want == PG_INT64_MAX)
		return to;
	return IntIndexSearch(&index->ints, from, to, above ? want + 1 : want);
}

const EncodingOps IntEncoding = {
	.name = "int",
	.fits = fits,
	.choose = choose,
	.write = write_int,
	.open = open_int,
	.read = read_int,
	.prepare = PrepareInts,
	.take = take,
	.search = search
};
