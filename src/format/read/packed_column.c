/*
 * packed_column.c
 *	  One column of one block, kept as it is in the file.
 *
 * Packed integers, and what is made of them (numerics, floats, positions in a
 * dictionary), are found by their number; of deltas the sum is kept at every
 * so many values, of packed varlenas the place; patches are kept, and of a
 * bitmap of repeats the number of bits before every so many.  Of front coding, where each
 * value needs the one before it, every so many'th value is kept.
 *
 * Of integers that are not compressed, even the bits may be left in the file:
 * those of the few values around the wanted one are read when they are wanted.
 *
 * What is read is checked as far as needed to stay inside of the bytes, and to
 * give no value the type does not have.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "format/encoding/int_encoding.h"
#include "format/encoding/scaled_encoding.h"
#include "format/read/packed_column_private.h"

/* so many packed varlenas are walked over */
#define VARLENA_STEP	16

/*
 * Find every step'th of n packed varlenas that are exactly the len bytes at
 * in.  NULL, or what is wrong.
 */
static const char *
OpenVarlenas(PackedColumn *column, const char *in, size_t len, int n, int step, bool numeric)
{
	int			noffsets = (n + step - 1) / step;
	size_t		at = 0;

	column->values = in;
	column->len = len;
	column->offsets = MemoryContextAlloc(column->cxt, noffsets * sizeof(uint32));
	column->memory += noffsets * sizeof(uint32);
	for (int i = 0; i < n; i++)
	{
		const char *v = VarlenaNext(in, len, &at, column->varlena.align);

		if (v == NULL)
			return "value header is invalid";
		if (numeric && !NumericContentValid(v))
			return "numeric value is invalid";
		if (i % step == 0)
			column->offsets[i / step] = (uint32) (v - in);
	}
	return at == len ? NULL : "bytes are left over behind the values";
}

static const char *
OpenScaled(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	bool		isfloat = column->encoding != ENCODING_NUMERIC;
	DiskScaled	head;
	size_t		used = 0;
	const char *problem;

	if (col->keyclass != (isfloat ? KEYCLASS_FLOAT : KEYCLASS_NUMERIC))
		return "encoding does not fit the type";
	if (len < sizeof(head))
		return "values are cut off";
	memcpy(&head, in, sizeof(head));
	if (head.scale > (column->encoding == ENCODING_FLOAT ? BF_MAX_FLOAT_SCALE :
					  isfloat ? BF_MAX_BINARY_SCALE : BF_MAX_NUMERIC_SCALE))
		return "scale is invalid";
	column->form = PACKED_INT;
	column->scale = head.scale;
	problem = PackedIntsOpen(column, in + sizeof(head), len - sizeof(head), column->nvalues, scratch, &used);
	if (problem == NULL && used != len - sizeof(head))
		problem = "bytes are left over behind the values";
	return problem;
}

static const char *
OpenDict(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	DiskDict	head;
	const char *problem;
	size_t		at;
	size_t		used = 0;

	if (col->typlen != -1)
		return "encoding does not fit the type";
	if (len < sizeof(head))
		return "dictionary is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.nvalues == 0 || head.nvalues > (uint32) column->nvalues || head.dict_bytes > len - sizeof(head))
		return "dictionary has an invalid header";
	column->form = PACKED_DICT;
	column->low = 0;
	column->span = head.nvalues;
	problem = OpenVarlenas(column, in + sizeof(head), head.dict_bytes, head.nvalues, 1,
						   col->keyclass == KEYCLASS_NUMERIC);
	if (problem)
		return problem;
	at = sizeof(head) + BF_ALIGN8(head.dict_bytes);
	if (at > len)
		return "dictionary is cut off";
	problem = PackedIntsOpen(column, in + at, len - at, column->nvalues, scratch, &used);
	if (problem == NULL && at + used != len)
		problem = "bytes are left over behind the values";
	return problem;
}

