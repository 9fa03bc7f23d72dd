/*
 * encoding.h
 *	  Encodings of the values of one column in one block: a table of functions
 *	  for each.
 *
 * A new one is a number in file_format.h, an entry in encoding.c, a file here,
 * and a paragraph of docs/format.md.
 */
#ifndef BF_ENCODING_H
#define BF_ENCODING_H

#include "format/encoding/int_index.h"
#include "format/file_meta.h"
#include "format/varlena_pack.h"

/* The values of a column that are to be written; none of them is null. */
typedef struct ColumnValues
{
	const FileColumn *col;
	VarlenaForm form;			/* of varlenas */
	int			n;				/* >= 1 */
	const Datum *values;		/* by reference: offsets in data */
	const char *data;			/* values by reference, as in RAW or PLAIN */
	size_t		len;			/* of data */
} ColumnValues;

/* What choosing an encoding found, for writing; its memory is used for every chunk. */
typedef struct EncodeWork
{
	ChunkEncoding found;		/* the best so far */
	size_t		limit;			/* varlenas: bytes that a better one takes at most */
	ColumnValues distinct;		/* among them is each of the values */
	IntStreamPlan plan;			/* INT; FLOAT, BINARY and NUMERIC: of scaled */
	int			scale;
	ByteBuffer	scaled;			/* int64 per value */
	ByteBuffer	codes;			/* DICT: position in the dictionary per value; FRONT: two lengths */
	ByteBuffer	table;			/* hash table of the dictionary */
	ByteBuffer	dict;			/* its values */
	ByteBuffer	offsets;		/* their offsets in dict */
} EncodeWork;

extern void EncodeWorkInit(EncodeWork *work, MemoryContext cxt);

/* What is known of a column of a block when it has been encoded. */
typedef struct EncodedColumn
{
	ChunkEncoding encoding;
	int			null_count;
	ColumnValues distinct;		/* among them is each of the values; valid until the next one is encoded */
	bool		has_minmax;
	Datum		min;			/* as long valid */
	Datum		max;
} EncodedColumn;

typedef enum EncodingChoice
{
	CHOOSE_NOT,
	CHOOSE_UNLESS,				/* unless another one takes no more than work->limit */
	CHOOSE
} EncodingChoice;

/* The values of a chunk, as they lie in it; none of them is null. */
typedef struct EncodedValues
{
	const FileColumn *col;
	const struct EncodingOps *ops;
	VarlenaForm form;
	int			n;				/* >= 1 */
	const char *in;				/* at a MAXALIGNed offset; BF_SLACK bytes more may be read */
	size_t		len;

	/* what open() found, where the encoding has it */
	const char *ints;			/* int streams */
	size_t		ints_len;
	const char *data;			/* values, or parts of them */
	size_t		data_len;
	int			ndata;			/* values in data */
	uint64		made_len;		/* bytes of all values as packed varlenas */
	int			scale;
} EncodedValues;

/* Memory that is needed while a column is decoded, or prepared. */
struct ColumnScratch
{
	ByteBuffer	stored;			/* the chunk as in the file, when compressed; then prepare() may use it */
	ByteBuffer	raw;			/* decompressed, when no Datum points there; prepare() may use it, too */
	ByteBuffer	lengths;		/* n int64 */
};

/* What is kept to take single values out of a chunk. */
typedef struct ValueIndex
{
	MemoryContext cxt;			/* of all of it */
	IntIndex	ints;
	const char *texts;			/* varlenas, which are at these offsets */
	uint32	   *offsets;
} ValueIndex;

/*
 * One encoding.  Functions that read bytes trust nothing that was not checked;
 * they return NULL, or what is wrong.
 */
typedef struct EncodingOps
{
	const char *name;
	bool		in_chunk;		/* do values by reference point into the chunk? */
	int			made_bytes;		/* memory that reading takes per value, beside its Datum; -1: that of the values */

	/* May values of the column be so encoded? */
	bool		(*fits) (const FileColumn *col);

	/* Should these be?  Keeps in work what write() needs. */
	EncodingChoice (*choose) (const ColumnValues *values, EncodeWork *work);
	void		(*write) (const ColumnValues *values, EncodeWork *work, ByteBuffer *out);

	/* Find the parts of the bytes. */
	const char *(*open) (EncodedValues *ev);

	/* All values, after open(); those that are made are put into made. */
	const char *(*read) (const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch);

	/*
	 * The same of numerics as integers of one scale; NULL: these are never
	 * such.  *found: whether they are.
	 */
	const char *(*read_scaled) (const EncodedValues *ev, int64 *values, int *scale, bool *found, ByteBuffer *made);

	/* Make ready for taking single values, after open(). */
	const char *(*prepare) (const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch);

	/* Values number at[] (ascending). */
	const char *(*take) (const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at,
						 Datum *values, ByteBuffer *made);

	/*
	 * Of values sorted in [from, to), from < to: the first that is not below
	 * the value (above: that is above it), or to.  NULL: they are compared one
	 * by one.
	 */
	int			(*search) (const EncodedValues *ev, const ValueIndex *index, int from, int to, Oid valuetype,
						   Datum value, bool above);
} EncodingOps;

extern const EncodingOps IntEncoding;
extern const EncodingOps FloatEncoding;
extern const EncodingOps BinaryEncoding;
extern const EncodingOps NumericEncoding;
extern const EncodingOps RawEncoding;
extern const EncodingOps ConstantEncoding;
extern const EncodingOps PlainEncoding;
extern const EncodingOps DictEncoding;
extern const EncodingOps FrontEncoding;

/* By number: NULL for NONE, which has no bytes. */
extern const EncodingOps *const Encodings[ENCODING_LAST + 1];

/* All but NONE, in the order in which they are tried. */
extern const ChunkEncoding EncodingTrials[ENCODING_LAST];

/* Choose and write an encoding for values that it fits; what is found out is in work. */
extern ChunkEncoding EncodeValues(const ColumnValues *values, EncodeWork *work, ByteBuffer *out);

/* open() of a chunk's values, for a column that they may not fit. */
extern const char *EncodedValuesOpen(EncodedValues *ev, const FileColumn *col, int encoding,
									 const char *in, size_t len, int n);

/* All integers of the one int stream of opened values. */
static inline const char *
ReadInts(const EncodedValues *ev, int64 *values)
{
	size_t		used;
	const char *problem = IntStreamRead(ev->ints, ev->ints_len, ev->n, values, &used);

	return problem == NULL && used != ev->ints_len ? "bytes are left over behind the values" : problem;
}

/* Make ready for taking single ones of them. */
static inline const char *
PrepareInts(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	return IntIndexOpen(&index->ints, index->cxt, ev->ints, ev->ints_len, ev->n, &scratch->lengths);
}

/* Of DICT: the places of all values in the dictionary, after open(), and the dictionary itself, as Datums in made. */
extern const char *ReadCoded(const EncodedValues *ev, Datum *codes, ByteBuffer *made);

/* take() of varlenas with an offset each (text_values.c). */
extern const char *TakeTexts(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at,
							 Datum *values, ByteBuffer *made);

#endif							/* BF_ENCODING_H */
