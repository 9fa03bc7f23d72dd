/*
 * text_values.c
 *	  Encodings PLAIN, of varlenas one after the other, and DICT, of positions in
 *	  a dictionary of them.
 */
#include "postgres.h"

#include "format/encoding/encoding.h"
#include "format/encoding/scaled_convert.h"
#include "spec/murmur.h"

/* after so many values a dictionary must have proved useful */
#define DICT_TRIAL		1024

static bool
fits(const FileColumn *col)
{
	return col->typlen == -1;
}

static EncodingChoice
choose_plain(const ColumnValues *values, EncodeWork *work)
{
	return work->found == ENCODING_NONE ? CHOOSE : CHOOSE_NOT;
}

static void
write_plain(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	ByteBufferAppend(out, values->data, values->len);
}

/* bytes of the streams behind the dictionary for codes below ndict */
static inline size_t
dict_size(size_t dict_bytes, int ndict, int n)
{
	return sizeof(DiskDict) + BF_ALIGN8(dict_bytes) + IntStreamSize(IntWidth(ndict - 1), n);
}

/*
 * The first 8 bytes of a value, those behind its end as zeroes.  Values of at
 * most 8 bytes, header included, are equal if and only if these are.
 */
static inline uint64
first_word(const char *v, size_t size)
{
	uint64		word;

	/* behind the last value is the buffer's slack */
	memcpy(&word, v, sizeof(word));
	return size >= sizeof(word) ? word : word & ((UINT64CONST(1) << (8 * size)) - 1);
}

/* Where to look for a value in a table of the given number of bits; not on disk. */
static inline uint32
dict_slot(const char *v, size_t size, uint64 word, int bits)
{
	if (size > sizeof(word))
		word ^= (uint64) KeyHashBytes(v + sizeof(word), size - sizeof(word), (uint32) size) << 32;
	return (uint32) ((word * UINT64CONST(0x9e3779b97f4a7c15)) >> (64 - bits));
}

/* Build the dictionary, unless it becomes too large. */
static EncodingChoice
choose_dict(const ColumnValues *values, EncodeWork *work)
{
	int			n = values->n;
	int			bits = 10;
	uint32		slots;
	uint32	   *table;
	int64	   *codes;
	Datum	   *offsets;
	size_t		bytes = 0;
	int			ndict = 0;

	while ((1 << bits) < 2 * n)
		bits++;
	slots = (uint32) 1 << bits;
	table = (uint32 *) ByteBufferPrepare(&work->table, slots * sizeof(uint32));
	memset(table, 0xff, slots * sizeof(uint32));
	codes = (int64 *) ByteBufferPrepare(&work->codes, n * sizeof(int64));
	offsets = (Datum *) ByteBufferPrepare(&work->offsets, n * sizeof(Datum));

	for (int i = 0; i < n; i++)
	{
		const char *v = values->data + values->values[i];
		size_t		size = VARSIZE_ANY(v);
		uint64		word = first_word(v, size);
		uint32		slot = dict_slot(v, size, word, bits);

		for (;; slot = (slot + 1) & (slots - 1))
		{
			const char *other;
			size_t		other_size;

			if (table[slot] == PG_UINT32_MAX)
			{
				bytes += VarlenaPackedSize(bytes, VARSIZE_ANY_EXHDR(v), values->form);
				if (bytes > work->limit)
					return CHOOSE_NOT;
				table[slot] = ndict;
				offsets[ndict++] = values->values[i];
				break;
			}
			other = values->data + offsets[table[slot]];
			other_size = VARSIZE_ANY(other);
			if (other_size == size && first_word(other, size) == word &&
				(size <= sizeof(word) || memcmp(v, other, size) == 0))
				break;
		}
		codes[i] = table[slot];
		if (i == DICT_TRIAL && ndict > DICT_TRIAL / 2)
			return CHOOSE_NOT;
	}
	if (dict_size(bytes, ndict, n) > work->limit)
		return CHOOSE_NOT;

	ByteBufferPrepare(&work->dict, bytes);
	for (int i = 0; i < ndict; i++)
	{
		const char *v = values->data + offsets[i];

		offsets[i] = VarlenaAppend(&work->dict, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), values->form);
	}
	work->distinct.n = ndict;
	work->distinct.values = offsets;
	work->distinct.data = work->dict.data;
	work->distinct.len = work->dict.len;
	return CHOOSE;
}

static void
write_dict(const ColumnValues *values, EncodeWork *work, ByteBuffer *out)
{
	DiskDict	head = {work->distinct.n, 0, work->dict.len};
	const int64 *codes = (const int64 *) work->codes.data;

	ByteBufferAppend(out, &head, sizeof(head));
	ByteBufferAppend(out, work->dict.data, work->dict.len);
	ByteBufferAlign(out, 8);
	IntStreamMakePlan(codes, values->n, &work->plan);
	IntStreamWrite(out, codes, values->n, &work->plan);
}

/*
 * Go over n packed varlenas that are exactly the data of opened values: they go
 * into values, or their offsets into offsets.
 */
static pg_attribute_always_inline const char *
walk(const EncodedValues *ev, int n, Datum *values, uint32 *offsets)
{
	bool		numeric = ev->col->keyclass == KEYCLASS_NUMERIC;
	size_t		at = 0;

	for (int i = 0; i < n; i++)
	{
		const char *v = VarlenaNext(ev->data, ev->data_len, &at, ev->form.align);

		if (v == NULL)
			return "value header is invalid";
		if (numeric && !NumericContentValid(v))
			return "numeric value is invalid";
		if (offsets == NULL)
			values[i] = PointerGetDatum(v);
		else
			offsets[i] = (uint32) (v - ev->data);
	}
	return at == ev->data_len ? NULL : "bytes are left over behind the values";
}

