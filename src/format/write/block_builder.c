/*
 * block_builder.c
 *	  Collects the rows of one block column by column.
 *
 * By-reference values are kept in the form they have in a chunk, so that the
 * plain encodings are a copy.  Arrays grow with the rows up to a full block:
 * a file of one row stays cheap.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "format/write/block_builder.h"

#define INITIAL_ROWS 64

/* so much room for by-reference values is kept from block to block */
#define MAX_KEPT_BYTES (2 * (size_t) BF_BLOCK_BYTES)

static BuilderKind
kind_of(const FileColumn *col)
{
	if (col->typlen == -1)
		return BUILDER_VARLENA;
	if (!col->typbyval)
		return BUILDER_FIXED;
	if (KeyClasses[col->keyclass].span == 2)
		return BUILDER_BOOL;
	switch (col->typlen)
	{
		case 1:
			return BUILDER_INT8;
		case 2:
			return BUILDER_INT16;
		case 4:
			return KeyClasses[col->keyclass].span != 0 ? BUILDER_UINT32 : BUILDER_INT32;
		default:
			return BUILDER_INT64;
	}
}

void
BlockBuilderInit(BlockBuilder *builder, MemoryContext cxt, int ncols, const FileColumn *cols,
				 int block_rows)
{
	memset(builder, 0, sizeof(*builder));
	builder->cxt = cxt;
	builder->ncols = ncols;
	builder->cols = MemoryContextAllocZero(cxt, Max(ncols, 1) * sizeof(BuilderColumn));
	builder->byref = MemoryContextAlloc(cxt, Max(ncols, 1) * sizeof(int));
	/* every value takes 8 bytes here, whatever its type */
	builder->max_rows = Min(block_rows, BF_BLOCK_BYTES / (int) (Max(ncols, 1) * sizeof(Datum)));
	builder->max_rows = Max(1, Min(builder->max_rows, BF_BATCH_ROWS));
	for (int i = 0; i < ncols; i++)
	{
		BuilderColumn *col = &builder->cols[i];

		col->meta = cols[i];
		col->kind = kind_of(&cols[i]);
		ByteBufferInit(&col->data, cxt);
		if (col->kind == BUILDER_FIXED)
			col->stride = att_align_nominal(cols[i].typlen, cols[i].typalign);
		if (col->kind == BUILDER_VARLENA)
			col->form = VarlenaFormOf(cols[i].typalign, cols[i].typstorage);
		if (col->kind >= BUILDER_FIXED)
			builder->byref[builder->nbyref++] = i;
	}
	EncodeWorkInit(&builder->work, cxt);
}

/* Bytes that by-reference values take at most in the block. */
static size_t
byref_bytes(const BuilderColumn *col, const Datum *values, const bool *nulls, int n)
{
	size_t		bytes = 0;

	if (col->kind == BUILDER_FIXED)
		return (size_t) n * col->stride;
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			bytes += VARSIZE_ANY(DatumGetPointer(values[i])) + VARHDRSZ + MAXIMUM_ALIGNOF;
	}
	return bytes;
}

/* How many of n rows the block has room for. */
static int
rows_that_fit(const BlockBuilder *builder, Datum *const *values, bool *const *nulls, int at, int n)
{
	n = Min(n, builder->max_rows - builder->nrows);
	if (builder->nbyref == 0)
		return n;
	while (n > 0)
	{
		size_t		bytes = (size_t) (builder->nrows + n) * builder->ncols * sizeof(Datum);

		for (int i = 0; i < builder->nbyref; i++)
		{
			const BuilderColumn *col = &builder->cols[builder->byref[i]];
			int			index = col->meta.attnum - 1;

			bytes += col->data.len + byref_bytes(col, values[index] + at, nulls[index] + at, n);
		}
		if (bytes <= BF_BLOCK_BYTES)
			break;
		n /= 2;
	}
	return n;
}

static void
grow_rows(BlockBuilder *builder, int needed)
{
	int			cap = builder->cap_rows == 0 ? INITIAL_ROWS : builder->cap_rows * 4;

	cap = Min(Max(cap, needed), builder->max_rows);
	for (int i = 0; i < builder->ncols; i++)
	{
		BuilderColumn *col = &builder->cols[i];

		if (builder->cap_rows == 0)
		{
			col->values = MemoryContextAlloc(builder->cxt, cap * sizeof(Datum));
			col->nulls = MemoryContextAlloc(builder->cxt, cap * sizeof(bool));
		}
		else
		{
			col->values = repalloc(col->values, cap * sizeof(Datum));
			col->nulls = repalloc(col->nulls, cap * sizeof(bool));
		}
	}
	builder->cap_rows = cap;
}

