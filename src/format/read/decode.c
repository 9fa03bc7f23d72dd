/*
 * decode.c
 *	  Read, check and decode one column of one block.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "format/codec.h"
#include "format/encoding/int_encoding.h"
#include "format/encoding/scaled_encoding.h"
#include "format/encoding/text_encoding.h"
#include "format/read/reader_private.h"
#include "port/pg_crc32c.h"

struct ColumnBuffer
{
	ByteBuffer	values;			/* Datums */
	ByteBuffer	nulls;			/* bools */
	ByteBuffer	raw;			/* decompressed, when Datums point there */
	ByteBuffer	decoded;		/* values made by decoding; Datums may point here */
	ColumnScratch *scratch;
	bool		own_scratch;
};

ColumnScratch *
ColumnScratchCreate(MemoryContext cxt)
{
	ColumnScratch *scratch = MemoryContextAlloc(cxt, sizeof(ColumnScratch));

	ByteBufferInit(&scratch->stored, cxt);
	ByteBufferInit(&scratch->raw, cxt);
	ByteBufferInit(&scratch->lengths, cxt);
	return scratch;
}

Size
ColumnScratchMemory(const ColumnScratch *scratch)
{
	return sizeof(ColumnScratch) + scratch->stored.cap + scratch->raw.cap + scratch->lengths.cap;
}

ColumnBuffer *
ColumnBufferCreate(MemoryContext cxt, ColumnScratch *scratch)
{
	ColumnBuffer *buffer = MemoryContextAlloc(cxt, sizeof(ColumnBuffer));

	ByteBufferInit(&buffer->values, cxt);
	ByteBufferInit(&buffer->nulls, cxt);
	ByteBufferInit(&buffer->raw, cxt);
	ByteBufferInit(&buffer->decoded, cxt);
	buffer->own_scratch = scratch == NULL;
	buffer->scratch = scratch ? scratch : ColumnScratchCreate(cxt);
	return buffer;
}

void
ColumnBufferFree(ColumnBuffer *buffer)
{
	ByteBufferFree(&buffer->values);
	ByteBufferFree(&buffer->nulls);
	ByteBufferFree(&buffer->raw);
	ByteBufferFree(&buffer->decoded);
	if (buffer->own_scratch)
	{
		ByteBufferFree(&buffer->scratch->stored);
		ByteBufferFree(&buffer->scratch->raw);
		ByteBufferFree(&buffer->scratch->lengths);
		pfree(buffer->scratch);
	}
	pfree(buffer);
}

Size
ColumnBufferMemory(const ColumnBuffer *buffer)
{
	return sizeof(ColumnBuffer) + buffer->values.cap + buffer->nulls.cap + buffer->raw.cap +
		buffer->decoded.cap + (buffer->own_scratch ? ColumnScratchMemory(buffer->scratch) : 0);
}

/* What is wrong with a directory entry, or NULL. */
static const char *
check_chunk(const FileReader *reader, const DiskChunk *chunk, int nrows)
{
	const FileReaderPrivate *priv = reader->priv;

	if (chunk->null_count > (uint32) nrows)
		return "number of nulls is invalid";
	if (chunk->encoding > ENCODING_BINARY || chunk->codec > BF_COMPRESS_ZSTD)
		return "encoding or codec is not known";
	if ((chunk->encoding == ENCODING_NONE) != (chunk->null_count == (uint32) nrows))
		return "encoding does not fit the number of nulls";
	if (chunk->encoding == ENCODING_NONE)
		return chunk->stored_len == 0 && chunk->raw_len == 0 ? NULL : "length of a chunk is invalid";
	if (chunk->offset % 8 != 0 || chunk->offset < priv->header_length ||
		chunk->offset > priv->footer_offset || chunk->stored_len > priv->footer_offset - chunk->offset)
		return "position of a chunk is invalid";
	if (chunk->raw_len > (nrows > 1 ? BF_MAX_CHUNK_RAW : BF_MAX_VALUE_RAW) ||
		chunk->raw_len > CodecMaxRaw(chunk->codec, chunk->stored_len) ||
		(chunk->codec == BF_COMPRESS_NONE && chunk->raw_len != chunk->stored_len))
		return "length of a chunk is invalid";
	return NULL;
}

/* One bool per row out of one bit per row; NULL, or what is wrong. */
static const char *
expand_nulls(const char *bits, int nrows, int null_count, bool *nulls)
{
	int			nbytes = (nrows + 7) / 8;
	int			count = 0;

	for (int i = 0; i < nbytes; i++)
	{
		uint64		spread = ((uint8) bits[i] * UINT64CONST(0x0101010101010101)) & UINT64CONST(0x8040201008040201);

		/* byte k holds bit k or 0: make it 0 or 1 */
		spread = ((spread + UINT64CONST(0x7f7f7f7f7f7f7f7f)) >> 7) & UINT64CONST(0x0101010101010101);
		memcpy(nulls + i * 8, &spread, sizeof(spread));
	}
	for (int i = 0; i < nrows; i++)
		count += nulls[i];
	if (count != null_count)
		return "null bitmap does not have the number of nulls";
	return NULL;
}

