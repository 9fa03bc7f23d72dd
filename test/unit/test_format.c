/*
 * test_format.c
 *	  The file format: what is written comes back bit for bit, statistics never
 *	  lose a row, damage is always seen.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "compat.h"
#include "format/encoding/encoding.h"
#include "format/encoding/scaled_convert.h"
#include "format/file_format.h"
#include "format/read/packed_column.h"
#include "format/read/reader.h"
#include "format/stats/block_stats.h"
#include "format/write/writer.h"
#include "format_data.h"
#include "memory_file.h"
#include "pg_shim.h"
#include "utils/memutils.h"

#define FILE_ID UINT64CONST(0x0123456789abcdef)

static const Oid all_types[] = {
	INT8OID, BOOLOID, CHAROID, INT2OID, INT4OID, OIDOID, DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID,
	FLOAT4OID, FLOAT8OID, NUMERICOID, TEXTOID, VARCHAROID, BPCHAROID, BYTEAOID, UUIDOID, INTERVALOID,
	NAMEOID, JSONBOID, INT4ARRAYOID
};

typedef struct TestTable
{
	int			ncols;
	int			nrows;
	TupleDesc	desc;
	Datum	  **values;			/* [row][col] */
	bool	  **nulls;
} TestTable;

static TestTable *
table_make(const Oid *types, int ncols)
{
	TestTable  *table = palloc0(sizeof(TestTable));

	table->ncols = ncols;
	table->desc = CreateTemplateTupleDesc(ncols);
	for (int i = 0; i < ncols; i++)
		ShimTupleDescSet(table->desc, i + 1, psprintf("c%d", i + 1), types[i]);
	return table;
}

/* null_percent of the rows of every column but the first are null. */
static void
table_fill(TestTable *table, int nrows, int shape, int null_percent)
{
	table->nrows = nrows;
	table->values = MemoryContextAllocHuge(CurrentMemoryContext, Max(nrows, 1) * sizeof(Datum *));
	table->nulls = MemoryContextAllocHuge(CurrentMemoryContext, Max(nrows, 1) * sizeof(bool *));
	for (int r = 0; r < nrows; r++)
	{
		table->values[r] = palloc0(table->ncols * sizeof(Datum));
		table->nulls[r] = palloc0(table->ncols * sizeof(bool));
		for (int c = 0; c < table->ncols; c++)
		{
			if (c > 0 && (int) (DataRandom() % 100) < null_percent)
				table->nulls[r][c] = true;
			else
				table->values[r][c] = DataValue(TupleDescAttr(table->desc, c)->atttypid,
												shape < NSHAPES ? (Shape) shape : (Shape) ((c + shape) % NSHAPES), r);
		}
	}
}

static BucketSpec *
make_spec(TestTable *table, int nbuckets, int nsort)
{
	BucketSpec *spec = palloc0(BucketSpecSize(nsort));
	int			n = 0;

	spec->hash_version = BF_HASH_VERSION;
	spec->nbuckets = nbuckets;
	spec->nkeys = 1;
	for (int i = 0; i < table->ncols && n < nsort; i++)
	{
		Oid			typid = TupleDescAttr(table->desc, i)->atttypid;

		if (KeyClassOfType(typid) == KEYCLASS_NONE)
			continue;
		spec->sort[n].attnum = i + 1;
		spec->sort[n].keyclass = KeyClassOfType(typid);
		spec->sort[n].typid = typid;
		spec->sort[n].flags = n > 0 ? BF_SORT_DESC : 0;
		n++;
	}
	spec->nsort = n;
	return spec;
}

/* Append some rows of the table, as columns. */
static void
append_rows(FileWriter *writer, const TestTable *table, int row, int n)
{
	int			ncols = table->desc->natts;
	Datum	  **values = palloc(ncols * sizeof(Datum *));
	bool	  **nulls = palloc(ncols * sizeof(bool *));

	for (int i = 0; i < ncols; i++)
	{
		values[i] = palloc(n * sizeof(Datum));
		nulls[i] = palloc(n * sizeof(bool));
		for (int k = 0; k < n; k++)
		{
			values[i][k] = table->values[row + k][i];
			nulls[i][k] = table->nulls[row + k][i];
		}
	}
	FileWriterAppend(writer, values, nulls, n);
	for (int i = 0; i < ncols; i++)
	{
		pfree(values[i]);
		pfree(nulls[i]);
	}
	pfree(values);
	pfree(nulls);
}

