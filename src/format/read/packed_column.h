/*
 * packed_column.h
 *	  One column of one block, kept as it is in the file: single values are
 *	  taken out of it, without decoding the others.
 *
 * For lookups, which want a row or two of a block and come back to it: it
 * takes a fraction of the memory of a decoded column, and of the time.
 */
#ifndef BF_PACKED_COLUMN_H
#define BF_PACKED_COLUMN_H

#include "format/byte_buffer.h"
#include "format/read/reader.h"

typedef struct PackedColumn PackedColumn;

/* values that are taken out by one call, at most */
#define BF_GATHER_ROWS 256

/*
 * Read and check one column of one block; col is an index in reader->cols.
 * Lives in cxt, and not longer than the reader.  *bytes_read is increased by
 * the bytes read from the source.  Errors as FileReaderDecode.
 */
extern PackedColumn *PackedColumnRead(FileReader *reader, int block, int col, ColumnScratch *scratch,
									  MemoryContext cxt, uint64 *bytes_read);
extern void PackedColumnFree(PackedColumn *column);

/* Bytes it takes. */
extern Size PackedColumnMemory(const PackedColumn *column);

/*
 * Take out the values of n <= BF_GATHER_ROWS rows, whose numbers ascend.
 * nulls is filled only if the result, that one of them may be null, is true.
 * By-reference values point into the column or into made, whose content is
 * replaced.
 */
extern bool PackedColumnGather(const PackedColumn *column, int n, const uint16 *rows,
							   Datum *values, bool *nulls, ByteBuffer *made);

/*
 * Of a column that is sorted in the rows [from, to), ascending, NULLs last:
 * the first of these rows that is not below the value (above: that is above
 * it), or to.  Value and column are of one key class.
 */
extern int	PackedColumnSearch(PackedColumn *column, int from, int to, Oid coltype,
							   Oid valuetype, Datum value, bool above);

#endif							/* BF_PACKED_COLUMN_H */
