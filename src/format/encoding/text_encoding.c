/*
 * text_encoding.c
 *	  Encodings of variable-length values: dictionary, front coding, plain.
 */
#include "postgres.h"

#include "format/encoding/int_encoding.h"
#include "format/encoding/text_encoding.h"
#include "port/pg_bitutils.h"
#include "spec/murmur.h"

/* after so many values a dictionary must have proved useful */
#define DICT_TRIAL		1024

/* so many neighbours decide whether prefixes repeat */
#define FRONT_TRIAL		256

static inline const char *
packed_value(const PackedValues *values, int i)
{
	return values->data + values->offsets[i];
}

void
TextScratchInit(TextScratch *scratch, MemoryContext cxt)
{
	ByteBufferInit(&scratch->table, cxt);
	ByteBufferInit(&scratch->codes, cxt);
	ByteBufferInit(&scratch->dict, cxt);
	ByteBufferInit(&scratch->offsets, cxt);
	scratch->ndict = 0;
}

size_t
TextScratchMemory(const TextScratch *scratch)
{
	return scratch->table.cap + scratch->codes.cap + scratch->dict.cap + scratch->offsets.cap;
}

bool
PackedAllEqual(const PackedValues *values)
{
	const char *first = packed_value(values, 0);
	size_t		size = VARSIZE_ANY(first);

	for (int i = 1; i < values->n; i++)
	{
		const char *v = packed_value(values, i);

		if (VARSIZE_ANY(v) != size || memcmp(v, first, size) != 0)
			return false;
	}
	return true;
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

size_t
DictPlan(const PackedValues *values, TextScratch *scratch, size_t limit)
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
	table = (uint32 *) ByteBufferPrepare(&scratch->table, slots * sizeof(uint32));
	memset(table, 0xff, slots * sizeof(uint32));
	codes = (int64 *) ByteBufferPrepare(&scratch->codes, n * sizeof(int64));
	offsets = (Datum *) ByteBufferPrepare(&scratch->offsets, n * sizeof(Datum));

	for (int i = 0; i < n; i++)
	{
		const char *v = packed_value(values, i);
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
				if (bytes > limit)
					return 0;
				table[slot] = ndict;
				offsets[ndict++] = values->offsets[i];
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
			return 0;
	}
	if (dict_size(bytes, ndict, n) > limit)
		return 0;

	scratch->ndict = ndict;
	ByteBufferPrepare(&scratch->dict, bytes);
	for (int i = 0; i < ndict; i++)
	{
		const char *v = values->data + offsets[i];

		offsets[i] = VarlenaAppend(&scratch->dict, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), values->form);
	}
	return dict_size(scratch->dict.len, ndict, n);
}

void
DictWrite(ByteBuffer *out, const PackedValues *values, TextScratch *scratch)
{
	DiskDict	head;
	IntStreamPlan plan;
	const int64 *codes = (const int64 *) scratch->codes.data;

	memset(&head, 0, sizeof(head));
	head.nvalues = scratch->ndict;
	head.dict_bytes = scratch->dict.len;
	ByteBufferAppend(out, &head, sizeof(head));
	ByteBufferAppend(out, scratch->dict.data, scratch->dict.len);
	ByteBufferAlign(out, 8);
	IntStreamMakePlan(codes, values->n, &plan);
	IntStreamWrite(out, codes, values->n, &plan);
}

/* Bytes that a and b begin with in common, at most max. */
static inline size_t
common_prefix(const char *a, const char *b, size_t max)
{
	size_t		i = 0;

	while (i + 8 <= max)
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + pg_rightmost_one_pos64(x ^ y) / 8;
		i += 8;
	}
	while (i < max && a[i] == b[i])
		i++;
	return i;
}

size_t
FrontPlan(const PackedValues *values, TextScratch *scratch, size_t limit)
{
	int			n = values->n;
	int64	   *shared;
	int64	   *rest;
	uint64		suffix_bytes = 0;
	uint64		content_bytes = 0;
	uint64		max_shared = 0;
	uint64		max_rest = 0;
	const char *last = "";
	size_t		lastlen = 0;
	size_t		size;

	if (values->len > BF_BLOCK_BYTES)
		return 0;
	shared = (int64 *) ByteBufferPrepare(&scratch->codes, 2 * n * sizeof(int64));
	rest = shared + n;
	for (int i = 0; i < n; i++)
	{
		const char *v = packed_value(values, i);
		const char *content = VARDATA_ANY(v);
		size_t		len = VARSIZE_ANY_EXHDR(v);
		size_t		common = common_prefix(last, content, Min(len, lastlen));

		shared[i] = common;
		rest[i] = len - common;
		suffix_bytes += len - common;
		content_bytes += len;
		max_shared = Max(max_shared, common);
		max_rest = Max(max_rest, len - common);
		last = content;
		lastlen = len;
		if (i == FRONT_TRIAL && suffix_bytes + suffix_bytes / 4 > content_bytes)
			return 0;
	}
	/* an upper bound: delta may win in either stream */
	size = sizeof(DiskFront) + IntStreamSize(IntWidth(max_shared), n) +
		IntStreamSize(IntWidth(max_rest), n) + suffix_bytes;
	return size > limit ? 0 : size;
}

