/*
 * make_corpus.c
 *	  Write the seed files of the fuzz target into the folder given: small files
 *	  that together have every encoding and codec.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "format/write/writer.h"
#include "format_data.h"
#include "memory_file.h"
#include "pg_shim.h"
#include "utils/memutils.h"

#define MAX_COLUMNS 8

typedef struct Seed
{
	const char *name;
	int			nrows;
	int			nruns;
	int			null_percent;
	BfCompression compression;
	struct
	{
		Oid			typid;
		Shape		shape;
	}			cols[MAX_COLUMNS];	/* typid 0 ends */
} Seed;

static const Seed seeds[] = {
	{"ints", 100, 2, 0, BF_COMPRESS_NONE,
		{{INT8OID, SHAPE_SORTED}, {INT4OID, SHAPE_NARROW}, {INT2OID, SHAPE_RANDOM}, {BOOLOID, SHAPE_RANDOM}, {OIDOID, SHAPE_SORTED}, {CHAROID, SHAPE_RANDOM}}},
	{"nulls", 60, 3, 30, BF_COMPRESS_LZ4,
		{{INT8OID, SHAPE_NARROW}, {DATEOID, SHAPE_SORTED}, {TEXTOID, SHAPE_NARROW}, {FLOAT8OID, SHAPE_NARROW}, {UUIDOID, SHAPE_NARROW}, {NUMERICOID, SHAPE_NARROW}}},
	{"numbers", 50, 1, 0, BF_COMPRESS_NONE,
		{{NUMERICOID, SHAPE_SORTED}, {FLOAT8OID, SHAPE_NARROW}, {FLOAT4OID, SHAPE_SORTED}, {FLOAT4OID, SHAPE_RANDOM}, {NUMERICOID, SHAPE_EXTREME}}},
	{"streams", 200, 1, 0, BF_COMPRESS_NONE,
		{{INT8OID, SHAPE_GAPS}, {INT4OID, SHAPE_SKEWED}, {DATEOID, SHAPE_NARROW}, {FLOAT8OID, SHAPE_GAPS}, {FLOAT4OID, SHAPE_SKEWED}, {NUMERICOID, SHAPE_GAPS}}},
	{"texts", 45, 1, 0, BF_COMPRESS_NONE,
		{{TEXTOID, SHAPE_SORTED}, {VARCHAROID, SHAPE_NARROW}, {BYTEAOID, SHAPE_CONSTANT}, {BPCHAROID, SHAPE_NARROW}}},
	{"lz4", 60, 1, 0, BF_COMPRESS_LZ4,
		{{TEXTOID, SHAPE_SORTED}, {NAMEOID, SHAPE_SORTED}, {INTERVALOID, SHAPE_NARROW}, {TIMESTAMPTZOID, SHAPE_SORTED}}},
	{"zstd", 60, 1, 0, BF_COMPRESS_ZSTD,
		{{UUIDOID, SHAPE_NARROW}, {NAMEOID, SHAPE_SORTED}, {INTERVALOID, SHAPE_CONSTANT}, {FLOAT8OID, SHAPE_EXTREME}}},
	{"all_null", 20, 1, 100, BF_COMPRESS_NONE, {{NUMERICOID, SHAPE_SORTED}, {UUIDOID, SHAPE_SORTED}}},
	{"one_row", 1, 1, 0, BF_COMPRESS_ZSTD, {{TEXTOID, SHAPE_SORTED}, {JSONBOID, SHAPE_SORTED}}},
	{"empty", 0, 1, 0, BF_COMPRESS_NONE, {{INT4OID, SHAPE_SORTED}}},
};

static void
write_seed(const Seed *seed, const char *folder)
{
	TupleDesc	desc;
	BucketSpec *spec = palloc0(BucketSpecSize(2));
	FileWriterOptions options;
	FileWriter *writer;
	MemorySink	sink;
	WrittenRun	written;
	int			ncols = 0;
	int			row = 0;
	FILE	   *file;

	while (ncols < MAX_COLUMNS && seed->cols[ncols].typid != InvalidOid)
		ncols++;
	desc = CreateTemplateTupleDesc(ncols);
	for (int i = 0; i < ncols; i++)
		ShimTupleDescSet(desc, i + 1, "c", seed->cols[i].typid);
	spec->hash_version = BF_HASH_VERSION;
	spec->nbuckets = 16;
	spec->nkeys = 1;
	spec->nsort = Min(ncols, 2);
	for (int i = 0; i < spec->nsort; i++)
	{
		spec->sort[i].attnum = i + 1;
		spec->sort[i].typid = seed->cols[i].typid;
		spec->sort[i].keyclass = KeyClassOfType(seed->cols[i].typid);
		if (spec->sort[i].keyclass == KEYCLASS_NONE)
			spec->nsort = i;
	}

	memset(&options, 0, sizeof(options));
	options.file_id = UINT64CONST(0x0123456789abcdef);
	options.relid = 16384;
	options.spec = spec;
	options.desc = desc;
	options.compression = seed->compression;
	/* int streams of some kinds are only made of at least 64 values */
	options.block_rows = seed->nrows > 100 ? 100 : 50;
	MemorySinkInit(&sink);
	writer = FileWriterCreate(&sink.sink, &options);
	for (int run = 0; run < seed->nruns; run++)
	{
		FileWriterBeginRun(writer, run * 3);
		for (; row < seed->nrows * (run + 1) / seed->nruns; row++)
		{
			Datum		values[MAX_COLUMNS];
			bool		nulls[MAX_COLUMNS];
			Datum	   *value_columns[MAX_COLUMNS];
			bool	   *null_columns[MAX_COLUMNS];

			for (int i = 0; i < ncols; i++)
			{
				nulls[i] = (int) (DataRandom() % 100) < seed->null_percent;
				values[i] = DataValue(seed->cols[i].typid, seed->cols[i].shape, row);
				value_columns[i] = &values[i];
				null_columns[i] = &nulls[i];
			}
			FileWriterAppend(writer, value_columns, null_columns, 1);
		}
		FileWriterEndRun(writer, &written);
	}
	FileWriterFinish(writer);

	file = fopen(psprintf("%s/%s", folder, seed->name), "wb");
	if (file == NULL || fwrite(sink.data, 1, sink.len, file) != sink.len || fclose(file) != 0)
	{
		perror(seed->name);
		exit(1);
	}
	printf("%s: %zu bytes\n", seed->name, sink.len);
	free(sink.data);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
	{
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	ShimInit();
	DataSeed(7);
	for (int i = 0; i < (int) lengthof(seeds); i++)
		write_seed(&seeds[i], argv[1]);
	return 0;
}
