/*
 * block_builder.h
 *	  Collects the rows of one block column by column and encodes the columns.
 */
#ifndef BF_BLOCK_BUILDER_H
#define BF_BLOCK_BUILDER_H

#include "format/encoding/encoding.h"

/* How the values of a column are kept until the block is full. */
typedef enum BuilderKind
{
	BUILDER_INT64,				/* by value; the Datum as it is */
	BUILDER_INT32,				/* sign-extended from here */
	BUILDER_UINT32,
	BUILDER_INT16,
	BUILDER_INT8,
	BUILDER_BOOL,
	BUILDER_FIXED,				/* by reference, one length */
	BUILDER_VARLENA
} BuilderKind;

typedef struct BuilderColumn
{
	FileColumn	meta;
	BuilderKind kind;
	int			stride;			/* FIXED: bytes per value */
	VarlenaForm form;			/* VARLENA */
	Datum	   *values;			/* non-null values; by reference: offsets in data */
	int			nvalues;
	bool	   *nulls;			/* per row */
	ByteBuffer	data;			/* by-reference values, as in RAW or PLAIN */
} BuilderColumn;

typedef struct BlockBuilder
{
	MemoryContext cxt;
	int			ncols;
	BuilderColumn *cols;
	int			nbyref;
	int		   *byref;			/* columns passed by reference */
	int			max_rows;
	int			cap_rows;
	int			nrows;
	int64		raw_bytes;		/* of the by-value values so far */
	EncodeWork	work;
} BlockBuilder;

extern void BlockBuilderInit(BlockBuilder *builder, MemoryContext cxt, int ncols,
							 const FileColumn *cols, int block_rows);

/*
 * Add rows at .. at + n - 1 of some columns (indexed by attnum - 1), as many as
 * the block may take; at least one if it is empty.  Returns how many.
 */
extern int	BlockBuilderAppend(BlockBuilder *builder, Datum *const *values, bool *const *nulls,
							   int at, int n);

/* The non-null values of a column. */
extern ColumnValues BlockBuilderValues(const BlockBuilder *builder, int col);

/* Encode a column (null bitmap and values), replacing the content of out. */
extern void BlockBuilderEncode(BlockBuilder *builder, int col, ByteBuffer *out,
							   EncodedColumn *result);

/* Value of a column in the first or last row; true when it is null. */
extern bool BlockBuilderEdge(const BlockBuilder *builder, int col, bool last, Datum *value);

/* Bytes of the values before encoding. */
extern int64 BlockBuilderRawBytes(const BlockBuilder *builder);

/* Forget the rows. */
extern void BlockBuilderReset(BlockBuilder *builder);

#endif							/* BF_BLOCK_BUILDER_H */