static const char *
OpenFixed(PackedColumn *column, const FileColumn *col, size_t len)
{
	if (col->typlen < 0 || (col->typbyval && col->keyclass != KEYCLASS_FLOAT))
		return "encoding does not fit the type";
	column->form = PACKED_FIXED;
	column->stride = col->typbyval ? (size_t) col->typlen : att_align_nominal(col->typlen, col->typalign);
	return len == column->nvalues * column->stride ? NULL : "length does not fit the number of values";
}

static const char *
OpenOne(PackedColumn *column, const FileColumn *col, const char *in, size_t len)
{
	const char *problem;

	if (col->typbyval)
		return "encoding does not fit the type";
	column->form = PACKED_ONE;
	if (col->typlen > 0)
		return len == att_align_nominal(col->typlen, col->typalign) ? NULL : "length does not fit the type";
	problem = OpenVarlenas(column, in, len, 1, 1, col->keyclass == KEYCLASS_NUMERIC);
	if (problem == NULL && column->offsets[0] != 0)
		problem = "value header is invalid";
	return problem;
}

/* Look at the len bytes of values at in; NULL, or what is wrong. */
static const char *
OpenValues(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	const char *problem;
	size_t		used = 0;

	column->values = in;
	column->len = len;
	switch (column->encoding)
	{
		case ENCODING_INT:
			if (!col->typbyval || col->keyclass == KEYCLASS_FLOAT)
				return "encoding does not fit the type";
			column->form = PACKED_INT;
			ColumnRange(col, &column->low, &column->span);
			problem = PackedIntsOpen(column, in, len, column->nvalues, scratch, &used);
			if (problem == NULL && used != len)
				problem = "bytes are left over behind the values";
			return problem;
		case ENCODING_FLOAT:
		case ENCODING_BINARY:
		case ENCODING_NUMERIC:
			return OpenScaled(column, col, in, len, scratch);
		case ENCODING_DICT:
			return OpenDict(column, col, in, len, scratch);
		case ENCODING_RAW:
			return OpenFixed(column, col, len);
		case ENCODING_CONSTANT:
			return OpenOne(column, col, in, len);
		case ENCODING_FRONT:
			return col->typlen != -1 ? "encoding does not fit the type" :
				PackedFrontOpen(column, in, len, scratch);
		default:
			if (col->typlen != -1)
				return "encoding does not fit the type";
			column->form = PACKED_VARLENA;
			return OpenVarlenas(column, in, len, column->nvalues, VARLENA_STEP,
								col->keyclass == KEYCLASS_NUMERIC);
	}
}

/* Count the nulls; NULL, or what is wrong. */
static const char *
OpenNulls(PackedColumn *column, const char *in)
{
	int			count;

	column->nullbits = (const uint8 *) in;
	column->ranks = PackedRanks(column, column->nullbits, column->nrows, &count);
	return count == column->nrows - column->nvalues ? NULL : "null bitmap does not have the number of nulls";
}

/* Is there a way to look at single values?  There is none of what is not known here, and none is needed for numerics. */
static bool
CanStayPacked(const DiskChunk *chunk, const FileColumn *col)
{
	return chunk->encoding <= ENCODING_DICT || chunk->encoding == ENCODING_BINARY ||
		(chunk->encoding == ENCODING_FRONT && col->keyclass != KEYCLASS_NUMERIC);
}