static void
write_table(TestTable *table, MemorySink *sink, BfCompression compression, int block_rows, int nruns,
			int nsort, Size *max_memory)
{
	FileWriterOptions options;
	FileWriter *writer;
	WrittenRun	written;
	int64		size;
	int			row = 0;
	MemoryContext cxt;
	MemoryContext old;

	memset(&options, 0, sizeof(options));
	options.file_id = FILE_ID;
	options.relid = 16384;
	options.spec = make_spec(table, 64, nsort);
	options.desc = table->desc;
	options.compression = compression;
	options.block_rows = block_rows;
	MemorySinkInit(sink);
	cxt = AllocSetContextCreate(CurrentMemoryContext, "writer", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	writer = FileWriterCreate(&sink->sink, &options);
	MemoryContextSwitchTo(old);
	for (int run = 0; run < nruns; run++)
	{
		int			end = table->nrows * (run + 1) / nruns;
		int			begin = row;

		FileWriterBeginRun(writer, run * 2);
		for (int n = 1; row < end; row += n, n = n * 2 % 1023)
		{
			n = Min(n, end - row);
			append_rows(writer, table, row, n);
			if (max_memory)
				*max_memory = Max(*max_memory, MemoryContextMemAllocated(cxt, true));
		}
		FileWriterEndRun(writer, &written);
		if (written.rows != end - begin || written.bucket != run * 2)
			ShimOk(false, "what the writer says about run %d", run);
	}
	size = FileWriterFinish(writer);
	MemoryContextDelete(cxt);
	if (size != (int64) sink->len)
		ShimOk(false, "size of the file");
}

static bool
edge_matches(const StatValue *edge, const SortColumn *sort, Datum value, bool isnull)
{
	if (edge->isnull || isnull)
		return edge->isnull == isnull;
	if (edge->truncated)
		return VARSIZE_ANY_EXHDR(DatumGetPointer(edge->value)) == BF_STAT_BYTES &&
			memcmp(VARDATA_ANY(DatumGetPointer(edge->value)), VARDATA_ANY(DatumGetPointer(value)), BF_STAT_BYTES) == 0;
	return KeyCompare(sort->keyclass, sort->typid, edge->value, sort->typid, value) == 0;
}

/* Does a text begin with the bytes of another? */
static bool
begins_with(Datum value, Datum prefix)
{
	size_t		len = VARSIZE_ANY_EXHDR(DatumGetPointer(prefix));

	return VARSIZE_ANY_EXHDR(DatumGetPointer(value)) >= len &&
		memcmp(VARDATA_ANY(DatumGetPointer(value)), VARDATA_ANY(DatumGetPointer(prefix)), len) == 0;
}

/* Would skipping lose a row?  For every operator and some constants of the column. */
static bool
stats_sound(const BlockColumnStats *stats, KeyClass keyclass, Oid typid, const ColumnVector *vector, int nrows)
{
	for (int probe = 0; probe < 12; probe++)
	{
		Datum		value = DataValue(typid, (Shape) (probe % NSHAPES), DataRandom() % 8192);
		bool		possible[SKIP_NOTNULL + 1] = {false};

		if (probe >= 6 && stats->null_count < nrows)
		{
			int			row = DataRandom() % nrows;

			if (vector->nulls && vector->nulls[row])
				continue;
			value = vector->values[row];
		}
		for (int i = 0; i < nrows; i++)
		{
			int			cmp;

			if (vector->nulls && vector->nulls[i])
			{
				possible[SKIP_ISNULL] = true;
				continue;
			}
			possible[SKIP_NOTNULL] = true;
			cmp = KeyCompare(keyclass, typid, vector->values[i], typid, value);
			possible[SKIP_EQ] |= cmp == 0;
			possible[SKIP_LT] |= cmp < 0;
			possible[SKIP_LE] |= cmp <= 0;
			possible[SKIP_GT] |= cmp > 0;
			possible[SKIP_GE] |= cmp >= 0;
			if (keyclass == KEYCLASS_TEXT)
				possible[SKIP_PREFIX] |= begins_with(vector->values[i], value);
		}
		for (int op = 0; op <= SKIP_NOTNULL; op++)
		{
			if (possible[op] && BlockStatsCanSkip(stats, nrows, keyclass, typid, (SkipOp) op, typid, value))
				return false;
		}
	}
	return true;
}

/* Are single values, and some at a time, taken out of a packed column as the whole one is decoded? */
static bool
packed_matches(FileReader *reader, int block, int c, const ColumnVector *vector)
{
	const FileColumn *col = &reader->cols[c];
	int			nrows = reader->blocks[block].nrows;
	ColumnScratch *scratch = ColumnScratchCreate(CurrentMemoryContext);
	uint64		bytes_read = 0;
	PackedColumn *packed = PackedColumnRead(reader, block, c, scratch, CurrentMemoryContext, &bytes_read);
	ByteBuffer	made;
	bool		pass = PackedColumnMemory(packed) > 0;

	ByteBufferInit(&made, CurrentMemoryContext);
	for (int step = 1; step < 200 && pass; step = step * 3 + 1)
	{
		for (int first = 0; first < nrows; first += step * 5)
		{
			uint16		rows[BF_GATHER_ROWS];
			Datum		values[BF_GATHER_ROWS];
			bool		nulls[BF_GATHER_ROWS];
			bool		anynull;
			int			n = 0;

			for (int row = first; row < nrows && n < 5; row += step)
				rows[n++] = row;
			anynull = PackedColumnGather(packed, n, rows, values, nulls, &made);
			for (int i = 0; i < n; i++)
			{
				bool		isnull = vector->nulls && vector->nulls[rows[i]];

				pass &= isnull == (anynull && nulls[i]) &&
					(isnull ? values[i] == 0 :
					 DataIdentical(values[i], vector->values[rows[i]], col->typlen, col->typbyval));
			}
		}
	}
	PackedColumnFree(packed);
	ByteBufferFree(&made);
	return pass;
}

/* Are the non-null values in order, and the nulls behind them? */
static bool
is_sorted(const FileColumn *col, const ColumnVector *vector, int nrows)
{
	for (int i = 1; i < nrows; i++)
	{
		bool		isnull = vector->nulls && vector->nulls[i];

		if (vector->nulls && vector->nulls[i - 1] ? !isnull :
			!isnull && KeyCompare(col->keyclass, col->typid, vector->values[i - 1],
								  col->typid, vector->values[i]) > 0)
			return false;
	}
	return true;
}

/* columns with different values that were searched */
static int	nsearched = 0;

/* Are the values of a sorted column found where they stand? */
static bool
search_matches(FileReader *reader, int block, int c, const ColumnVector *vector)
{
	const FileColumn *col = &reader->cols[c];
	int			nrows = reader->blocks[block].nrows;
	uint64		bytes_read = 0;
	PackedColumn *packed = PackedColumnRead(reader, block, c, ColumnScratchCreate(CurrentMemoryContext),
											CurrentMemoryContext, &bytes_read);
	bool		pass = true;
	int			places = 0;

	for (int at = 0; at < nrows && pass; at += 1 + nrows / 50)
	{
		Datum		value = vector->values[at];
		int			lo = 0;
		int			hi;

		if (vector->nulls && vector->nulls[at])
			continue;
		while (KeyCompare(col->keyclass, col->typid, vector->values[lo], col->typid, value) < 0)
			lo++;
		for (hi = lo; hi < nrows && !(vector->nulls && vector->nulls[hi]) &&
			 KeyCompare(col->keyclass, col->typid, vector->values[hi], col->typid, value) == 0;)
			hi++;
		pass = PackedColumnSearch(packed, 0, nrows, col->typid, col->typid, value, false) == lo &&
			PackedColumnSearch(packed, 0, nrows, col->typid, col->typid, value, true) == hi &&
			PackedColumnSearch(packed, lo, hi, col->typid, col->typid, value, true) == hi &&
			PackedColumnSearch(packed, hi, nrows, col->typid, col->typid, value, false) == hi &&
			PackedColumnSearch(packed, 0, lo, col->typid, col->typid, value, false) == lo;
		places += lo > 0 && hi < nrows;
	}
	nsearched += places > 0;
	PackedColumnFree(packed);
	return pass;
}

/* Does the file hold exactly the table?  Returns what is wrong, or NULL. */
static const char *
compare_file(TestTable *table, const char *data, size_t len, int nruns)
{
	MemorySource source;
	FileReader *reader;
	ColumnScratch *scratch = ColumnScratchCreate(CurrentMemoryContext);
	ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, scratch);
	ColumnBuffer *next = ColumnBufferCreate(CurrentMemoryContext, scratch);
	const char *problem = NULL;
	uint64		bytes_read = 0;
	uint64		next_read = 0;
	uint64		bytes = 0;

	MemorySourceInit(&source, data, len);
	reader = FileReaderOpen(&source.source, FILE_ID, 16384);
	FileReaderCheckColumns(reader, table->desc);
	if (reader->nruns != nruns || reader->nrows != table->nrows || reader->ncols != table->ncols)
		problem = "numbers of runs, rows, columns";
	for (int run = 0; run < reader->nruns; run++)
	{
		if (reader->runs[run].bucket != run * 2)
			problem = "bucket";
	}
	for (int b = 0; b < reader->nblocks && !problem; b++)
	{
		FileBlock  *block = &reader->blocks[b];

		bytes += block->bytes;
		for (int k = 0; k < reader->spec->nsort; k++)
		{
			SortColumn *sort = &reader->spec->sort[k];
			int64		last = block->first_row + block->nrows - 1;
			int			c = sort->attnum - 1;

			if (!edge_matches(&block->first[k], sort, table->values[block->first_row][c],
							  table->nulls[block->first_row][c]) ||
				!edge_matches(&block->last[k], sort, table->values[last][c], table->nulls[last][c]))
				problem = psprintf("key tuple of block %d", b);
		}
		for (int c = 0; c < reader->ncols && !problem; c++)
		{
			FileColumn *col = &reader->cols[FileReaderFindColumn(reader, c + 1)];
			ColumnVector vector;
			ColumnVector next_vector;
			BlockColumnStats stats;
			int			nulls = 0;

			/* the values stay when another column is decoded with the same scratch */
			FileReaderDecode(reader, b, c, buffer, &vector, &bytes_read);
			FileReaderDecode(reader, b, (c + 1) % reader->ncols, next, &next_vector, &next_read);
			FileReaderColumnStats(reader, b, c, &stats);
			for (int i = 0; i < block->nrows; i++)
			{
				bool		isnull = vector.nulls && vector.nulls[i];
				int64		row = block->first_row + i;

				nulls += isnull;
				if (isnull != table->nulls[row][c] || (isnull && vector.values[i] != 0) ||
					(!isnull && !DataIdentical(vector.values[i], table->values[row][c], col->typlen, col->typbyval)))
				{
					problem = psprintf("value of column %d (type %u) in row %d", c + 1, col->typid, (int) row);
					break;
				}
				if (!isnull && !col->typbyval &&
					((col->typlen == -1 && !VARATT_IS_1B(DatumGetPointer(vector.values[i])) &&
					  vector.values[i] % (col->typalign == 'd' ? 8 : 4) != 0) ||
					 (col->typlen > 0 && col->typalign == 'd' && vector.values[i] % 8 != 0)))
					problem = psprintf("alignment in column %d", c + 1);
			}
			if (vector.nulls && nulls == 0)
				problem = "nulls without a null";
			if (!problem && !packed_matches(reader, b, c, &vector))
				problem = psprintf("values of column %d (type %u) taken out one by one", c + 1, col->typid);
			if (!problem && col->keyclass != KEYCLASS_NONE && is_sorted(col, &vector, block->nrows) &&
				!search_matches(reader, b, c, &vector))
				problem = psprintf("search in column %d (type %u)", c + 1, col->typid);
			if (stats.null_count != nulls)
				problem = "null count";
			if (!problem && col->keyclass != KEYCLASS_NONE &&
				!stats_sound(&stats, col->keyclass, col->typid, &vector, block->nrows))
				problem = psprintf("statistics of column %d (type %u)", c + 1, col->typid);
		}
	}
	if (!problem && bytes_read > bytes)
		problem = "bytes of blocks";
	FileReaderClose(reader);
	ColumnBufferFree(buffer);
	ColumnBufferFree(next);
	return problem;
}

