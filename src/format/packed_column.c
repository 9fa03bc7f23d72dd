/*
 * packed_column.c
 *	  One column of one block, kept as it is in the file.
 *
 * Packed integers, and what is made of them (numerics, floats, positions in a
 * dictionary), are found by their number; of deltas the sum is kept at every
 * so many values, of packed varlenas the place; patches are kept, and of a
 * bitmap of repeats the number of bits before every so many.  Front coding, where each
 * value needs the one before it, is decoded as a whole.
 *
 * Of integers that are not compressed, even the bits may be left in the file:
 * those of the few values around the wanted one are read when they are wanted.
 *
 * What is read is checked as far as needed to stay inside of the bytes, and to
 * give no value the type does not have.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "format/int_encoding.h"
#include "format/packed_column.h"
#include "format/reader_private.h"
#include "format/scaled_encoding.h"
#include "format/varlena_pack.h"
#include "port/pg_bitutils.h"

/* of deltas the value at every so many is kept, and so many are read at a time; a multiple of 8 */
#define GROUP_VALUES	64
/* bytes of so many, and what may be read behind them */
#define GROUP_BYTES		(GROUP_VALUES * sizeof(int64) + BF_SLACK)
/* so many packed varlenas are walked over */
#define VARLENA_STEP	16
/* the number of NULLs, or repeats, before a row is kept for so many rows: the bits of a word */
#define RANK_STEP		64

typedef enum PackedForm
{
	PACKED_INT,					/* integers are the values, or numerics or floats are made of them */
	PACKED_DICT,				/* integers are positions in a dictionary */
	PACKED_FIXED,				/* values of one length */
	PACKED_ONE,					/* one value for all rows */
	PACKED_VARLENA,				/* packed varlenas */
	PACKED_DECODED				/* decoded as a whole */
} PackedForm;

struct PackedColumn
{
	FileReader *reader;
	int			block;
	int			col;
	MemoryContext cxt;
	PackedForm	form;
	ChunkEncoding encoding;
	int			nrows;
	int			nvalues;		/* rows that are not null */
	const uint8 *nullbits;		/* one per row; NULL: no row is null */
	uint16	   *ranks;			/* nulls before every RANK_STEP'th row */

	ByteBuffer	raw;			/* what is below points into it */
	const char *values;
	size_t		len;			/* of the values; dictionary: of its values */

	DiskIntStream head;			/* of repeats: of the stream inside */
	int			nints;			/* values of that stream */
	const uint8 *distinct;		/* a bit per value, set where it is the next of the stream; NULL: each is */
	uint16	   *distinct_ranks; /* bits set before every RANK_STEP'th value */
	int			npatches;
	uint16	   *patch_at;		/* which of the packed bits, ascending */
	uint64	   *patches;		/* what is added there */
	size_t		bits;			/* where in raw they begin */
	size_t		nbits;			/* their bytes */
	uint64		offset;			/* of raw in the file, if it is not compressed; else 0 */
	bool		thin;			/* the bits are left there */
	int64	   *sums;			/* every GROUP_VALUES'th value, or NULL */
	int64		low;			/* integers that are allowed; span 0: all */
	uint64		span;
	int			scale;			/* of numerics and floats */

	size_t		stride;			/* values of one length: from one to the next */
	VarlenaForm varlena;
	uint32	   *offsets;		/* of all values of the dictionary, or of every VARLENA_STEP'th one */
	ByteBuffer	made;			/* a value that is compared */

	ColumnBuffer *buffer;		/* decoded as a whole */
	ColumnVector vector;
	Size		memory;
};

/* Room for so many bytes more. */
static void *
MakeRoom(PackedColumn *column, Size size)
{
	column->memory += size;
	return MemoryContextAlloc(column->cxt, size);
}

/* Room for the value at every GROUP_VALUES of n. */
static void
MakeSums(PackedColumn *column, int n)
{
	column->sums = MakeRoom(column, (n + GROUP_VALUES - 1) / GROUP_VALUES * sizeof(int64));
}

