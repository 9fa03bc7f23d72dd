/*
 * file_meta.h
 *	  What a file says of its columns, blocks and runs, in memory.
 */
#ifndef BF_FILE_META_H
#define BF_FILE_META_H

#include "access/attnum.h"
#include "spec/key_class.h"

/* A value of a block's statistics or key tuple; memory lives with the reader. */
typedef struct StatValue
{
	bool		isnull;			/* for key tuples: the key is NULL */
	bool		truncated;		/* value is a prefix (TEXT, BPCHAR, BYTEA): the real one is >= it, and begins with it */
	Datum		value;
} StatValue;

typedef struct BlockColumnStats
{
	int			null_count;
	bool		has_minmax;		/* false: all null, or the type has no class, or not kept */
	StatValue	min;			/* truncated: still a lower bound */
	StatValue	max;			/* truncated: only a prefix, the real maximum begins with it */
} BlockColumnStats;

typedef struct FileColumn
{
	AttrNumber	attnum;
	Oid			typid;
	int32		typmod;
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	char		typstorage;
	KeyClass	keyclass;		/* of the base type; statistics exist iff not NONE */
} FileColumn;

typedef struct FileBlock
{
	int			nrows;
	int64		first_row;		/* row number in the file */
	uint64		bytes;			/* of all its chunks */
	StatValue  *first;			/* key tuple of the first row, spec->nsort entries */
	StatValue  *last;			/* of the last row */
} FileBlock;

typedef struct FileRun
{
	int			bucket;
	int64		nrows;
	int			first_block;	/* index in blocks */
	int			nblocks;
} FileRun;

#endif							/* BF_FILE_META_H */
