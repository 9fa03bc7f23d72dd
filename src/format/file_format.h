/*
 * file_format.h
 *	  The file format, version 1: what lies where in a file.
 *
 * docs/format.md describes the same for writers of other programs.
 *
 * Everything is little-endian.  A file is
 *
 *		header | chunks of block 0 | chunks of block 1 | ... | footer | tail
 *
 * The header and the tail have a fixed size, so a file is opened from its
 * end: the tail says where the footer is.  A chunk holds the values of one
 * column in one block and starts at a multiple of 8.  Blocks belong to runs
 * in order: run 0 has the first run[0].nblocks blocks, and so on.  A block
 * ends at 8192 rows or 8 MB of raw values; one larger row is a block alone.
 *
 * The footer is a sequence of sections, each a DiskSection followed by its
 * payload and zero bytes up to a multiple of 8.  A reader skips a section it
 * does not know unless BF_SECTION_REQUIRED is set in its flags.
 *
 *	SPEC		DiskSpec, then nsort DiskSortColumn
 *	COLUMNS		DiskColumn for each stored column, ascending attnum
 *	ROW_TYPES	the shape of composite types inside the columns, see below
 *	RUNS		DiskRun for each run, ascending bucket
 *	BLOCKS		DiskBlock for each block
 *	KEYS		for each block the key tuple of its first and of its last row:
 *				2 * nsort key values
 *	CHUNKS		DiskChunk for each block and column, block by block
 *	STATS		minimum and maximum of chunks, found by DiskChunk.stats
 *
 * A key value is one flag byte (BF_VALUE_*), then, unless it is null, the
 * value: 8 bytes of the sign- or zero-extended Datum for classes whose types
 * pass by value, 16 bytes for UUID, else a packed varlena (below) of the
 * section.  TEXT, BPCHAR (without trailing blanks) and BYTEA are cut to
 * BF_STAT_BYTES bytes, with BF_VALUE_TRUNCATED set.  Minima and maxima are in
 * the order of the key class; a numeric longer than BF_STAT_BYTES has none.
 *
 * ROW_TYPES is a uint32 number of types and, for each, uint32 type oid,
 * uint32 number of attributes and, for each attribute, uint32 type oid
 * (0 when dropped), int32 typmod, uint32 dropped (0 or 1).
 *
 * A chunk's bytes in the file are raw_len bytes, compressed by its codec to
 * stored_len.  Raw are: the null bitmap, if 0 < null_count < nrows (one bit
 * per row, lowest bit first, set for null, zero-padded to a multiple of 8
 * bytes), then the non-null values in one of the encodings:
 *
 *	NONE		nothing: every row is null
 *	INT			by value except floats: an int stream of the Datums as int64
 *	RAW			floats: their 4 or 8 bytes; by reference: attlen bytes each,
 *				every one zero-padded to the type's alignment
 *	FLOAT		DiskScaled, int stream: value = integer / 10^scale, divided as
 *				float8 and, for float4, rounded to it
 *	BINARY		of floats: DiskScaled, int stream: value = integer / 2^scale
 *	NUMERIC		DiskScaled, int stream: value = integer / 10^scale, with that
 *				dscale, in numeric's short form
 *	CONSTANT	one value, as in RAW or PLAIN, for every row
 *	PLAIN		packed varlenas, one after the other
 *	DICT		DiskDict, dict_bytes of packed varlenas, zero bytes up to a
 *				multiple of 8, int stream of positions in them
 *	FRONT		DiskFront, int stream of lengths shared with the value before,
 *				int stream of the lengths of the rest, suffix_bytes of rests.
 *				Lengths are of the content, without varlena headers.
 *
 * An int stream is a DiskIntStream and bits; arithmetic is modulo 2^64.  Each
 * of bits[] takes width bits, lowest first; the whole is zero-padded to a
 * multiple of 8 bytes.  By kind:
 *
 *	FOR			value[i] = base + bits[i]
 *	DELTA		value[0] = base, value[i] = value[i - 1] + step + bits[i - 1]
 *	REPEATS		a bitmap, one bit per value, set where it is not that of the
 *				one before (bit 0 is set), zero-padded to a multiple of 8 bytes,
 *				and an int stream, not of this kind, of the count values with a
 *				bit
 *	PATCHED_FOR, PATCHED_DELTA
 *				FOR or DELTA, followed by int streams (FOR or DELTA) of count
 *				indexes in bits[] and of what, times 2^width, is added there
 *	TRIPLES		with t = n / 3, rounded up: value[i] = base + bits[i] % count,
 *				value[t + i] = base + bits[i] / count % count, value[2t + i] =
 *				base + bits[i] / count^2
 *
 * A packed varlena is as in a heap tuple: content of at most 126 bytes after
 * a header byte (length + 1) * 2 + 1, unless the column's storage is plain;
 * else, at the type's alignment counted from the start of the values (of the
 * section, for key values) with zero bytes before it, a uint32
 * (length + 4) * 4 and the content.
 */