/* How many of n bits are set before every RANK_STEP'th one and before the end; *total of all. */
static uint16 *
MakeRanks(PackedColumn *column, const uint8 *bits, int n, int *total)
{
	uint16	   *ranks = MakeRoom(column, (n / RANK_STEP + 1) * sizeof(uint16));
	int			count = 0;

	for (int i = 0; i < n; i += RANK_STEP)
	{
		uint64		word;

		/* a bitmap is whole words of 64 bits */
		memcpy(&word, bits + i / 8, sizeof(word));
		if (n - i < RANK_STEP)
			word &= (UINT64CONST(1) << (n - i)) - 1;
		ranks[i / RANK_STEP] = (uint16) count;
		count += pg_popcount64(word);
	}
	if (n % RANK_STEP == 0)
		ranks[n / RANK_STEP] = (uint16) count;
	*total = count;
	return ranks;
}

/* How many bits are set before one of them. */
static inline int
RankOf(const uint8 *bits, const uint16 *ranks, int i)
{
	int			at = i - i % RANK_STEP;
	int			count = ranks[i / RANK_STEP];

	for (; at + 8 <= i; at += 8)
		count += pg_number_of_ones[bits[at / 8]];
	if (at < i)
		count += pg_number_of_ones[bits[at / 8] & ((1 << (i - at)) - 1)];
	return count;
}

/* The patches of a stream that was read without an error. */
static void
OpenPatches(PackedColumn *column, const char *in, size_t len)
{
	int			n = (int) column->head.count;
	int64		places[BF_MAX_PATCHES];
	int64		highs[BF_MAX_PATCHES];
	size_t		used;

	(void) IntStreamRead(in, len, n, places, &used);
	(void) IntStreamRead(in + used, len - used, n, highs, &used);
	column->npatches = n;
	column->patch_at = MakeRoom(column, n * sizeof(uint16));
	column->patches = MakeRoom(column, n * sizeof(uint64));
	for (int i = 0; i < n; i++)
	{
		column->patch_at[i] = (uint16) places[i];
		column->patches[i] = (uint64) highs[i] << column->head.width;
	}
}

static inline bool
HeadIsDelta(const DiskIntStream *head)
{
	return head->kind == INT_STREAM_DELTA || head->kind == INT_STREAM_PATCHED_DELTA;
}

/* Bytes of the packed integers of a stream of n values. */
static inline size_t
PackedBytes(const DiskIntStream *head, int n)
{
	return IntStreamSize(head->width, head->kind == INT_STREAM_TRIPLES ? (n + 2) / 3 :
						 HeadIsDelta(head) ? n - 1 : n) - sizeof(*head);
}

/*
 * Prepare to look into an int stream of n >= 1 values at in.  Sets *used to
 * its length.  NULL, or what is wrong.
 */
static const char *
OpenInts(PackedColumn *column, const char *in, size_t len, int n, ColumnScratch *scratch, size_t *used)
{
	DiskIntStream *head = &column->head;
	size_t		inside = 0;
	const char *problem;

	if (len < sizeof(*head))
		return "int stream is cut off";
	memcpy(head, in, sizeof(*head));
	*used = 0;
	if (head->kind == INT_STREAM_REPEATS)
	{
		problem = IntStreamBitmap(in, len, n, used);
		if (problem)
			return problem;
		column->distinct = (const uint8 *) in + sizeof(*head);
		column->distinct_ranks = MakeRanks(column, column->distinct, n, &n);
		in += *used;
		len -= *used;
		if (len < sizeof(*head))
			return "int stream is cut off";
		memcpy(head, in, sizeof(*head));
		if (head->kind == INT_STREAM_REPEATS)
			return "int stream is nested too deeply";
	}
	if (head->kind == INT_STREAM_FOR || head->kind == INT_STREAM_TRIPLES)
	{
		if (!IntStreamHeadValid(head))
			return "int stream has an invalid header";
		inside = sizeof(*head) + PackedBytes(head, n);
		if (len < inside)
			return "int stream is cut off";
	}
	else
	{
		int64	   *values = (int64 *) ByteBufferPrepare(&scratch->lengths, n * sizeof(int64));

		problem = IntStreamRead(in, len, n, values, &inside);
		if (problem)
			return problem;
		MakeSums(column, n);
		for (int i = 0; i < n; i += GROUP_VALUES)
			column->sums[i / GROUP_VALUES] = values[i];
	}
	*used += inside;
	column->nints = n;
	column->bits = in + sizeof(*head) - column->raw.data;
	column->nbits = PackedBytes(head, n);
	if (head->kind == INT_STREAM_PATCHED_FOR || head->kind == INT_STREAM_PATCHED_DELTA)
		OpenPatches(column, in + sizeof(*head) + column->nbits, len - sizeof(*head) - column->nbits);
	return NULL;
}