static void
round_trip(const char *what, TestTable *table, int block_rows, int nruns)
{
	for (int compression = 0; compression <= BF_COMPRESS_ZSTD; compression++)
	{
		MemorySink	sink;
		const char *problem;

		write_table(table, &sink, (BfCompression) compression, block_rows, nruns, 4, NULL);
		problem = compare_file(table, sink.data, sink.len, nruns);
		ShimOk(problem == NULL, "%s: %d rows in blocks of %d, %d runs, codec %d: %s", what,
			   table->nrows, block_rows, nruns, compression, problem ? problem : "identical");
		free(sink.data);
	}
}

/* Run f(arg) in a memory context of its own. */
#define WITH_CONTEXT(code) \
	do { \
		MemoryContext with_ = AllocSetContextCreate(TopMemoryContext, "test", ALLOCSET_DEFAULT_SIZES); \
		MemoryContext old_ = MemoryContextSwitchTo(with_); \
		code; \
		MemoryContextSwitchTo(old_); \
		MemoryContextDelete(with_); \
	} while (0)

/* Does the stream of the values come back, and is one that is cut off seen?  */
static DiskIntStream
stream_trip(const int64 *values, int n, const char *what)
{
	IntStreamPlan plan;
	ByteBuffer	buf;
	int64	   *back = palloc(n * sizeof(int64));
	char	   *cut;
	size_t		used;

	ByteBufferInit(&buf, CurrentMemoryContext);
	IntStreamMakePlan(values, n, &plan);
	ByteBufferPrepare(&buf, plan.size);
	IntStreamWrite(&buf, values, n, &plan);
	if (buf.len != plan.size ||
		IntStreamRead(buf.data, buf.len, n, back, &used) != NULL || used != buf.len ||
		memcmp(values, back, n * sizeof(int64)) != 0)
		ShimOk(false, "%s: int stream of %d values, kind %d, %d bits", what, n, plan.head.kind, plan.head.width);
	for (size_t len = buf.len - 1;; len = len * 2 / 3)
	{
		/* memory of its own, so that sanitizers see a read beyond the end */
		cut = malloc(len + BF_SLACK);
		memcpy(cut, buf.data, len);
		memset(cut + len, 0xff, BF_SLACK);
		if (IntStreamRead(cut, len, n, back, &used) == NULL)
			ShimOk(false, "%s: int stream of kind %d cut off at %zu of %zu", what, plan.head.kind, len, buf.len);
		free(cut);
		if (len == 0)
			break;
	}
	ByteBufferFree(&buf);
	pfree(back);
	return plan.head;
}

static void
test_int_streams(void)
{
	static const int counts[] = {1, 2, 7, 8, 9, 63, 64, 65, 1000, 8192};
	int64	   *values = palloc(8192 * sizeof(int64));
	bool		kinds[INT_STREAM_TRIPLES + 1][65] = {{false}};
	DiskIntStream head;

	for (int width = 0; width <= 64; width++)
	{
		uint64		mask = width == 64 ? PG_UINT64_MAX : (UINT64CONST(1) << width) - 1;

		for (int c = 0; c < (int) lengthof(counts); c++)
		{
			for (int delta = 0; delta < 2; delta++)
			{
				int			n = counts[c];
				uint64		last = DataRandom();

				for (int i = 0; i < n; i++)
				{
					uint64		r = i == 1 ? mask : i == 2 ? 0 : DataRandom() & mask;

					if (delta)
						values[i] = (int64) (last += r);
					else
						values[i] = (int64) (r - 17);
				}
				head = stream_trip(values, n, "any width");
				kinds[head.kind][head.width] = true;
			}
		}
	}
	for (int width = 0; width <= 64; width++)
	{
		/* a delta as wide as a value never pays; of one bit, half are repeats */
		if (!kinds[INT_STREAM_FOR][width] || (width < 63 && width != 1 && !kinds[INT_STREAM_DELTA][width]))
			ShimOk(false, "width %d was not tried", width);
	}
	ShimOk(true, "int streams of all widths");
}

/* Is the stream, unlike expected, of that kind or not of it?  Only asked where it is sure. */
static bool
is_wrong(const int64 *values, int n, const char *what, IntStreamKind kind, bool expected, bool sure)
{
	DiskIntStream head = stream_trip(values, n, what);

	if (!sure || (head.kind == kind) == expected)
		return false;
	printf("# %s: %d values, kind %d, %d bits, count %u\n", what, n, head.kind, head.width, head.count);
	return true;
}

