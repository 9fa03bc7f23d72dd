/*
 * packed_column.c
 *	  One column of one block, kept as it is in the file.
 *
 * What an encoding prepares (its index) finds a value by its number, from
 * which the nulls before it are left out.  What is read is
 * checked as far as needed to stay inside of the bytes, and to give no value
 * the type does not have.
 */
#include "postgres.h"

#include "format/read/packed_column.h"
#include "format/read/reader_private.h"
#include "utils/memutils.h"

struct PackedColumn
{
	FileReader *reader;
	int			block;
	int			col;
	MemoryContext cxt;			/* of all of it */
	int			nrows;
	RankedBits	nulls;			/* one per row, unless no row is null */
	ByteBuffer	raw;			/* what is above and below points into it */
	EncodedValues values;		/* n = 0: all rows are null */
	ValueIndex	index;
	ByteBuffer	made;			/* a value that is compared */
};

static void
corrupt(const PackedColumn *column, const char *problem)
{
	FileReaderCorrupt(column->reader, column->block, column->col,
					  column->reader->priv->chunks[(size_t) column->block * column->reader->ncols + column->col].offset,
					  problem);
}

PackedColumn *
PackedColumnRead(FileReader *reader, int block, int col, ColumnScratch *scratch,
				 MemoryContext cxt, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	MemoryContext own = AllocSetContextCreate(cxt, "bucketfdw packed column", ALLOCSET_SMALL_SIZES);
	PackedColumn *column = MemoryContextAllocZero(own, sizeof(PackedColumn));
	EncodedValues *values = &column->values;
	const char *problem = NULL;
	const char *in;
	size_t		bitmap = 0;

	column->reader = reader;
	column->block = block;
	column->col = col;
	column->cxt = own;
	column->nrows = reader->blocks[block].nrows;
	ByteBufferInit(&column->raw, own);
	ByteBufferInit(&column->made, own);
	column->index.cxt = own;
	if (chunk->encoding == ENCODING_NONE)
		return column;

	in = ChunkRead(reader, block, col, chunk, &column->raw, scratch);
	*bytes_read += chunk->stored_len;
	if (chunk->null_count > 0)
	{
		bitmap = BF_ALIGN8((column->nrows + 7) / 8);
		if (chunk->raw_len < bitmap)
			problem = "null bitmap is cut off";
		else if (RankedBitsOpen(&column->nulls, own, in, column->nrows) != chunk->null_count)
			problem = "null bitmap does not have the number of nulls";
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
	MemoryContextDelete(column->cxt);
}

Size
PackedColumnMemory(const PackedColumn *column)
{
	return MemoryContextMemAllocated(column->cxt, false);
}

/* Values number "at" (ascending) of those that are there. */
static inline void
take_values(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made)
{
	const char *problem = column->values.ops->take(&column->values, &column->index, n, at, values, made);

	if (unlikely(problem != NULL))
		corrupt(column, problem);
}

bool
PackedColumnGather(const PackedColumn *column, int n, const uint16 *rows,
				   Datum *values, bool *nulls, ByteBuffer *made)
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
	if (column->nulls.bits == NULL)
	{
		if (n > 0)
			take_values(column, n, rows, values, made);
		return false;
	}
	for (int i = 0; i < n; i++)
	{
		nulls[i] = RankedBitIsSet(&column->nulls, rows[i]);
		if (!nulls[i])
			at[found++] = (uint16) (rows[i] - RankedBitsBefore(&column->nulls, rows[i]));
	}
	if (found > 0)
		take_values(column, found, at, values, made);
	for (int i = n - 1; i >= 0; i--)
		values[i] = nulls[i] ? (Datum) 0 : values[--found];
	return true;
}

int
PackedColumnSearch(PackedColumn *column, int from, int to, Oid coltype,
				   Oid valuetype, Datum value, bool above)
{
	KeyClass	keyclass = column->reader->cols[column->col].keyclass;
	int			lo = from;
	int			hi = to;

	if (from >= to)
		return to;
	if (column->values.ops != NULL && column->values.ops->search != NULL && column->nulls.bits == NULL)
		return column->values.ops->search(&column->values, &column->index, from, to, valuetype, value, above);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		uint16		row = (uint16) mid;
		Datum		found;
		bool		isnull = false;
		int			c = 1;

		if (!PackedColumnGather(column, 1, &row, &found, &isnull, &column->made) || !isnull)
			c = KeyCompare(keyclass, coltype, found, valuetype, value);
		if (c < 0 || (above && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
