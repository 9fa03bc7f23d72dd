/*
 * file_format.h
 *	  The file format, version 1: its structs, numbers and limits.
 *
 * What lies where, and what the bytes of each encoding mean, is said in
 * docs/format.md.
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
	uint64		xid;			/* FullTransactionId of the top transaction that wrote it */
	uint32		relid;
	uint32		reserved[6];	/* 0 */
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
	uint32		count;			/* by kind; 0 for FOR and DELTA */
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