/* Move n dense values to the rows that are not null. */
static void
spread_values(Datum *values, int n, const bool *nulls, int nrows)
{
	int			k = n;

	for (int i = nrows - 1; i >= 0; i--)
	{
		k -= !nulls[i];
		values[i] = nulls[i] ? (Datum) 0 : values[k];
	}
}

/* Are all the integers in [low, low + span)?  span is a power of two. */
static bool
in_range(const Datum *values, int n, int64 low, uint64 span)
{
	uint64		all = 0;

	for (int i = 0; i < n; i++)
		all |= (uint64) values[i] - (uint64) low;
	return all < span;
}

void
ColumnRange(const FileColumn *col, int64 *low, uint64 *span)
{
	*low = 0;
	*span = 0;
	if (col->keyclass == KEYCLASS_BOOL)
		*span = 2;
	else if (col->keyclass == KEYCLASS_OID)
		*span = UINT64CONST(1) << 32;
	else if (col->typlen < (int) sizeof(int64))
	{
		*span = UINT64CONST(1) << (8 * col->typlen);
		*low = -(int64) (*span / 2);
	}
}

static const char *
check_range(const FileColumn *col, const Datum *values, int n)
{
	int64		low;
	uint64		span;

	ColumnRange(col, &low, &span);
	return span == 0 || in_range(values, n, low, span) ? NULL : "value is outside the range of its type";
}

static const char *
read_int_values(const FileColumn *col, const char *in, size_t len, int n, Datum *values)
{
	size_t		used;
	const char *problem;

	if (!col->typbyval || col->keyclass == KEYCLASS_FLOAT)
		return "encoding does not fit the type";
	problem = IntStreamRead(in, len, n, (int64 *) values, &used);
	if (problem)
		return problem;
	if (used != len)
		return "bytes are left over behind the values";
	return check_range(col, values, n);
}

static const char *
read_raw_values(const FileColumn *col, const char *in, size_t len, int n, Datum *values)
{
	if (col->typlen < 0)
		return "encoding does not fit the type";
	if (!col->typbyval)
	{
		size_t		stride = att_align_nominal(col->typlen, col->typalign);

		if (len != n * stride)
			return "length does not fit the number of values";
		for (int i = 0; i < n; i++)
			values[i] = PointerGetDatum(in + i * stride);
		return NULL;
	}
	if (col->keyclass != KEYCLASS_FLOAT)
		return "encoding does not fit the type";
	if (len != (size_t) n * col->typlen)
		return "length does not fit the number of values";
	if (col->typlen == sizeof(Datum))
		memcpy(values, in, len);
	else
	{
		for (int i = 0; i < n; i++)
			values[i] = Int32GetDatum(((const int32 *) in)[i]);
	}
	return NULL;
}

/* so many values stay in the first cache between two steps */
#define TILE_ROWS 512

/* Binary fractions below 1, mostly: unpacked as mantissas. */
static void
read_binary_tiles(const char *in, int n, int scale, Datum *values)
{
	for (int i = 0; i < n; i += TILE_ROWS)
	{
		int			m = Min(TILE_ROWS, n - i);

		IntStreamReadPart(in, i, m, FloatsBinaryBits(scale), (int64 *) values + i);
		FloatsFromBinaryBits((int64 *) values + i, m, scale);
	}
}

/* The integers of scaled values, behind their head. */
static const char *
read_scaled_ints(const char *in, size_t len, int n, int64 *values)
{
	size_t		used;
	const char *problem = IntStreamRead(in + sizeof(DiskScaled), len - sizeof(DiskScaled), n, values, &used);

	if (problem)
		return problem;
	return used == len - sizeof(DiskScaled) ? NULL : "bytes are left over behind the values";
}

static const char *
read_scaled_head(const FileColumn *col, ChunkEncoding encoding, const char *in, size_t len,
				 DiskScaled *head)
{
	if (col->keyclass != (encoding == ENCODING_NUMERIC ? KEYCLASS_NUMERIC : KEYCLASS_FLOAT))
		return "encoding does not fit the type";
	if (len < sizeof(*head))
		return "values are cut off";
	memcpy(head, in, sizeof(*head));
	if (head->scale > (encoding == ENCODING_FLOAT ? BF_MAX_FLOAT_SCALE :
					  encoding == ENCODING_BINARY ? BF_MAX_BINARY_SCALE : BF_MAX_NUMERIC_SCALE))
		return "scale is invalid";
	return NULL;
}

