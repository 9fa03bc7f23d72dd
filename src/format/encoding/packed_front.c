/*
 * packed_front.c
 *	  Front-coded values of a packed column.
 *
 * A value is made of first bytes of the one before it and bytes of its own.
 * Every so many'th one is kept as a whole, and those behind it are put together
 * from there.
 */
#include "postgres.h"

#include "format/encoding/int_encoding.h"
#include "format/read/packed_column_private.h"

/* so many values are put together for the last one of them, at most */
#define FRONT_STEP		16

/* where a value is put together: its header, behind which the content is aligned */
#define VALUE_AT		(MAXIMUM_ALIGNOF - VARHDRSZ)

typedef struct PackedFront
{
	PackedColumn *shared;		/* how many bytes a value has of the one before; an int stream */
	PackedColumn *rest;			/* how many of its own */
	const char *own;			/* these */
	uint32	   *own_at;			/* per step: where those of the value behind its first one begin */
	uint32	   *whole_at;		/* per step: its first value */
	ByteBuffer	whole;			/* these */
	ByteBuffer	value;			/* the one that is put together */
} PackedFront;

/* A value, and what is needed to go on to the next. */
typedef struct FrontWalk
{
	PackedFront *front;
	int			step;
	int			at;				/* number of the value */
	size_t		len;			/* of its content, which is in front->value */
	const char *own;			/* bytes of the next one */
	int64		shared[FRONT_STEP];
	int64		rest[FRONT_STEP];
} FrontWalk;

/* One of the two int streams. */
static const char *
OpenLengths(PackedColumn *column, PackedColumn **lengths, const char *in, size_t len,
			ColumnScratch *scratch, size_t *used)
{
	PackedColumn *ints = MakeRoom(column, sizeof(PackedColumn));

	memset(ints, 0, sizeof(PackedColumn));
	ints->reader = column->reader;
	ints->block = column->block;
	ints->col = column->col;
	ints->cxt = column->cxt;
	ints->form = PACKED_INT;
	ints->encoding = ENCODING_INT;
	ints->nrows = ints->nvalues = column->nvalues;
	/* its bytes, which are not its own */
	ints->raw = column->raw;
	*lengths = ints;
	return PackedIntsOpen(ints, in, len, ints->nvalues, scratch, used);
}

/* Check all lengths; *longest is that of the longest value. */
static const char *
CheckLengths(const PackedColumn *column, const DiskFront *head, const int64 *shared,
			 const int64 *rest, size_t *longest)
{
	uint64		own_left = head->suffix_bytes;
	uint64		before = 0;
	size_t		out = 0;

	*longest = 0;
	for (int i = 0; i < column->nvalues; i++)
	{
		uint64		common = shared[i];
		uint64		own = rest[i];

		if (common > before || own > own_left ||
			VarlenaPackedSize(out, common + own, column->varlena) > head->decoded_bytes - out)
			return "front coding has an invalid length";
		own_left -= own;
		before = common + own;
		out += VarlenaPackedSize(out, before, column->varlena);
		*longest = Max(*longest, before);
	}
	if (out != head->decoded_bytes || own_left != 0)
		return "front coding has a wrong length";
	return NULL;
}

/* Keep the first value of each step. */
static void
KeepWhole(PackedColumn *column, const int64 *shared, const int64 *rest)
{
	PackedFront *front = column->front;
	int			nsteps = (column->nvalues + FRONT_STEP - 1) / FRONT_STEP;
	char	   *value = front->value.data + VALUE_AT + VARHDRSZ;
	const char *own = front->own;

	front->own_at = MakeRoom(column, nsteps * sizeof(uint32));
	front->whole_at = MakeRoom(column, nsteps * sizeof(uint32));
	for (int i = 0; i < column->nvalues; i++)
	{
		memcpy(value + shared[i], own, rest[i]);
		own += rest[i];
		if (i % FRONT_STEP > 0)
			continue;
		front->whole_at[i / FRONT_STEP] =
			(uint32) VarlenaAppend(&front->whole, value, shared[i] + rest[i], column->varlena);
		front->own_at[i / FRONT_STEP] = (uint32) (own - front->own);
	}
}