/*
 * Find every step'th of n packed varlenas that are exactly the len bytes at
 * in.  NULL, or what is wrong.
 */
static const char *
OpenVarlenas(PackedColumn *column, const char *in, size_t len, int n, int step, bool numeric)
{
	int			noffsets = (n + step - 1) / step;
	size_t		at = 0;

	column->values = in;
	column->len = len;
	column->offsets = MemoryContextAlloc(column->cxt, noffsets * sizeof(uint32));
	column->memory += noffsets * sizeof(uint32);
	for (int i = 0; i < n; i++)
	{
		const char *v = VarlenaNext(in, len, &at, column->varlena.align);

		if (v == NULL)
			return "value header is invalid";
		if (numeric && !NumericContentValid(v))
			return "numeric value is invalid";
		if (i % step == 0)
			column->offsets[i / step] = (uint32) (v - in);
	}
	return at == len ? NULL : "bytes are left over behind the values";
}

static const char *
OpenScaled(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	bool		isfloat = column->encoding != ENCODING_NUMERIC;
	DiskScaled	head;
	size_t		used = 0;
	const char *problem;

	if (col->keyclass != (isfloat ? KEYCLASS_FLOAT : KEYCLASS_NUMERIC))
		return "encoding does not fit the type";
	if (len < sizeof(head))
		return "values are cut off";
	memcpy(&head, in, sizeof(head));
	if (head.scale > (column->encoding == ENCODING_FLOAT ? BF_MAX_FLOAT_SCALE :
					  isfloat ? BF_MAX_BINARY_SCALE : BF_MAX_NUMERIC_SCALE))
		return "scale is invalid";
	column->form = PACKED_INT;
	column->scale = head.scale;
	problem = OpenInts(column, in + sizeof(head), len - sizeof(head), column->nvalues, scratch, &used);
	if (problem == NULL && used != len - sizeof(head))
		problem = "bytes are left over behind the values";
	return problem;
}

static const char *
OpenDict(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	DiskDict	head;
	const char *problem;
	size_t		at;
	size_t		used = 0;

	if (col->typlen != -1)
		return "encoding does not fit the type";
	if (len < sizeof(head))
		return "dictionary is cut off";
	memcpy(&head, in, sizeof(head));
	if (head.nvalues == 0 || head.nvalues > (uint32) column->nvalues || head.dict_bytes > len - sizeof(head))
		return "dictionary has an invalid header";
	column->form = PACKED_DICT;
	column->low = 0;
	column->span = head.nvalues;
	problem = OpenVarlenas(column, in + sizeof(head), head.dict_bytes, head.nvalues, 1,
						   col->keyclass == KEYCLASS_NUMERIC);
	if (problem)
		return problem;
	at = sizeof(head) + BF_ALIGN8(head.dict_bytes);
	if (at > len)
		return "dictionary is cut off";
	problem = OpenInts(column, in + at, len - at, column->nvalues, scratch, &used);
	if (problem == NULL && at + used != len)
		problem = "bytes are left over behind the values";
	return problem;
}

