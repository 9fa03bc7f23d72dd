/*
 * text_encoding.h
 *	  Encodings of variable-length values: dictionary, front coding, plain.
 */
#ifndef BF_TEXT_ENCODING_H
#define BF_TEXT_ENCODING_H

#include "format/varlena_pack.h"

/* The values of a chunk, packed one after the other. */
typedef struct PackedValues
{
	const char *data;
	size_t		len;
	const Datum *offsets;		/* n offsets of headers in data */
	int			n;
	VarlenaForm form;
} PackedValues;

/* Memory the encoder uses again for every chunk. */
typedef struct TextScratch
{
	ByteBuffer	table;			/* hash table of the dictionary */
	ByteBuffer	codes;			/* position in the dictionary, per value */
	ByteBuffer	dict;			/* the dictionary's values */
	ByteBuffer	offsets;		/* their offsets in dict */
	int			ndict;
} TextScratch;

extern void TextScratchInit(TextScratch *scratch, MemoryContext cxt);
extern size_t TextScratchMemory(const TextScratch *scratch);

/* Are all the values the same? */
extern bool PackedAllEqual(const PackedValues *values);

/*
 * Build a dictionary in scratch.  Gives up, and returns 0, when the encoding
 * would take more than limit bytes; else returns what it takes.
 */
extern size_t DictPlan(const PackedValues *values, TextScratch *scratch, size_t limit);
extern void DictWrite(ByteBuffer *out, const PackedValues *values, TextScratch *scratch);

/* The same for front coding. */
extern size_t FrontPlan(const PackedValues *values, TextScratch *scratch, size_t limit);
extern void FrontWrite(ByteBuffer *out, const PackedValues *values, TextScratch *scratch);

/*
 * Decoders of n >= 1 values.  in points to a MAXALIGNed offset, len bytes are
 * all of the encoding, BF_SLACK more may be read.  Datums point into in, or
 * into decoded, whose content is replaced.  numeric: check that contents are
 * safe to look at as numerics.  NULL, or what is wrong.
 */
extern const char *PlainRead(const char *in, size_t len, int n, int align, bool numeric,
							 Datum *values);
extern const char *DictRead(const char *in, size_t len, int n, int align, bool numeric,
							Datum *values, ByteBuffer *decoded);
extern const char *FrontRead(const char *in, size_t len, int n, VarlenaForm form, bool numeric,
							 Datum *values, ByteBuffer *lengths, ByteBuffer *decoded);

#endif							/* BF_TEXT_ENCODING_H */
