/*
 * run_files.h
 *	  Sorted runs become files of a table, or an image: which runs share a
 *	  file, and what the manifest is told of them.
 */
#ifndef BF_RUN_FILES_H
#define BF_RUN_FILES_H

#include "format/stats/column_stats.h"
#include "rows/row_format.h"
#include "storage/file_image.h"
#include "storage/manifest.h"

/* a run expected to be at least this large has a file of its own */
#define BF_OWN_FILE_BYTES	(1024 * 1024)

typedef struct RunFiles RunFiles;

/*
 * For runs of a table that has this layout; lives in the current context.
 * Files go to a tablespace (InvalidOid: the database's), or all runs to an
 * image if there is one.  What is written is added to the counters, if any, of
 * the first stored columns.
 */
extern RunFiles *RunFilesBegin(const RowLayout *layout, Oid tablespace, FileImage *image,
							   ColumnStats *counters, int ncounters);

/* Begin the run of a bucket, in ascending order, that will take about so many bytes. */
extern void RunFilesBeginRun(RunFiles *files, int bucket, int64 expected);

/* As FileWriterAppend. */
extern void RunFilesAppend(RunFiles *files, Datum *const *values, bool *const *nulls, int n);

/* Returns the bytes the run takes. */
extern int64 RunFilesEndRun(RunFiles *files);

/* Everything is written then.  The caller sets the statistics and the origin. */
extern ManifestWrite *RunFilesEnd(RunFiles *files);

#endif							/* BF_RUN_FILES_H */
