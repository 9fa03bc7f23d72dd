/*
 * block_encode.c
 *	  Encode a column of a block; its minimum and maximum.
 */
#include "postgres.h"

#include "format/stats/stat_value.h"
#include "format/write/block_builder.h"

/* One bit per row, set for null. */
static void
write_null_bitmap(ByteBuffer *out, const bool *nulls, int nrows)
{
	size_t		bytes = BF_ALIGN8((nrows + 7) / 8);
	uint8	   *bits = (uint8 *) ByteBufferExtend(out, bytes);

	memset(bits, 0, bytes);
	for (int i = 0; i < nrows; i++)
		bits[i >> 3] |= (uint8) nulls[i] << (i & 7);
}

static inline Datum
value_at(const ColumnValues *values, int i)
{
	return values->col->typbyval ? values->values[i] : PointerGetDatum(values->data + values->values[i]);
}

/* By the images of the values, and themselves where images are equal. */
static void
find_minmax(const ColumnValues *values, EncodedColumn *result)
{
	KeyClass	keyclass = values->col->keyclass;
	Oid			typid = values->col->typlen == sizeof(float4) ? FLOAT4OID : FLOAT8OID;
	bool		exact = KeyClassIsFixed(keyclass);
	int64		min = 0;
	int64		max = 0;

	/* floats are the only values with more than one type to a class that get here */
	for (int i = 0; i < values->n; i++)
	{
		Datum		value = value_at(values, i);
		int64		image = exact ? KeySort64(keyclass, typid, value) : KeyImage64(keyclass, typid, value);

		if (i == 0 || image < min ||
			(image == min && !exact && KeyCompare(keyclass, typid, value, typid, result->min) < 0))
		{
			min = image;
			result->min = value;
		}
		if (i == 0 || image > max ||
			(image == max && !exact && KeyCompare(keyclass, typid, value, typid, result->max) > 0))
		{
			max = image;
			result->max = value;
		}
	}
}

void
BlockBuilderEncode(BlockBuilder *builder, int col, ByteBuffer *out, EncodedColumn *result)
{
	ColumnValues values = BlockBuilderValues(builder, col);
	EncodeWork *work = &builder->work;
	KeyClass	keyclass = values.col->keyclass;

	memset(result, 0, sizeof(*result));
	out->len = 0;
	result->null_count = builder->nrows - values.n;
	result->distinct = values;
	if (values.n == 0)
	{
		result->encoding = ENCODING_NONE;
		return;
	}
	if (result->null_count > 0)
		write_null_bitmap(out, builder->cols[col].nulls, builder->nrows);
	result->encoding = EncodeValues(&values, work, out);
	result->distinct = work->distinct;

	if (keyclass == KEYCLASS_NONE)
		return;
	if (result->encoding == ENCODING_INT)
	{
		result->min = (Datum) work->plan.min;
		result->max = (Datum) work->plan.max;
	}
	else
		find_minmax(&work->distinct, result);
	/* a long numeric has no place in the footer */
	result->has_minmax = StatValueKept(keyclass, result->min) && StatValueKept(keyclass, result->max);
}
