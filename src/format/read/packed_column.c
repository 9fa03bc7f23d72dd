/*
 * packed_column.c
 *	  One column of one block, kept as it is in the file.
 *
 * What an encoding prepares (its index) finds a value by its number: the
 * nulls before a row are counted with the help of ranks.  What is read is
 * checked as far as needed to stay inside of the bytes, and to give no value
 * the type does not have.
 */
#include "postgres.h"

#include "format/read/packed_column.h"
#include "format/read/reader_private.h"

struct PackedColumn
{
	FileReader *reader;
	int			block;
	int			col;
	MemoryContext cxt;
	int			nrows;
	const uint8 *nullbits;		/* one per row; NULL: no row is null */
	uint16	   *ranks;			/* nulls before every RANK_STEP'th row */
	ByteBuffer	raw;			/* what is above and below points into it */
	EncodedValues values;		/* n = 0: all rows are null */
	ValueIndex	index;
	uint64		offset;			/* of raw in the file, if it is not compressed; else 0 */
	ByteBuffer	made;			/* a value that is compared */
	Size		memory;
};

static void
corrupt(const PackedColumn *column, const char *problem)
{
	FileReaderCorrupt(column->reader, column->block, column->col,
					  column->reader->priv->chunks[(size_t) column->block * column->reader->ncols + column->col].offset,
					  problem);
}

/* Count the nulls; NULL, or what is wrong. */
static const char *
open_nulls(PackedColumn *column, const char *in, int null_count)
{
	int			count;

	column->nullbits = (const uint8 *) in;
	column->ranks = BitRanks(column->cxt, column->nullbits, column->nrows, &count);
	column->memory += RANKS_SIZE(column->nrows);
	return count == null_count ? NULL : "null bitmap does not have the number of nulls";
}

PackedColumn *
PackedColumnRead(FileReader *reader, int block, int col, ColumnScratch *scratch,
				 MemoryContext cxt, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	PackedColumn *column = MemoryContextAllocZero(cxt, sizeof(PackedColumn));
	EncodedValues *values = &column->values;
	const char *problem = NULL;
	const char *in;
	size_t		bitmap = 0;

	column->reader = reader;
	column->block = block;
	column->col = col;
	column->cxt = cxt;
	column->nrows = reader->blocks[block].nrows;
	column->memory = sizeof(PackedColumn);
	ByteBufferInit(&column->raw, cxt);
	ByteBufferInit(&column->made, cxt);
	ValueIndexInit(&column->index, cxt);
	if (chunk->encoding == ENCODING_NONE)
		return column;

	in = ChunkRead(reader, block, col, chunk, &column->raw, scratch);
	*bytes_read += chunk->stored_len;
	if (chunk->codec == BF_COMPRESS_NONE)
		column->offset = chunk->offset;
	if (chunk->null_count > 0)
	{
		bitmap = BF_ALIGN8((column->nrows + 7) / 8);
		problem = chunk->raw_len < bitmap ? "null bitmap is cut off" : open_nulls(column, in, chunk->null_count);
	}
	if (problem == NULL)
		problem = EncodedValuesOpen(values, &reader->cols[col], chunk->encoding, in + bitmap,
									chunk->raw_len - bitmap, column->nrows - (int) chunk->null_count);
	if (problem == NULL)
		problem = values->ops->prepare(values, &column->index, scratch);
	if (problem)
		corrupt(column, problem);
	return column;
}

void
PackedColumnFree(PackedColumn *column)
{
	ByteBufferFree(&column->raw);
	ByteBufferFree(&column->made);
	if (column->ranks)
		pfree(column->ranks);
	ValueIndexFree(&column->index);
	pfree(column);
}

Size
PackedColumnMemory(const PackedColumn *column)
{
	return column->memory + column->raw.cap + column->made.cap + ValueIndexMemory(&column->index);
}

/* Is the column searched by its encoding? */
static bool
is_searched(const PackedColumn *column)
{
	return column->nullbits == NULL && column->values.n > 0 && column->values.ops->search != NULL &&
		(column->index.front != NULL || IntIndexSearchable(&column->index.ints));
}

bool
PackedColumnThin(PackedColumn *column, bool searched)
{
	IntIndex   *ints = &column->index.ints;
	const char *raw = column->raw.data;
	size_t		len;
	char	   *kept;

	if (column->offset == 0 || ints->bits == NULL || (searched && !is_searched(column)))
		return false;
	if (searched)
		IntIndexKeepSums(ints);
	/* the bits are the last thing in it */
	len = ints->bits - raw;
	kept = MemoryContextAllocHuge(column->cxt, len + BF_SLACK);
	memcpy(kept, raw, len);
	if (column->nullbits != NULL)
		column->nullbits = (const uint8 *) kept;
	if (ints->distinct != NULL)
		ints->distinct = (const uint8 *) kept + ((const char *) ints->distinct - raw);
	if (column->values.data != NULL)
		column->values.data = kept + (column->values.data - raw);
	ints->bits = NULL;
	ints->source = column->reader->source;
	ints->offset = column->offset + len;
	pfree(column->raw.data);
	column->raw.data = kept;
	column->raw.cap = len;
	return true;
}

static inline bool
row_is_null(const PackedColumn *column, int row)
{
	return column->nullbits != NULL && ((column->nullbits[row / 8] >> (row % 8)) & 1) != 0;
}

/* Values number "at" (ascending) of those that are there. */
static inline void
take_values(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made,
			uint64 *bytes_read)
{
	const char *problem = column->values.ops->take(&column->values, &column->index, n, at, values, made,
												   bytes_read);

	if (unlikely(problem != NULL))
		corrupt(column, problem);
}

bool
PackedColumnGather(const PackedColumn *column, int n, const uint16 *rows,
				   Datum *values, bool *nulls, ByteBuffer *made, uint64 *bytes_read)
{
	uint16		at[BF_GATHER_ROWS];
	int			found = 0;

	Assert(n <= BF_GATHER_ROWS);
	if (column->values.n == 0)
	{
		memset(values, 0, n * sizeof(Datum));
		memset(nulls, true, n * sizeof(bool));
		return true;
	}
	if (column->nullbits == NULL)
	{
		if (n > 0)
			take_values(column, n, rows, values, made, bytes_read);
		return false;
	}
	for (int i = 0; i < n; i++)
	{
		nulls[i] = row_is_null(column, rows[i]);
		if (!nulls[i])
			at[found++] = (uint16) (rows[i] - RankOf(column->nullbits, column->ranks, rows[i]));
	}
	if (found > 0)
		take_values(column, found, at, values, made, bytes_read);
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
	if (is_searched(column))
		return column->values.ops->search(&column->values, &column->index, from, to, coltype, valuetype, value,
										  above, bytes_read);
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