PackedColumn *
PackedColumnRead(FileReader *reader, int block, int col, ColumnScratch *scratch,
				 MemoryContext cxt, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	const FileColumn *filecol = &reader->cols[col];
	PackedColumn *column = MemoryContextAllocZero(cxt, sizeof(PackedColumn));
	const char *problem = NULL;
	const char *in;
	size_t		len;

	column->reader = reader;
	column->block = block;
	column->col = col;
	column->cxt = cxt;
	column->encoding = (ChunkEncoding) chunk->encoding;
	column->nrows = reader->blocks[block].nrows;
	column->nvalues = column->nrows - (int) chunk->null_count;
	column->memory = sizeof(PackedColumn);
	column->varlena = VarlenaFormOf(filecol->typalign, filecol->typstorage);
	ByteBufferInit(&column->raw, cxt);
	ByteBufferInit(&column->made, cxt);
	if (!CanStayPacked(chunk, filecol))
	{
		column->form = PACKED_DECODED;
		column->buffer = ColumnBufferCreate(cxt, scratch);
		FileReaderDecode(reader, block, col, column->buffer, &column->vector, bytes_read);
		return column;
	}

	if (column->nvalues == 0)
		return column;
	in = ChunkRead(reader, block, col, chunk, &column->raw, scratch);
	len = chunk->raw_len;
	*bytes_read += chunk->stored_len;
	if (chunk->codec == BF_COMPRESS_NONE)
		column->offset = chunk->offset;
	if (chunk->null_count > 0)
	{
		size_t		bitmap = BF_ALIGN8((column->nrows + 7) / 8);

		problem = len < bitmap ? "null bitmap is cut off" : OpenNulls(column, in);
		in += bitmap;
		len -= bitmap;
	}
	if (problem == NULL)
		problem = OpenValues(column, filecol, in, len, scratch);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	return column;
}

void
PackedColumnFree(PackedColumn *column)
{
	ByteBufferFree(&column->raw);
	ByteBufferFree(&column->made);
	if (column->ranks)
		pfree(column->ranks);
	PackedIntsFree(column);
	if (column->offsets)
		pfree(column->offsets);
	if (column->front)
		PackedFrontFree(column->front);
	if (column->buffer)
		ColumnBufferFree(column->buffer);
	pfree(column);
}

Size
PackedColumnMemory(const PackedColumn *column)
{
	return column->memory + column->raw.cap + column->made.cap +
		(column->front ? PackedFrontMemory(column->front) : 0) +
		(column->buffer ? ColumnBufferMemory(column->buffer) : 0);
}

/* Is the column searched by PackedIntsSearch? */
static bool
SearchedAsInts(const PackedColumn *column)
{
	return column->form == PACKED_INT && column->encoding == ENCODING_INT && column->nullbits == NULL &&
		column->head.kind != INT_STREAM_TRIPLES && KeyClassIsFixed(column->reader->cols[column->col].keyclass);
}

bool
PackedColumnThin(PackedColumn *column, bool searched)
{
	char	   *kept;

	if (column->thin || column->offset == 0 || (column->form != PACKED_INT && column->form != PACKED_DICT) ||
		(searched && !SearchedAsInts(column)))
		return false;
	if (searched)
		PackedIntsKeepSums(column);
	kept = MemoryContextAllocHuge(column->cxt, column->bits + BF_SLACK);
	memcpy(kept, column->raw.data, column->bits);
	if (column->nullbits != NULL)
		column->nullbits = (const uint8 *) kept;
	if (column->distinct != NULL)
		column->distinct = (const uint8 *) kept + ((const char *) column->distinct - column->raw.data);
	column->values = kept + (column->values - column->raw.data);
	pfree(column->raw.data);
	column->raw.data = kept;
	column->raw.cap = column->bits;
	column->thin = true;
	return true;
}

static inline bool
RowIsNull(const PackedColumn *column, int row)
{
	return column->nullbits != NULL && ((column->nullbits[row / 8] >> (row % 8)) & 1) != 0;
}

/* The number of a row's value among those that are there. */
static inline int
ValueOfRow(const PackedColumn *column, int row)
{
	return column->nullbits == NULL ? row : row - RankOf(column->nullbits, column->ranks, row);
}

/* Packed varlena number "at". */
static const char *
FindVarlena(const PackedColumn *column, int at)
{
	size_t		offset = column->offsets[at / VARLENA_STEP];
	const char *v = column->values + offset;

	/* all of them were looked at when the column was read */
	for (int i = at - at % VARLENA_STEP; i <= at; i++)
		v = VarlenaNext(column->values, column->len, &offset, column->varlena.align);
	return v;
}

