/*
 * reader.c
 *	  Open and close a file, find columns, statistics of blocks, and what to
 *	  say of a damaged file.
 */
#include "postgres.h"

#include "format/read/reader_private.h"
#include "format/stats/stat_value.h"
#include "utils/memutils.h"

FileReader *
FileReaderOpen(FileSource *source, uint64 file_id, Oid dboid, Oid relid)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw file reader",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	FileReader *reader = palloc0(sizeof(FileReader));

	reader->source = source;
	reader->cxt = cxt;
	reader->priv = palloc0(sizeof(FileReaderPrivate));
	PG_TRY();
	{
		FooterRead(reader, file_id, dboid, relid);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(oldcxt);
		MemoryContextDelete(cxt);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(oldcxt);
	return reader;
}

void
FileReaderClose(FileReader *reader)
{
	MemoryContextDelete(reader->cxt);
}

int
FileReaderFindColumn(const FileReader *reader, AttrNumber attnum)
{
	int			low = 0;
	int			high = reader->ncols - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;

		if (reader->cols[mid].attnum == attnum)
			return mid;
		if (reader->cols[mid].attnum < attnum)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return -1;
}

void
FileReaderColumnStats(FileReader *reader, int block, int col, BlockColumnStats *stats)
{
	const DiskChunk *chunk = &reader->priv->chunks[(size_t) block * reader->ncols + col];
	KeyClass	keyclass = reader->cols[col].keyclass;

	memset(stats, 0, sizeof(*stats));
	if (chunk->null_count > (uint32) reader->blocks[block].nrows)
		FileReaderCorrupt(reader, block, col, 0, "number of nulls is invalid");
	stats->null_count = chunk->null_count;
	if (chunk->flags & BF_CHUNK_MINMAX)
	{
		size_t		at = chunk->stats;
		const char *problem = NULL;

		if (keyclass == KEYCLASS_NONE || chunk->null_count == (uint32) reader->blocks[block].nrows)
			problem = "there are a minimum and maximum where none can be";
		if (problem == NULL)
			problem = StatValueRead(reader->priv->stats, reader->priv->stats_len, &at, keyclass, &stats->min);
		if (problem == NULL)
			problem = StatValueRead(reader->priv->stats, reader->priv->stats_len, &at, keyclass, &stats->max);
		if (problem == NULL && (stats->min.isnull || stats->max.isnull))
			problem = "minimum or maximum is null";
		if (problem)
			FileReaderCorrupt(reader, block, col, 0, problem);
		stats->has_minmax = true;
	}
}

/* Bucket of a block, -1 if it is not known (yet). */
static int
bucket_of_block(const FileReader *reader, int block)
{
	for (int i = 0; i < reader->nruns; i++)
	{
		const FileRun *run = &reader->runs[i];

		if (block >= run->first_block && block < run->first_block + run->nblocks)
			return run->bucket;
	}
	return -1;
}

void
FileReaderCorrupt(FileReader *reader, int block, int col, uint64 offset, const char *problem)
{
	char		where[128] = "";
	int			len = 0;

	if (block >= 0)
	{
		int			bucket = bucket_of_block(reader, block);

		if (bucket >= 0)
			len += snprintf(where, sizeof(where), "Bucket %d, block %d", bucket, block);
		else
			len += snprintf(where, sizeof(where), "Block %d", block);
	}
	if (col >= 0)
		len += snprintf(where + len, sizeof(where) - len, ", column %d", reader->cols[col].attnum);
	snprintf(where + len, sizeof(where) - len, "%s %llu", len > 0 ? ", offset" : "Offset",
			 (unsigned long long) offset);

	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" of table \"%s\" is damaged", reader->source->path, reader->source->relname),
			 errdetail("%s: %s.", where, problem),
			 errhint("Run bucketfdw.verify('%s') to find everything that is damaged.",
					 reader->source->relname)));
	pg_unreachable();
}
