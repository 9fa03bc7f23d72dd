/*
 * reader.h
 *	  Read a bucketed file.  Every offset, length and CRC is checked before
 *	  use; garbage raises ERRCODE_DATA_CORRUPTED naming relation, file, bucket
 *	  and offset.
 */
#ifndef BF_READER_H
#define BF_READER_H

#include "access/tupdesc.h"
#include "format/file_io.h"
#include "format/file_meta.h"
#include "spec/bucket_spec.h"
#include "vector/batch.h"

typedef struct FileReader
{
	FileSource *source;
	uint64		file_id;
	Oid			relid;
	BucketSpec *spec;			/* as the file was written */
	int			ncols;
	FileColumn *cols;			/* ascending attnum */
	int64		nrows;
	int			nruns;
	FileRun    *runs;			/* ascending bucket */
	int			nblocks;
	FileBlock  *blocks;
	MemoryContext cxt;			/* everything above lives here */
	struct FileReaderPrivate *priv;
} FileReader;

/*
 * Open: reads and checks header, tail and footer.  The ids of the file must
 * be the ones given.  State lives in a new child of the current context.
 */
extern FileReader *FileReaderOpen(FileSource *source, uint64 file_id, Oid relid);
extern void FileReaderClose(FileReader *reader);

/*
 * Open a file that will be opened again: its footer may be in memory from the
 * last time, and is not looked at then.  The reader is not closed: it goes with
 * the current context.
 */
extern FileReader *FileReaderOpenKept(FileSource *source, uint64 file_id, Oid relid);

/*
 * Are values that were stored with a type, whose base type is of that class,
 * values of a column of a table as they come out of a file?  So are those of
 * its own type, of one of its class that looks alike (varchar in a column of
 * text), and integers in a column of wider ones.  What the typmod of the
 * column says is not looked at: ALTER TABLE has done that.
 */
extern bool ColumnHoldsStored(Form_pg_attribute att, Oid typid, KeyClass keyclass, int16 typlen);

/*
 * Raise an error unless the columns of the file still fit the table, which
 * holds what they stored, and for nested row types the same shape as when the
 * file was written.  Columns the table has and the file lacks are fine.
 */
extern void FileReaderCheckColumns(FileReader *reader, TupleDesc desc);

/* Would that be an error, as the table's columns are of other types? */
extern bool FileReaderColumnsDiffer(const FileReader *reader, TupleDesc desc);

/* Index in cols, or -1 when the file has no such column (added later). */
extern int	FileReaderFindColumn(const FileReader *reader, AttrNumber attnum);

/* Statistics of a column in a block; col is an index in cols. */
extern void FileReaderColumnStats(FileReader *reader, int block, int col, BlockColumnStats *stats);

/*
 * Memory into which a column of a block is decoded; reused from call to call.
 * One per column per cursor.
 */
typedef struct ColumnBuffer ColumnBuffer;

/* Memory that is needed while a column is decoded only: one serves many buffers. */
typedef struct ColumnScratch ColumnScratch;

extern ColumnScratch *ColumnScratchCreate(MemoryContext cxt);
extern Size ColumnScratchMemory(const ColumnScratch *scratch);

/* The scratch, which may be NULL for one of its own, must outlive the buffer. */
extern ColumnBuffer *ColumnBufferCreate(MemoryContext cxt, ColumnScratch *scratch);
extern void ColumnBufferFree(ColumnBuffer *buffer);

/* Bytes of the buffer, and of its scratch if that is its own. */
extern Size ColumnBufferMemory(const ColumnBuffer *buffer);

/*
 * Read, check and decode one column of one block.  The vector points into
 * buffer and stays valid until the buffer is used again or freed.  *bytes_read
 * is increased by the bytes read from the source.
 */
extern void FileReaderDecode(FileReader *reader, int block, int col,
							 ColumnBuffer *buffer, ColumnVector *vector, uint64 *bytes_read);

/*
 * The same of numerics as integers of one scale; false if the block holds
 * others, which is seldom found out only after reading.
 */
extern bool FileReaderDecodeScaled(FileReader *reader, int block, int col,
								   ColumnBuffer *buffer, ScaledColumn *scaled, uint64 *bytes_read);

/* The vector of numerics that were so decoded; the integers stay.  buffer is another one. */
extern void FileReaderScaledVector(const ScaledColumn *scaled, int nrows, ColumnBuffer *buffer, ColumnVector *vector);

/* As FileReaderDecode of a column with a dictionary; false if the file has none, and then nothing was read. */
extern bool FileReaderDecodeCoded(FileReader *reader, int block, int col, ColumnBuffer *buffer,
								  CodedColumn *coded, uint64 *bytes_read);

/* The vector of a column that was so decoded into the buffer, in the place of its codes. */
extern void FileReaderCodedVector(const CodedColumn *coded, int nrows, ColumnBuffer *buffer, ColumnVector *vector);

/*
 * Bytes that a column of a block takes in a buffer.  Of front coding, whose
 * values may take much more than their chunk, row_bytes, the bytes of a row on
 * average, tell; else it is never less than what is needed.
 */
extern Size FileReaderColumnMemory(const FileReader *reader, int block, int col, Size row_bytes);

#endif							/* BF_READER_H */
