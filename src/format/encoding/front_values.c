/*
 * front_values.c
 *	  Encoding FRONT, of varlenas that begin as the one before them.
 *
 * A value is made of first bytes of the one before it and bytes of its own, so
 * that all of them are put together to take single ones.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"
#include "port/pg_bitutils.h"

/* so many neighbours decide whether prefixes repeat */
#define FRONT_TRIAL		256

static bool
fits(const FileColumn *col)
{
	return col->typlen == -1;
}

/* Bytes that a and b begin with in common, at most max. */
static inline size_t
common_prefix(const char *a, const char *b, size_t max)
{
	size_t		i = 0;

	while (i + 8 <= max)
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + pg_rightmost_one_pos64(x ^ y) / 8;
		i += 8;
	}
	while (i < max && a[i] == b[i])
		i++;
	return i;
}

static EncodingChoice
choose(const ColumnValues *values, EncodeWork *work)
{
	int			n = values->n;
	int64	   *shared;
	int64	   *rest;
	uint64		suffix_bytes = 0;
	uint64		content_bytes = 0;
	uint64		max_shared = 0;
	uint64		max_rest = 0;
	const char *last = "";
	size_t		lastlen = 0;
	size_t		size;

	if (work->found != ENCODING_NONE || values->len > BF_BLOCK_BYTES)
		return CHOOSE_NOT;
	shared = (int64 *) ByteBufferPrepare(&work->codes, 2 * n * sizeof(int64));
	rest = shared + n;
	for (int i = 0; i < n; i++)
	{
		const char *v = values->data + values->values[i];
		const char *content = VARDATA_ANY(v);
		size_t		len = VARSIZE_ANY_EXHDR(v);
		size_t		common = common_prefix(last, content, Min(len, lastlen));

		shared[i] = common;
		rest[i] = len - common;
		suffix_bytes += len - common;
		content_bytes += len;
		max_shared = Max(max_shared, common);
		max_rest = Max(max_rest, len - common);
		last = content;
		lastlen = len;
		if (i == FRONT_TRIAL && suffix_bytes + suffix_bytes / 4 > content_bytes)
			return CHOOSE_NOT;
	}
	/* an upper bound: delta may win in either stream */
	size = sizeof(DiskFront) + IntStreamSize(IntWidth(max_shared), n) +
		IntStreamSize(IntWidth(max_rest), n) + suffix_bytes;
	return size > work->limit ? CHOOSE_NOT : CHOOSE;
}

static void
write_front(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	int			n = values->n;
	const int64 *shared = (const int64 *) work->codes.data;
	const int64 *rest = shared + n;
	DiskFront	head;
	char	   *to;

	head.decoded_bytes = values->len;
	head.suffix_bytes = 0;
	for (int i = 0; i < n; i++)
		head.suffix_bytes += rest[i];
	ByteBufferAppend(out, &head, sizeof(head));
	IntStreamMakePlan(shared, n, &work->plan);
	IntStreamWrite(out, shared, n, &work->plan);
	IntStreamMakePlan(rest, n, &work->plan);
	IntStreamWrite(out, rest, n, &work->plan);
	to = ByteBufferExtend(out, head.suffix_bytes);
	for (int i = 0; i < n; i++)
	{
		memcpy(to, VARDATA_ANY(values->data + values->values[i]) + shared[i], rest[i]);
		to += rest[i];
	}
}

static const char *
open_front(EncodedValues *ev)
{
	DiskFront	head;

	if (ev->len < sizeof(head))
		return "front coding is cut off";
	memcpy(&head, ev->in, sizeof(head));
	if (head.decoded_bytes > BF_BLOCK_BYTES || head.suffix_bytes > head.decoded_bytes ||
		head.suffix_bytes > ev->len - sizeof(head))
		return "front coding has an invalid header";
	ev->made_len = head.decoded_bytes;
	ev->ints = ev->in + sizeof(head);
	ev->ints_len = ev->len - sizeof(head) - head.suffix_bytes;
	ev->data = ev->ints + ev->ints_len;
	ev->data_len = head.suffix_bytes;
	return NULL;
}

/* Values of which the lengths were read: the bytes of the one before are in values, their own in rest. */
static const char *
put_together(const EncodedValues *ev, Datum *values, const int64 *rest, ByteBuffer *made)
{
	bool		numeric = ev->col->keyclass == KEYCLASS_NUMERIC;
	const char *from = ev->data;
	const char *last = "";
	size_t		lastlen = 0;
	uint64		own_left = ev->data_len;
	char	   *base = ByteBufferPrepare(made, ev->made_len);
	size_t		out = 0;

	for (int i = 0; i < ev->n; i++)
	{
		uint64		common = values[i];
		uint64		own = rest[i];
		char	   *to;

		if (common > lastlen || own > own_left ||
			VarlenaPackedSize(out, common + own, ev->form) > ev->made_len - out)
			return "front coding has an invalid length";
		to = VarlenaPutHeader(base, &out, common + own, ev->form);
		memcpy(to, last, common);
		memcpy(to + common, from, own);
		values[i] = PointerGetDatum(base + out);
		if (numeric && !NumericContentValid(base + out))
			return "numeric value is invalid";
		from += own;
		own_left -= own;
		last = to;
		lastlen = common + own;
		out = to + lastlen - base;
	}
	return out == ev->made_len && own_left == 0 ? NULL : "front coding has a wrong length";
}

static const char *
read_front(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	int64	   *rest = (int64 *) ByteBufferPrepare(&scratch->lengths, ev->n * sizeof(int64));
	size_t		shared_len;
	size_t		rest_len;
	const char *problem = IntStreamRead(ev->ints, ev->ints_len, ev->n, (int64 *) values, &shared_len);

	if (problem == NULL)
		problem = IntStreamRead(ev->ints + shared_len, ev->ints_len - shared_len, ev->n, rest, &rest_len);
	if (problem == NULL && shared_len + rest_len != ev->ints_len)
		problem = "front coding has a wrong length";
	return problem ? problem : put_together(ev, values, rest, made);
}

/* Put all of them together: to take one out of the others costs more than it saves. */
static const char *
prepare(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	Datum	   *values = (Datum *) ByteBufferPrepare(&scratch->stored, ev->n * sizeof(Datum));
	ByteBuffer	made;
	const char *problem;

	ByteBufferInit(&made, index->cxt);
	problem = read_front(ev, values, &made, scratch);
	if (problem)
		return problem;
	index->texts = made.data;
	index->offsets = MemoryContextAlloc(index->cxt, ev->n * sizeof(uint32));
	for (int i = 0; i < ev->n; i++)
		index->offsets[i] = (uint32) (DatumGetPointer(values[i]) - made.data);
	return NULL;
}

const EncodingOps FrontEncoding = {
	.name = "front",
	.made_bytes = -1,
	.fits = fits,
	.choose = choose,
	.write = write_front,
	.open = open_front,
	.read = read_front,
	.prepare = prepare,
	.take = TakeTexts
};