const char *
PackedFrontOpen(PackedColumn *column, const char *in, size_t len, ColumnScratch *scratch)
{
	int			n = column->nvalues;
	PackedFront *front = MakeRoom(column, sizeof(PackedFront));
	DiskFront	head;
	int64	   *shared;
	int64	   *rest;
	size_t		at = sizeof(head);
	size_t		longest;
	size_t		shared_at;
	size_t		used;
	const char *problem;

	memset(front, 0, sizeof(PackedFront));
	ByteBufferInit(&front->whole, column->cxt);
	ByteBufferInit(&front->value, column->cxt);
	column->form = PACKED_FRONT;
	column->front = front;
	if (len < sizeof(head))
		return "front coding is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.decoded_bytes > BF_BLOCK_BYTES || head.suffix_bytes > head.decoded_bytes)
		return "front coding has an invalid header";
	shared_at = at;
	problem = OpenLengths(column, &front->shared, in + at, len - at, scratch, &used);
	if (problem)
		return problem;
	at += used;
	problem = OpenLengths(column, &front->rest, in + at, len - at, scratch, &used);
	if (problem)
		return problem;
	if (len - at - used != head.suffix_bytes)
		return "front coding has a wrong length";
	front->own = in + at + used;

	shared = (int64 *) ByteBufferPrepare(&scratch->lengths, 2 * n * sizeof(int64));
	rest = shared + n;
	problem = IntStreamRead(in + shared_at, len - shared_at, n, shared, &used);
	if (problem == NULL)
		problem = IntStreamRead(in + at, len - at, n, rest, &used);
	if (problem == NULL)
		problem = CheckLengths(column, &head, shared, rest, &longest);
	if (problem)
		return problem;
	ByteBufferPrepare(&front->value, VALUE_AT + VARHDRSZ + longest);
	KeepWhole(column, shared, rest);
	return NULL;
}

void
PackedFrontFree(PackedFront *front)
{
	PackedIntsFree(front->shared);
	PackedIntsFree(front->rest);
	pfree(front->shared);
	pfree(front->rest);
	pfree(front->own_at);
	pfree(front->whole_at);
	ByteBufferFree(&front->whole);
	ByteBufferFree(&front->value);
	pfree(front);
}

Size
PackedFrontMemory(const PackedFront *front)
{
	return front->shared->memory + front->rest->memory + front->whole.cap + front->value.cap;
}

/* The first value of a step. */
static inline Datum
WholeValue(const PackedFront *front, int step)
{
	return PointerGetDatum(front->whole.data + front->whole_at[step]);
}

/* Begin with the first value of a step, to go on to value number "last" of it. */
static void
WalkStart(PackedFront *front, int step, int last, FrontWalk *walk)
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
	PackedIntsGather(front->shared, n, numbers, walk->shared, &bytes_read);
	PackedIntsGather(front->rest, n, numbers, walk->rest, &bytes_read);
}

static inline void
WalkOn(FrontWalk *walk)
{
	int			i = walk->at++ - walk->step * FRONT_STEP;

	memcpy(walk->front->value.data + VALUE_AT + VARHDRSZ + walk->shared[i], walk->own, walk->rest[i]);
	walk->own += walk->rest[i];
	walk->len = walk->shared[i] + walk->rest[i];
}

void
PackedFrontGather(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made)
{
	PackedFront *front = column->front;
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
		values[i] = VarlenaAppend(made, front->value.data + VALUE_AT + VARHDRSZ, walk.len, column->varlena);
	}
	/* it stays where it is from now on */
	for (int i = 0; i < n; i++)
		values[i] = PointerGetDatum(made->data + values[i]);
}

int
PackedFrontSearch(const PackedColumn *column, int from, int to, Oid coltype,
				  Oid valuetype, Datum value, bool above)
{
	KeyClass	keyclass = column->reader->cols[column->col].keyclass;
	PackedFront *front = column->front;
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
