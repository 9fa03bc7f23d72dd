/*
 * front_values.c
 *	  Encoding FRONT, of varlenas that begin as the one before them.
 *
 * A value is made of first bytes of the one before it and bytes of its own.
 * For taking single ones every so many'th is kept as a whole, and those behind
 * it are put together from there.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"

/* so many neighbours decide whether prefixes repeat */
#define FRONT_TRIAL		256

/* so many values are put together for the last one of them, at most */
#define FRONT_STEP		16

/* where a value is put together: its header, behind which the content is aligned */
#define VALUE_AT		(MAXIMUM_ALIGNOF - VARHDRSZ)

typedef struct FrontIndex
{
	IntIndex	shared;			/* how many bytes a value has of the one before */
	IntIndex	rest;			/* how many of its own */
	const char *own;			/* these */
	uint32	   *own_at;			/* per step: where those of the value behind its first one begin */
	uint32	   *whole_at;		/* per step: its first value */
	ByteBuffer	whole;			/* these */
	ByteBuffer	value;			/* the one that is put together */
	Size		memory;			/* of own_at and whole_at, and this */
} FrontIndex;

/* A value, and what is needed to go on to the next. */
typedef struct FrontWalk
{
	const FrontIndex *front;
	int			step;
	int			at;				/* number of the value */
	size_t		len;			/* of its content, which is in front->value */
	const char *own;			/* bytes of the next one */
	int64		shared[FRONT_STEP];
	int64		rest[FRONT_STEP];
} FrontWalk;

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

/* The lengths of all values; those of the rest are in scratch->lengths then. */
static const char *
read_lengths(const EncodedValues *ev, int64 *shared, struct ColumnScratch *scratch, size_t *shared_len)
{
	int64	   *rest = (int64 *) ByteBufferPrepare(&scratch->lengths, ev->n * sizeof(int64));
	size_t		rest_len;
	const char *problem = IntStreamRead(ev->ints, ev->ints_len, ev->n, shared, shared_len);

	if (problem == NULL)
		problem = IntStreamRead(ev->ints + *shared_len, ev->ints_len - *shared_len, ev->n, rest, &rest_len);
	if (problem == NULL && *shared_len + rest_len != ev->ints_len)
		problem = "front coding has a wrong length";
	return problem;
}

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
	size_t		shared_len;
	const char *problem = read_lengths(ev, (int64 *) values, scratch, &shared_len);

	return problem ? problem : put_together(ev, values, (const int64 *) scratch->lengths.data, made);
}

/* Put all values together, and keep the first one of each step. */
static const char *
prepare(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	int			nsteps = (ev->n + FRONT_STEP - 1) / FRONT_STEP;
	Datum	   *values = (Datum *) ByteBufferPrepare(&scratch->stored, ev->n * sizeof(Datum));
	FrontIndex *front = MemoryContextAllocZero(index->cxt, sizeof(FrontIndex));
	const int64 *rest;
	uint64		own = 0;
	size_t		longest = 0;
	size_t		shared_len;
	size_t		rest_len;
	const char *problem;

	index->front = front;
	IntIndexInit(&front->shared, index->cxt);
	IntIndexInit(&front->rest, index->cxt);
	ByteBufferInit(&front->whole, index->cxt);
	ByteBufferInit(&front->value, index->cxt);
	front->own = ev->data;
	front->own_at = MemoryContextAlloc(index->cxt, nsteps * sizeof(uint32));
	front->whole_at = MemoryContextAlloc(index->cxt, nsteps * sizeof(uint32));
	front->memory = sizeof(FrontIndex) + 2 * nsteps * sizeof(uint32);

	problem = read_lengths(ev, (int64 *) values, scratch, &shared_len);
	rest = (const int64 *) scratch->lengths.data;
	if (problem == NULL)
		problem = put_together(ev, values, rest, &scratch->raw);
	for (int i = 0; i < ev->n && problem == NULL; i++)
	{
		const char *v = DatumGetPointer(values[i]);

		own += rest[i];
		longest = Max(longest, VARSIZE_ANY_EXHDR(v));
		if (i % FRONT_STEP > 0)
			continue;
		front->whole_at[i / FRONT_STEP] =
			(uint32) VarlenaAppend(&front->whole, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), ev->form);
		front->own_at[i / FRONT_STEP] = (uint32) own;
	}
	if (problem == NULL)
		problem = IntIndexOpen(&front->shared, ev->ints, ev->ints_len, ev->n, &scratch->lengths, &shared_len);
	if (problem == NULL)
		problem = IntIndexOpen(&front->rest, ev->ints + shared_len, ev->ints_len - shared_len, ev->n,
							   &scratch->lengths, &rest_len);
	ByteBufferPrepare(&front->value, VALUE_AT + VARHDRSZ + longest);
	return problem;
}