void
FrontWrite(ByteBuffer *out, const PackedValues *values, TextScratch *scratch)
{
	int			n = values->n;
	const int64 *shared = (const int64 *) scratch->codes.data;
	const int64 *rest = shared + n;
	IntStreamPlan plan;
	DiskFront	head;
	char	   *to;

	head.decoded_bytes = values->len;
	head.suffix_bytes = 0;
	for (int i = 0; i < n; i++)
		head.suffix_bytes += rest[i];
	ByteBufferAppend(out, &head, sizeof(head));
	IntStreamMakePlan(shared, n, &plan);
	IntStreamWrite(out, shared, n, &plan);
	IntStreamMakePlan(rest, n, &plan);
	IntStreamWrite(out, rest, n, &plan);
	to = ByteBufferExtend(out, head.suffix_bytes);
	for (int i = 0; i < n; i++)
	{
		memcpy(to, VARDATA_ANY(packed_value(values, i)) + shared[i], rest[i]);
		to += rest[i];
	}
}

/* Point values at n packed varlenas that are exactly the len bytes at in. */
static const char *
read_packed(const char *in, size_t len, int n, int align, bool numeric, Datum *values)
{
	size_t		at = 0;

	for (int i = 0; i < n; i++)
	{
		const char *v = VarlenaNext(in, len, &at, align);

		if (v == NULL)
			return "value header is invalid";
		if (numeric && !NumericContentValid(v))
			return "numeric value is invalid";
		values[i] = PointerGetDatum(v);
	}
	if (at != len)
		return "bytes are left over behind the values";
	return NULL;
}

const char *
PlainRead(const char *in, size_t len, int n, int align, bool numeric, Datum *values)
{
	return read_packed(in, len, n, align, numeric, values);
}

const char *
DictRead(const char *in, size_t len, int n, int align, bool numeric,
		 Datum *values, ByteBuffer *decoded)
{
	DiskDict	head;
	const char *problem;
	Datum	   *dict;
	size_t		at;
	size_t		used;
	uint64		largest = 0;

	if (len < sizeof(head))
		return "dictionary is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.nvalues == 0 || head.nvalues > (uint32) n || head.dict_bytes > len - sizeof(head))
		return "dictionary has an invalid header";
	dict = (Datum *) ByteBufferPrepare(decoded, head.nvalues * sizeof(Datum));
	problem = read_packed(in + sizeof(head), head.dict_bytes, head.nvalues, align, numeric, dict);
	if (problem)
		return problem;

	at = sizeof(head) + BF_ALIGN8(head.dict_bytes);
	if (at > len)
		return "dictionary is cut off";
	problem = IntStreamRead(in + at, len - at, n, (int64 *) values, &used);
	if (problem)
		return problem;
	if (at + used != len)
		return "bytes are left over behind the values";
	for (int i = 0; i < n; i++)
		largest |= values[i];
	if (largest >= head.nvalues)
	{
		/* the or of valid codes may still exceed the number of values */
		for (int i = 0; i < n; i++)
		{
			if (values[i] >= head.nvalues)
				return "position is outside the dictionary";
		}
	}
	for (int i = 0; i < n; i++)
		values[i] = dict[values[i]];
	return NULL;
}

const char *
FrontRead(const char *in, size_t len, int n, VarlenaForm form, bool numeric,
		  Datum *values, ByteBuffer *lengths, ByteBuffer *decoded)
{
	DiskFront	head;
	const char *problem;
	const char *from;
	const char *last = "";
	int64	   *shared = (int64 *) values;
	int64	   *rest;
	size_t		lastlen = 0;
	size_t		at = sizeof(head);
	size_t		used;
	uint64		suffix_left;
	char	   *base;
	size_t		out = 0;

	if (len < sizeof(head))
		return "front coding is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.decoded_bytes > BF_BLOCK_BYTES || head.suffix_bytes > head.decoded_bytes)
		return "front coding has an invalid header";
	rest = (int64 *) ByteBufferPrepare(lengths, n * sizeof(int64));
	problem = IntStreamRead(in + at, len - at, n, shared, &used);
	if (problem)
		return problem;
	at += used;
	problem = IntStreamRead(in + at, len - at, n, rest, &used);
	if (problem)
		return problem;
	at += used;
	if (len - at != head.suffix_bytes)
		return "front coding has a wrong length";
	from = in + at;
	suffix_left = head.suffix_bytes;
	base = ByteBufferPrepare(decoded, head.decoded_bytes);

	for (int i = 0; i < n; i++)
	{
		uint64		common = shared[i];
		uint64		own = rest[i];
		char	   *to;

		if (common > lastlen || own > suffix_left ||
			VarlenaPackedSize(out, common + own, form) > head.decoded_bytes - out)
			return "front coding has an invalid length";
		to = VarlenaPutHeader(base, &out, common + own, form);
		memcpy(to, last, common);
		memcpy(to + common, from, own);
		values[i] = PointerGetDatum(base + out);
		if (numeric && !NumericContentValid(base + out))
			return "numeric value is invalid";
		from += own;
		suffix_left -= own;
		last = to;
		lastlen = common + own;
		out = to + lastlen - base;
	}
	if (out != head.decoded_bytes || suffix_left != 0)
		return "front coding has a wrong length";
	return NULL;
}