/* Values number "at" (ascending) of the n that are there. */
static void
GatherValues(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made,
			 uint64 *bytes_read)
{
	const FileColumn *filecol = &column->reader->cols[column->col];

	switch (column->form)
	{
		case PACKED_INT:
			PackedIntsGather(column, n, at, (int64 *) values, bytes_read);
			if (column->encoding == ENCODING_FLOAT)
				FloatsFromScaled((int64 *) values, n, filecol->typlen, column->scale);
			else if (column->encoding == ENCODING_BINARY)
				FloatsFromBinary((int64 *) values, n, filecol->typlen, column->scale);
			else if (column->encoding == ENCODING_NUMERIC)
				NumericsFromScaled((int64 *) values, n, column->scale, made);
			break;
		case PACKED_DICT:
			PackedIntsGather(column, n, at, (int64 *) values, bytes_read);
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(column->values + column->offsets[values[i]]);
			break;
		case PACKED_FIXED:
			for (int i = 0; i < n; i++)
			{
				const char *v = column->values + at[i] * column->stride;

				if (!filecol->typbyval)
					values[i] = PointerGetDatum(v);
				else if (filecol->typlen == sizeof(Datum))
					memcpy(&values[i], v, sizeof(Datum));
				else
					values[i] = Int32GetDatum(*(const int32 *) v);
			}
			break;
		case PACKED_ONE:
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(column->values);
			break;
		case PACKED_VARLENA:
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(FindVarlena(column, at[i]));
			break;
		case PACKED_FRONT:
			PackedFrontGather(column, n, at, values, made);
			break;
		case PACKED_DECODED:
			elog(ERROR, "a decoded column has no packed values");
	}
}

bool
PackedColumnGather(const PackedColumn *column, int n, const uint16 *rows,
				   Datum *values, bool *nulls, ByteBuffer *made, uint64 *bytes_read)
{
	uint16		at[BF_GATHER_ROWS];
	int			found = 0;

	Assert(n <= BF_GATHER_ROWS);
	if (column->form == PACKED_DECODED)
	{
		const bool *isnull = column->vector.nulls;

		for (int i = 0; i < n; i++)
		{
			values[i] = column->vector.values[rows[i]];
			if (isnull != NULL)
				nulls[i] = isnull[rows[i]];
		}
		return isnull != NULL;
	}
	if (column->nvalues == 0)
	{
		memset(values, 0, n * sizeof(Datum));
		memset(nulls, true, n * sizeof(bool));
		return true;
	}
	if (column->nullbits == NULL)
	{
		if (n > 0)
			GatherValues(column, n, rows, values, made, bytes_read);
		return false;
	}
	for (int i = 0; i < n; i++)
	{
		nulls[i] = RowIsNull(column, rows[i]);
		if (!nulls[i])
			at[found++] = (uint16) ValueOfRow(column, rows[i]);
	}
	if (found > 0)
		GatherValues(column, found, at, values, made, bytes_read);
	for (int i = n - 1; i >= 0; i--)
		values[i] = nulls[i] ? (Datum) 0 : values[--found];
	return true;
}

int
PackedColumnSearch(PackedColumn *column, int from, int to, Oid coltype,
				   Oid valuetype, Datum value, bool above, uint64 *bytes_read)
{
	KeyClass	keyclass = column->reader->cols[column->col].keyclass;
	int			lo = from;
	int			hi = to;

	if (from >= to)
		return to;
	if (SearchedAsInts(column))
	{
		int64		want = KeySort64(keyclass, valuetype, value);

		if (above && want == PG_INT64_MAX)
			return to;
		return PackedIntsSearch(column, from, to, above ? want + 1 : want, bytes_read);
	}
	if (column->form == PACKED_FRONT && column->nullbits == NULL)
		return PackedFrontSearch(column, from, to, coltype, valuetype, value, above);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		uint16		row = (uint16) mid;
		Datum		found;
		bool		isnull = false;
		int			c = 1;

		if (!PackedColumnGather(column, 1, &row, &found, &isnull, &column->made, bytes_read) || !isnull)
			c = KeyCompare(keyclass, coltype, found, valuetype, value);
		if (c < 0 || (above && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
