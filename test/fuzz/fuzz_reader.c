/*
 * fuzz_reader.c
 *	  libFuzzer target: open any bytes as a bucketed file and decode all of it.
 *
 * Every input is read twice: as it is, and with its checksums and lengths made
 * right, so that the code behind them is reached.  Errors are fine; crashes,
 * reads outside the memory, undefined behaviour and unexpected error codes are
 * not.
 */
#include "postgres.h"

#include "compat.h"
#include "format/stats/block_stats.h"
#include "format/file_format.h"
#include "format/read/packed_column.h"
#include "format/read/reader.h"
#include "memory_file.h"
#include "pg_shim.h"
#include "spec/murmur.h"
#include "utils/memutils.h"

/* what make_corpus.c puts into its files */
#define FILE_ID UINT64CONST(0x0123456789abcdef)
#define RELID	16384

static volatile uint32 checksum;

/* Look at every byte of a vector as the executor would. */
static void
use_vector(const FileColumn *col, const ColumnVector *vector, int nrows)
{
	uint32		sum = 0;

	for (int i = 0; i < nrows; i++)
	{
		Datum		value = vector->values[i];

		if (vector->nulls && vector->nulls[i])
		{
			if (value != 0)
				abort();
			continue;
		}
		if (col->keyclass != KEYCLASS_NONE)
			sum += KeyHash(col->keyclass, col->typid, value, 0);
		else if (col->typbyval)
			sum += (uint32) value;
		else if (col->typlen > 0)
			sum += KeyHashBytes(DatumGetPointer(value), col->typlen, 0);
		else
			sum += KeyHashBytes(VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)), 0);
	}
	checksum += sum;
}

static void
use_stats(FileReader *reader, int block, int col)
{
	const FileColumn *column = &reader->cols[col];
	BlockColumnStats stats;

	FileReaderColumnStats(reader, block, col, &stats);
	for (int op = 0; op <= SKIP_NOTNULL && stats.has_minmax; op++)
	{
		checksum += BlockStatsCanSkip(&stats, reader->blocks[block].nrows, column->keyclass, column->typid,
									  (SkipOp) op, column->typid, stats.min.value);
		checksum += BlockStatsCanSkip(&stats, reader->blocks[block].nrows, column->keyclass, column->typid,
									  (SkipOp) op, column->typid, stats.max.value);
	}
}

/* Take out every value of a column that is not decoded, and look for one. */
static void
use_packed(FileReader *reader, int block, int c, ColumnScratch *scratch)
{
	const FileColumn *col = &reader->cols[c];
	int			nrows = reader->blocks[block].nrows;
	uint64		bytes_read = 0;
	PackedColumn *packed = PackedColumnRead(reader, block, c, scratch, CurrentMemoryContext, &bytes_read);
	uint16		rows[BF_GATHER_ROWS];
	Datum		values[BF_GATHER_ROWS];
	bool		nulls[BF_GATHER_ROWS];
	ByteBuffer	made;

	ByteBufferInit(&made, CurrentMemoryContext);
	for (int first = 0; first < nrows; first += BF_GATHER_ROWS)
	{
		int			n = Min(nrows - first, BF_GATHER_ROWS);
		ColumnVector vector = {values, nulls};

		for (int i = 0; i < n; i++)
			rows[i] = first + i;
		if (!PackedColumnGather(packed, n, rows, values, nulls, &made))
			vector.nulls = NULL;
		use_vector(col, &vector, n);
		if (col->keyclass != KEYCLASS_NONE && !(vector.nulls && nulls[n / 2]))
			checksum += PackedColumnSearch(packed, 0, nrows, col->typid, col->typid, values[n / 2], true);
	}
	ByteBufferFree(&made);
	PackedColumnFree(packed);
}

