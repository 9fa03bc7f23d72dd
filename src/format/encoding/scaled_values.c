/*
 * scaled_values.c
 *	  Encodings FLOAT, BINARY and NUMERIC: integers, and a scale that all of
 *	  them have.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"
#include "format/encoding/scaled_convert.h"

static bool
fits_float(const FileColumn *col)
{
	return col->keyclass == KEYCLASS_FLOAT;
}

static bool
fits_numeric(const FileColumn *col)
{
	return col->keyclass == KEYCLASS_NUMERIC;
}

/* Room for the integers. */
static int64 *
scaled_room(const ColumnValues *values, EncodeWork *work)
{
	return (int64 *) ByteBufferPrepare(&work->scaled, values->n * sizeof(int64));
}

/* Bytes of the integers that were found. */
static size_t
scaled_size(const ColumnValues *values, EncodeWork *work)
{
	IntStreamMakePlan((const int64 *) work->scaled.data, values->n, &work->plan);
	return work->plan.size + sizeof(DiskScaled);
}

/* If they take less than the floats do. */
static EncodingChoice
choose_float(const ColumnValues *values, EncodeWork *work)
{
	int64	   *scaled = scaled_room(values, work);

	if (!FloatsToScaled(values->values, values->n, values->col->typlen, scaled, &work->scale))
		return CHOOSE_NOT;
	return scaled_size(values, work) < (size_t) values->n * values->col->typlen || values->n == 1 ?
		CHOOSE : CHOOSE_NOT;
}

/* RAW is decoded by copying: to be worth more, this has to be clearly smaller. */
static EncodingChoice
choose_binary(const ColumnValues *values, EncodeWork *work)
{
	int64	   *scaled = scaled_room(values, work);
	size_t		raw = (size_t) values->n * values->col->typlen;

	if (!FloatsToBinary(values->values, values->n, values->col->typlen, scaled, &work->scale))
		return CHOOSE_NOT;
	return scaled_size(values, work) < raw - raw / 16 ? CHOOSE : CHOOSE_NOT;
}

/* All values must have one dscale. */
static EncodingChoice
choose_numeric(const ColumnValues *values, EncodeWork *work)
{
	int64	   *scaled = scaled_room(values, work);

	for (int i = 0; i < values->n; i++)
	{
		int			scale;

		if (!NumericToScaled(values->data + values->values[i], &scaled[i], &scale) ||
			(i > 0 && scale != work->scale))
			return CHOOSE_NOT;
		work->scale = scale;
	}
	work->limit = scaled_size(values, work);
	return CHOOSE_UNLESS;
}

static void
write_scaled(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	DiskScaled	head = {work->scale};

	ByteBufferAppend(out, &head, sizeof(head));
	IntStreamWrite(out, (const int64 *) work->scaled.data, values->n, &work->plan);
}

static const char *
open_scaled(EncodedValues *ev, int max_scale)
{
	DiskScaled	head;

	if (ev->len < sizeof(head))
		return "values are cut off";
	memcpy(&head, ev->in, sizeof(head));
	if (head.scale > max_scale)
		return "scale is invalid";
	ev->scale = head.scale;
	ev->ints = ev->in + sizeof(head);
	ev->ints_len = ev->len - sizeof(head);
	return NULL;
}

static const char *
open_float(EncodedValues *ev)
{
	return open_scaled(ev, BF_MAX_FLOAT_SCALE);
}

static const char *
open_binary(EncodedValues *ev)
{
	return open_scaled(ev, BF_MAX_BINARY_SCALE);
}

static const char *
open_numeric(EncodedValues *ev)
{
	return open_scaled(ev, BF_MAX_NUMERIC_SCALE);
}

static const char *
read_float(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	const char *problem = ReadInts(ev, (int64 *) values);

	if (problem == NULL)
		FloatsFromScaled((int64 *) values, ev->n, ev->col->typlen, ev->scale);
	return problem;
}

static const char *
read_binary(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	const char *problem = ReadInts(ev, (int64 *) values);

	if (problem == NULL)
		FloatsFromBinary((int64 *) values, ev->n, ev->col->typlen, ev->scale);
	return problem;
}

static const char *
read_numeric(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	const char *problem = ReadInts(ev, (int64 *) values);

	if (problem == NULL)
		NumericsFromScaled((int64 *) values, ev->n, ev->scale, made);
	return problem;
}

static const char *
read_numeric_scaled(const EncodedValues *ev, int64 *values, int *scale, bool *found, ByteBuffer *made)
{
	*scale = ev->scale;
	*found = true;
	return ReadInts(ev, values);
}

static const char *
take(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
	 ByteBuffer *made)
{
	IntIndexTake(&index->ints, n, at, (int64 *) values);
	if (ev->ops == &FloatEncoding)
		FloatsFromScaled((int64 *) values, n, ev->col->typlen, ev->scale);
	else if (ev->ops == &BinaryEncoding)
		FloatsFromBinary((int64 *) values, n, ev->col->typlen, ev->scale);
	else
		NumericsFromScaled((int64 *) values, n, ev->scale, made);
	return NULL;
}

const EncodingOps FloatEncoding = {
	.name = "float",
	.fits = fits_float,
	.choose = choose_float,
	.write = write_scaled,
	.open = open_float,
	.read = read_float,
	.prepare = PrepareInts,
	.take = take
};

const EncodingOps BinaryEncoding = {
	.name = "binary",
	.fits = fits_float,
	.choose = choose_binary,
	.write = write_scaled,
	.open = open_binary,
	.read = read_binary,
	.prepare = PrepareInts,
	.take = take
};

const EncodingOps NumericEncoding = {
	.name = "numeric",
	.made_bytes = 20,
	.fits = fits_numeric,
	.choose = choose_numeric,
	.write = write_scaled,
	.open = open_numeric,
	.read = read_numeric,
	.read_scaled = read_numeric_scaled,
	.prepare = PrepareInts,
	.take = take
};