#ifndef BF_FILE_FORMAT_H
#define BF_FILE_FORMAT_H

#include "postgres.h"

#include "vector/batch.h"

#define BF_FORMAT_VERSION	1

/* "BFDWHEAD" and "BFDWTAIL" */
#define BF_HEAD_MAGIC		UINT64CONST(0x4441454857444642)
#define BF_TAIL_MAGIC		UINT64CONST(0x4C49415457444642)

/* raw bytes at which a block ends, unless it is one row */
#define BF_BLOCK_BYTES		(8 * 1024 * 1024)

/* longest text, bytea or numeric kept in statistics and key tuples */
#define BF_STAT_BYTES		32

/* raw bytes of a chunk: of a block with more than one row, and of any block */
#define BF_MAX_CHUNK_RAW	((uint64) BF_BLOCK_BYTES + 256 * 1024)
#define BF_MAX_VALUE_RAW	((uint64) 1024 * 1024 * 1024 + 4096)

/* bytes that may be read, not used, behind every buffer that is decoded */
#define BF_SLACK			16

#define BF_ALIGN8(len)		(((len) + 7) & ~((uint64) 7))

typedef struct DiskHeader
{
	uint64		magic;			/* BF_HEAD_MAGIC */
	uint32		version;		/* BF_FORMAT_VERSION */
	uint32		length;			/* of the header: where chunks may begin */
	uint64		file_id;
	uint32		dboid;
	uint32		relid;
	uint32		reserved[7];	/* 0 */
	uint32		crc;			/* CRC-32C of what is before it */
} DiskHeader;

typedef struct DiskTail
{
	uint64		footer_offset;
	uint64		footer_length;	/* the tail follows it */
	uint64		file_id;
	uint32		version;		/* as in the header */
	uint32		footer_crc;		/* CRC-32C of the footer */
	uint32		reserved;		/* 0 */
	uint32		crc;			/* CRC-32C of what is before it */
	uint64		magic;			/* BF_TAIL_MAGIC */
} DiskTail;

typedef enum SectionTag
{
	SECTION_SPEC = 1,
	SECTION_COLUMNS = 2,
	SECTION_ROW_TYPES = 3,
	SECTION_RUNS = 4,
	SECTION_BLOCKS = 5,
	SECTION_KEYS = 6,
	SECTION_CHUNKS = 7,
	SECTION_STATS = 8
} SectionTag;

#define SECTION_LAST SECTION_STATS

#define BF_SECTION_REQUIRED	0x01

typedef struct DiskSection
{
	uint32		tag;			/* SectionTag */
	uint32		flags;			/* BF_SECTION_* */
	uint64		length;			/* of the payload, without padding */
} DiskSection;

typedef struct DiskSpec
{
	uint32		hash_version;
	uint32		nbuckets;
	uint32		nkeys;
	uint32		nsort;
} DiskSpec;

typedef struct DiskSortColumn
{
	int16		attnum;
	uint8		keyclass;		/* KeyClass */
	uint8		flags;			/* BF_SORT_* */
	uint32		typid;			/* base type */
} DiskSortColumn;

typedef struct DiskColumn
{
	int16		attnum;
	int16		typlen;
	uint32		typid;
	int32		typmod;
	uint32		collation;
	uint8		typbyval;
	char		typalign;
	char		typstorage;
	uint8		keyclass;		/* KeyClass of the base type */
	uint32		reserved;		/* 0 */
} DiskColumn;

