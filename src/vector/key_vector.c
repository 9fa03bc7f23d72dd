/*
 * key_vector.c
 *	  Keys of a batch prepared for merging.
 */
#include "postgres.h"

#include "spec/key_image.h"
#include "vector/key_vector.h"

void
KeyVectorInit(KeyVector *kv, int nkeys, const int *cols,
			  const KeyClass *classes, const Oid *types)
{
	memset(kv, 0, sizeof(*kv));
	kv->nkeys = nkeys;
	kv->cols = palloc(nkeys * sizeof(int));
	kv->classes = palloc(nkeys * sizeof(KeyClass));
	kv->types = palloc(nkeys * sizeof(Oid));
	memcpy(kv->cols, cols, nkeys * sizeof(int));
	memcpy(kv->classes, classes, nkeys * sizeof(KeyClass));
	memcpy(kv->types, types, nkeys * sizeof(Oid));
	kv->decides = (nkeys == 1 && KeyClassIsFixed(classes[0]));
	kv->row_buffer = palloc(BF_BATCH_ROWS * sizeof(uint16));
	kv->k64_buffer = palloc(BF_BATCH_ROWS * sizeof(int64));
	kv->null_buffer = palloc(BF_BATCH_ROWS * sizeof(bool));
}

/* Is a key of this class a number that is its own image? */
static inline bool
IsInteger(KeyClass keyclass)
{
	return KeyClassIsFixed(keyclass) && keyclass != KEYCLASS_FLOAT;
}

/* Bits for a key that shares an image; more of them than that are rarely used. */
static int
PackedBits(Oid typid)
{
	switch (typid)
	{
		case BOOLOID:
			return 2;
		case INT2OID:
			return 16;
		case DATEOID:
			return 24;
		default:
			return 32;
	}
}

static bool
IsSmall(Oid typid)
{
	return typid == INT4OID || typid == INT2OID || typid == DATEOID || typid == BOOLOID;
}

void
KeyVectorsAlign(KeyVector *a, KeyVector *b)
{
	/* integers with numerics: the image of a numeric is an integer too */
	a->floors = b->floors = a->classes[0] != b->classes[0];
	if (a->nkeys < 2 || a->classes[0] != b->classes[0] || a->classes[1] != b->classes[1])
		return;
	if (!IsInteger(a->classes[0]) || !IsInteger(a->classes[1]))
		return;
	a->always_packed = IsSmall(a->types[0]) && IsSmall(b->types[0]) &&
		IsSmall(a->types[1]) && IsSmall(b->types[1]);
	a->low_bits = a->always_packed ? 32 : Max(PackedBits(a->types[1]), PackedBits(b->types[1]));
	b->always_packed = a->always_packed;
	b->low_bits = a->low_bits;
}

/* Do the first two keys of all entries fit into one image? */
static bool
CanPack(const KeyVector *kv)
{
	const ColumnVector *high;
	const ColumnVector *low;
	uint64		high_half;
	uint64		low_half;
	uint64		all_high = 0;
	uint64		all_low = 0;

	if (kv->low_bits == 0 || kv->always_packed)
		return kv->always_packed;
	high = &kv->batch->cols[kv->cols[0]];
	low = &kv->batch->cols[kv->cols[1]];
	high_half = UINT64CONST(1) << (63 - kv->low_bits);
	low_half = UINT64CONST(1) << (kv->low_bits - 1);
	/* NULLs are zero in vectors */
	for (int i = 0; i < kv->n; i++)
	{
		int			row = KeyVectorRow(kv, i);

		all_high |= (uint64) high->values[row] + high_half;
		all_low |= (uint64) low->values[row] + low_half;
	}
	return all_high < 2 * high_half && all_low < 2 * low_half;
}

