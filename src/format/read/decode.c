/*
 * decode.c
 *	  Read, check and decode one column of one block.
 */
#include "postgres.h"

#include "format/codec.h"
#include "format/encoding/scaled_convert.h"
#include "format/read/reader_private.h"
#include "spec/numeric_form.h"

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
	if (chunk->encoding > ENCODING_LAST || chunk->codec > BF_COMPRESS_ZSTD)
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

/* Do values point into the raw bytes of a chunk? */
static bool
values_in_raw(const FileColumn *col, int encoding)
{
	return !col->typbyval && encoding != ENCODING_NONE && Encodings[encoding]->in_chunk;
}

Size
FileReaderColumnMemory(const FileReader *reader, int block, int col, Size row_bytes)
{
	const DiskChunk *chunk = &reader->priv->chunks[(size_t) block * reader->ncols + col];
	Size		nrows = (Size) reader->blocks[block].nrows;
	/* the chunk has not been checked yet */
	Size		raw_len = (Size) Min(chunk->raw_len, BF_MAX_VALUE_RAW);
	Size		memory = nrows * sizeof(Datum);
	int			made;

	if (chunk->null_count > 0)
		memory += nrows;
	if (chunk->encoding == ENCODING_NONE || chunk->encoding > ENCODING_LAST)
		return memory;
	if (values_in_raw(&reader->cols[col], chunk->encoding))
		memory += raw_len;
	made = Encodings[chunk->encoding]->made_bytes;
	return memory + (made >= 0 ? nrows * made : Max(raw_len, Min(nrows * row_bytes, (Size) BF_BLOCK_BYTES)));
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
	const char *problem;

	if (chunk->codec != BF_COMPRESS_NONE)
		stored = ByteBufferPrepare(&scratch->stored, chunk->stored_len);
	if (!FileReadSummed(source, stored, chunk->stored_len, chunk->offset, chunk->crc))
		FileReaderCorrupt(reader, block, col, chunk->offset, "checksum does not match");
	if (chunk->codec != BF_COMPRESS_NONE)
	{
		problem = CodecDecompress(chunk->codec, stored, chunk->stored_len, data, chunk->raw_len);
		if (problem)
			FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	}
	return data;
}

/*
 * Read a chunk that has values, its nulls (unless nulls is NULL, as there are
 * none), and open the values; in is what a chunk's bytes are kept in.
 */
static void
open_chunk(FileReader *reader, int block, int col, const DiskChunk *chunk, ByteBuffer *in, bool *nulls,
		   ColumnScratch *scratch, EncodedValues *ev, uint64 *bytes_read)
{
	int			nrows = reader->blocks[block].nrows;
	const char *bytes = ChunkRead(reader, block, col, chunk, in, scratch);
	size_t		len = chunk->raw_len;
	size_t		bitmap = nulls ? BF_ALIGN8((nrows + 7) / 8) : 0;
	const char *problem = NULL;

	*bytes_read += chunk->stored_len;
	if (len < bitmap)
		problem = "null bitmap is cut off";
	else if (nulls != NULL)
		problem = expand_nulls(bytes, nrows, chunk->null_count, nulls);
	if (problem == NULL)
		problem = EncodedValuesOpen(ev, &reader->cols[col], chunk->encoding, bytes + bitmap, len - bitmap,
									nrows - (int) chunk->null_count);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
}

/* Room for the values of a column, and for its nulls if it has any. */
static bool *
prepare_vector(ColumnBuffer *buffer, const DiskChunk *chunk, int nrows)
{
	ByteBufferPrepare(&buffer->values, nrows * sizeof(Datum));
	return chunk->null_count > 0 ? (bool *) ByteBufferPrepare(&buffer->nulls, BF_ALIGN8(nrows)) : NULL;
}

