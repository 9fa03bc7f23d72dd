/*
 * qual_apply.c
 *	  Narrowing batches to the rows for which a qual is true.
 */
#include "postgres.h"

#include "exec/qual/int_test.h"
#include "exec/qual/like_pattern.h"
#include "exec/qual/qual_columns.h"
#include "exec/qual/qual_evaluate.h"
#include "exec/qual/qual_numeric.h"

/* a dictionary is decided as a whole where so many rows fall on an entry */
#define ROWS_PER_ENTRY	2

bool
LeafQualMayFail(const LeafQual *qual)
{
	for (int a = 0; a < qual->narms; a++)
	{
		if (LeafQualMayFail(&qual->arms[a]))
			return true;
	}
	return qual->op == LEAF_EVALUATE;
}

int
LeafQualEffort(const LeafQual *qual)
{
	int			effort = 0;

	if (qual->op == LEAF_EVALUATE)
		return 100;
	if (LeafQualIsBucket(qual))
		return 20;
	for (int a = 0; a < qual->narms; a++)
		effort += LeafQualEffort(&qual->arms[a]);
	if (LeafQualHasArms(qual))
		return Min(effort, 99);
	if (qual->op == LEAF_ISNULL || qual->op == LEAF_NOTNULL || KeyClassIsFixed(qual->keyclass))
		return qual->op == LEAF_COLUMNS ? 2 : 1;
	if (qual->keyclass == KEYCLASS_NUMERIC)
		return 3;
	return qual->op == LEAF_LIKE || qual->op == LEAF_NOT_LIKE ? 30 : 10;
}

/* Does the text begin with the bytes of the prefix? */
static inline bool
HasPrefix(Datum value, Datum prefix)
{
	const char *v = DatumGetPointer(value);
	const char *p = DatumGetPointer(prefix);
	size_t		len = VARSIZE_ANY_EXHDR(p);

	return VARSIZE_ANY_EXHDR(v) >= len && memcmp(VARDATA_ANY(v), VARDATA_ANY(p), len) == 0;
}

/* Are two texts the same bytes? */
static inline bool
SameText(Datum a, Datum b)
{
	const char *x = DatumGetPointer(a);
	const char *y = DatumGetPointer(b);
	size_t		len = VARSIZE_ANY_EXHDR(x);

	return VARSIZE_ANY_EXHDR(y) == len && memcmp(VARDATA_ANY(x), VARDATA_ANY(y), len) == 0;
}

static bool
ContainsDatum(const LeafQual *qual, Datum key)
{
	int			lo = 0;
	int			hi = qual->nvalues;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			c = KeyCompare(qual->keyclass, qual->valuetype, qual->values[mid],
								   qual->coltype, key);

		if (c == 0)
			return true;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* Does the comparison hold for a value of a class that is compared byte by byte, or a numeric? */
static inline bool
HoldsFor(const LeafQual *qual, Datum value)
{
	switch (qual->op)
	{
		case LEAF_ANY:
			return ContainsDatum(qual, value);
		case LEAF_NONE_OF:
			return !ContainsDatum(qual, value);
		case LEAF_PREFIX:
			return HasPrefix(value, qual->values[0]);
		case LEAF_NOT_PREFIX:
			return !HasPrefix(value, qual->values[0]);
		case LEAF_LIKE:
			return LikePatternMatches(qual->like, value);
		case LEAF_NOT_LIKE:
			return !LikePatternMatches(qual->like, value);
		case LEAF_EQ:
			if (qual->keyclass == KEYCLASS_TEXT)
				return SameText(value, qual->values[0]);
			break;
		case LEAF_NE:
			if (qual->keyclass == KEYCLASS_TEXT)
				return !SameText(value, qual->values[0]);
			break;
		default:
			break;
	}
	return ComparisonHolds(qual->op, KeyCompare(qual->keyclass, qual->coltype, value,
												qual->valuetype, qual->values[0]));
}

/* A column with a dictionary: each entry is decided once, at most. */
static int
KeepCoded(const LeafQual *qual, const CodedColumn *coded, const uint16 *rows, int n, uint16 *out)
{
	const uint64 *codes = coded->codes;
	const bool *nulls = coded->nulls;
	bool		holds[BF_BATCH_ROWS];
	int			kept = 0;

	if (n < coded->ndict * ROWS_PER_ENTRY)
	{
		KEEP_ROWS(HoldsFor(qual, coded->dict[codes[row]]));
		return kept;
	}
	for (int e = 0; e < coded->ndict; e++)
		holds[e] = HoldsFor(qual, coded->dict[e]);
	KEEP_ROWS(holds[codes[row]]);
	return kept;
}

static int
KeepValues(const LeafQual *qual, const Datum *values, const bool *nulls, const uint16 *rows, int n, uint16 *out)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;

		if ((nulls == NULL || !nulls[row]) && HoldsFor(qual, values[row]))
			out[kept++] = (uint16) row;
	}
	return kept;
}

/* Rows whose column is NULL, or is not. */
static int
KeepNulls(const bool *isnull, bool wanted, const uint16 *rows, int n, uint16 *out)
{
	const bool *nulls = NULL;
	int			kept = 0;

	if (isnull == NULL)
		KEEP_ROWS(!wanted);
	else
		KEEP_ROWS(isnull[row] == wanted);
	return kept;
}

