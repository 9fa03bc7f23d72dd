/*
 * writer.c
 *	  Write one bucketed file: runs of blocks of column chunks, then a footer.
 *
 * Memory is that of one block and the growing footer.
 */
#include "postgres.h"

#include "compat.h"
#include "format/codec.h"
#include "format/file_format.h"
#include "format/row_types.h"
#include "format/stats/stat_value.h"
#include "format/write/block_builder.h"
#include "format/write/writer.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

struct FileWriter
{
	MemoryContext cxt;
	FileSink   *sink;
	uint64		file_id;
	BfCompression compression;
	int			compression_level;
	BucketSpec *spec;
	int			ncols;
	FileColumn *cols;
	int		   *sortcols;		/* index in cols of each sort column */
	uint64		position;		/* bytes written */
	uint64		nrows;			/* in finished blocks */

	bool		in_run;
	DiskRun		run;
	WrittenRun	written;

	int			ncounters;
	ColumnStats *counters;

	BlockBuilder builder;
	ByteBuffer	raw;			/* a chunk before compression */
	ByteBuffer	stored;			/* and after */

	/* payloads of the footer's sections so far */
	ByteBuffer	row_types;
	ByteBuffer	runs;
	ByteBuffer	blocks;
	ByteBuffer	keys;
	ByteBuffer	chunks;
	ByteBuffer	stats;
};

static void
write_bytes(FileWriter *writer, const void *data, size_t len)
{
	writer->sink->write(writer->sink, data, len);
	writer->position += len;
}

/* The columns to store: not dropped, not virtual generated. */
static void
choose_columns(FileWriter *writer, TupleDesc desc)
{
	writer->cols = palloc0(Max(desc->natts, 1) * sizeof(FileColumn));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		FileColumn *col = &writer->cols[writer->ncols];

		if (att->attisdropped || BfAttributeIsVirtual(att))
			continue;
		if (att->attlen < -1 || att->attlen == 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" has a type that cannot be stored in a bucketed table",
							NameStr(att->attname)),
					 errdetail("Values of type %s have neither a fixed length nor a length of their own.",
							   format_type_be(att->atttypid))));
		col->attnum = att->attnum;
		col->typid = att->atttypid;
		col->typmod = att->atttypmod;
		col->collation = att->attcollation;
		col->typlen = att->attlen;
		col->typbyval = att->attbyval;
		col->typalign = att->attalign;
		col->typstorage = att->attstorage;
		col->keyclass = KeyClassOfType(getBaseType(att->atttypid));
		writer->ncols++;
	}
}

static void
find_sort_columns(FileWriter *writer)
{
	BucketSpec *spec = writer->spec;

	writer->sortcols = palloc(spec->nsort * sizeof(int));
	for (int i = 0; i < spec->nsort; i++)
	{
		int			col = 0;

		while (col < writer->ncols && writer->cols[col].attnum != spec->sort[i].attnum)
			col++;
		if (col == writer->ncols || writer->cols[col].keyclass != spec->sort[i].keyclass)
			elog(ERROR, "sort column %d is not a stored column of its class", spec->sort[i].attnum);
		writer->sortcols[i] = col;
	}
}

FileWriter *
FileWriterCreate(FileSink *sink, const FileWriterOptions *options)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw file writer",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	FileWriter *writer = palloc0(sizeof(FileWriter));
	DiskHeader	header;

	writer->cxt = cxt;
	writer->sink = sink;
	writer->file_id = options->file_id;
	writer->compression = options->compression;
	writer->compression_level = options->compression_level;
	writer->ncounters = options->ncounters;
	writer->counters = options->counters;
	writer->spec = palloc(BucketSpecSize(options->spec->nsort));
	memcpy(writer->spec, options->spec, BucketSpecSize(options->spec->nsort));
	choose_columns(writer, options->desc);
	find_sort_columns(writer);
	BlockBuilderInit(&writer->builder, cxt, writer->ncols, writer->cols, options->block_rows);
	ByteBufferInit(&writer->raw, cxt);
	ByteBufferInit(&writer->stored, cxt);
	ByteBufferInit(&writer->row_types, cxt);
	ByteBufferInit(&writer->runs, cxt);
	ByteBufferInit(&writer->blocks, cxt);
	ByteBufferInit(&writer->keys, cxt);
	ByteBufferInit(&writer->chunks, cxt);
	ByteBufferInit(&writer->stats, cxt);
	RowTypesWrite(&writer->row_types, options->desc);
	MemoryContextSwitchTo(oldcxt);

	memset(&header, 0, sizeof(header));
	header.magic = BF_HEAD_MAGIC;
	header.version = BF_FORMAT_VERSION;
	header.length = sizeof(header);
	header.file_id = options->file_id;
	header.xid = U64FromFullTransactionId(options->xid);
	header.relid = options->relid;
	header.crc = FileChecksum(&header, offsetof(DiskHeader, crc));
	write_bytes(writer, &header, sizeof(header));
	return writer;
}