void
FileReaderDecode(FileReader *reader, int block, int col, ColumnBuffer *buffer, ColumnVector *vector,
				 uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	int			nrows = reader->blocks[block].nrows;
	bool	   *nulls = prepare_vector(buffer, chunk, nrows);
	Datum	   *values = (Datum *) buffer->values.data;
	const char *problem;
	EncodedValues ev;

	vector->values = values;
	vector->nulls = nulls;
	if (chunk->encoding == ENCODING_NONE)
	{
		memset(values, 0, nrows * sizeof(Datum));
		memset(nulls, true, nrows);
		return;
	}
	open_chunk(reader, block, col, chunk,
			   values_in_raw(&reader->cols[col], chunk->encoding) ? &buffer->raw : &buffer->scratch->raw,
			   nulls, buffer->scratch, &ev, bytes_read);
	problem = ev.ops->read(&ev, values, &buffer->decoded, buffer->scratch);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	if (nulls != NULL)
		spread_values(values, ev.n, nulls, nrows);
}

bool
FileReaderDecodeScaled(FileReader *reader, int block, int col, ColumnBuffer *buffer,
					   ScaledColumn *scaled, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	const FileColumn *column = &reader->cols[col];
	int			nrows = reader->blocks[block].nrows;
	const char *problem;
	bool		found;
	EncodedValues ev;

	if (column->keyclass != KEYCLASS_NUMERIC ||
		(chunk->encoding != ENCODING_NONE && Encodings[chunk->encoding]->read_scaled == NULL))
		return false;
	scaled->nulls = prepare_vector(buffer, chunk, nrows);
	scaled->values = (int64 *) buffer->values.data;
	if (chunk->encoding == ENCODING_NONE)
	{
		scaled->scale = NumericTypmodScale(column->typmod);
		if (scaled->scale > BF_MAX_NUMERIC_SCALE)
			return false;
		memset(scaled->values, 0, nrows * sizeof(int64));
		memset(scaled->nulls, true, nrows);
		return true;
	}
	open_chunk(reader, block, col, chunk, &buffer->scratch->raw, scaled->nulls,
			   buffer->scratch, &ev, bytes_read);
	problem = ev.ops->read_scaled(&ev, scaled->values, &scaled->scale, &found, &buffer->decoded);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	if (!found)
		return false;
	if (scaled->nulls != NULL)
		spread_values((Datum *) buffer->values.data, ev.n, scaled->nulls, nrows);
	return true;
}

void
FileReaderScaledVector(const ScaledColumn *scaled, int nrows, ColumnBuffer *buffer, ColumnVector *vector)
{
	int64	   *values = (int64 *) ByteBufferPrepare(&buffer->values, nrows * sizeof(int64));

	/* of rows that are NULL a value is made, too, at which nobody looks */
	memcpy(values, scaled->values, nrows * sizeof(int64));
	NumericsFromScaled(values, nrows, scaled->scale, &buffer->decoded);
	vector->values = (Datum *) values;
	vector->nulls = scaled->nulls;
}

bool
FileReaderDecodeCoded(FileReader *reader, int block, int col, ColumnBuffer *buffer,
					  CodedColumn *coded, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	int			nrows = reader->blocks[block].nrows;
	bool	   *nulls;
	const char *problem;
	EncodedValues ev;

	if (chunk->encoding != ENCODING_DICT)
		return false;
	nulls = prepare_vector(buffer, chunk, nrows);
	open_chunk(reader, block, col, chunk, &buffer->raw, nulls, buffer->scratch, &ev, bytes_read);
	problem = ReadCoded(&ev, (Datum *) buffer->values.data, &buffer->decoded);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	if (nulls != NULL)
		spread_values((Datum *) buffer->values.data, ev.n, nulls, nrows);
	coded->codes = (const uint64 *) buffer->values.data;
	coded->nulls = nulls;
	coded->ndict = ev.ndata;
	coded->dict = (const Datum *) buffer->decoded.data;
	return true;
}

void
FileReaderCodedVector(const CodedColumn *coded, int nrows, ColumnBuffer *buffer, ColumnVector *vector)
{
	Datum	   *values = (Datum *) buffer->values.data;

	for (int i = 0; i < nrows; i++)
		values[i] = coded->dict[values[i]];
	vector->values = values;
	vector->nulls = unconstify(bool *, coded->nulls);
}
