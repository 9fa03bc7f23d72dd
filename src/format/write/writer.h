/*
 * writer.h
 *	  Write one bucketed file: runs of blocks of column chunks, then a footer.
 */
#ifndef BF_WRITER_H
#define BF_WRITER_H

#include "access/tupdesc.h"
#include "format/file_io.h"
#include "access/transam.h"
#include "format/stats/column_stats.h"
#include "spec/bucket_spec.h"

typedef struct FileWriter FileWriter;

typedef struct FileWriterOptions
{
	uint64		file_id;
	FullTransactionId xid;		/* for the sweep of files of crashed transactions */
	Oid			relid;
	const BucketSpec *spec;
	TupleDesc	desc;			/* columns of the table; dropped and virtual generated ones are not stored */
	BfCompression compression;
	int			compression_level;
	int			block_rows;		/* 1 .. BF_BATCH_ROWS */
	int			ncounters;		/* of the first stored columns; may be 0 */
	ColumnStats *counters;		/* what is written is added to them */
} FileWriterOptions;

/* What was written, for the manifest. */
typedef struct WrittenRun
{
	int			bucket;
	int64		rows;
	int64		bytes;			/* of its chunks in the file */
	int64		raw_bytes;		/* before encoding and compression */
} WrittenRun;

/* Starts a file (writes the header).  State lives in a child of the current context. */
extern FileWriter *FileWriterCreate(FileSink *sink, const FileWriterOptions *options);

/* Runs must be begun in ascending bucket order, one at a time. */
extern void FileWriterBeginRun(FileWriter *writer, int bucket);

/*
 * Append n rows, in run order, column by column: arrays of n elements, indexed
 * by attnum - 1; those of columns that are not stored are not looked at.
 * By-reference values are copied; they must be detoasted (short headers are fine).
 */
extern void FileWriterAppend(FileWriter *writer, Datum *const *values, bool *const *nulls, int n);

extern void FileWriterEndRun(FileWriter *writer, WrittenRun *result);

/* Bytes handed to the sink so far: where a file is closed and the next begun is the caller's matter. */
extern int64 FileWriterBytes(FileWriter *writer);

/* Writes footer and tail; frees the writer.  Returns the file's size. */
extern int64 FileWriterFinish(FileWriter *writer);

#endif							/* BF_WRITER_H */