void
FileWriterBeginRun(FileWriter *writer, int bucket)
{
	if (writer->in_run)
		elog(ERROR, "run of bucket %u is not ended", writer->run.bucket);
	if (bucket < 0 || bucket >= writer->spec->nbuckets ||
		(writer->runs.len > 0 && (uint32) bucket <= writer->run.bucket))
		elog(ERROR, "bucket %d is out of order", bucket);
	writer->in_run = true;
	memset(&writer->run, 0, sizeof(writer->run));
	memset(&writer->written, 0, sizeof(writer->written));
	writer->run.bucket = bucket;
	writer->written.bucket = bucket;
}

/* Encode, compress and write a column of the block; appends its directory entry. */
static void
write_chunk(FileWriter *writer, int col)
{
	static const char zeros[8] = {0};
	KeyClass	keyclass = writer->cols[col].keyclass;
	EncodedColumn encoded;
	DiskChunk	chunk;
	ByteBuffer *bytes = &writer->raw;

	BlockBuilderEncode(&writer->builder, col, &writer->raw, &encoded);
	if (col < writer->ncounters)
	{
		ColumnValues values = BlockBuilderValues(&writer->builder, col);

		ColumnStatsAdd(&writer->counters[col], &values, &encoded);
	}
	memset(&chunk, 0, sizeof(chunk));
	chunk.encoding = encoded.encoding;
	chunk.null_count = encoded.null_count;
	chunk.raw_len = writer->raw.len;
	if (encoded.has_minmax)
	{
		chunk.flags |= BF_CHUNK_MINMAX;
		chunk.stats = writer->stats.len;
		StatValueWrite(&writer->stats, keyclass, false, encoded.min);
		StatValueWrite(&writer->stats, keyclass, false, encoded.max);
	}
	if (writer->raw.len > 0)
	{
		if (CodecCompress(writer->compression, writer->compression_level,
						  writer->raw.data, writer->raw.len, &writer->stored))
		{
			bytes = &writer->stored;
			chunk.codec = writer->compression;
		}
		chunk.offset = writer->position;
		chunk.stored_len = bytes->len;
		chunk.crc = FileChecksum(bytes->data, bytes->len);
		write_bytes(writer, bytes->data, bytes->len);
		write_bytes(writer, zeros, BF_ALIGN8(bytes->len) - bytes->len);
	}
	ByteBufferAppend(&writer->chunks, &chunk, sizeof(chunk));
}

/* Write the rows collected as a block. */
static void
flush_block(FileWriter *writer)
{
	DiskBlock	block;
	uint64		start = writer->position;

	CHECK_FOR_INTERRUPTS();
	memset(&block, 0, sizeof(block));
	block.nrows = writer->builder.nrows;
	block.first_row = writer->nrows;
	for (int edge = 0; edge < 2; edge++)
	{
		for (int i = 0; i < writer->spec->nsort; i++)
		{
			Datum		value = (Datum) 0;
			bool		isnull = BlockBuilderEdge(&writer->builder, writer->sortcols[i], edge == 1, &value);

			StatValueWrite(&writer->keys, writer->spec->sort[i].keyclass, isnull, value);
		}
	}
	for (int col = 0; col < writer->ncols; col++)
		write_chunk(writer, col);
	block.bytes = writer->position - start;
	ByteBufferAppend(&writer->blocks, &block, sizeof(block));

	writer->nrows += block.nrows;
	writer->run.nblocks++;
	writer->run.nrows += block.nrows;
	writer->written.bytes += block.bytes;
	writer->written.raw_bytes += BlockBuilderRawBytes(&writer->builder);
	BlockBuilderReset(&writer->builder);

	/* do not hold what only a very large value needed */
	if (writer->raw.cap > 2 * BF_BLOCK_BYTES)
		ByteBufferFree(&writer->raw);
	if (writer->stored.cap > 2 * BF_BLOCK_BYTES)
		ByteBufferFree(&writer->stored);
}

void
FileWriterAppend(FileWriter *writer, Datum *const *values, bool *const *nulls, int n)
{
	int			at = 0;

	if (unlikely(!writer->in_run))
		elog(ERROR, "no run is begun");
	while (at < n)
	{
		int			taken = BlockBuilderAppend(&writer->builder, values, nulls, at, n - at);

		if (taken == 0)
			flush_block(writer);
		at += taken;
	}
}

