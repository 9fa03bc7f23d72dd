/*
 * block_encode.c
 *	  Choose and write the encoding of a column of a block; its minimum and
 *	  maximum.
 */
#include "postgres.h"

#include "format/encoding/int_encoding.h"
#include "format/encoding/scaled_encoding.h"
#include "format/stats/stat_value.h"
#include "format/write/block_builder.h"
#include "port/pg_bswap.h"

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

static void
float_minmax(const BuilderColumn *col, EncodedColumn *result)
{
	int64		min = KeySort64(KEYCLASS_FLOAT, col->meta.typlen == 4 ? FLOAT4OID : FLOAT8OID, col->values[0]);
	int64		max = min;

	result->min = result->max = col->values[0];
	for (int i = 1; i < col->nvalues; i++)
	{
		int64		v = KeySort64(KEYCLASS_FLOAT, col->meta.typlen == 4 ? FLOAT4OID : FLOAT8OID, col->values[i]);

		if (v < min)
		{
			min = v;
			result->min = col->values[i];
		}
		else if (v > max)
		{
			max = v;
			result->max = col->values[i];
		}
	}
}

/* The first 8 bytes as a number of the same order; zeros stand for missing ones. */
static inline uint64
order_prefix(const char *content, size_t len)
{
	uint64		v = 0;

	memcpy(&v, content, Min(len, sizeof(v)));
	return pg_bswap64(v);
}

/*
 * Minimum and maximum of by-reference values other than scaled numerics.  For
 * values in byte order a look at the first 8 bytes mostly suffices.  (Blanks at
 * the end of a bpchar do not count; a prefix with them may then be too large,
 * which is why they are cut before.)
 */
static void
byref_minmax(KeyClass keyclass, const char *data, const Datum *offsets, int n, EncodedColumn *result)
{
	Oid			typid = InvalidOid; /* the class alone says how to compare by-reference values */
	uint64		minprefix = 0;
	uint64		maxprefix = 0;

	for (int i = 0; i < n; i++)
	{
		const char *v = data + offsets[i];
		Datum		datum = PointerGetDatum(v);
		uint64		prefix = 0;

		if (keyclass == KEYCLASS_UUID)
			prefix = order_prefix(v, 8);
		else if (keyclass != KEYCLASS_NUMERIC)
		{
			size_t		len = VARSIZE_ANY_EXHDR(v);
			const char *content = VARDATA_ANY(v);

			if (keyclass == KEYCLASS_BPCHAR)
			{
				while (len > 0 && content[len - 1] == ' ')
					len--;
			}
			prefix = order_prefix(content, len);
		}
		if (i == 0)
		{
			minprefix = maxprefix = prefix;
			result->min = result->max = datum;
			continue;
		}
		if (prefix <= minprefix &&
			(prefix < minprefix || KeyCompare(keyclass, typid, datum, typid, result->min) < 0))
		{
			minprefix = prefix;
			result->min = datum;
		}
		if (prefix >= maxprefix &&
			(prefix > maxprefix || KeyCompare(keyclass, typid, datum, typid, result->max) > 0))
		{
			maxprefix = prefix;
			result->max = datum;
		}
	}
}

/* RAW of floats: the low typlen bytes of each Datum. */
static void
write_raw(ByteBuffer *out, const BuilderColumn *col)
{
	int			typlen = col->meta.typlen;
	char	   *to = ByteBufferExtend(out, (size_t) col->nvalues * typlen);

	if (typlen == sizeof(Datum))
		memcpy(to, col->values, col->nvalues * sizeof(Datum));
	else
	{
		for (int i = 0; i < col->nvalues; i++, to += typlen)
			memcpy(to, &col->values[i], typlen);
	}
}

/* The integers of FLOAT or BINARY, if they take less than the floats do. */
static bool
write_scaled_floats(const BuilderColumn *col, const int64 *scaled, int scale, size_t limit, ByteBuffer *out)
{
	IntStreamPlan plan;
	DiskScaled	head = {scale};

	IntStreamMakePlan(scaled, col->nvalues, &plan);
	if (plan.size + sizeof(head) >= limit)
		return false;
	ByteBufferAppend(out, &head, sizeof(head));
	IntStreamWrite(out, scaled, col->nvalues, &plan);
	return true;
}