typedef struct DiskRun
{
	uint32		bucket;
	uint32		nblocks;
	uint64		nrows;
} DiskRun;

typedef struct DiskBlock
{
	uint32		nrows;
	uint32		reserved;		/* 0 */
	uint64		first_row;		/* rows of the file before it */
	uint64		bytes;			/* of its chunks, with padding */
} DiskBlock;

typedef enum ChunkEncoding
{
	ENCODING_NONE = 0,
	ENCODING_INT = 1,
	ENCODING_RAW = 2,
	ENCODING_FLOAT = 3,
	ENCODING_NUMERIC = 4,
	ENCODING_CONSTANT = 5,
	ENCODING_PLAIN = 6,
	ENCODING_DICT = 7,
	ENCODING_FRONT = 8,
	ENCODING_BINARY = 9
} ChunkEncoding;

#define ENCODING_LAST ENCODING_BINARY

#define BF_CHUNK_MINMAX		0x01

typedef struct DiskChunk
{
	uint64		offset;			/* in the file */
	uint64		stored_len;		/* bytes in the file */
	uint64		raw_len;		/* bytes after decompression */
	uint64		stats;			/* where in STATS its minimum and maximum are */
	uint32		crc;			/* CRC-32C of the stored bytes */
	uint32		null_count;
	uint8		encoding;		/* ChunkEncoding */
	uint8		codec;			/* BfCompression */
	uint16		flags;			/* BF_CHUNK_* */
	uint32		reserved;		/* 0 */
} DiskChunk;

#define BF_VALUE_NULL		0x01
#define BF_VALUE_TRUNCATED	0x02

typedef enum IntStreamKind
{
	INT_STREAM_FOR = 0,
	INT_STREAM_DELTA = 1,
	INT_STREAM_REPEATS = 2,
	INT_STREAM_PATCHED_FOR = 3,
	INT_STREAM_PATCHED_DELTA = 4,
	INT_STREAM_TRIPLES = 5
} IntStreamKind;

typedef struct DiskIntStream
{
	uint8		kind;			/* IntStreamKind */
	uint8		width;			/* 0 .. 64 bits */
	uint16		reserved;		/* 0 */
	uint32		count;			/* see above; 0 for FOR and DELTA */
	int64		base;
	int64		step;
} DiskIntStream;

/* how many values of a stream may be patched */
#define BF_MAX_PATCHES		2048

/* largest radix of TRIPLES and bits that three digits take */
#define BF_MAX_RADIX		1024
#define BF_TRIPLE_BITS		30

typedef struct DiskScaled
{
	uint8		scale;			/* digits after the point: decimal, in BINARY binary */
	uint8		reserved[7];	/* 0 */
} DiskScaled;

typedef struct DiskDict
{
	uint32		nvalues;
	uint32		reserved;		/* 0 */
	uint64		dict_bytes;
} DiskDict;

typedef struct DiskFront
{
	uint64		decoded_bytes;	/* of all values as packed varlenas */
	uint64		suffix_bytes;
} DiskFront;

StaticAssertDecl(sizeof(DiskHeader) == 64, "header size is on disk");
StaticAssertDecl(sizeof(DiskTail) == 48, "tail size is on disk");
StaticAssertDecl(sizeof(DiskSection) == 16, "section size is on disk");
StaticAssertDecl(sizeof(DiskSpec) == 16, "spec size is on disk");
StaticAssertDecl(sizeof(DiskSortColumn) == 8, "sort column size is on disk");
StaticAssertDecl(sizeof(DiskColumn) == 24, "column size is on disk");
StaticAssertDecl(sizeof(DiskRun) == 16, "run size is on disk");
StaticAssertDecl(sizeof(DiskBlock) == 24, "block size is on disk");
StaticAssertDecl(sizeof(DiskChunk) == 48, "chunk size is on disk");
StaticAssertDecl(sizeof(DiskIntStream) == 24, "int stream size is on disk");
StaticAssertDecl(sizeof(DiskScaled) == 8, "scaled size is on disk");
StaticAssertDecl(sizeof(DiskDict) == 16, "dictionary size is on disk");
StaticAssertDecl(sizeof(DiskFront) == 16, "front coding size is on disk");

#endif							/* BF_FILE_FORMAT_H */
