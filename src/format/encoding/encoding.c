/*
 * encoding.c
 *	  The table of encodings, and what they share.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"

const EncodingOps *const Encodings[ENCODING_LAST + 1] = {
	[ENCODING_INT] = &IntEncoding,
	[ENCODING_RAW] = &RawEncoding,
	[ENCODING_FLOAT] = &FloatEncoding,
	[ENCODING_NUMERIC] = &NumericEncoding,
	[ENCODING_CONSTANT] = &ConstantEncoding,
	[ENCODING_PLAIN] = &PlainEncoding,
	[ENCODING_DICT] = &DictEncoding,
	[ENCODING_FRONT] = &FrontEncoding,
	[ENCODING_BINARY] = &BinaryEncoding
};

/*
 * Those that a column never fits are passed over.  A dictionary decodes faster
 * than anything else varlenas can be in, so it is tried before the others; RAW
 * and PLAIN take what is left.
 */
const ChunkEncoding EncodingTrials[ENCODING_LAST] = {
	ENCODING_CONSTANT, ENCODING_INT, ENCODING_FLOAT, ENCODING_BINARY, ENCODING_NUMERIC,
	ENCODING_DICT, ENCODING_FRONT, ENCODING_RAW, ENCODING_PLAIN
};

void
EncodeWorkInit(EncodeWork *work, MemoryContext cxt)
{
	memset(work, 0, sizeof(*work));
	ByteBufferInit(&work->scaled, cxt);
	ByteBufferInit(&work->codes, cxt);
	ByteBufferInit(&work->table, cxt);
	ByteBufferInit(&work->dict, cxt);
	ByteBufferInit(&work->offsets, cxt);
}

ChunkEncoding
EncodeValues(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	work->found = ENCODING_NONE;
	/* what compression would make of the plain values is not known: another encoding must win clearly */
	work->limit = values->len - values->len / 4;
	work->distinct = *values;
	for (int i = 0; i < (int) lengthof(EncodingTrials); i++)
	{
		const EncodingOps *ops = Encodings[EncodingTrials[i]];
		EncodingChoice choice = ops->fits(values->col) ? ops->choose(values, work) : CHOOSE_NOT;

		if (choice != CHOOSE_NOT)
			work->found = EncodingTrials[i];
		if (choice == CHOOSE)
			break;
	}
	Encodings[work->found]->write(values, work, out);
	return work->found;
}

const char *
EncodedValuesOpen(EncodedValues *ev, const FileColumn *col, int encoding, const char *in, size_t len, int n)
{
	memset(ev, 0, sizeof(*ev));
	ev->col = col;
	ev->ops = Encodings[encoding];
	ev->form = VarlenaFormOf(col->typalign, col->typstorage);
	ev->n = n;
	ev->in = in;
	ev->len = len;
	return ev->ops->fits(col) ? ev->ops->open(ev) : "encoding does not fit the type";
}