/* The kinds that are chosen for what they are made for, with as many values as rounding may go wrong with. */
static void
test_int_stream_kinds(void)
{
	static const int counts[] = {64, 65, 66, 67, 71, 128, 129, 1000, 4095, 8191, 8192};
	int64	   *values = palloc(8192 * sizeof(int64));
	int			wrong = 0;
	int			tried = 0;

	for (int c = 0; c < (int) lengthof(counts); c++)
	{
		int			n = counts[c];

		/* every radix that three digits of save something with */
		for (int radix = 3; radix <= BF_MAX_RADIX; radix = radix * 9 / 8 + 1)
		{
			bool		pays = 3 * IntWidth(radix - 1) - IntWidth((uint64) radix * radix * radix - 1) > 0;
			/* else most of them fit in a bit less, and the others may be patched */
			bool		sure = radix * 3 / 4 > 1 << (IntWidth(radix - 1) - 1);

			for (int i = 0; i < n; i++)
				values[i] = (i < 2 ? i * (radix - 1) : (int64) (DataRandom() % radix)) - 1000;
			tried++;
			wrong += is_wrong(values, n, "few values", INT_STREAM_TRIPLES, pays, n > 1000 && sure);
		}
		for (int width = 1; width < 63; width++)
		{
			uint64		mask = (UINT64CONST(1) << width) - 1;
			uint64		high = PG_UINT64_MAX << width;

			/* one in 40 does not fit */
			for (int i = 0; i < n; i++)
				values[i] = (int64) ((DataRandom() & mask) + (i % 40 == 7 ? DataRandom() & high & PG_INT64_MAX : 0));
			tried++;
			wrong += is_wrong(values, n, "outliers", INT_STREAM_PATCHED_FOR, true, n > 1000 && width < 45);
			for (int i = 1; i < n; i++)
				values[i] = (int64) ((uint64) values[i - 1] + (DataRandom() & mask) + 1 +
									 (i % 40 == 7 || i == n - 1 ? (DataRandom() & 7) << width : 0));
			if (width < 40)
			{
				tried++;
				wrong += is_wrong(values, n, "outlying differences", INT_STREAM_PATCHED_DELTA, true, n > 1000 && width > 3 && width < 30);
			}
			/* each of them one to five times, by which the differences may be patched or not */
			for (int i = 1, k = 1; i < n; i++)
			{
				if (DataRandom() % 3 != 0)
					values[n - i] = values[n - k];
				else
					k = i;
			}
			tried++;
			wrong += is_wrong(values, n, "repeats", INT_STREAM_REPEATS, true, n > 1000 && width > 6 && width < 40);
		}
	}
	ShimOk(wrong == 0, "%d of %d int streams are not of the kind expected", wrong, tried);
}

/* Streams that no writer writes: each is refused, none reads or writes outside. */
static void
test_int_stream_damage(void)
{
	static const Shape shapes[] = {SHAPE_GAPS, SHAPE_SKEWED, SHAPE_NARROW, SHAPE_SORTED};
	int64	   *values = palloc(500 * sizeof(int64));
	int64	   *back = malloc(500 * sizeof(int64));
	int			refused = 0;
	char	   *copy;
	size_t		used;
	DiskIntStream head;

	for (int s = 0; s < (int) lengthof(shapes); s++)
	{
		IntStreamPlan plan;
		ByteBuffer	buf;

		for (int i = 0; i < 500; i++)
			values[i] = DatumGetInt64(DataValue(INT8OID, shapes[s], i));
		ByteBufferInit(&buf, CurrentMemoryContext);
		IntStreamMakePlan(values, 500, &plan);
		IntStreamWrite(&buf, values, 500, &plan);
		copy = malloc(buf.len + BF_SLACK);
		memset(copy + buf.len, 0, BF_SLACK);
		for (int round = 0; round < 20000; round++)
		{
			memcpy(copy, buf.data, buf.len);
			for (int k = DataRandom() % 3; k >= 0; k--)
			{
				/* mostly the heads */
				size_t		at = DataRandom() % (DataRandom() % 2 ? Min(buf.len, 100) : buf.len);

				copy[at] = DataRandom() % 2 ? copy[at] ^ (1 << DataRandom() % 8) : (char) DataRandom();
			}
			refused += IntStreamRead(copy, buf.len, 500, back, &used) != NULL;
		}
		free(copy);
		ByteBufferFree(&buf);
	}
	ShimOk(refused > 1000, "%d damaged int streams are refused", refused);

	/* streams inside each other without end */
	for (int kind = INT_STREAM_REPEATS; kind <= INT_STREAM_TRIPLES; kind++)
	{
		copy = malloc(3200 + BF_SLACK);
		memset(&head, 0, sizeof(head));
		head.kind = kind;
		head.width = 8;
		head.count = 1;
		memset(copy, 0, 3200 + BF_SLACK);
		for (size_t at = 0; at + 32 <= 3200; at += 32)
		{
			memcpy(copy + at, &head, sizeof(head));
			copy[at + sizeof(head)] = 1;
		}
		ShimOk(IntStreamRead(copy, 3200, 1, back, &used) != NULL, "nested streams of kind %d are refused", kind);
		free(copy);
	}
	free(back);
}

static void
test_types(void)
{
	for (int t = 0; t < (int) lengthof(all_types); t++)
	{
		Oid			types[2] = {INT8OID, all_types[t]};

		for (int shape = 0; shape < NSHAPES; shape++)
		{
			for (int nulls = 0; nulls <= 100; nulls += 50)
				WITH_CONTEXT(
							 {
								 TestTable  *table = table_make(types, 2);

								 table_fill(table, 1200, shape, nulls);
								 round_trip(psprintf("type %u, shape %d, %d%% null", types[1], shape, nulls), table, 500, 1);
							 });
		}
	}
}

static void
test_sizes(void)
{
	static const int rows[] = {0, 1, 2, 8191, 8192, 8193, 20000};

	for (int i = 0; i < (int) lengthof(rows); i++)
	{
		WITH_CONTEXT(
					 {
						 TestTable  *table = table_make(all_types, lengthof(all_types));

						 table_fill(table, rows[i], NSHAPES + i, i % 2 ? 10 : 0);
						 round_trip("all types", table, 8192, 1);
						 if (rows[i] == 20000)
						 {
							 round_trip("all types", table, 1000, 5);
							 round_trip("all types", table, 1, 3);
						 }
						 if (rows[i] == 2)
							 round_trip("all types, empty runs", table, 8192, 4);
					 });
	}
}

static Datum
big_text(size_t len, int seed)
{
	char	   *v = MemoryContextAllocHuge(CurrentMemoryContext, len + VARHDRSZ);

	SET_VARSIZE(v, len + VARHDRSZ);
	for (size_t i = 0; i < len; i++)
		v[VARHDRSZ + i] = (char) (i * 31 + seed + (i >> 8));
	return PointerGetDatum(v);
}

