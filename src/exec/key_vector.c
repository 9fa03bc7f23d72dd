/*
 * key_vector.c
 *	  Keys of a batch prepared for merging.
 */
#include "postgres.h"

#include "exec/key_vector.h"
#include "port/pg_bswap.h"

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
	kv->exact = (nkeys == 1 && KeyClassIsFixed(classes[0]));
	kv->row_buffer = palloc(BF_BATCH_ROWS * sizeof(uint16));
	kv->k64_buffer = palloc(BF_BATCH_ROWS * sizeof(int64));
	kv->null_buffer = palloc(BF_BATCH_ROWS * sizeof(bool));
}

bool
KeyVectorCanPack(const KeyVector *kv)
{
	for (int k = 0; k < kv->nkeys; k++)
	{
		Oid			typid = kv->types[k];

		if (typid != INT4OID && typid != INT2OID && typid != DATEOID && typid != BOOLOID)
			return false;
	}
	return kv->nkeys == 2;
}

void
KeyVectorPack(KeyVector *kv)
{
	kv->packed = true;
	kv->exact = true;
}

/* Images of two keys in one; NULL is above all values. */
static void
FillPacked(KeyVector *kv, const ColumnVector *high, const ColumnVector *low)
{
	for (int i = 0; i < kv->n; i++)
	{
		int			row = KeyVectorRow(kv, i);
		uint64		image = ((uint64) high->values[row] << 32) |
			((uint32) low->values[row] ^ (uint32) PG_INT32_MIN);

		if (kv->entry_null && kv->entry_null[i])
		{
			if (high->nulls && high->nulls[row])
				image = (uint64) KEY64_NULL;
			else
				image |= PG_UINT32_MAX;
		}
		kv->k64_buffer[i] = (int64) image;
	}
	kv->k64 = kv->k64_buffer;
}

/* The first eight bytes as a big-endian number, as if padded with zeros. */
static inline int64
BytesImage(const unsigned char *data, size_t len)
{
	uint64		word = 0;

	memcpy(&word, data, Min(len, sizeof(word)));
	word = pg_bswap64(word);
	/* to signed order */
	return (int64) (word ^ (UINT64CONST(1) << 63));
}

int64
KeyImage64(KeyClass keyclass, Oid typid, Datum value)
{
	switch (keyclass)
	{
		case KEYCLASS_TEXT:
		case KEYCLASS_BYTEA:
		case KEYCLASS_BPCHAR:
			{
				struct varlena *v = (struct varlena *) DatumGetPointer(value);
				const unsigned char *data = (const unsigned char *) VARDATA_ANY(v);
				size_t		len = VARSIZE_ANY_EXHDR(v);

				if (keyclass == KEYCLASS_BPCHAR)
				{
					while (len > 0 && data[len - 1] == ' ')
						len--;
				}
				return BytesImage(data, len);
			}
		case KEYCLASS_UUID:
			return BytesImage((const unsigned char *) DatumGetPointer(value), 16);
		case KEYCLASS_NUMERIC:
			/* no cheap monotone image: every comparison is a full one */
			return 0;
		default:
			return KeySort64(keyclass, typid, value);
	}
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
	return KeyImage64(kv->classes[0], kv->types[0], vec->values[row]);
}

void
KeyVectorFill(KeyVector *kv, Batch *batch, bool keep_nulls)
{
	ColumnVector *first = BatchColumn(batch, kv->cols[0]);
	bool		anynulls = false;
	KeyClass	keyclass = kv->classes[0];
	bool		direct = KeyClassIsFixed(keyclass) && keyclass != KEYCLASS_FLOAT;

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

	if (kv->packed)
	{
		FillPacked(kv, first, BatchColumn(batch, kv->cols[1]));
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
		c = KeyCompare(a->classes[k], a->types[k], av->values[arow],
					   b->types[k], bv->values[brow]);
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
		c = KeyCompare(kv->classes[k], kv->types[k], vec->values[row],
					   bound->types[k], bound->values[k]);
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