static inline Datum
keep_fixed(BuilderColumn *col, Datum value)
{
	size_t		at = col->data.len;
	char	   *to = ByteBufferExtend(&col->data, col->stride);

	memcpy(to, DatumGetPointer(value), col->meta.typlen);
	memset(to + col->meta.typlen, 0, col->stride - col->meta.typlen);
	return at;
}

static inline Datum
keep_varlena(BuilderColumn *col, Datum value)
{
	const char *v = DatumGetPointer(value);

	if (VARATT_IS_SHORT(v) && !VARATT_IS_EXTERNAL(v) && col->form.packable)
	{
		size_t		at = col->data.len;

		/* it stays as it is */
		ByteBufferAppend(&col->data, v, VARSIZE_SHORT(v));
		return at;
	}
	if (VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v))
		elog(ERROR, "value of column %d is toasted", col->meta.attnum);
	return VarlenaAppend(&col->data, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), col->form);
}

/* Add n values of a column, for which there is room. */
static void
append_column(BuilderColumn *col, int row, const Datum *values, const bool *nulls, int n)
{
	Datum	   *to = col->values + col->nvalues;
	int			count = 0;

#define KEEP(expr) \
	do { \
		for (int i = 0; i < n; i++) \
		{ \
			Datum		value = values[i]; \
\
			if (!nulls[i]) \
				to[count++] = (expr); \
		} \
	} while (0)

	memcpy(col->nulls + row, nulls, n * sizeof(bool));
	switch (col->kind)
	{
		case BUILDER_INT64:
			KEEP(value);
			break;
		case BUILDER_INT32:
			KEEP(Int32GetDatum(DatumGetInt32(value)));
			break;
		case BUILDER_UINT32:
			KEEP(UInt32GetDatum(DatumGetUInt32(value)));
			break;
		case BUILDER_INT16:
			KEEP(Int16GetDatum(DatumGetInt16(value)));
			break;
		case BUILDER_INT8:
			KEEP(Int8GetDatum((int8) DatumGetChar(value)));
			break;
		case BUILDER_BOOL:
			KEEP(BoolGetDatum(DatumGetBool(value)));
			break;
		case BUILDER_FIXED:
			KEEP(keep_fixed(col, value));
			break;
		case BUILDER_VARLENA:
			KEEP(keep_varlena(col, value));
			break;
	}
#undef KEEP
	col->nvalues += count;
}

int
BlockBuilderAppend(BlockBuilder *builder, Datum *const *values, bool *const *nulls, int at, int n)
{
	int			count = rows_that_fit(builder, values, nulls, at, n);

	if (count == 0)
	{
		if (builder->nrows > 0)
			return 0;
		count = 1;
	}
	if (builder->nrows + count > builder->cap_rows)
		grow_rows(builder, builder->nrows + count);
	for (int i = 0; i < builder->ncols; i++)
	{
		BuilderColumn *col = &builder->cols[i];
		int			index = col->meta.attnum - 1;
		int			before = col->nvalues;

		append_column(col, builder->nrows, values[index] + at, nulls[index] + at, count);
		if (col->kind < BUILDER_FIXED)
			builder->raw_bytes += (int64) (col->nvalues - before) * col->meta.typlen;
	}
	builder->nrows += count;
	return count;
}

bool
BlockBuilderEdge(const BlockBuilder *builder, int col, bool last, Datum *value)
{
	const BuilderColumn *column = &builder->cols[col];

	if (column->nulls[last ? builder->nrows - 1 : 0])
		return true;
	*value = column->values[last ? column->nvalues - 1 : 0];
	if (column->kind >= BUILDER_FIXED)
		*value = PointerGetDatum(column->data.data + *value);
	return false;
}

ColumnValues
BlockBuilderValues(const BlockBuilder *builder, int col)
{
	const BuilderColumn *column = &builder->cols[col];
	ColumnValues values = {&column->meta, column->form, column->nvalues, column->values,
	column->data.data, column->data.len};

	return values;
}

int64
BlockBuilderRawBytes(const BlockBuilder *builder)
{
	int64		bytes = builder->raw_bytes;

	for (int i = 0; i < builder->nbyref; i++)
		bytes += builder->cols[builder->byref[i]].data.len;
	return bytes;
}

void
BlockBuilderReset(BlockBuilder *builder)
{
	size_t		kept = 0;

	for (int i = 0; i < builder->ncols; i++)
		builder->cols[i].nvalues = 0;
	for (int i = 0; i < builder->nbyref; i++)
	{
		BuilderColumn *col = &builder->cols[builder->byref[i]];

		col->data.len = 0;
		if (kept + col->data.cap > MAX_KEPT_BYTES)
			ByteBufferFree(&col->data);
		kept += col->data.cap;
	}
	builder->nrows = 0;
	builder->raw_bytes = 0;
}