static const char *
OpenFixed(PackedColumn *column, const FileColumn *col, size_t len)
{
	if (col->typlen < 0 || (col->typbyval && col->keyclass != KEYCLASS_FLOAT))
		return "encoding does not fit the type";
	column->form = PACKED_FIXED;
	column->stride = col->typbyval ? (size_t) col->typlen : att_align_nominal(col->typlen, col->typalign);
	return len == column->nvalues * column->stride ? NULL : "length does not fit the number of values";
}

static const char *
OpenOne(PackedColumn *column, const FileColumn *col, const char *in, size_t len)
{
	const char *problem;

	if (col->typbyval)
		return "encoding does not fit the type";
	column->form = PACKED_ONE;
	if (col->typlen > 0)
		return len == att_align_nominal(col->typlen, col->typalign) ? NULL : "length does not fit the type";
	problem = OpenVarlenas(column, in, len, 1, 1, col->keyclass == KEYCLASS_NUMERIC);
	if (problem == NULL && column->offsets[0] != 0)
		problem = "value header is invalid";
	return problem;
}

/* Look at the len bytes of values at in; NULL, or what is wrong. */
static const char *
OpenValues(PackedColumn *column, const FileColumn *col, const char *in, size_t len, ColumnScratch *scratch)
{
	const char *problem;
	size_t		used = 0;

	column->values = in;
	column->len = len;
	switch (column->encoding)
	{
		case ENCODING_INT:
			if (!col->typbyval || col->keyclass == KEYCLASS_FLOAT)
				return "encoding does not fit the type";
			column->form = PACKED_INT;
			ColumnRange(col, &column->low, &column->span);
			problem = OpenInts(column, in, len, column->nvalues, scratch, &used);
			if (problem == NULL && used != len)
				problem = "bytes are left over behind the values";
			return problem;
		case ENCODING_FLOAT:
		case ENCODING_BINARY:
		case ENCODING_NUMERIC:
			return OpenScaled(column, col, in, len, scratch);
		case ENCODING_DICT:
			return OpenDict(column, col, in, len, scratch);
		case ENCODING_RAW:
			return OpenFixed(column, col, len);
		case ENCODING_CONSTANT:
			return OpenOne(column, col, in, len);
		default:
			if (col->typlen != -1)
				return "encoding does not fit the type";
			column->form = PACKED_VARLENA;
			return OpenVarlenas(column, in, len, column->nvalues, VARLENA_STEP,
								col->keyclass == KEYCLASS_NUMERIC);
	}
}

/* Count the nulls; NULL, or what is wrong. */
static const char *
OpenNulls(PackedColumn *column, const char *in)
{
	int			count;

	column->nullbits = (const uint8 *) in;
	column->ranks = MakeRanks(column, column->nullbits, column->nrows, &count);
	return count == column->nrows - column->nvalues ? NULL : "null bitmap does not have the number of nulls";
}

/* Is there a way to look at single values?  There is none of front coding, nor of what is not known here. */
static bool
CanStayPacked(const DiskChunk *chunk)
{
	return chunk->encoding <= ENCODING_DICT || chunk->encoding == ENCODING_BINARY;
}