static void
test_large(void)
{
	Oid			types[2] = {INT8OID, TEXTOID};
	TestTable  *table = table_make(types, 2);
	MemorySink	sink;
	MemorySource source;
	FileReader *reader;
	const char *problem;

	table_fill(table, 40, SHAPE_SORTED, 0);
	table->values[3][1] = big_text(100 * 1024 * 1024, 1);
	table->values[10][1] = big_text(5 * 1024 * 1024, 2);
	table->values[11][1] = big_text(5 * 1024 * 1024, 3);
	table->values[12][1] = big_text(9 * 1024 * 1024, 4);
	write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 2, 1, NULL);
	problem = compare_file(table, sink.data, sink.len, 2);
	ShimOk(problem == NULL, "a value of 100 MB: %s", problem ? problem : "identical");
	MemorySourceInit(&source, sink.data, sink.len);
	reader = FileReaderOpen(&source.source, FILE_ID, 16384);
	ShimOk(source.reads <= 2, "a file is opened with %d reads", (int) source.reads);
	/* 0-2, 3, 4-10, 11, 12, 13-19 and 20-39 */
	ShimOk(reader->nblocks == 7 && reader->blocks[1].nrows == 1, "blocks end at 8 MB: %d blocks", reader->nblocks);
	FileReaderClose(reader);
	free(sink.data);
}

static void
test_wide(void)
{
	Oid		   *types = palloc(1600 * sizeof(Oid));
	TestTable  *table;
	MemorySink	sink;
	Size		memory = 0;
	const char *problem;

	for (int i = 0; i < 1600; i++)
		types[i] = i == 0 ? INT8OID : all_types[i % lengthof(all_types)];
	table = table_make(types, 1600);
	table_fill(table, 900, NSHAPES, 20);
	write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 1, 1, &memory);
	problem = compare_file(table, sink.data, sink.len, 1);
	ShimOk(problem == NULL, "1600 columns: %s", problem ? problem : "identical");
	ShimOk(memory < 48 * 1024 * 1024, "1600 columns: writer takes %zu bytes", memory);
	free(sink.data);
}

/* The writer's memory is that of a block, also after very many rows. */
static void
test_memory(void)
{
	Oid			types[3] = {INT8OID, TEXTOID, NUMERICOID};
	TestTable  *table = table_make(types, 3);
	MemorySink	sink;
	Size		memory = 0;
	Size		before;

	table_fill(table, 60000, SHAPE_RANDOM, 5);
	before = ShimMemoryInUse();
	write_table(table, &sink, BF_COMPRESS_ZSTD, 8192, 3, 2, &memory);
	ShimOk(memory < 24 * 1024 * 1024, "writer takes %zu bytes", memory);
	ShimOk(ShimMemoryInUse() < before + 4096, "writer leaves no memory behind");
	free(sink.data);
	table->nrows = 1;
	memory = 0;
	write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 1, 2, &memory);
	ShimOk(memory < 64 * 1024, "writer of one row takes %zu bytes", memory);
	free(sink.data);
}

/* Error code of opening and decoding everything, 0 when all was read. */
static int
read_all(const char *data, size_t len)
{
	MemoryContext old = CurrentMemoryContext;
	volatile int code = 0;

	PG_TRY();
	{
		MemorySource source;
		FileReader *reader;
		ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, NULL);
		ColumnScratch *scratch = ColumnScratchCreate(CurrentMemoryContext);
		uint64		bytes_read = 0;

		MemorySourceInit(&source, data, len);
		reader = FileReaderOpen(&source.source, FILE_ID, 16384);
		for (int b = 0; b < reader->nblocks; b++)
		{
			for (int c = 0; c < reader->ncols; c++)
			{
				ColumnVector vector;
				BlockColumnStats stats;

				FileReaderColumnStats(reader, b, c, &stats);
				FileReaderDecode(reader, b, c, buffer, &vector, &bytes_read);
				PackedColumnFree(PackedColumnRead(reader, b, c, scratch, CurrentMemoryContext, &bytes_read));
			}
		}
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(old);
		error = CopyErrorData();
		FlushErrorState();
		code = error->sqlerrcode;
	}
	PG_END_TRY();
	return code;
}

static void
test_damage(void)
{
	TestTable  *table = table_make(all_types, lengthof(all_types));
	MemorySink	sink;
	char	   *copy;
	int			bad = 0;
	int			unseen = 0;

	table_fill(table, 60, NSHAPES + 1, 10);
	write_table(table, &sink, BF_COMPRESS_LZ4, 25, 2, 3, NULL);
	copy = palloc(sink.len);

	for (size_t len = 0; len < sink.len; len++)
	{
		/* memory of its own, so that sanitizers see a read beyond the end */
		char	   *cut = malloc(len);

		memcpy(cut, sink.data, len);
		WITH_CONTEXT(bad += read_all(cut, len) != ERRCODE_DATA_CORRUPTED);
		free(cut);
	}
	ShimOk(bad == 0, "a file cut off anywhere is seen as damaged");

	bad = 0;
	for (size_t at = 0; at < sink.len; at++)
	{
		int			code;

		memcpy(copy, sink.data, sink.len);
		copy[at] ^= 1 << DataRandom() % 8;
		WITH_CONTEXT(code = read_all(copy, sink.len));
		if (code != 0 && code != ERRCODE_DATA_CORRUPTED)
			bad++;
		if (code == 0)
		{
			WITH_CONTEXT(bad += compare_file(table, copy, sink.len, 2) != NULL);
			unseen++;
		}
	}
	ShimOk(bad == 0, "a wrong bit is seen, or (%d of %zu) does not matter", unseen, sink.len);
	free(sink.data);
}

/* The chunk directory of a file. */
static DiskChunk *
find_chunks(char *data, size_t len)
{
	const DiskTail *tail = (const DiskTail *) (data + len - sizeof(DiskTail));

	for (size_t at = tail->footer_offset; at < len - sizeof(DiskTail);)
	{
		const DiskSection *section = (const DiskSection *) (data + at);

		at += sizeof(DiskSection);
		if (section->tag == SECTION_CHUNKS)
			return (DiskChunk *) (data + at);
		at += BF_ALIGN8(section->length);
	}
	return NULL;
}

/* Make the checksums right again, as far as what they cover lies in the file. */
static void
repair_checksums(char *data, size_t len, DiskChunk *chunks, int nchunks)
{
	DiskTail   *tail = (DiskTail *) (data + len - sizeof(DiskTail));
	DiskHeader *header = (DiskHeader *) data;

	for (int c = 0; c < nchunks; c++)
	{
		DiskChunk  *chunk = &chunks[c];

		if (chunk->offset < len && chunk->stored_len <= len - chunk->offset)
			chunk->crc = FileChecksum(data + chunk->offset, chunk->stored_len);
	}
	if (tail->footer_offset <= len && tail->footer_length <= len - tail->footer_offset)
		tail->footer_crc = FileChecksum(data + tail->footer_offset, tail->footer_length);
	tail->crc = FileChecksum(tail, offsetof(DiskTail, crc));
	header->crc = FileChecksum(header, offsetof(DiskHeader, crc));
}

