/*
 * damage.c
 *	  What is said of a damaged file.
 */
#include "postgres.h"

#include "format/read/reader_private.h"

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