void
FileWriterEndRun(FileWriter *writer, WrittenRun *result)
{
	if (!writer->in_run)
		elog(ERROR, "no run is begun");
	if (writer->builder.nrows > 0)
		flush_block(writer);
	ByteBufferAppend(&writer->runs, &writer->run, sizeof(writer->run));
	writer->in_run = false;
	writer->written.rows = writer->run.nrows;
	*result = writer->written;
}

int64
FileWriterBytes(FileWriter *writer)
{
	return writer->position;
}

static void
put_section(ByteBuffer *footer, SectionTag tag, uint32 flags, const void *payload, size_t len)
{
	DiskSection section = {tag, flags, len};

	ByteBufferAppend(footer, &section, sizeof(section));
	ByteBufferAppend(footer, payload, len);
	ByteBufferAlign(footer, 8);
}

static void
put_spec(ByteBuffer *footer, const BucketSpec *spec)
{
	size_t		len = sizeof(DiskSpec) + spec->nsort * sizeof(DiskSortColumn);
	char	   *payload = palloc0(len);
	DiskSpec   *disk = (DiskSpec *) payload;
	DiskSortColumn *sort = (DiskSortColumn *) (disk + 1);

	disk->hash_version = spec->hash_version;
	disk->nbuckets = spec->nbuckets;
	disk->nkeys = spec->nkeys;
	disk->nsort = spec->nsort;
	for (int i = 0; i < spec->nsort; i++)
	{
		sort[i].attnum = spec->sort[i].attnum;
		sort[i].keyclass = spec->sort[i].keyclass;
		sort[i].flags = spec->sort[i].flags;
		sort[i].typid = spec->sort[i].typid;
	}
	put_section(footer, SECTION_SPEC, BF_SECTION_REQUIRED, payload, len);
	pfree(payload);
}

static void
put_columns(ByteBuffer *footer, const FileColumn *cols, int ncols)
{
	DiskColumn *disk = palloc0(Max(ncols, 1) * sizeof(DiskColumn));

	for (int i = 0; i < ncols; i++)
	{
		disk[i].attnum = cols[i].attnum;
		disk[i].typlen = cols[i].typlen;
		disk[i].typid = cols[i].typid;
		disk[i].typmod = cols[i].typmod;
		disk[i].collation = cols[i].collation;
		disk[i].typbyval = cols[i].typbyval;
		disk[i].typalign = cols[i].typalign;
		disk[i].typstorage = cols[i].typstorage;
		disk[i].keyclass = cols[i].keyclass;
	}
	put_section(footer, SECTION_COLUMNS, BF_SECTION_REQUIRED, disk, ncols * sizeof(DiskColumn));
	pfree(disk);
}

int64
FileWriterFinish(FileWriter *writer)
{
	ByteBuffer *footer = &writer->raw;
	DiskTail	tail;
	int64		size;

	if (writer->in_run)
		elog(ERROR, "run of bucket %u is not ended", writer->run.bucket);
	ByteBufferPrepare(footer, 1024);
	put_spec(footer, writer->spec);
	put_columns(footer, writer->cols, writer->ncols);
	put_section(footer, SECTION_ROW_TYPES, 0, writer->row_types.data, writer->row_types.len);
	put_section(footer, SECTION_RUNS, BF_SECTION_REQUIRED, writer->runs.data, writer->runs.len);
	put_section(footer, SECTION_BLOCKS, BF_SECTION_REQUIRED, writer->blocks.data, writer->blocks.len);
	put_section(footer, SECTION_KEYS, BF_SECTION_REQUIRED, writer->keys.data, writer->keys.len);
	put_section(footer, SECTION_CHUNKS, BF_SECTION_REQUIRED, writer->chunks.data, writer->chunks.len);
	put_section(footer, SECTION_STATS, BF_SECTION_REQUIRED, writer->stats.data, writer->stats.len);

	memset(&tail, 0, sizeof(tail));
	tail.footer_offset = writer->position;
	tail.footer_length = footer->len;
	tail.file_id = writer->file_id;
	tail.version = BF_FORMAT_VERSION;
	tail.footer_crc = FileChecksum(footer->data, footer->len);
	tail.crc = FileChecksum(&tail, offsetof(DiskTail, crc));
	tail.magic = BF_TAIL_MAGIC;
	write_bytes(writer, footer->data, footer->len);
	write_bytes(writer, &tail, sizeof(tail));

	size = writer->position;
	CodecRelease();
	MemoryContextDelete(writer->cxt);
	return size;
}