static const char *
read_scaled_values(const FileColumn *col, ChunkEncoding encoding, const char *in, size_t len, int n,
				   Datum *values, ByteBuffer *decoded)
{
	DiskScaled	head;
	const char *problem = read_scaled_head(col, encoding, in, len, &head);

	if (problem)
		return problem;
	if (encoding == ENCODING_BINARY && col->typlen == sizeof(float8) &&
		IntStreamIsBelow(in + sizeof(head), len - sizeof(head), n, 52))
	{
		read_binary_tiles(in + sizeof(head), n, head.scale, values);
		return NULL;
	}
	problem = read_scaled_ints(in, len, n, (int64 *) values);
	if (problem)
		return problem;
	if (encoding == ENCODING_FLOAT)
		FloatsFromScaled((int64 *) values, n, col->typlen, head.scale);
	else if (encoding == ENCODING_BINARY)
		FloatsFromBinary((int64 *) values, n, col->typlen, head.scale);
	else
		NumericsFromScaled((int64 *) values, n, head.scale, decoded);
	return NULL;
}

static const char *
read_constant(const FileColumn *col, const char *in, size_t len, int n, Datum *values)
{
	if (col->typbyval)
		return "encoding does not fit the type";
	if (col->typlen > 0)
	{
		if (len != att_align_nominal(col->typlen, col->typalign))
			return "length does not fit the type";
	}
	else
	{
		size_t		at = 0;
		const char *v = VarlenaNext(in, len, &at, VarlenaFormOf(col->typalign, col->typstorage).align);

		/* no value, of a chunk without a byte, equals the buffer that was not needed */
		if (v == NULL || v != in || at != len)
			return "value header is invalid";
		if (col->keyclass == KEYCLASS_NUMERIC && !NumericContentValid(v))
			return "numeric value is invalid";
	}
	for (int i = 0; i < n; i++)
		values[i] = PointerGetDatum(in);
	return NULL;
}

/* Decode the len bytes at in to n >= 1 values; NULL, or what is wrong. */
static const char *
read_values(const FileColumn *col, ChunkEncoding encoding, const char *in, size_t len, int n,
			Datum *values, ColumnBuffer *buffer)
{
	bool		numeric = col->keyclass == KEYCLASS_NUMERIC;
	VarlenaForm form;

	switch (encoding)
	{
		case ENCODING_NONE:
			break;
		case ENCODING_INT:
			return read_int_values(col, in, len, n, values);
		case ENCODING_RAW:
			return read_raw_values(col, in, len, n, values);
		case ENCODING_FLOAT:
		case ENCODING_BINARY:
		case ENCODING_NUMERIC:
			return read_scaled_values(col, encoding, in, len, n, values, &buffer->decoded);
		case ENCODING_CONSTANT:
			return read_constant(col, in, len, n, values);
		case ENCODING_PLAIN:
		case ENCODING_DICT:
		case ENCODING_FRONT:
			if (col->typlen != -1)
				return "encoding does not fit the type";
			form = VarlenaFormOf(col->typalign, col->typstorage);
			if (encoding == ENCODING_PLAIN)
				return PlainRead(in, len, n, form.align, numeric, values);
			if (encoding == ENCODING_DICT)
				return DictRead(in, len, n, form.align, numeric, values, &buffer->decoded);
			return FrontRead(in, len, n, form, numeric, values, &buffer->scratch->lengths, &buffer->decoded);
	}
	return "encoding is not known";
}

/* Do values that are passed by reference point into the raw bytes of a chunk? */
static bool
values_in_raw(const FileColumn *col, ChunkEncoding encoding)
{
	return !col->typbyval && encoding != ENCODING_NUMERIC && encoding != ENCODING_FRONT;
}

/* bytes of a numeric made from a scaled integer, at most */
#define SCALED_NUMERIC_BYTES 20

Size
FileReaderColumnMemory(const FileReader *reader, int block, int col, Size row_bytes)
{
	const DiskChunk *chunk = &reader->priv->chunks[(size_t) block * reader->ncols + col];
	Size		nrows = (Size) reader->blocks[block].nrows;
	/* the chunk has not been checked yet */
	Size		raw_len = (Size) Min(chunk->raw_len, BF_MAX_VALUE_RAW);
	Size		memory = nrows * sizeof(Datum);

	if (chunk->null_count > 0)
		memory += nrows;
	if (values_in_raw(&reader->cols[col], (ChunkEncoding) chunk->encoding))
		memory += raw_len;
	if (chunk->encoding == ENCODING_DICT)
		memory += nrows * sizeof(Datum);
	if (chunk->encoding == ENCODING_NUMERIC)
		memory += nrows * SCALED_NUMERIC_BYTES;
	if (chunk->encoding == ENCODING_FRONT)
		memory += Max(raw_len, Min(nrows * row_bytes, (Size) BF_BLOCK_BYTES));
	return memory;
}