PackedColumn *
PackedColumnRead(FileReader *reader, int block, int col, ColumnScratch *scratch,
				 MemoryContext cxt, uint64 *bytes_read)
{
	const DiskChunk *chunk = ChunkGet(reader, block, col);
	const FileColumn *filecol = &reader->cols[col];
	PackedColumn *column = MemoryContextAllocZero(cxt, sizeof(PackedColumn));
	const char *problem = NULL;
	const char *in;
	size_t		len;

	column->reader = reader;
	column->block = block;
	column->col = col;
	column->cxt = cxt;
	column->encoding = (ChunkEncoding) chunk->encoding;
	column->nrows = reader->blocks[block].nrows;
	column->nvalues = column->nrows - (int) chunk->null_count;
	column->memory = sizeof(PackedColumn);
	column->varlena = VarlenaFormOf(filecol->typalign, filecol->typstorage);
	ByteBufferInit(&column->raw, cxt);
	ByteBufferInit(&column->made, cxt);
	if (!CanStayPacked(chunk))
	{
		column->form = PACKED_DECODED;
		column->buffer = ColumnBufferCreate(cxt, scratch);
		FileReaderDecode(reader, block, col, column->buffer, &column->vector, bytes_read);
		return column;
	}

	if (column->nvalues == 0)
		return column;
	in = ChunkRead(reader, block, col, chunk, &column->raw, scratch);
	len = chunk->raw_len;
	*bytes_read += chunk->stored_len;
	if (chunk->codec == BF_COMPRESS_NONE)
		column->offset = chunk->offset;
	if (chunk->null_count > 0)
	{
		size_t		bitmap = BF_ALIGN8((column->nrows + 7) / 8);

		problem = len < bitmap ? "null bitmap is cut off" : OpenNulls(column, in);
		in += bitmap;
		len -= bitmap;
	}
	if (problem == NULL)
		problem = OpenValues(column, filecol, in, len, scratch);
	if (problem)
		FileReaderCorrupt(reader, block, col, chunk->offset, problem);
	return column;
}

void
PackedColumnFree(PackedColumn *column)
{
	ByteBufferFree(&column->raw);
	ByteBufferFree(&column->made);
	if (column->ranks)
		pfree(column->ranks);
	if (column->sums)
		pfree(column->sums);
	if (column->distinct_ranks)
		pfree(column->distinct_ranks);
	if (column->patches)
	{
		pfree(column->patch_at);
		pfree(column->patches);
	}
	if (column->offsets)
		pfree(column->offsets);
	if (column->buffer)
		ColumnBufferFree(column->buffer);
	pfree(column);
}

Size
PackedColumnMemory(const PackedColumn *column)
{
	return column->memory + column->raw.cap + column->made.cap +
		(column->buffer ? ColumnBufferMemory(column->buffer) : 0);
}

/* Is the column searched by SearchInts? */
static bool
SearchedAsInts(const PackedColumn *column)
{
	return column->form == PACKED_INT && column->encoding == ENCODING_INT && column->nullbits == NULL &&
		column->head.kind != INT_STREAM_TRIPLES && KeyClassIsFixed(column->reader->cols[column->col].keyclass);
}

bool
PackedColumnThin(PackedColumn *column, bool searched)
{
	char	   *kept;

	if (column->thin || column->offset == 0 || (column->form != PACKED_INT && column->form != PACKED_DICT) ||
		(searched && !SearchedAsInts(column)))
		return false;
	if (searched && column->sums == NULL)
	{
		int			n = column->nints;

		/* a search reads the bits of one group only */
		MakeSums(column, n);
		for (int i = 0; i < n; i += GROUP_VALUES)
			column->sums[i / GROUP_VALUES] = (int64)
				((uint64) column->head.base + IntStreamBits(column->raw.data + column->bits, i, column->head.width));
	}
	kept = MemoryContextAllocHuge(column->cxt, column->bits + BF_SLACK);
	memcpy(kept, column->raw.data, column->bits);
	if (column->nullbits != NULL)
		column->nullbits = (const uint8 *) kept;
	if (column->distinct != NULL)
		column->distinct = (const uint8 *) kept + ((const char *) column->distinct - column->raw.data);
	column->values = kept + (column->values - column->raw.data);
	pfree(column->raw.data);
	column->raw.data = kept;
	column->raw.cap = column->bits;
	column->thin = true;
	return true;
}

static inline bool
RowIsNull(const PackedColumn *column, int row)
{
	return column->nullbits != NULL && ((column->nullbits[row / 8] >> (row % 8)) & 1) != 0;
}

