/*
 * run_files.c
 *	  Sorted runs become files of a table, or an image.
 */
#include "postgres.h"

#include "compat.h"
#include "format/write/writer.h"
#include "load/run_files.h"
#include "storage/file_store.h"

/* smaller ones share files of up to this size */
#define SHARED_FILE_BYTES	(16 * 1024 * 1024)

struct RunFiles
{
	const RowLayout *layout;
	Oid			tablespace;
	FileImage  *image;			/* NULL: files are written */
	ColumnStats *counters;
	int			ncounters;
	StoreWriter *store;			/* the open file */
	FileWriter *writer;			/* NULL: no file is open */
	bool		own;			/* it takes one run only */
	int			maxfiles;
	int			maxruns;
	int			runs_in_file;
	ManifestWrite write;
};

RunFiles *
RunFilesBegin(const RowLayout *layout, Oid tablespace, FileImage *image,
			  ColumnStats *counters, int ncounters)
{
	RunFiles   *files = palloc0(sizeof(RunFiles));

	files->layout = layout;
	files->tablespace = tablespace;
	files->image = image;
	files->counters = counters;
	files->ncounters = ncounters;
	files->maxfiles = 16;
	files->maxruns = 64;
	files->write.spec = layout->spec;
	files->write.files = palloc(sizeof(ManifestFile) * files->maxfiles);
	files->write.runs = palloc(sizeof(ManifestRun) * files->maxruns);
	return files;
}

static void
OpenFile(RunFiles *files, int bucket, bool own)
{
	const RowLayout *layout = files->layout;
	FileWriterOptions options = {0};
	ManifestWrite *write = &files->write;
	ManifestFile *file;

	if (write->nfiles == files->maxfiles)
	{
		files->maxfiles *= 2;
		write->files = repalloc_huge(write->files, sizeof(ManifestFile) * files->maxfiles);
	}
	if (files->image == NULL)
		files->store = StoreCreate(layout->relid, files->tablespace, 0);
	options.file_id = files->image ? ImageFileId(files->image) : StoreFileId(files->store);
	options.xid = files->image ? InvalidFullTransactionId : GetTopFullTransactionId();
	options.relid = layout->relid;
	options.spec = layout->spec;
	options.desc = layout->desc;
	options.compression = files->image ? BF_COMPRESS_NONE : layout->options->compression;
	options.compression_level = layout->options->compression_level;
	options.block_rows = layout->options->block_rows;
	options.counters = files->counters;
	options.ncounters = files->ncounters;
	files->writer = FileWriterCreate(files->image ? ImageSink(files->image) : StoreSink(files->store),
									 &options);
	files->own = own;
	files->runs_in_file = 0;

	file = &write->files[write->nfiles++];
	memset(file, 0, sizeof(ManifestFile));
	file->file_id = options.file_id;
	file->first_bucket = bucket;
	file->last_bucket = bucket;
}

static void
CloseFile(RunFiles *files)
{
	ManifestFile *file = &files->write.files[files->write.nfiles - 1];

	if (files->writer == NULL)
		return;
	file->bytes = FileWriterFinish(files->writer);
	files->writer = NULL;
	if (files->image == NULL)
		file->locator = StoreFinish(files->store);
}

/*
 * Close the open file when the next run should not go there, and open one.
 * Files of neighbouring small runs are shared, so that ten rows make one file
 * and 4,096 small buckets do not make 4,096.  An image is one file.
 */
void
RunFilesBeginRun(RunFiles *files, int bucket, int64 expected)
{
	bool		own = expected >= BF_OWN_FILE_BYTES;

	if (files->writer != NULL && files->image == NULL &&
		(own || files->own || FileWriterBytes(files->writer) + expected > SHARED_FILE_BYTES))
		CloseFile(files);
	if (files->writer == NULL)
		OpenFile(files, bucket, own);
	FileWriterBeginRun(files->writer, bucket);
}

void
RunFilesAppend(RunFiles *files, Datum *const *values, bool *const *nulls, int n)
{
	FileWriterAppend(files->writer, values, nulls, n);
}

int64
RunFilesEndRun(RunFiles *files)
{
	ManifestWrite *write = &files->write;
	ManifestFile *file = &write->files[write->nfiles - 1];
	WrittenRun	written = {0};
	ManifestRun *run;

	FileWriterEndRun(files->writer, &written);
	if (write->nruns == files->maxruns)
	{
		files->maxruns *= 2;
		write->runs = repalloc_huge(write->runs, sizeof(ManifestRun) * files->maxruns);
	}
	run = &write->runs[write->nruns++];
	memset(run, 0, sizeof(ManifestRun));
	run->bucket = written.bucket;
	run->rows = written.rows;
	run->bytes = written.bytes;
	run->file = write->nfiles - 1;
	run->run = files->runs_in_file++;

	file->rows += written.rows;
	file->last_bucket = written.bucket;
	file->raw_bytes += written.raw_bytes;
	return written.bytes;
}

ManifestWrite *
RunFilesEnd(RunFiles *files)
{
	CloseFile(files);
	return &files->write;
}