const DiskChunk *
ChunkGet(FileReader *reader, int block, int col)
{
	const DiskChunk *chunk = &reader->priv->chunks[(size_t) block * reader->ncols + col];
	const char *problem = check_chunk(reader, chunk, reader->blocks[block].nrows);

	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	return chunk;
}

const char *
ChunkRead(FileReader *reader, int block, int col, const DiskChunk *chunk,
		  ByteBuffer *raw, ColumnScratch *scratch)
{
	FileSource *source = reader->source;
	char	   *data = ByteBufferPrepare(raw, chunk->raw_len);
	char	   *stored = data;
	pg_crc32c	crc;
	const char *problem;

	if (chunk->codec != BF_COMPRESS_NONE)
		stored = ByteBufferPrepare(&scratch->stored, chunk->stored_len);
	source->read(source, stored, chunk->stored_len, chunk->offset);
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, stored, chunk->stored_len);
	FIN_CRC32C(crc);
	if (!EQ_CRC32C(crc, chunk->crc))
		FileReaderCorrupt(reader, block, col, chunk->offset, "checksum does not match");
	if (chunk->codec != BF_COMPRESS_NONE)
	{
		problem = CodecDecompress(chunk->codec, stored, chunk->stored_len, data, chunk->raw_len);
		if (problem)
			FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	}
	return data;
}

/* Read the nulls in front of the values of a chunk, and move on to those; NULL, or what is wrong. */
static const char *
read_nulls(const DiskChunk *chunk, int nrows, bool *nulls, const char **in, size_t *len)
{
	size_t		bitmap = BF_ALIGN8((nrows + 7) / 8);
	const char *bits = *in;

	if (nulls == NULL)
		return NULL;
	if (*len < bitmap)
		return "null bitmap is cut off";
	*in += bitmap;
	*len -= bitmap;
	return expand_nulls(bits, nrows, chunk->null_count, nulls);
}

void
FileReaderDecode(FileReader *reader, int block, int col, ColumnBuffer *buffer, ColumnVector *vector,
				 uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	int			nrows = reader->blocks[block].nrows;
	int			nvalues = nrows - (int) chunk->null_count;
	bool		keep = values_in_raw(&reader->cols[col], (ChunkEncoding) chunk->encoding);
	const char *problem;
	const char *in;
	size_t		len;
	Datum	   *values;
	bool	   *nulls = NULL;

	values = (Datum *) ByteBufferPrepare(&buffer->values, nrows * sizeof(Datum));
	if (chunk->null_count > 0)
		nulls = (bool *) ByteBufferPrepare(&buffer->nulls, BF_ALIGN8(nrows));
	vector->values = values;
	vector->nulls = nulls;
	if (nvalues == 0)
	{
		memset(values, 0, nrows * sizeof(Datum));
		memset(nulls, true, nrows);
		return;
	}

	in = ChunkRead(reader, block, col, chunk, keep ? &buffer->raw : &buffer->scratch->raw, buffer->scratch);
	len = chunk->raw_len;
	*bytes_read += chunk->stored_len;
	problem = read_nulls(chunk, nrows, nulls, &in, &len);
	if (problem == NULL)
		problem = read_values(&reader->cols[col], (ChunkEncoding) chunk->encoding, in, len, nvalues,
							  values, buffer);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	if (nulls != NULL)
		spread_values(values, nvalues, nulls, nrows);
}

bool
FileReaderDecodeScaled(FileReader *reader, int block, int col, ColumnBuffer *buffer,
					   ScaledColumn *scaled, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	int			nrows = reader->blocks[block].nrows;
	int			nvalues = nrows - (int) chunk->null_count;
	bool	   *nulls = NULL;
	int64	   *values;
	const char *in;
	size_t		len = chunk->raw_len;
	DiskScaled	head;
	const char *problem;

	if (chunk->encoding != ENCODING_NUMERIC)
		return false;
	values = (int64 *) ByteBufferPrepare(&buffer->values, nrows * sizeof(int64));
	if (chunk->null_count > 0)
		nulls = (bool *) ByteBufferPrepare(&buffer->nulls, BF_ALIGN8(nrows));
	in = ChunkRead(reader, block, col, chunk, &buffer->scratch->raw, buffer->scratch);
	*bytes_read += chunk->stored_len;
	problem = read_nulls(chunk, nrows, nulls, &in, &len);
	if (problem == NULL)
		problem = read_scaled_head(&reader->cols[col], ENCODING_NUMERIC, in, len, &head);
	if (problem == NULL)
		problem = read_scaled_ints(in, len, nvalues, values);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	if (nulls != NULL)
		spread_values((Datum *) values, nvalues, nulls, nrows);
	scaled->values = values;
	scaled->nulls = nulls;
	scaled->scale = head.scale;
	return true;
}