/* The number of a row's value among those that are there. */
static inline int
ValueOfRow(const PackedColumn *column, int row)
{
	return column->nullbits == NULL ? row : row - RankOf(column->nullbits, column->ranks, row);
}

/* The first patch of the packed bits from number "at" on. */
static inline int
FirstPatch(const PackedColumn *column, int at)
{
	int			lo = 0;
	int			hi = column->npatches;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (column->patch_at[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Packed integer number "at", of a stream of no deltas, that begins at bits with the number first. */
static inline uint64
IntAt(const PackedColumn *column, const char *bits, int first, int at)
{
	const DiskIntStream *head = &column->head;
	uint64		value = IntStreamBits(bits, at - first, head->width);

	if (column->npatches > 0)
	{
		int			patch = FirstPatch(column, at);

		if (patch < column->npatches && column->patch_at[patch] == at)
			value += column->patches[patch];
	}
	return value;
}

/* Walks over deltas from the first value of a group on. */
typedef struct DeltaWalk
{
	const char *bits;
	int			first;			/* number of the first value */
	int			at;				/* number of the value reached */
	uint64		value;
	int			patch;			/* the next one */
} DeltaWalk;

static inline void
DeltaStart(const PackedColumn *column, const char *bits, int group, DeltaWalk *walk)
{
	walk->bits = bits;
	walk->first = walk->at = group * GROUP_VALUES;
	walk->value = (uint64) column->sums[group];
	walk->patch = FirstPatch(column, walk->at);
}

static inline void
DeltaStep(const PackedColumn *column, DeltaWalk *walk)
{
	walk->value += (uint64) column->head.step +
		IntStreamBits(walk->bits, walk->at - walk->first, column->head.width);
	if (walk->patch < column->npatches && column->patch_at[walk->patch] == walk->at)
		walk->value += column->patches[walk->patch++];
	walk->at++;
}

/* The bits of a group of GROUP_VALUES integers; into room, of GROUP_BYTES, if they are left in the file. */
static const char *
GroupBits(const PackedColumn *column, int group, char *room, uint64 *bytes_read)
{
	size_t		size = (size_t) column->head.width * (GROUP_VALUES / 8);
	size_t		at = group * size;
	size_t		len;

	if (!column->thin)
		return column->raw.data + column->bits + at;
	/* a last delta has no bits; it is not asked for */
	len = at < column->nbits ? Min(size, column->nbits - at) : 0;
	memset(room + len, 0, GROUP_BYTES - len);
	if (len > 0)
		column->reader->source->read(column->reader->source, room, len, column->offset + column->bits + at);
	*bytes_read += len;
	return room;
}

/* Integers number "at" (ascending) of the values. */
static void
GatherInts(const PackedColumn *column, int n, const uint16 *at, int64 *out, uint64 *bytes_read)
{
	const DiskIntStream *head = &column->head;
	int			third = (column->nints + 2) / 3;
	char		room[GROUP_BYTES];
	const char *bits = NULL;
	int			group = -1;
	DeltaWalk	walk = {NULL};

	for (int i = 0; i < n; i++)
	{
		int			number = at[i];
		int			digit = 0;
		uint64		value;

		if (column->distinct != NULL)
			number = RankOf(column->distinct, column->distinct_ranks, number + 1) - 1;
		if (head->kind == INT_STREAM_TRIPLES)
		{
			digit = number / third;
			number %= third;
		}
		if (number / GROUP_VALUES != group)
		{
			group = number / GROUP_VALUES;
			bits = GroupBits(column, group, room, bytes_read);
			if (HeadIsDelta(head))
				DeltaStart(column, bits, group, &walk);
		}
		if (HeadIsDelta(head))
		{
			while (walk.at < number)
				DeltaStep(column, &walk);
			value = walk.value;
		}
		else
		{
			value = IntAt(column, bits, group * GROUP_VALUES, number);
			if (head->kind == INT_STREAM_TRIPLES)
			{
				for (int k = 0; k < digit; k++)
					value /= head->count;
				/* as it is decoded: the last digit is what is left */
				value = digit == 2 ? value : value % head->count;
			}
			value += (uint64) head->base;
		}
		out[i] = (int64) value;
	}
	if (column->span == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		if ((uint64) out[i] - (uint64) column->low >= column->span)
			FileReaderCorrupt(column->reader, column->block, column->col, 0,
							  column->form == PACKED_DICT ? "position is outside the dictionary" :
							  "value is outside the range of its type");
	}
}

/* Packed varlena number "at". */
static const char *
FindVarlena(const PackedColumn *column, int at)
{
	size_t		offset = column->offsets[at / VARLENA_STEP];
	const char *v = column->values + offset;

	/* all of them were looked at when the column was read */
	for (int i = at - at % VARLENA_STEP; i <= at; i++)
		v = VarlenaNext(column->values, column->len, &offset, column->varlena.align);
	return v;
}

/* Values number "at" (ascending) of the n that are there. */
static void
GatherValues(const PackedColumn *column, int n, const uint16 *at, Datum *values, ByteBuffer *made,
			 uint64 *bytes_read)
{
	const FileColumn *filecol = &column->reader->cols[column->col];

	switch (column->form)
	{
		case PACKED_INT:
			GatherInts(column, n, at, (int64 *) values, bytes_read);
			if (column->encoding == ENCODING_FLOAT)
				FloatsFromScaled((int64 *) values, n, filecol->typlen, column->scale);
			else if (column->encoding == ENCODING_BINARY)
				FloatsFromBinary((int64 *) values, n, filecol->typlen, column->scale);
			else if (column->encoding == ENCODING_NUMERIC)
				NumericsFromScaled((int64 *) values, n, column->scale, made);
			break;
		case PACKED_DICT:
			GatherInts(column, n, at, (int64 *) values, bytes_read);
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(column->values + column->offsets[values[i]]);
			break;
		case PACKED_FIXED:
			for (int i = 0; i < n; i++)
			{
				const char *v = column->values + at[i] * column->stride;

				if (!filecol->typbyval)
					values[i] = PointerGetDatum(v);
				else if (filecol->typlen == sizeof(Datum))
					memcpy(&values[i], v, sizeof(Datum));
				else
					values[i] = Int32GetDatum(*(const int32 *) v);
			}
			break;
		case PACKED_ONE:
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(column->values);
			break;
		case PACKED_VARLENA:
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(FindVarlena(column, at[i]));
			break;
		case PACKED_DECODED:
			elog(ERROR, "a decoded column has no packed values");
	}
}

bool
PackedColumnGather(const PackedColumn *column, int n, const uint16 *rows,
				   Datum *values, bool *nulls, ByteBuffer *made, uint64 *bytes_read)
{
	uint16		at[BF_GATHER_ROWS];
	int			found = 0;

	Assert(n <= BF_GATHER_ROWS);
	if (column->form == PACKED_DECODED)
	{
		const bool *isnull = column->vector.nulls;

		for (int i = 0; i < n; i++)
		{
			values[i] = column->vector.values[rows[i]];
			if (isnull != NULL)
				nulls[i] = isnull[rows[i]];
		}
		return isnull != NULL;
	}
	if (column->nvalues == 0)
	{
		memset(values, 0, n * sizeof(Datum));
		memset(nulls, true, n * sizeof(bool));
		return true;
	}
	if (column->nullbits == NULL)
	{
		if (n > 0)
			GatherValues(column, n, rows, values, made, bytes_read);
		return false;
	}
	for (int i = 0; i < n; i++)
	{
		nulls[i] = RowIsNull(column, rows[i]);
		if (!nulls[i])
			at[found++] = (uint16) ValueOfRow(column, rows[i]);
	}
	if (found > 0)
		GatherValues(column, found, at, values, made, bytes_read);
	for (int i = n - 1; i >= 0; i--)
		values[i] = nulls[i] ? (Datum) 0 : values[--found];
	return true;
}

/* The first of the integers [from, to) of the stream that is at least want, or to. */
static int
SearchStream(const PackedColumn *column, int from, int to, int64 want, uint64 *bytes_read)
{
	const DiskIntStream *head = &column->head;
	char		room[GROUP_BYTES];
	const char *bits = column->raw.data + column->bits;
	int			lo = from;
	int			hi = to;
	int			group = 0;
	DeltaWalk	walk;

	if (column->sums != NULL)
	{
		/* the last group that begins below the value */
		int			last = (to - 1) / GROUP_VALUES;

		group = from / GROUP_VALUES;
		while (group < last)
		{
			int			mid = group + (last - group + 1) / 2;

			if (column->sums[mid] < want)
				group = mid;
			else
				last = mid - 1;
		}
		bits = GroupBits(column, group, room, bytes_read);
		lo = Max(from, group * GROUP_VALUES);
		hi = Min(to, (group + 1) * GROUP_VALUES);
	}
	if (!HeadIsDelta(head))
	{
		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if ((int64) ((uint64) head->base + IntAt(column, bits, group * GROUP_VALUES, mid)) < want)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}
	DeltaStart(column, bits, group, &walk);
	while (walk.at < hi)
	{
		if (walk.at >= lo && (int64) walk.value >= want)
			return walk.at;
		if (walk.at + 1 == hi)
			break;
		DeltaStep(column, &walk);
	}
	return hi;
}

/* The value that is number "number" of those that differ from the one before. */
static int
SelectDistinct(const PackedColumn *column, int number)
{
	int			lo = 0;
	int			hi = (column->nvalues - 1) / RANK_STEP;
	uint64		word;

	/* the last step with at most so many before */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo + 1) / 2;

		if (column->distinct_ranks[mid] <= number)
			lo = mid;
		else
			hi = mid - 1;
	}
	memcpy(&word, column->distinct + lo * (RANK_STEP / 8), sizeof(word));
	for (int count = column->distinct_ranks[lo]; count < number; count++)
		word &= word - 1;
	return lo * RANK_STEP + pg_rightmost_one_pos64(word);
}

/* PackedColumnSearch of integers without nulls: the first row whose value is at least want. */
static int
SearchInts(const PackedColumn *column, int from, int to, int64 want, uint64 *bytes_read)
{
	int			first;
	int			last;
	int			found;

	if (column->distinct == NULL)
		return SearchStream(column, from, to, want, bytes_read);
	first = from == 0 ? 0 : RankOf(column->distinct, column->distinct_ranks, from + 1) - 1;
	last = to == column->nvalues ? column->nints - 1 : RankOf(column->distinct, column->distinct_ranks, to) - 1;
	found = SearchStream(column, first, last + 1, want, bytes_read);
	if (found > last)
		return to;
	return found == first ? from : SelectDistinct(column, found);
}

int
PackedColumnSearch(PackedColumn *column, int from, int to, Oid coltype,
				   Oid valuetype, Datum value, bool above, uint64 *bytes_read)
{
	KeyClass	keyclass = column->reader->cols[column->col].keyclass;
	int			lo = from;
	int			hi = to;

	if (from >= to)
		return to;
	if (SearchedAsInts(column))
	{
		int64		want = KeySort64(keyclass, valuetype, value);

		if (above && want == PG_INT64_MAX)
			return to;
		return SearchInts(column, from, to, above ? want + 1 : want, bytes_read);
	}
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		uint16		row = (uint16) mid;
		Datum		found;
		bool		isnull = false;
		int			c = 1;

		if (!PackedColumnGather(column, 1, &row, &found, &isnull, &column->made, bytes_read) || !isnull)
			c = KeyCompare(keyclass, coltype, found, valuetype, value);
		if (c < 0 || (above && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