/* Random damage with the checksums made right again: errors, but no crash. */
static void
test_repaired_damage(void)
{
	TestTable  *table = table_make(all_types, lengthof(all_types));
	MemorySink	sink;
	char	   *copy;
	int			wrong = 0;

	table_fill(table, 40, NSHAPES + 3, 10);
	write_table(table, &sink, BF_COMPRESS_NONE, 40, 1, 3, NULL);
	copy = palloc(sink.len);
	for (int round = 0; round < 20000; round++)
	{
		DiskChunk  *chunks;
		int			code;

		memcpy(copy, sink.data, sink.len);
		chunks = find_chunks(copy, sink.len);
		for (int k = DataRandom() % 3; k >= 0; k--)
		{
			size_t		at = DataRandom() % sink.len;

			if (DataRandom() % 2)
				copy[at] ^= 1 << DataRandom() % 8;
			else
				copy[at] = DataRandom() % 2 ? 0 : DataRandom();
		}
		repair_checksums(copy, sink.len, chunks, table->ncols);
		WITH_CONTEXT(code = read_all(copy, sink.len));
		if (code != 0 && code != ERRCODE_DATA_CORRUPTED && code != ERRCODE_FEATURE_NOT_SUPPORTED)
		{
			wrong++;
			printf("# code %d\n", code);
		}
	}
	ShimOk(wrong == 0, "damage with right checksums gives the right error codes");
	free(sink.data);
}

/*
 * A chunk without a byte has no values, whatever its encoding says.  One column
 * a file, so that the buffers are still without memory when it is decoded.
 */
static void
test_empty_chunks(void)
{
	int			wrong = 0;

	for (int c = 0; c < lengthof(all_types); c++)
	{
		TestTable  *table = table_make(&all_types[c], 1);
		MemorySink	sink;
		char	   *copy;

		table_fill(table, 1, SHAPE_CONSTANT, 0);
		write_table(table, &sink, BF_COMPRESS_NONE, 40, 1, 1, NULL);
		copy = palloc(sink.len);
		for (int encoding = ENCODING_INT; encoding <= ENCODING_BINARY; encoding++)
		{
			DiskChunk  *chunk;
			int			code;

			memcpy(copy, sink.data, sink.len);
			chunk = find_chunks(copy, sink.len);
			chunk->encoding = encoding;
			chunk->stored_len = chunk->raw_len = 0;
			repair_checksums(copy, sink.len, chunk, 1);
			WITH_CONTEXT(code = read_all(copy, sink.len));
			if (code != ERRCODE_DATA_CORRUPTED)
			{
				wrong++;
				printf("# type %u, encoding %d: code %d\n", all_types[c], encoding, code);
			}
		}
		free(sink.data);
	}
	ShimOk(wrong == 0, "a chunk without bytes is seen as damaged");
}

static void
test_identity(void)
{
	Oid			types[1] = {INT8OID};
	TestTable  *table = table_make(types, 1);
	MemorySink	sink;
	MemorySource source;
	int			seen = 0;

	table_fill(table, 10, SHAPE_SORTED, 0);
	write_table(table, &sink, BF_COMPRESS_NONE, 8192, 1, 1, NULL);
	for (int i = 0; i < 2; i++)
	{
		MemoryContext old = CurrentMemoryContext;

		MemorySourceInit(&source, sink.data, sink.len);
		PG_TRY();
		{
			FileReaderOpen(&source.source, i == 0 ? 1 : FILE_ID, i == 1 ? 1 : 16384);
		}
		PG_CATCH();
		{
			ErrorData  *error;

			MemoryContextSwitchTo(old);
			error = CopyErrorData();
			FlushErrorState();
			seen += error->sqlerrcode == ERRCODE_DATA_CORRUPTED && strstr(error->message, "\"t\"") != NULL &&
				strstr(error->hint, "bucketfdw.verify") != NULL;
		}
		PG_END_TRY();
	}
	ShimOk(seen == 2, "a file of another id or table is refused");
	ShimOk(source.reads == 1, "a small file is opened with one read");
	free(sink.data);
}

/* Error code of comparing the columns with a descriptor, 0 if they fit. */
static int
check_columns(FileReader *reader, TupleDesc desc)
{
	MemoryContext old = CurrentMemoryContext;
	volatile int code = 0;

	PG_TRY();
	{
		FileReaderCheckColumns(reader, desc);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		code = CopyErrorData()->sqlerrcode;
		FlushErrorState();
	}
	PG_END_TRY();
	return code;
}

/* Row types 70000 (int4, text, 70001) and 70001 (varchar(10), int8) with changes. */
static void
register_row_types(Oid inner_first, int32 inner_typmod, int inner_natts, bool drop, Oid outer_first)
{
	TupleDesc	inner = CreateTemplateTupleDesc(inner_natts);
	TupleDesc	outer = CreateTemplateTupleDesc(3);

	for (int i = 0; i < inner_natts; i++)
		ShimTupleDescSet(inner, i + 1, "a", i == 0 ? inner_first : INT8OID);
	TupleDescAttr(inner, 0)->atttypmod = inner_typmod;
	if (drop)
	{
		TupleDescAttr(inner, 0)->attisdropped = true;
		TupleDescAttr(inner, 0)->atttypid = InvalidOid;
	}
	ShimTupleDescSet(outer, 1, "a", outer_first);
	ShimTupleDescSet(outer, 2, "b", TEXTOID);
	ShimTupleDescSet(outer, 3, "c", JSONBOID);
	TupleDescAttr(outer, 2)->atttypid = 70001;
	ShimRegisterRowType(70000, outer);
	ShimRegisterRowType(70001, inner);
}

static void
test_columns(void)
{
	Oid			types[3] = {INT8OID, JSONBOID, INT4OID};
	TestTable  *table = table_make(types, 3);
	MemorySink	sink;
	MemorySource source;
	FileReader *reader;
	TupleDesc	desc = table->desc;
	TupleDesc	longer = CreateTemplateTupleDesc(4);

	table_fill(table, 10, SHAPE_SORTED, 0);
	TupleDescAttr(desc, 1)->atttypid = 70000;
	register_row_types(VARCHAROID, 14, 2, false, INT4OID);
	write_table(table, &sink, BF_COMPRESS_NONE, 8192, 1, 1, NULL);
	MemorySourceInit(&source, sink.data, sink.len);
	reader = FileReaderOpen(&source.source, FILE_ID, 16384);

	ShimOk(check_columns(reader, desc) == 0, "unchanged row types");
	register_row_types(VARCHAROID, 14, 3, false, INT4OID);
	ShimOk(check_columns(reader, desc) == 0, "an attribute added to an inner row type");
	register_row_types(VARCHAROID, 14, 2, true, INT4OID);
	ShimOk(check_columns(reader, desc) == 0, "an attribute dropped from an inner row type");
	register_row_types(VARCHAROID, 24, 2, false, INT4OID);
	ShimOk(check_columns(reader, desc) == ERRCODE_DATATYPE_MISMATCH, "another typmod in an inner row type");
	register_row_types(TEXTOID, 14, 2, false, INT4OID);
	ShimOk(check_columns(reader, desc) == ERRCODE_DATATYPE_MISMATCH, "another type in an inner row type");
	register_row_types(VARCHAROID, 14, 1, false, INT4OID);
	ShimOk(check_columns(reader, desc) == ERRCODE_DATATYPE_MISMATCH, "an attribute gone from an inner row type");
	register_row_types(VARCHAROID, 14, 2, false, INT8OID);
	ShimOk(check_columns(reader, desc) == ERRCODE_DATATYPE_MISMATCH, "another type in a row type");
	register_row_types(VARCHAROID, 14, 2, false, INT4OID);

	for (int i = 0; i < 4; i++)
		ShimTupleDescSet(longer, i + 1, "c", i < 3 ? types[i] : TEXTOID);
	TupleDescAttr(longer, 1)->atttypid = 70000;
	ShimOk(check_columns(reader, longer) == 0, "a column added to the table");
	ShimOk(FileReaderFindColumn(reader, 4) == -1 && FileReaderFindColumn(reader, 3) == 2, "columns are found");
	TupleDescAttr(longer, 2)->attisdropped = true;
	ShimOk(check_columns(reader, longer) == 0, "a column dropped from the table");
	ShimTupleDescSet(desc, 3, "c", INT8OID);
	ShimOk(check_columns(reader, desc) == 0, "a column of a wider type");
	ShimTupleDescSet(desc, 3, "c", INT2OID);
	ShimOk(check_columns(reader, desc) == ERRCODE_DATATYPE_MISMATCH, "a column of a narrower type");
	FileReaderClose(reader);
	free(sink.data);
}