static void
encode_float(BlockBuilder *builder, const BuilderColumn *col, ByteBuffer *out, EncodedColumn *result)
{
	int			n = col->nvalues;
	int64	   *scaled = (int64 *) ByteBufferPrepare(&builder->scaled, n * sizeof(int64));
	size_t		raw = (size_t) n * col->meta.typlen;
	int			scale;

	float_minmax(col, result);
	result->has_minmax = true;
	if (FloatsToScaled(col->values, n, col->meta.typlen, scaled, &scale) &&
		write_scaled_floats(col, scaled, scale, n == 1 ? SIZE_MAX : raw, out))
		result->encoding = ENCODING_FLOAT;
	/* RAW is decoded by copying: to be worth more, this has to be clearly smaller */
	else if (FloatsToBinary(col->values, n, col->meta.typlen, scaled, &scale) &&
			 write_scaled_floats(col, scaled, scale, raw - raw / 16, out))
		result->encoding = ENCODING_BINARY;
	else
	{
		result->encoding = ENCODING_RAW;
		write_raw(out, col);
	}
}

static void
encode_int(const BuilderColumn *col, ByteBuffer *out, EncodedColumn *result)
{
	IntStreamPlan plan;
	const int64 *values = (const int64 *) col->values;

	IntStreamMakePlan(values, col->nvalues, &plan);
	IntStreamWrite(out, values, col->nvalues, &plan);
	result->encoding = ENCODING_INT;
	if (col->meta.keyclass != KEYCLASS_NONE)
	{
		result->has_minmax = true;
		result->min = (Datum) plan.min;
		result->max = (Datum) plan.max;
	}
}

static void
encode_fixed(const BuilderColumn *col, ByteBuffer *out, EncodedColumn *result)
{
	bool		equal = true;

	if (col->meta.keyclass != KEYCLASS_NONE)
	{
		byref_minmax(col->meta.keyclass, col->data.data, col->values, col->nvalues, result);
		result->has_minmax = true;
	}
	for (int i = 1; i < col->nvalues && equal; i++)
		equal = memcmp(col->data.data, col->data.data + col->values[i], col->stride) == 0;
	result->encoding = equal ? ENCODING_CONSTANT : ENCODING_RAW;
	ByteBufferAppend(out, col->data.data, equal ? (size_t) col->stride : col->data.len);
}

/* All values as integers of one dscale, or false. */
static bool
numerics_to_scaled(const BuilderColumn *col, int64 *scaled, int *scale)
{
	for (int i = 0; i < col->nvalues; i++)
	{
		int			s;

		if (!NumericToScaled(col->data.data + col->values[i], &scaled[i], &s) || (i > 0 && s != *scale))
			return false;
		*scale = s;
	}
	return true;
}

static void
scaled_minmax(const BuilderColumn *col, const int64 *scaled, EncodedColumn *result)
{
	int			min = 0;
	int			max = 0;

	for (int i = 1; i < col->nvalues; i++)
	{
		if (scaled[i] < scaled[min])
			min = i;
		if (scaled[i] > scaled[max])
			max = i;
	}
	result->min = PointerGetDatum(col->data.data + col->values[min]);
	result->max = PointerGetDatum(col->data.data + col->values[max]);
}

/* so many scaled numerics show that there are too many for a dictionary */
#define DICT_SAMPLE		64

/*
 * May a dictionary take less than the limit?  Its codes alone take more when
 * the values of a sample, of which there are at least so many, are too many.
 */
static bool
dict_may_win(const int64 *scaled, int n, size_t limit)
{
	int64		seen[DICT_SAMPLE];
	int			nseen = 0;
	int			step = n / DICT_SAMPLE;

	if (step == 0)
		return true;
	for (int i = 0; i < DICT_SAMPLE; i++)
	{
		int64		v = scaled[i * step];
		int			k = 0;

		while (k < nseen && seen[k] != v)
			k++;
		if (k == nseen)
			seen[nseen++] = v;
	}
	return sizeof(DiskDict) + IntStreamSize(IntWidth(nseen - 1), n) <= limit;
}

