/*
 * fixed_values.c
 *	  Encodings RAW, of values of one length as they are, and CONSTANT, of one
 *	  value for all rows.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "format/encoding/encoding.h"
#include "format/encoding/scaled_convert.h"

/* Bytes from one value of RAW, or of CONSTANT, to where the next would be. */
static inline size_t
stride_of(const FileColumn *col)
{
	return col->typbyval ? (size_t) col->typlen : att_align_nominal(col->typlen, col->typalign);
}

static bool
fits_raw(const FileColumn *col)
{
	return col->typbyval ? col->keyclass == KEYCLASS_FLOAT : col->typlen > 0;
}

static EncodingChoice
choose_raw(const ColumnValues *values, EncodeWork *work)
{
	return CHOOSE;
}

static void
write_raw(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	int			typlen = values->col->typlen;
	char	   *to;

	if (!values->col->typbyval)
	{
		ByteBufferAppend(out, values->data, values->len);
		return;
	}
	if (typlen == sizeof(Datum))
	{
		ByteBufferAppend(out, values->values, values->n * sizeof(Datum));
		return;
	}
	/* the low bytes of each Datum */
	to = ByteBufferExtend(out, (size_t) values->n * typlen);
	for (int i = 0; i < values->n; i++, to += typlen)
		memcpy(to, &values->values[i], typlen);
}

static const char *
open_raw(EncodedValues *ev)
{
	return ev->len == ev->n * stride_of(ev->col) ? NULL : "length does not fit the number of values";
}

static inline Datum
raw_value(const EncodedValues *ev, size_t stride, int i)
{
	const char *v = ev->in + i * stride;

	if (!ev->col->typbyval)
		return PointerGetDatum(v);
	return stride == sizeof(Datum) ? *(const Datum *) v : Int32GetDatum(*(const int32 *) v);
}

static const char *
read_raw(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	size_t		stride = stride_of(ev->col);

	if (ev->col->typbyval && stride == sizeof(Datum))
		memcpy(values, ev->in, ev->len);
	else
	{
		for (int i = 0; i < ev->n; i++)
			values[i] = raw_value(ev, stride, i);
	}
	return NULL;
}

static const char *
take_raw(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
		 ByteBuffer *made)
{
	size_t		stride = stride_of(ev->col);

	for (int i = 0; i < n; i++)
		values[i] = raw_value(ev, stride, at[i]);
	return NULL;
}

/* Nothing but what open() found is needed. */
static const char *
prepare(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	return NULL;
}

static bool
fits_constant(const FileColumn *col)
{
	return !col->typbyval;
}

static EncodingChoice
choose_constant(const ColumnValues *values, EncodeWork *work)
{
	const char *first = values->data + values->values[0];
	bool		varlena = values->col->typlen == -1;
	size_t		size = varlena ? VARSIZE_ANY(first) : values->col->typlen;

	for (int i = 1; i < values->n; i++)
	{
		const char *v = values->data + values->values[i];

		if ((varlena && VARSIZE_ANY(v) != size) || memcmp(v, first, size) != 0)
			return CHOOSE_NOT;
	}
	work->distinct.n = 1;
	return CHOOSE;
}

static void
write_constant(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	const char *v = values->data + values->values[0];

	if (values->col->typlen == -1)
		VarlenaAppend(out, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), values->form);
	else
		ByteBufferAppend(out, v, stride_of(values->col));
}

static const char *
open_constant(EncodedValues *ev)
{
	size_t		at = 0;
	const char *v;

	if (ev->col->typlen > 0)
		return ev->len == stride_of(ev->col) ? NULL : "length does not fit the type";
	v = VarlenaNext(ev->in, ev->len, &at, ev->form.align);
	/* no value, of a chunk without a byte, equals the buffer that was not needed */
	if (v == NULL || v != ev->in || at != ev->len)
		return "value header is invalid";
	return ev->col->keyclass == KEYCLASS_NUMERIC && !NumericContentValid(v) ? "numeric value is invalid" : NULL;
}

static const char *
read_constant(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	for (int i = 0; i < ev->n; i++)
		values[i] = PointerGetDatum(ev->in);
	return NULL;
}

static const char *
read_constant_scaled(const EncodedValues *ev, int64 *values, int *scale, bool *found, ByteBuffer *made)
{
	int64		value;

	*found = ev->col->keyclass == KEYCLASS_NUMERIC && NumericToScaled(ev->in, &value, scale);
	for (int i = 0; i < ev->n && *found; i++)
		values[i] = value;
	return NULL;
}

static const char *
take_constant(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
			  ByteBuffer *made)
{
	for (int i = 0; i < n; i++)
		values[i] = PointerGetDatum(ev->in);
	return NULL;
}

const EncodingOps RawEncoding = {
	.name = "raw",
	.in_chunk = true,
	.fits = fits_raw,
	.choose = choose_raw,
	.write = write_raw,
	.open = open_raw,
	.read = read_raw,
	.prepare = prepare,
	.take = take_raw
};

const EncodingOps ConstantEncoding = {
	.name = "constant",
	.in_chunk = true,
	.fits = fits_constant,
	.choose = choose_constant,
	.write = write_constant,
	.open = open_constant,
	.read = read_constant,
	.read_scaled = read_constant_scaled,
	.prepare = prepare,
	.take = take_constant
};