/* Which types hold what was stored as another one. */
static void
test_wider(void)
{
	static const Oid types[] = {BOOLOID, CHAROID, INT2OID, INT4OID, INT8OID, OIDOID, FLOAT4OID, FLOAT8OID, DATEOID,
		TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID, INTERVALOID, UUIDOID, NAMEOID, NUMERICOID, BYTEAOID, TEXTOID,
	VARCHAROID, BPCHAROID, JSONBOID, INT4ARRAYOID};
	static const Oid wider[][2] = {{INT2OID, INT4OID}, {INT2OID, INT8OID}, {INT4OID, INT8OID},
	{VARCHAROID, TEXTOID}, {TEXTOID, VARCHAROID}};
	TupleDesc	desc = CreateTemplateTupleDesc(1);

	for (int s = 0; s < lengthof(types); s++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, 0);
		bool		pass = true;
		int16		stored_len;

		ShimTupleDescSet(desc, 1, "c", types[s]);
		stored_len = att->attlen;
		for (int t = 0; t < lengthof(types); t++)
		{
			bool		wanted = s == t;

			for (int i = 0; i < lengthof(wider); i++)
				wanted |= types[s] == wider[i][0] && types[t] == wider[i][1];
			ShimTupleDescSet(desc, 1, "c", types[t]);
			pass &= ColumnHoldsStored(att, types[s], KeyClassOfType(types[s]), stored_len) == wanted;
		}
		ShimOk(pass, "columns that hold what was stored as type %u", types[s]);
	}
}

/* A column written with a narrow type, read with statistics and values as one of a wide type. */
static void
test_narrow_values(void)
{
	Oid			types[2] = {INT4OID, INT2OID};
	TestTable  *table = table_make(types, 2);
	MemorySink	sink;
	MemorySource source;
	FileReader *reader;
	ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, NULL);
	ColumnVector vector;
	BlockColumnStats stats;
	uint64		bytes_read = 0;
	bool		pass = true;

	table_fill(table, 5000, SHAPE_RANDOM, 0);
	write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 1, 1, NULL);
	MemorySourceInit(&source, sink.data, sink.len);
	reader = FileReaderOpen(&source.source, FILE_ID, 16384);
	FileReaderColumnStats(reader, 0, 1, &stats);
	FileReaderDecode(reader, 0, 1, buffer, &vector, &bytes_read);
	for (int i = 0; i < reader->blocks[0].nrows; i++)
	{
		int64		value = DatumGetInt64(vector.values[i]);

		pass &= value == DatumGetInt16(table->values[i][1]) &&
			KeyCompare(KEYCLASS_INT, INT8OID, vector.values[i], INT8OID, stats.min.value) >= 0 &&
			KeyCompare(KEYCLASS_INT, INT8OID, vector.values[i], INT8OID, stats.max.value) <= 0;
	}
	ShimOk(pass && DatumGetInt64(stats.min.value) < 0, "values and bounds of int2 are those of int8");
	FileReaderClose(reader);
	free(sink.data);
}

/* Dropped columns are not stored; a type without a length is refused. */
static void
test_storage(void)
{
	Oid			types[4] = {INT8OID, TEXTOID, TEXTOID, INT4OID};
	TestTable  *table = table_make(types, 4);
	MemorySink	sink;
	MemorySource source;
	FileReader *reader;
	ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, NULL);
	ColumnVector vector;
	uint64		bytes_read = 0;
	MemoryContext old = CurrentMemoryContext;
	bool		pass = true;
	volatile int code = 0;

	table_fill(table, 3000, SHAPE_SORTED, 0);
	TupleDescAttr(table->desc, 1)->attisdropped = true;
	TupleDescAttr(table->desc, 2)->attstorage = TYPSTORAGE_PLAIN;
	write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 1, 1, NULL);
	MemorySourceInit(&source, sink.data, sink.len);
	reader = FileReaderOpen(&source.source, FILE_ID, 16384);
	ShimOk(reader->ncols == 3 && FileReaderFindColumn(reader, 2) == -1, "a dropped column is not stored");
	FileReaderDecode(reader, 0, 1, buffer, &vector, &bytes_read);
	for (int i = 0; i < reader->blocks[0].nrows; i++)
		pass &= !VARATT_IS_1B(DatumGetPointer(vector.values[i])) &&
			DataIdentical(vector.values[i], table->values[i][2], -1, false);
	ShimOk(pass, "values of a column with plain storage have no short headers");
	FileReaderClose(reader);
	free(sink.data);

	PG_TRY();
	{
		ShimTupleDescSet(table->desc, 4, "c", CSTRINGOID);
		write_table(table, &sink, BF_COMPRESS_LZ4, 8192, 1, 1, NULL);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		code = CopyErrorData()->sqlerrcode;
		FlushErrorState();
	}
	PG_END_TRY();
	ShimOk(code == ERRCODE_FEATURE_NOT_SUPPORTED, "a cstring column is refused");
}

/*
 * Numerics made of scaled integers, many alike and with others among them: the
 * encoder, which makes each alone in another way, knows every one bit for bit.
 */