/* Images of the first two keys in one; NULL is above all values. */
static void
FillPacked(KeyVector *kv)
{
	const ColumnVector *high = &kv->batch->cols[kv->cols[0]];
	const ColumnVector *low = &kv->batch->cols[kv->cols[1]];
	const int	low_bits = kv->low_bits;
	const uint64 low_half = UINT64CONST(1) << (low_bits - 1);

	for (int i = 0; i < kv->n; i++)
	{
		int			row = KeyVectorRow(kv, i);
		uint64		image = ((uint64) high->values[row] << low_bits) |
			(((uint64) low->values[row] + low_half) & (2 * low_half - 1));

		if (kv->entry_null && kv->entry_null[i])
		{
			if (high->nulls && high->nulls[row])
				image = (uint64) KEY64_NULL;
			else if (low->nulls && low->nulls[row])
				image |= 2 * low_half - 1;
		}
		kv->k64_buffer[i] = (int64) image;
	}
	kv->k64 = kv->k64_buffer;
	kv->exact = kv->nkeys == 2;
}

int64
KeyBoundImage(const KeyBound *bound, KeyClass keyclass)
{
	if (bound->classes[0] != keyclass)
	{
		/* of the classes that meet, only integers decide alone */
		Assert(keyclass == KEYCLASS_INT && bound->classes[0] == KEYCLASS_NUMERIC);
		return KeyNumericFloor(bound->values[0]);
	}
	return KeyImage64(keyclass, bound->types[0], bound->values[0]);
}

/*
 * Images of texts from entry "from" on, without their first skip bytes.
 * Texts hold no zero bytes: what is as short as an image is told by it.
 */
static void
FillTextual(KeyVector *kv, const ColumnVector *vec, int from)
{
	const KeyClass keyclass = kv->classes[0];
	const size_t skip = kv->skip;
	size_t		longest = 0;

	for (int i = from; i < kv->n; i++)
	{
		int			row = KeyVectorRow(kv, i);
		size_t		len;
		const unsigned char *data;

		if (vec->nulls && vec->nulls[row])
		{
			kv->k64_buffer[i] = KEY64_NULL;
			continue;
		}
		data = KeyTextBytes(keyclass, vec->values[row], &len);
		kv->k64_buffer[i] = len > skip ? BytesImage(data + skip, len - skip) : PG_INT64_MIN;
		longest = Max(longest, len);
	}
	kv->exact = kv->nkeys == 1 && keyclass != KEYCLASS_BYTEA && longest <= skip + sizeof(int64);
	kv->k64 = kv->k64_buffer;
}

/*
 * In an all-ones image a non-null key could meet the image of NULL; that is
 * fine, a tie leads to the full comparison.
 */
static inline int64
EntryImage(const KeyVector *kv, const ColumnVector *vec, int row)
{
	if (vec->nulls && vec->nulls[row])
		return KEY64_NULL;
	if (kv->floors && kv->classes[0] == KEYCLASS_NUMERIC)
		return KeyNumericFloor(vec->values[row]);
	return KeyImage64(kv->classes[0], kv->types[0], vec->values[row]);
}

/* Find the entries of a batch. */
static void
FindEntries(KeyVector *kv, Batch *batch, bool keep_nulls)
{
	bool		anynulls = false;

	kv->batch = batch;
	kv->entry_null = NULL;
	for (int k = 0; k < kv->nkeys; k++)
	{
		if (BatchColumn(batch, kv->cols[k])->nulls != NULL)
			anynulls = true;
	}

	if (!anynulls)
	{
		kv->n = batch->nselected;
		kv->rows = batch->selection;
	}
	else
	{
		int			n = 0;
		bool		kept = false;

		for (int i = 0; i < batch->nselected; i++)
		{
			int			row = batch->selection ? batch->selection[i] : i;
			bool		isnull = false;

			for (int k = 0; k < kv->nkeys; k++)
			{
				const bool *nulls = batch->cols[kv->cols[k]].nulls;

				isnull |= (nulls && nulls[row]);
			}
			kv->row_buffer[n] = (uint16) row;
			kv->null_buffer[n] = isnull;
			n += !isnull || keep_nulls;
			kept |= isnull && keep_nulls;
		}
		kv->n = n;
		kv->rows = kv->row_buffer;
		if (kept)
			kv->entry_null = kv->null_buffer;
	}
}