/* Keep the offsets of the n varlenas. */
static const char *
prepare_texts(const EncodedValues *ev, int n, ValueIndex *index)
{
	index->texts = ev->data;
	index->offsets = MemoryContextAlloc(index->cxt, n * sizeof(uint32));
	return walk(ev, n, NULL, index->offsets);
}

const char *
TakeTexts(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
		  ByteBuffer *made)
{
	for (int i = 0; i < n; i++)
		values[i] = PointerGetDatum(index->texts + index->offsets[at[i]]);
	return NULL;
}

static const char *
open_plain(EncodedValues *ev)
{
	ev->data = ev->in;
	ev->data_len = ev->len;
	return NULL;
}

static const char *
read_plain(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	return walk(ev, ev->n, values, NULL);
}

static const char *
prepare_plain(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	return prepare_texts(ev, ev->n, index);
}

static const char *
open_dict(EncodedValues *ev)
{
	DiskDict	head;
	size_t		at;

	if (ev->len < sizeof(head))
		return "dictionary is cut off";
	memcpy(&head, ev->in, sizeof(head));
	if (head.nvalues == 0 || head.nvalues > (uint32) ev->n || head.dict_bytes > ev->len - sizeof(head))
		return "dictionary has an invalid header";
	at = sizeof(head) + BF_ALIGN8(head.dict_bytes);
	if (at > ev->len)
		return "dictionary is cut off";
	ev->data = ev->in + sizeof(head);
	ev->data_len = head.dict_bytes;
	ev->ndata = (int) head.nvalues;
	ev->ints = ev->in + at;
	ev->ints_len = ev->len - at;
	return NULL;
}

/* Are all of n codes positions in the dictionary? */
static const char *
check_codes(const EncodedValues *ev, const Datum *codes, int n)
{
	uint64		largest = 0;

	/* the or of them is never below one of them */
	for (int i = 0; i < n; i++)
		largest |= codes[i];
	for (int i = 0; i < n && largest >= (uint64) ev->ndata; i++)
	{
		if (codes[i] >= (uint64) ev->ndata)
			return "position is outside the dictionary";
	}
	return NULL;
}

const char *
ReadCoded(const EncodedValues *ev, Datum *codes, ByteBuffer *made)
{
	Datum	   *dict = (Datum *) ByteBufferPrepare(made, ev->ndata * sizeof(Datum));
	const char *problem = walk(ev, ev->ndata, dict, NULL);

	if (problem == NULL)
		problem = ReadInts(ev, (int64 *) codes);
	return problem ? problem : check_codes(ev, codes, ev->n);
}

static const char *
read_dict(const EncodedValues *ev, Datum *values, ByteBuffer *made, struct ColumnScratch *scratch)
{
	const char *problem = ReadCoded(ev, values, made);
	const Datum *dict = (const Datum *) made->data;

	for (int i = 0; i < ev->n && problem == NULL; i++)
		values[i] = dict[values[i]];
	return problem;
}

static const char *
read_dict_scaled(const EncodedValues *ev, int64 *values, int *scale, bool *found, ByteBuffer *made)
{
	int64	   *dict = (int64 *) ByteBufferPrepare(made, ev->ndata * sizeof(int64));
	const char *problem;

	*found = false;
	if (ev->col->keyclass != KEYCLASS_NUMERIC)
		return NULL;
	problem = walk(ev, ev->ndata, (Datum *) dict, NULL);
	for (int i = 0; i < ev->ndata && problem == NULL; i++)
	{
		int			scale_here;

		if (!NumericToScaled(DatumGetPointer((Datum) dict[i]), &dict[i], &scale_here) ||
			(i > 0 && scale_here != *scale))
			return NULL;
		*scale = scale_here;
	}
	if (problem == NULL)
		problem = ReadInts(ev, values);
	if (problem == NULL)
		problem = check_codes(ev, (Datum *) values, ev->n);
	for (int i = 0; i < ev->n && problem == NULL; i++)
		values[i] = dict[values[i]];
	*found = true;
	return problem;
}

static const char *
prepare_dict(const EncodedValues *ev, ValueIndex *index, struct ColumnScratch *scratch)
{
	const char *problem = prepare_texts(ev, ev->ndata, index);

	return problem ? problem : PrepareInts(ev, index, scratch);
}

static const char *
take_dict(const EncodedValues *ev, const ValueIndex *index, int n, const uint16 *at, Datum *values,
		  ByteBuffer *made)
{
	const char *problem;

	IntIndexTake(&index->ints, n, at, (int64 *) values);
	problem = check_codes(ev, values, n);
	for (int i = 0; i < n && problem == NULL; i++)
		values[i] = PointerGetDatum(index->texts + index->offsets[values[i]]);
	return problem;
}

const EncodingOps PlainEncoding = {
	.name = "plain",
	.in_chunk = true,
	.fits = fits,
	.choose = choose_plain,
	.write = write_plain,
	.open = open_plain,
	.read = read_plain,
	.prepare = prepare_plain,
	.take = TakeTexts
};

const EncodingOps DictEncoding = {
	.name = "dict",
	.in_chunk = true,
	.made_bytes = sizeof(Datum),
	.fits = fits,
	.choose = choose_dict,
	.write = write_dict,
	.open = open_dict,
	.read = read_dict,
	.read_scaled = read_dict_scaled,
	.prepare = prepare_dict,
	.take = take_dict
};