void
FrontIndexFree(FrontIndex *front)
{
	IntIndexFree(&front->shared);
	IntIndexFree(&front->rest);
	pfree(front->own_at);
	pfree(front->whole_at);
	ByteBufferFree(&front->whole);
	ByteBufferFree(&front->value);
	pfree(front);
}

Size
FrontIndexMemory(const FrontIndex *front)
{
	return front->memory + front->shared.memory + front->rest.memory + front->whole.cap + front->value.cap;
}

/* The first value of a step. */
static inline Datum
WholeValue(const FrontIndex *front, int step)
{
	return PointerGetDatum(front->whole.data + front->whole_at[step]);
}

/* Begin with the first value of a step, to go on to value number "last" of it. */
static void
WalkStart(FrontIndex *front, int step, int last, FrontWalk *walk)
{
	const char *whole = DatumGetPointer(WholeValue(front, step));
	uint16		numbers[FRONT_STEP];
	uint64		bytes_read = 0;
	int			n = last - step * FRONT_STEP;

	walk->front = front;
	walk->step = step;
	walk->at = step * FRONT_STEP;
	walk->len = VARSIZE_ANY_EXHDR(whole);
	walk->own = front->own + front->own_at[step];
	memcpy(front->value.data + VALUE_AT + VARHDRSZ, VARDATA_ANY(whole), walk->len);
	for (int i = 0; i < n; i++)
		numbers[i] = (uint16) (walk->at + 1 + i);
	IntIndexTake(&front->shared, n, numbers, walk->shared, &bytes_read);
	IntIndexTake(&front->rest, n, numbers, walk->rest, &bytes_read);
}

static inline void
WalkOn(FrontWalk *walk)
{
	int			i = walk->at++ - walk->step * FRONT_STEP;

	memcpy(walk->front->value.data + VALUE_AT + VARHDRSZ + walk->shared[i], walk->own, walk->rest[i]);
	walk->own += walk->rest[i];
	walk->len = walk->shared[i] + walk->rest[i];
}

static const char *
take(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
	 ByteBuffer *made, uint64 *bytes_read)
{
	FrontIndex *front = index->front;
	FrontWalk	walk;

	walk.step = -1;
	ByteBufferPrepare(made, 0);
	for (int i = 0; i < n; i++)
	{
		int			step = at[i] / FRONT_STEP;

		if (step != walk.step)
		{
			int			last = i;

			while (last + 1 < n && at[last + 1] / FRONT_STEP == step)
				last++;
			WalkStart(front, step, at[last], &walk);
		}
		while (walk.at < at[i])
			WalkOn(&walk);
		values[i] = VarlenaAppend(made, front->value.data + VALUE_AT + VARHDRSZ, walk.len, ev->form);
	}
	/* it stays where it is from now on */
	for (int i = 0; i < n; i++)
		values[i] = PointerGetDatum(made->data + values[i]);
	return NULL;
}

static int
search(const EncodedValues *ev, const ValueIndex *index, int from, int to, Oid coltype, Oid valuetype,
	   Datum value, bool above, uint64 *bytes_read)
{
	KeyClass	keyclass = ev->col->keyclass;
	FrontIndex *front = index->front;
	char	   *present = front->value.data + VALUE_AT;
	int			lo = (from + FRONT_STEP - 1) / FRONT_STEP;
	int			hi = (to + FRONT_STEP - 1) / FRONT_STEP;
	int			step;
	int			end;
	FrontWalk	walk;

	/* the first step whose first value is not passed */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = KeyCompare(keyclass, coltype, WholeValue(front, mid), valuetype, value);

		if (c < 0 || (above && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	end = Min(to, lo * FRONT_STEP);
	if (end <= from)
		return from;
	/* so it is in the step before, or that one's first value */
	step = lo - 1;
	WalkStart(front, step, end - 1, &walk);
	for (;;)
	{
		if (walk.at >= from)
		{
			int			c;

			SET_VARSIZE(present, walk.len + VARHDRSZ);
			c = KeyCompare(keyclass, coltype, PointerGetDatum(present), valuetype, value);
			if (c > 0 || (!above && c == 0))
				return walk.at;
		}
		if (walk.at + 1 >= end)
			return end;
		WalkOn(&walk);
	}
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
	.take = take,
	.search = search
};