static void
MakeImages(KeyVector *kv)
{
	Batch	   *batch = kv->batch;
	ColumnVector *first = &batch->cols[kv->cols[0]];
	KeyClass	keyclass = kv->classes[0];
	bool		direct = IsInteger(keyclass);

	kv->exact = kv->decides;
	if (kv->packed)
	{
		FillPacked(kv);
		return;
	}
	if (IsTextual(keyclass))
	{
		FillTextual(kv, first, 0);
		return;
	}
	/* integers are their own image: no copy where the vector can serve */
	if (direct && kv->rows == NULL && first->nulls == NULL)
	{
		kv->k64 = (const int64 *) first->values;
		return;
	}
	if (direct && first->nulls == NULL)
	{
		for (int i = 0; i < kv->n; i++)
			kv->k64_buffer[i] = (int64) first->values[kv->rows[i]];
	}
	else
	{
		for (int i = 0; i < kv->n; i++)
			kv->k64_buffer[i] = EntryImage(kv, first, KeyVectorRow(kv, i));
	}
	kv->k64 = kv->k64_buffer;
}

void
KeyVectorFill(KeyVector *kv, Batch *batch, bool keep_nulls)
{
	kv->skip = 0;
	kv->packed = false;
	FindEntries(kv, batch, keep_nulls);
	MakeImages(kv);
}

/* How many first bytes do the texts of two entries share, limit at most? */
static int
SharedBytes(const KeyVector *a, int i, const KeyVector *b, int j, int limit)
{
	size_t		alen;
	size_t		blen;
	const unsigned char *adata = KeyTextBytes(a->classes[0], a->batch->cols[a->cols[0]].values[KeyVectorRow(a, i)], &alen);
	const unsigned char *bdata = KeyTextBytes(b->classes[0], b->batch->cols[b->cols[0]].values[KeyVectorRow(b, j)], &blen);
	int			n = (int) Min(Min(alen, blen), (size_t) limit);
	int			shared = 0;

	while (shared < n && adata[shared] == bdata[shared])
		shared++;
	return shared;
}

/* The last entry whose first key is not NULL, or -1. */
static int
LastEntry(const KeyVector *kv)
{
	const bool *nulls = kv->batch->cols[kv->cols[0]].nulls;
	int			last = kv->n - 1;

	while (nulls != NULL && last >= 0 && nulls[KeyVectorRow(kv, last)])
		last--;
	return last;
}

/* KeyVectorFillBeside where the first key is no text. */
static bool
FillPackedBeside(KeyVector *kv, KeyVector *other, int other_pos)
{
	int			other_left = other->n - other_pos;

	kv->skip = 0;
	kv->fits = CanPack(kv);
	kv->packed = kv->fits;
	/* a little batch is not worth much work on the other one */
	if (other_left > 0 && !other->packed)
		kv->packed = kv->fits && other->fits && kv->n >= other_left / 4;
	MakeImages(kv);
	if (other_left <= 0 || other->packed == kv->packed)
		return false;
	other->packed = kv->packed;
	MakeImages(other);
	return true;
}

bool
KeyVectorFillBeside(KeyVector *kv, Batch *batch, bool keep_nulls, KeyVector *other, int other_pos)
{
	int			last;
	int			other_last = -1;
	int			skip = 0;

	FindEntries(kv, batch, keep_nulls);
	if (!IsTextual(kv->classes[0]))
		return FillPackedBeside(kv, other, other_pos);
	last = LastEntry(kv);
	if (other_pos < other->n)
		other_last = LastEntry(other);

	/* texts are sorted: what the first and the last one share is in all */
	if (last >= 0)
	{
		skip = SharedBytes(kv, 0, kv, last, PG_INT32_MAX);
		if (other_last >= other_pos)
		{
			skip = SharedBytes(kv, 0, other, other_pos, skip);
			skip = SharedBytes(kv, 0, other, other_last, skip);
		}
	}
	else if (other_pos < other->n)
		skip = other->skip;

	/* a little batch is not worth much work on the other one */
	if (other_pos < other->n && skip > other->skip && kv->n < (other->n - other_pos) / 4)
		skip = other->skip;
	kv->skip = skip;
	MakeImages(kv);
	if (other_pos >= other->n || skip == other->skip)
		return false;
	other->skip = skip;
	FillTextual(other, &other->batch->cols[other->cols[0]], other_pos);
	return true;
}

