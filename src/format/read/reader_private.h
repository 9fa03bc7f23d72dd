/*
 * reader_private.h
 *	  What the files of the reader share.
 */
#ifndef BF_READER_PRIVATE_H
#define BF_READER_PRIVATE_H

#include "format/encoding/encoding.h"
#include "format/read/reader.h"

/* Pointers into the footer, which is kept in memory as it is in the file. */
typedef struct FileReaderPrivate
{
	uint64		header_length;
	uint64		footer_offset;	/* chunks end before it */
	char	   *footer;
	const DiskChunk *chunks;	/* nblocks * ncols, checked when used */
	const char *stats;
	size_t		stats_len;
	const char *row_types;		/* NULL: not recorded */
	size_t		row_types_len;
} FileReaderPrivate;

/*
 * Raise ERRCODE_DATA_CORRUPTED for a file.  block and col (an index) may be
 * -1; offset is where in the file, 0 for the file as a whole.
 */
extern void FileReaderCorrupt(FileReader *reader, int block, int col, uint64 offset,
							  const char *problem) __attribute__((noreturn, cold));

/* The directory entry of a column of a block, checked. */
extern const DiskChunk *ChunkGet(FileReader *reader, int block, int col);

/*
 * Read the bytes of a chunk that has any into raw, check their CRC, decompress
 * them; BF_SLACK more may be read.  Returns what is then in raw.
 */
extern const char *ChunkRead(FileReader *reader, int block, int col, const DiskChunk *chunk,
							 ByteBuffer *raw, ColumnScratch *scratch);

/* Read and check header, tail and footer; fills everything in reader. */
extern void FooterRead(FileReader *reader, uint64 file_id, Oid relid);

#endif							/* BF_READER_PRIVATE_H */