static void
read_file(const char *data, size_t len)
{
	MemorySource source;
	FileReader *reader;
	ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, NULL);
	ColumnScratch *scratch = ColumnScratchCreate(CurrentMemoryContext);
	TupleDesc	desc;
	uint64		bytes_read = 0;

	MemorySourceInit(&source, data, len);
	reader = FileReaderOpen(&source.source, FILE_ID, RELID);

	/* the columns are all dropped: only the row types are looked at */
	desc = CreateTemplateTupleDesc(1600);
	for (int i = 0; i < desc->natts; i++)
		TupleDescAttr(desc, i)->attisdropped = true;
	FileReaderCheckColumns(reader, desc);

	for (int block = 0; block < reader->nblocks; block++)
	{
		const FileBlock *b = &reader->blocks[block];

		for (int k = 0; k < reader->spec->nsort; k++)
		{
			const SortColumn *sort = &reader->spec->sort[k];

			if (!b->first[k].isnull && !b->last[k].isnull)
				checksum += KeyCompare(sort->keyclass, sort->typid, b->first[k].value, sort->typid, b->last[k].value);
		}
		for (int col = 0; col < reader->ncols; col++)
		{
			ColumnVector vector;

			use_stats(reader, block, col);
			use_packed(reader, block, col, scratch);
			FileReaderDecode(reader, block, col, buffer, &vector, &bytes_read);
			use_vector(&reader->cols[col], &vector, b->nrows);
		}
	}
	FileReaderClose(reader);
}

static void
read_in_context(const char *data, size_t len)
{
	MemoryContext top = CurrentMemoryContext;
	MemoryContext cxt = AllocSetContextCreate(top, "input", ALLOCSET_DEFAULT_SIZES);

	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		read_file(data, len);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(cxt);
		error = CopyErrorData();
		FlushErrorState();
		if (error->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
			error->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED &&
			error->sqlerrcode != ERRCODE_DATATYPE_MISMATCH)
		{
			fprintf(stderr, "unexpected error: %s\n", error->message);
			abort();
		}
	}
	PG_END_TRY();
	MemoryContextSwitchTo(top);
	MemoryContextDelete(cxt);
}

/* Make magics, lengths and checksums right, as far as they can be found. */
static void
repair(char *data, size_t len)
{
	DiskHeader	header;
	DiskTail	tail;
	size_t		end = len - sizeof(DiskTail);

	memcpy(&header, data, sizeof(header));
	header.magic = BF_HEAD_MAGIC;
	header.version = BF_FORMAT_VERSION;
	header.file_id = FILE_ID;
	header.relid = RELID;
	header.crc = FileChecksum(&header, offsetof(DiskHeader, crc));
	memcpy(data, &header, sizeof(header));

	memcpy(&tail, data + end, sizeof(tail));
	tail.magic = BF_TAIL_MAGIC;
	tail.version = BF_FORMAT_VERSION;
	tail.file_id = FILE_ID;
	if (tail.footer_offset <= end)
	{
		tail.footer_length = end - tail.footer_offset;
		for (size_t at = tail.footer_offset; at + sizeof(DiskSection) <= end;)
		{
			DiskSection section;

			memcpy(&section, data + at, sizeof(section));
			at += sizeof(section);
			if (section.length > end - at)
				break;
			for (size_t i = 0; section.tag == SECTION_CHUNKS && i + sizeof(DiskChunk) <= section.length;
				 i += sizeof(DiskChunk))
			{
				DiskChunk	chunk;

				memcpy(&chunk, data + at + i, sizeof(chunk));
				if (chunk.offset <= len && chunk.stored_len <= len - chunk.offset)
					chunk.crc = FileChecksum(data + chunk.offset, chunk.stored_len);
				memcpy(data + at + i, &chunk, sizeof(chunk));
			}
			at += BF_ALIGN8(section.length);
		}
		tail.footer_crc = FileChecksum(data + tail.footer_offset, tail.footer_length);
	}
	tail.crc = FileChecksum(&tail, offsetof(DiskTail, crc));
	memcpy(data + end, &tail, sizeof(tail));
}

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	if (TopMemoryContext == NULL)
		ShimInit();
	read_in_context((const char *) data, size);
	if (size >= sizeof(DiskHeader) + sizeof(DiskTail))
	{
		char	   *copy = malloc(size);

		memcpy(copy, data, size);
		repair(copy, size);
		read_in_context(copy, size);
		free(copy);
	}
	return 0;
}