/* Are two non-null values, of the same class or of two that meet, equal? */
static inline bool
ValuesEqual(KeyClass keyclass, Oid atype, Datum a, KeyClass bclass, Oid btype, Datum b)
{
	if (keyclass != bclass)
		return KeyCompareAcross(keyclass, atype, a, bclass, btype, b) == 0;
	if (keyclass == KEYCLASS_TEXT || keyclass == KEYCLASS_BYTEA)
	{
		const struct varlena *v = (const struct varlena *) DatumGetPointer(a);
		const struct varlena *w = (const struct varlena *) DatumGetPointer(b);
		size_t		len = VARSIZE_ANY_EXHDR(v);

		return len == VARSIZE_ANY_EXHDR(w) && memcmp(VARDATA_ANY(v), VARDATA_ANY(w), len) == 0;
	}
	if (KeyClassIsFixed(keyclass))
		return KeySort64(keyclass, atype, a) == KeySort64(keyclass, btype, b);
	return KeyCompare(keyclass, atype, a, btype, b) == 0;
}

int
KeyVectorKeepEqual(const KeyVector *a, uint16 *arows, const KeyVector *b, uint16 *brows, int n)
{
	for (int k = 0; k < a->nkeys; k++)
	{
		const Datum *avalues = a->batch->cols[a->cols[k]].values;
		const Datum *bvalues = b->batch->cols[b->cols[k]].values;
		int			kept = 0;

		for (int i = 0; i < n; i++)
		{
			arows[kept] = arows[i];
			brows[kept] = brows[i];
			kept += ValuesEqual(a->classes[k], a->types[k], avalues[arows[i]],
								b->classes[k], b->types[k], bvalues[brows[i]]);
		}
		n = kept;
	}
	return n;
}

int
KeyVectorCompareFlags(const KeyVector *a, int i, const KeyVector *b, int j, const uint8 *flags)
{
	int			arow = KeyVectorRow(a, i);
	int			brow = KeyVectorRow(b, j);

	for (int k = 0; k < a->nkeys; k++)
	{
		const ColumnVector *av = &a->batch->cols[a->cols[k]];
		const ColumnVector *bv = &b->batch->cols[b->cols[k]];
		bool		anull = av->nulls && av->nulls[arow];
		bool		bnull = bv->nulls && bv->nulls[brow];
		int			c;

		if (anull && bnull)
			continue;
		if (anull || bnull)
			return (anull == (flags && (flags[k] & BF_SORT_NULLS_FIRST))) ? -1 : 1;
		c = KeyCompareAcross(a->classes[k], a->types[k], av->values[arow],
							 b->classes[k], b->types[k], bv->values[brow]);
		if (c != 0)
			return (c < 0) == !(flags && (flags[k] & BF_SORT_DESC)) ? -1 : 1;
	}
	return 0;
}

int
KeyVectorCompareFull(const KeyVector *a, int i, const KeyVector *b, int j)
{
	return KeyVectorCompareFlags(a, i, b, j, NULL);
}

int
KeyVectorCompareBound(const KeyVector *kv, int entry, const KeyBound *bound)
{
	int			row = KeyVectorRow(kv, entry);

	for (int k = 0; k < bound->nkeys; k++)
	{
		const ColumnVector *vec = &kv->batch->cols[kv->cols[k]];
		int			c;

		if (vec->nulls && vec->nulls[row])
			return 1;
		c = KeyCompareAcross(kv->classes[k], kv->types[k], vec->values[row],
							 bound->classes[k], bound->types[k], bound->values[k]);
		if (c != 0)
			return c;
	}
	return 0;
}

int
KeyVectorLowerBound(const KeyVector *kv, int from, const KeyBound *bound)
{
	int			lo = from;
	int			hi = kv->n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (KeyVectorCompareBound(kv, mid, bound) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