/*
 * The smallest of the candidates, before compression.  A dictionary also
 * decodes faster than anything else, so it is tried first; what compression
 * would make of the plain values is not known, so the others must win clearly.
 */
static void
encode_varlena(BlockBuilder *builder, const BuilderColumn *col, ByteBuffer *out, EncodedColumn *result)
{
	int			n = col->nvalues;
	PackedValues values = {col->data.data, col->data.len, col->values, n, col->form};
	PackedValues minmax = values;
	size_t		limit = col->data.len - col->data.len / 4;
	IntStreamPlan plan;
	DiskScaled	head = {0};
	int			scale = 0;
	int64	   *scaled = NULL;

	if (col->meta.keyclass == KEYCLASS_NUMERIC)
	{
		scaled = (int64 *) ByteBufferPrepare(&builder->scaled, n * sizeof(int64));
		if (numerics_to_scaled(col, scaled, &scale))
		{
			head.scale = scale;
			IntStreamMakePlan(scaled, n, &plan);
			limit = plan.size + sizeof(head);
		}
		else
			scaled = NULL;
	}
	if (PackedAllEqual(&values))
	{
		const char *v = col->data.data + col->values[0];

		result->encoding = ENCODING_CONSTANT;
		VarlenaAppend(out, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), col->form);
		minmax.n = 1;
	}
	else if ((scaled == NULL || dict_may_win(scaled, n, limit)) &&
			 DictPlan(&values, &builder->scratch, limit) > 0)
	{
		result->encoding = ENCODING_DICT;
		DictWrite(out, &values, &builder->scratch);

		/* its few values stand for all */
		minmax.data = builder->scratch.dict.data;
		minmax.offsets = (const Datum *) builder->scratch.offsets.data;
		minmax.n = builder->scratch.ndict;
	}
	else if (scaled != NULL)
	{
		result->encoding = ENCODING_NUMERIC;
		ByteBufferAppend(out, &head, sizeof(head));
		IntStreamWrite(out, scaled, n, &plan);
	}
	else if (FrontPlan(&values, &builder->scratch, limit) > 0)
	{
		result->encoding = ENCODING_FRONT;
		FrontWrite(out, &values, &builder->scratch);
	}
	else
	{
		result->encoding = ENCODING_PLAIN;
		ByteBufferAppend(out, col->data.data, col->data.len);
	}

	if (col->meta.keyclass != KEYCLASS_NONE)
	{
		if (scaled != NULL)
			scaled_minmax(col, scaled, result);
		else
			byref_minmax(col->meta.keyclass, minmax.data, minmax.offsets, minmax.n, result);
		result->has_minmax = true;
	}
}

void
BlockBuilderEncode(BlockBuilder *builder, int col, ByteBuffer *out, EncodedColumn *result)
{
	const BuilderColumn *column = &builder->cols[col];

	memset(result, 0, sizeof(*result));
	out->len = 0;
	result->null_count = builder->nrows - column->nvalues;
	if (column->nvalues == 0)
	{
		result->encoding = ENCODING_NONE;
		return;
	}
	if (result->null_count > 0)
		write_null_bitmap(out, column->nulls, builder->nrows);

	if (column->kind == BUILDER_VARLENA)
		encode_varlena(builder, column, out, result);
	else if (column->kind == BUILDER_FIXED)
		encode_fixed(column, out, result);
	else if (column->meta.keyclass == KEYCLASS_FLOAT)
		encode_float(builder, column, out, result);
	else
		encode_int(column, out, result);

	/* a long numeric has no place in the footer */
	if (result->has_minmax &&
		!(StatValueKept(column->meta.keyclass, result->min) &&
		  StatValueKept(column->meta.keyclass, result->max)))
		result->has_minmax = false;
}