/* Rows whose key columns hash to one of the wanted buckets. */
static int
KeepBuckets(const LeafQual *qual, Batch *batch, uint16 *out)
{
	const uint16 *rows = batch->selection;
	int			kept = 0;

	for (int h = 0; h < qual->nhash; h++)
		(void) BatchColumn(batch, qual->hashcols[h]);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = rows ? rows[i] : i;
		uint32		hash = 0;

		for (int h = 0; h < qual->nhash; h++)
		{
			const ColumnVector *vec = &batch->cols[qual->hashcols[h]];

			if (!(vec->nulls && vec->nulls[row]))
				hash = KeyHash(KeyClassOfType(qual->hashtypes[h]), qual->hashtypes[h],
							   vec->values[row], hash);
		}
		out[kept] = (uint16) row;
		kept += IntTestHas(&qual->test, KeyBucket(hash, qual->modulus));
	}
	return kept;
}

/* A column compared with a value, or with NULL. */
static int
KeepCompared(LeafQual *qual, Batch *batch, uint16 *out)
{
	const uint16 *rows = batch->selection;
	int			n = batch->nselected;
	const ColumnVector *vec;
	ScaledColumn scaled;
	CodedColumn coded;

	if (qual->op == LEAF_ISNULL || qual->op == LEAF_NOTNULL)
	{
		vec = BatchColumn(batch, qual->col);
		return KeepNulls(vec->nulls, qual->op == LEAF_ISNULL, rows, n, out);
	}
	if (KeyClassIsFixed(qual->keyclass))
	{
		vec = BatchColumn(batch, qual->col);
		if (qual->keyclass == KEYCLASS_FLOAT)
			return IntTestApplyFloats(&qual->test, qual->coltype, vec->values, vec->nulls, rows, n, out);
		return IntTestApply(&qual->test, (const int64 *) vec->values, vec->nulls, rows, n, out);
	}
	if (qual->keyclass == KEYCLASS_NUMERIC)
	{
		const IntTest *test = BatchScaled(batch, qual->col, &scaled) ? QualScaledTest(qual, scaled.scale) : NULL;

		if (test != NULL)
			return IntTestApply(test, scaled.values, scaled.nulls, rows, n, out);
	}
	if (BatchCoded(batch, qual->col, &coded))
		return KeepCoded(qual, &coded, rows, n, out);
	vec = BatchColumn(batch, qual->col);
	return KeepValues(qual, vec->values, vec->nulls, rows, n, out);
}

/*
 * Rows that one of the arms selects.  An arm is applied to those only that the
 * arms before it leave, as core does.
 */
static int
KeepAnyArm(LeafQual *qual, Batch *batch, uint16 *out)
{
	uint16	   *in = batch->selection;
	int			n = batch->nselected;
	uint16		rest[BF_BATCH_ROWS];
	uint16		arm[BF_BATCH_ROWS];
	bool		hit[BF_BATCH_ROWS];
	const bool *nulls = NULL;
	const uint16 *rows = in;
	int			kept = 0;

	memset(hit, false, batch->nrows * sizeof(bool));
	for (int a = 0; a < qual->narms; a++)
	{
		const uint16 *left = batch->selection;
		int			nleft = batch->nselected;
		int			nrest = 0;

		LeafQualApply(&qual->arms[a], batch, arm);
		for (int i = 0; i < batch->nselected; i++)
			hit[batch->selection ? batch->selection[i] : i] = true;
		if (batch->nselected == nleft)
			break;
		for (int i = 0; i < nleft; i++)
		{
			int			row = left ? left[i] : i;

			rest[nrest] = (uint16) row;
			nrest += !hit[row];
		}
		batch->selection = rest;
		batch->nselected = nrest;
	}
	batch->selection = in;
	KEEP_ROWS(hit[row]);
	return kept;
}

/* Rows that all arms select. */
static int
KeepAllArms(LeafQual *qual, Batch *batch, uint16 *out)
{
	for (int a = 0; a < qual->narms && batch->nselected > 0; a++)
		LeafQualApply(&qual->arms[a], batch, out);

	/* unless all rows are left */
	if (batch->selection != out && batch->nselected > 0)
	{
		for (int i = 0; i < batch->nselected; i++)
			out[i] = (uint16) (batch->selection ? batch->selection[i] : i);
	}
	return batch->nselected;
}

void
LeafQualApply(LeafQual *qual, Batch *batch, uint16 *selection)
{
	int			kept;

	if (LeafQualAlways(qual))
		return;
	if (qual->never)
		kept = 0;
	else if (LeafQualIsBucket(qual))
		kept = KeepBuckets(qual, batch, selection);
	else if (qual->op == LEAF_OR)
		kept = KeepAnyArm(qual, batch, selection);
	else if (qual->op == LEAF_AND)
		kept = KeepAllArms(qual, batch, selection);
	else if (qual->op == LEAF_EVALUATE)
		kept = QualEvaluateRows(qual, batch, selection);
	else if (qual->op == LEAF_COLUMNS)
		kept = QualColumnsRows(qual, batch, selection);
	else
		kept = KeepCompared(qual, batch, selection);
	batch->nselected = kept;
	batch->selection = selection;
}
