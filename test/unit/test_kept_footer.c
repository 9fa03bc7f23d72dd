/*
 * test_kept_footer.c
 *	  Footers kept between openings: the same as read, within their bytes, never
 *	  taken from under a reader.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "format/read/reader.h"
#include "format/write/writer.h"
#include "memory_file.h"
#include "miscadmin.h"
#include "pg_shim.h"
#include "utils/memutils.h"

#define RELID 16384
#define KEPT_BYTES (2 * 1024 * 1024)
#define NFILES 24

/* A file of so many blocks of one row. */
static void
WriteFile(MemorySink *sink, uint64 file_id, int nblocks)
{
	BucketSpec *spec = palloc0(BucketSpecSize(1));
	FileWriterOptions options = {.file_id = file_id, .relid = RELID, .spec = spec, .block_rows = 1};
	FileWriter *writer;
	WrittenRun	written;

	spec->hash_version = BF_HASH_VERSION;
	spec->nbuckets = spec->nkeys = spec->nsort = 1;
	spec->sort[0].attnum = 1;
	spec->sort[0].typid = INT8OID;
	spec->sort[0].keyclass = KeyClassOfType(INT8OID);
	options.desc = CreateTemplateTupleDesc(1);
	ShimTupleDescSet(options.desc, 1, "key", INT8OID);
	MemorySinkInit(sink);
	writer = FileWriterCreate(&sink->sink, &options);
	FileWriterBeginRun(writer, 0);
	for (int i = 0; i < nblocks; i++)
	{
		Datum		value = Int64GetDatum((int64) file_id * 100000 + i);
		bool		isnull = false;
		Datum	   *values = &value;
		bool	   *nulls = &isnull;

		FileWriterAppend(writer, &values, &nulls, 1);
	}
	FileWriterEndRun(writer, &written);
	(void) FileWriterFinish(writer);
}

/* Open a file and look at all that its footer says; the number of reads it took, or -1. */
static int
Open(const MemorySink *sink, MemorySource *source, uint64 file_id, int nblocks, FileReader **result)
{
	FileReader *reader;
	int			reads;

	MemorySourceInit(source, sink->data, sink->len);
	reader = FileReaderOpenKept(&source->source, file_id, RELID);
	reads = (int) source->reads;
	if (reader->source != &source->source || reader->file_id != file_id || reader->nruns != 1 ||
		reader->nblocks != nblocks || reader->nrows != nblocks)
		return -1;
	for (int b = 0; b < nblocks; b++)
	{
		int64		key = (int64) file_id * 100000 + b;
		BlockColumnStats stats;

		FileReaderColumnStats(reader, b, 0, &stats);
		if (DatumGetInt64(reader->blocks[b].first->value) != key || DatumGetInt64(stats.min.value) != key)
			return -1;
	}
	if (result != NULL)
		*result = reader;
	return reads;
}

/* The same in a context that goes. */
static int
OpenOnce(const MemorySink *sink, uint64 file_id, int nblocks)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "query", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	MemorySource *source = palloc(sizeof(MemorySource));
	int			reads = Open(sink, source, file_id, nblocks, NULL);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return reads;
}

int
main(void)
{
	MemorySink	small;
	MemorySink	huge;
	MemorySink	files[NFILES];
	MemoryContext holder;
	MemoryContext old;
	MemorySource source;
	FileReader *held;
	Size		before;
	Size		most = 0;
	bool		same = true;
	int			reads;

	ShimInit();
	WriteFile(&small, 1, 10);
	WriteFile(&huge, 2, 10000);
	for (int i = 0; i < NFILES; i++)
		WriteFile(&files[i], 100 + i, 2500);

	ShimOk(OpenOnce(&small, 1, 10) > 0, "the first time a footer is read");
	ShimOk(OpenOnce(&small, 1, 10) == 0, "the second time it is there");
	ShimOk(OpenOnce(&huge, 2, 10000) > 0 && OpenOnce(&huge, 2, 10000) > 0, "a huge footer is not kept");
	ShimOk(OpenOnce(&small, 1, 10) == 0, "and takes no room from others");

	/* a reader in use while many others come and go */
	/* less than that is never the limit */
	work_mem = KEPT_BYTES / 1024 / 2;
	holder = AllocSetContextCreate(CurrentMemoryContext, "holder", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(holder);
	reads = Open(&small, &source, 1, 10, &held);
	MemoryContextSwitchTo(old);
	before = ShimMemoryInUse();
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < NFILES; i++)
		{
			same &= OpenOnce(&files[i], 100 + i, 2500) > 0 && OpenOnce(&files[i], 100 + i, 2500) == 0;
			most = Max(most, ShimMemoryInUse() - before);
		}
	ShimOk(same, "files in turns, more than there is room for: read once a turn, then there");
	ShimOk(most > KEPT_BYTES / 2 && most < KEPT_BYTES + KEPT_BYTES / 8, "%zu bytes are kept at most", most);
	ShimOk(reads == 0 && DatumGetInt64(held->blocks[9].last->value) == 100009 && OpenOnce(&small, 1, 10) == 0,
		   "the footer of a reader stays");
	MemoryContextDelete(holder);
	for (int i = 0; i < NFILES; i++)
		(void) OpenOnce(&files[i], 100 + i, 2500);
	ShimOk(OpenOnce(&small, 1, 10) > 0, "and goes when that was long ago");

	/* all room in use: what comes is read, and nothing breaks */
	holder = AllocSetContextCreate(CurrentMemoryContext, "holder", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(holder);
	same = true;
	for (int i = 0; i < NFILES; i++)
		same &= Open(&files[i], palloc(sizeof(MemorySource)), 100 + i, 2500, NULL) >= 0;
	MemoryContextSwitchTo(old);
	ShimOk(same && OpenOnce(&files[NFILES - 1], 100 + NFILES - 1, 2500) > 0, "readers of all files at once");
	MemoryContextDelete(holder);
	ShimOk(OpenOnce(&files[NFILES - 1], 100 + NFILES - 1, 2500) > 0 &&
		   OpenOnce(&files[NFILES - 1], 100 + NFILES - 1, 2500) == 0, "and room again when they are gone");
	free(small.data);
	free(huge.data);
	for (int i = 0; i < NFILES; i++)
		free(files[i].data);
	return ShimDone();
}