static void
test_scaled_numerics(void)
{
	int64		values[64];
	int64		made[64];
	ByteBuffer	buf;
	bool		pass = true;

	ByteBufferInit(&buf, CurrentMemoryContext);
	for (int scale = 0; scale <= BF_MAX_NUMERIC_SCALE; scale++)
	{
		for (int digits = 1; digits <= 19; digits++)
		{
			int64		power = 1;
			int			n = 0;

			for (int i = 1; i < digits; i++)
				power *= 10;
			for (int d = -1; d <= 1; d++)
			{
				values[n++] = power + d;
				values[n++] = -power + d;
				values[n++] = 9 * power + d;
				values[n++] = -9 * power + d;
				values[n++] = power / 10 * 7 + d;
			}
			if (digits == 19)
			{
				values[n++] = PG_INT64_MAX;
				values[n++] = -PG_INT64_MAX;
			}
			memcpy(made, values, sizeof(values));
			NumericsFromScaled(made, n, scale, &buf);
			for (int i = 0; i < n; i++)
			{
				int64		again;
				int			again_scale;

				pass &= NumericToScaled(DatumGetPointer((Datum) made[i]), &again, &again_scale) &&
					again == values[i] && again_scale == scale;
			}
		}
	}
	ShimOk(pass, "numerics of all scales and sizes come back from integers");
	ByteBufferFree(&buf);
}

/* Floats of so many binary digits come back bit for bit; others are not taken for such. */
static void
test_binary_floats(void)
{
	Datum	   *values = palloc(600 * sizeof(Datum));
	int64	   *scaled = palloc(600 * sizeof(int64));
	int			scale;
	int			wrong = 0;

	for (int bits = 1; bits <= 53; bits++)
	{
		for (int want = 1; want <= 300; want += 13)
		{
			for (int sign = 0; sign < 2; sign++)
			{
				bool		found;

				for (int i = 0; i < 600; i++)
				{
					double		d = ldexp((double) (i == 0 ? 1 : DataRandom() >> (64 - bits)), -want);

					values[i] = Float8GetDatum(sign && i % 2 && d != 0 ? -d : d);
				}
				found = FloatsToBinary(values, 600, 8, scaled, &scale);
				if (found != (want <= BF_MAX_BINARY_SCALE) || (found && scale != want))
					wrong++;
				if (!found)
					continue;
				FloatsFromBinary(scaled, 600, 8, scale);
				wrong += memcmp(values, scaled, 600 * sizeof(Datum)) != 0;
			}
		}
	}
	ShimOk(wrong == 0, "floats of binary digits");

	for (int i = 0; i < 6; i++)
	{
		static const double others[] = {-0.0, NAN, INFINITY, 5e-324, 1e300, 1.0 / 3};

		values[0] = Float8GetDatum(0.5);
		values[1] = Float8GetDatum(others[i]);
		values[2] = Float8GetDatum(1024.5);
		ShimOk(!FloatsToBinary(values, 3, 8, scaled, &scale), "%g has no common scale with 1024.5", others[i]);
	}
}

/* Each number has its functions, is tried when columns are written, and is seen below. */
static void
test_encoding_table(uint32 seen)
{
	for (int e = ENCODING_NONE + 1; e <= ENCODING_LAST; e++)
	{
		const EncodingOps *ops = Encodings[e];
		int			trials = 0;

		for (int i = 0; i < (int) lengthof(EncodingTrials); i++)
			trials += EncodingTrials[i] == (ChunkEncoding) e;
		ShimOk(ops != NULL && ops->name && ops->fits && ops->choose && ops->write && ops->open && ops->read &&
			   ops->prepare && ops->take && trials == 1 && (seen & (1 << e)),
			   "encoding %d, %s, is in all tables", e, ops ? ops->name : "unknown");
		for (int other = e + 1; other <= ENCODING_LAST; other++)
			ShimOk(ops != Encodings[other], "encodings %d and %d have functions of their own", e, other);
	}
}

static void
test_encodings(void)
{
	uint32		seen = 0;
	struct
	{
		Oid			typid;
		Shape		shape;
		ChunkEncoding encoding;
	}			cases[] = {
		{INT8OID, SHAPE_SORTED, ENCODING_INT},
		{FLOAT8OID, SHAPE_NARROW, ENCODING_FLOAT},
		{FLOAT4OID, SHAPE_NARROW, ENCODING_FLOAT},
		{FLOAT8OID, SHAPE_RANDOM, ENCODING_RAW},
		{FLOAT8OID, SHAPE_EXTREME, ENCODING_RAW},
		{FLOAT8OID, SHAPE_GAPS, ENCODING_BINARY},
		{FLOAT8OID, SHAPE_SKEWED, ENCODING_BINARY},
		{FLOAT4OID, SHAPE_SKEWED, ENCODING_BINARY},
		{NUMERICOID, SHAPE_NARROW, ENCODING_NUMERIC},
		{NUMERICOID, SHAPE_RANDOM, ENCODING_PLAIN},
		{NUMERICOID, SHAPE_CONSTANT, ENCODING_CONSTANT},
		{TEXTOID, SHAPE_SORTED, ENCODING_FRONT},
		{TEXTOID, SHAPE_NARROW, ENCODING_DICT},
		{TEXTOID, SHAPE_RANDOM, ENCODING_PLAIN},
		{UUIDOID, SHAPE_RANDOM, ENCODING_RAW},
		{UUIDOID, SHAPE_CONSTANT, ENCODING_CONSTANT},
	};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		Oid			types[2] = {INT8OID, cases[i].typid};
		TestTable  *table = table_make(types, 2);
		MemorySink	sink;
		DiskTail   *tail;
		int			encoding = -1;

		table_fill(table, 3000, cases[i].shape, 0);
		write_table(table, &sink, BF_COMPRESS_NONE, 8192, 1, 1, NULL);
		tail = (DiskTail *) (sink.data + sink.len - sizeof(DiskTail));
		for (size_t at = tail->footer_offset; at < sink.len - sizeof(DiskTail);)
		{
			DiskSection *section = (DiskSection *) (sink.data + at);

			at += sizeof(DiskSection);
			if (section->tag == SECTION_CHUNKS)
				encoding = ((DiskChunk *) (sink.data + at))[1].encoding;
			at += BF_ALIGN8(section->length);
		}
		seen |= 1 << cases[i].encoding;
		ShimOk(encoding == (int) cases[i].encoding, "type %u, shape %d is stored in encoding %d", cases[i].typid,
			   cases[i].shape, encoding);
		free(sink.data);
	}
	test_encoding_table(seen);
}

int
main(void)
{
	ShimInit();
	DataSeed(20240229);
	WITH_CONTEXT(test_int_streams());
	WITH_CONTEXT(test_int_stream_kinds());
	WITH_CONTEXT(test_int_stream_damage());
	WITH_CONTEXT(test_binary_floats());
	WITH_CONTEXT(test_encodings());
	WITH_CONTEXT(test_scaled_numerics());
	test_types();
	test_sizes();
	WITH_CONTEXT(test_identity());
	WITH_CONTEXT(test_columns());
	WITH_CONTEXT(test_wider());
	WITH_CONTEXT(test_narrow_values());
	WITH_CONTEXT(test_storage());
	WITH_CONTEXT(test_memory());
	WITH_CONTEXT(test_wide());
	WITH_CONTEXT(test_large());
	WITH_CONTEXT(test_damage());
	WITH_CONTEXT(test_repaired_damage());
	WITH_CONTEXT(test_empty_chunks());
	ShimOk(nsearched > 100, "sorted columns of many shapes were searched");
	return ShimDone();
}
