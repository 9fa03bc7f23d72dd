/*
 * key_cut.c
 *	  On which side of a cut are blocks and rows?
 */
#include "postgres.h"

#include "exec/unit/key_cut.h"

/*
 * Compare a key tuple of a footer with a key.  *unsure is set when the tuple
 * holds the beginning of a longer value and that does not decide.
 */
static int
CompareTuple(const BucketSpec *spec, const StatValue *tuple, const KeyBound *key, bool *unsure)
{
	for (int k = 0; k < key->nkeys; k++)
	{
		int			c;

		if (tuple[k].isnull)
			return 1;
		c = KeyCompareAcross(spec->sort[k].keyclass, spec->sort[k].typid, tuple[k].value,
							 key->classes[k], key->types[k], key->values[k]);
		/* what is longer is not less */
		if (c > 0)
			return c;
		if (tuple[k].truncated)
		{
			struct varlena *have = (struct varlena *) DatumGetPointer(tuple[k].value);
			struct varlena *want = (struct varlena *) DatumGetPointer(key->values[k]);

			if (c < 0 && memcmp(VARDATA_ANY(have), VARDATA_ANY(want),
								Min(VARSIZE_ANY_EXHDR(have), VARSIZE_ANY_EXHDR(want))) < 0)
				return c;
			*unsure = true;
			return 0;
		}
		if (c < 0)
			return c;
	}
	return 0;
}

bool
BlockBeforeCut(const BucketSpec *spec, const FileBlock *block, const KeyCut *cut)
{
	bool		unsure = false;
	int			c;

	if (cut->kind == CUT_BEFORE_NULLS)
		return !block->last[0].isnull;
	c = CompareTuple(spec, block->last, &cut->key, &unsure);
	return !unsure && (c < 0 || (c == 0 && cut->kind == CUT_AFTER_KEY));
}

bool
BlockAfterCut(const BucketSpec *spec, const FileBlock *block, const KeyCut *cut)
{
	bool		unsure = false;
	int			c;

	if (cut->kind == CUT_BEFORE_NULLS)
		return block->first[0].isnull;
	c = CompareTuple(spec, block->first, &cut->key, &unsure);
	return !unsure && (c > 0 || (c == 0 && cut->kind == CUT_BEFORE_KEY));
}

/* Is a row of a batch before the cut? */
static bool
RowBeforeCut(const BucketSpec *spec, Batch *batch, const int *cols, int row, const KeyCut *cut)
{
	if (cut->kind == CUT_BEFORE_NULLS)
	{
		const bool *nulls = BatchColumn(batch, cols[0])->nulls;

		return nulls == NULL || !nulls[row];
	}
	for (int k = 0; k < cut->key.nkeys; k++)
	{
		const ColumnVector *vec = BatchColumn(batch, cols[k]);
		int			c;

		if (vec->nulls && vec->nulls[row])
			return false;
		c = KeyCompareAcross(spec->sort[k].keyclass, spec->sort[k].typid, vec->values[row],
							 cut->key.classes[k], cut->key.types[k], cut->key.values[k]);
		if (c != 0)
			return c < 0;
	}
	return cut->kind == CUT_AFTER_KEY;
}

int
RowAfterCut(const BucketSpec *spec, Batch *batch, const int *cols, const KeyCut *cut)
{
	int			lo = 0;
	int			hi = batch->nrows;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (RowBeforeCut(spec, batch, cols, mid, cut))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
