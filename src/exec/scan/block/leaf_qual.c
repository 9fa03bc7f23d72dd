/*
 * leaf_qual.c
 *	  Quals on whole batches, and the buckets they leave.
 */
#include "postgres.h"

#include "exec/scan/block/leaf_qual.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

/* more key combinations than this are not enumerated for pruning */
#define MAX_PRUNE_KEYS 4096

/* Copy a value; varlena is detoasted so that the kernels may look at its bytes. */
static Datum
CopyValue(Oid typid, Datum value)
{
	int16		typlen;
	bool		typbyval;

	get_typlenbyval(typid, &typlen, &typbyval);
	if (typbyval)
		return value;
	if (typlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, typbyval, typlen);
}

static void
ComputeValues64(LeafQual *qual)
{
	qual->values64 = NULL;
	if (!KeyClassIsFixed(qual->keyclass) || qual->nvalues == 0)
		return;
	qual->values64 = palloc(qual->nvalues * sizeof(int64));
	for (int i = 0; i < qual->nvalues; i++)
		qual->values64[i] = KeySort64(qual->keyclass, qual->valuetype, qual->values[i]);
}

void
LeafQualSetValue(LeafQual *qual, Datum value, bool isnull)
{
	qual->never = isnull;
	qual->nvalues = 0;
	if (isnull)
		return;
	if (qual->of_numeric)
	{
		Datum		numeric = PointerGetDatum(PG_DETOAST_DATUM(value));
		bool		exact;

		qual->never = KeyNumericBeyond(numeric, &exact) || !exact;
		if (qual->never)
			return;
		value = Int64GetDatum(KeyNumericFloor(numeric));
	}
	qual->nvalues = 1;
	qual->values = palloc(sizeof(Datum));
	qual->values[0] = CopyValue(qual->valuetype, value);
	ComputeValues64(qual);
}

static int
CompareValues(const void *a, const void *b, void *arg)
{
	const LeafQual *qual = arg;

	return KeyCompare(qual->keyclass, qual->valuetype, *(const Datum *) a,
					  qual->valuetype, *(const Datum *) b);
}

void
LeafQualSetArray(LeafQual *qual, Datum array, bool isnull)
{
	ArrayType  *arr;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	int			n = 0;
	bool		anynull;

	qual->never = isnull;
	qual->nvalues = 0;
	if (isnull)
		return;

	arr = DatumGetArrayTypePCopy(array);
	get_typlenbyvalalign(ARR_ELEMTYPE(arr), &typlen, &typbyval, &typalign);
	deconstruct_array(arr, ARR_ELEMTYPE(arr), typlen, typbyval, typalign,
					  &elems, &nulls, &nelems);
	for (int i = 0; i < nelems; i++)
	{
		if (!nulls[i])
			elems[n++] = CopyValue(qual->valuetype, elems[i]);
	}
	anynull = n < nelems;
	qual->values = elems;
	if (n > 1)
	{
		int			kept = 1;

		qsort_arg(elems, n, sizeof(Datum), CompareValues, qual);
		for (int i = 1; i < n; i++)
		{
			if (CompareValues(&elems[i], &elems[kept - 1], qual) != 0)
				elems[kept++] = elems[i];
		}
		n = kept;
	}
	qual->nvalues = n;
	qual->never = qual->op == LEAF_NONE_OF ? anynull : n == 0;
	ComputeValues64(qual);
}

/* binary search of a sorted int64 array */
static inline bool
Contains64(const int64 *values, int n, int64 key)
{
	int			lo = 0;
	int			hi = n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (values[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && values[lo] == key;
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

/*
 * One loop per operator, so that each is a tight compare-and-append without a
 * branch on the outcome.  KEY is the row's value as int64.
 */
#define SELECT_LOOP(KEY, TEST) \
	do { \
		for (int i = 0; i < nin; i++) \
		{ \
			int		row = in ? in[i] : i; \
			int64	key = (KEY); \
			out[n] = (uint16) row; \
			n += (TEST) && !(nulls && nulls[row]); \
		} \
	} while (0)

#define SELECT_BY_OP(KEY) \
	do { \
		switch (qual->op) \
		{ \
			case LEAF_EQ: SELECT_LOOP(KEY, key == want); break; \
			case LEAF_NE: SELECT_LOOP(KEY, key != want); break; \
			case LEAF_LT: SELECT_LOOP(KEY, key < want); break; \
			case LEAF_LE: SELECT_LOOP(KEY, key <= want); break; \
			case LEAF_GT: SELECT_LOOP(KEY, key > want); break; \
			case LEAF_GE: SELECT_LOOP(KEY, key >= want); break; \
			case LEAF_ANY: \
				SELECT_LOOP(KEY, Contains64(qual->values64, qual->nvalues, key)); \
				break; \
			case LEAF_NONE_OF: \
				SELECT_LOOP(KEY, !Contains64(qual->values64, qual->nvalues, key)); \
				break; \
			default: elog(ERROR, "unexpected batch qual operator %d", (int) qual->op); \
		} \
	} while (0)

/* Does the text begin with the bytes of the prefix? */
static inline bool
HasPrefix(Datum value, Datum prefix)
{
	const char *v = DatumGetPointer(value);
	const char *p = DatumGetPointer(prefix);
	size_t		len = VARSIZE_ANY_EXHDR(p);

	return VARSIZE_ANY_EXHDR(v) >= len && memcmp(VARDATA_ANY(v), VARDATA_ANY(p), len) == 0;
}

/* Does a comparison result satisfy the operator? */
static inline bool
OpHolds(LeafQualOp op, int c)
{
	switch (op)
	{
		case LEAF_EQ:
			return c == 0;
		case LEAF_NE:
			return c != 0;
		case LEAF_LT:
			return c < 0;
		case LEAF_LE:
			return c <= 0;
		case LEAF_GT:
			return c > 0;
		case LEAF_GE:
			return c >= 0;
		default:
			elog(ERROR, "unexpected batch qual operator %d", (int) op);
			return false;
	}
}

/* Rows whose key columns hash to one of the wanted buckets. */
static void
ApplyBucketId(const LeafQual *qual, Batch *batch, uint16 *out)
{
	const uint16 *in = batch->selection;
	int			n = 0;

	for (int h = 0; h < qual->nhash; h++)
		(void) BatchColumn(batch, qual->hashcols[h]);
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = in ? in[i] : i;
		uint32		hash = 0;

		for (int h = 0; h < qual->nhash; h++)
		{
			const ColumnVector *vec = &batch->cols[qual->hashcols[h]];

			if (!(vec->nulls && vec->nulls[row]))
				hash = KeyHash(KeyClassOfType(qual->hashtypes[h]), qual->hashtypes[h],
							   vec->values[row], hash);
		}
		out[n] = (uint16) row;
		n += Contains64(qual->values64, qual->nvalues, KeyBucket(hash, qual->modulus));
	}
	batch->nselected = n;
	batch->selection = out;
}

bool
LeafQualSaysBucket(const LeafQual *qual, const BucketSpec *spec)
{
	if (!LeafQualIsBucket(qual) || spec->nkeys != qual->nhash ||
		spec->nbuckets % qual->modulus != 0 || !BucketSpecHashKnown(spec))
		return false;
	for (int k = 0; k < spec->nkeys; k++)
	{
		if (spec->sort[k].attnum != qual->hashattnums[k])
			return false;
	}
	return true;
}

int
LeafQualOfBucket(const LeafQual *qual, const BucketSpec *spec, int bucket)
{
	if (!LeafQualSaysBucket(qual, spec))
		return -1;
	return !qual->never &&
		Contains64(qual->values64, qual->nvalues, bucket % qual->modulus) ? 1 : 0;
}

/* Rows that one of the arms selects. */
static void
ApplyOr(const LeafQual *qual, Batch *batch, uint16 *out)
{
	uint16	   *in = batch->selection;
	int			nin = batch->nselected;
	uint16		arm[BF_BATCH_ROWS];
	bool		hit[BF_BATCH_ROWS];
	int			n = 0;

	memset(hit, false, batch->nrows * sizeof(bool));
	for (int a = 0; a < qual->narms; a++)
	{
		LeafQualApply(&qual->arms[a], batch, qual->armcols[a], arm);
		for (int i = 0; i < batch->nselected; i++)
			hit[batch->selection ? batch->selection[i] : i] = true;
		batch->selection = in;
		batch->nselected = nin;
	}
	for (int i = 0; i < nin; i++)
	{
		int			row = in ? in[i] : i;

		out[n] = (uint16) row;
		n += hit[row];
	}
	batch->nselected = n;
	batch->selection = out;
}

void
LeafQualApply(const LeafQual *qual, Batch *batch, int col, uint16 *selection)
{
	const uint16 *in = batch->selection;
	int			nin = batch->nselected;
	uint16	   *out = selection;
	int			n = 0;
	ColumnVector *vec;
	const bool *nulls;

	if (qual->never)
	{
		batch->nselected = 0;
		return;
	}
	if (LeafQualAlways(qual))
		return;
	if (LeafQualIsBucket(qual))
	{
		ApplyBucketId(qual, batch, selection);
		return;
	}
	if (qual->op == LEAF_OR)
	{
		ApplyOr(qual, batch, selection);
		return;
	}
	vec = BatchColumn(batch, col);
	nulls = vec->nulls;
	if (qual->op == LEAF_ISNULL || qual->op == LEAF_NOTNULL)
	{
		bool		wantnull = (qual->op == LEAF_ISNULL);

		for (int i = 0; i < nin; i++)
		{
			int			row = in ? in[i] : i;

			out[n] = (uint16) row;
			n += ((nulls && nulls[row]) == wantnull);
		}
	}
	else if (KeyClassIsFixed(qual->keyclass))
	{
		const Datum *values = vec->values;
		int64		want = qual->values64[0];

		if (qual->keyclass == KEYCLASS_FLOAT)
			SELECT_BY_OP(KeySort64(qual->keyclass, qual->coltype, values[row]));
		else
			SELECT_BY_OP((int64) values[row]);
	}
	else
	{
		for (int i = 0; i < nin; i++)
		{
			int			row = in ? in[i] : i;
			bool		match;

			if (nulls && nulls[row])
				continue;
			if (qual->op == LEAF_ANY || qual->op == LEAF_NONE_OF)
				match = ContainsDatum(qual, vec->values[row]) == (qual->op == LEAF_ANY);
			else if (qual->op == LEAF_PREFIX)
				match = HasPrefix(vec->values[row], qual->values[0]);
			else
				match = OpHolds(qual->op,
								KeyCompare(qual->keyclass, qual->coltype, vec->values[row],
										   qual->valuetype, qual->values[0]));
			if (match)
				out[n++] = (uint16) row;
		}
	}
	batch->nselected = n;
	batch->selection = selection;
}

/* The qual that pins a column to a few values (or to NULL), if there is one. */
static const LeafQual *
FindPin(AttrNumber attnum, KeyClass keyclass, int nquals, const LeafQual *quals)
{
	const LeafQual *best = NULL;

	for (int i = 0; i < nquals; i++)
	{
		const LeafQual *q = &quals[i];

		if (q->attnum != attnum)
			continue;
		if (q->op == LEAF_ISNULL)
			return q;
		if ((q->op == LEAF_EQ || q->op == LEAF_ANY) && q->keyclass == keyclass &&
			(best == NULL || q->nvalues < best->nvalues))
			best = q;
	}
	return best;
}

/* Buckets that values of the key columns leave, or NULL. */
static uint8 *
PinnedBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals)
{
	const LeafQual **pins = palloc(spec->nkeys * sizeof(LeafQual *));
	int		   *counter = palloc0(spec->nkeys * sizeof(int));
	int64		combinations = 1;
	uint8	   *bits;

	for (int k = 0; k < spec->nkeys; k++)
	{
		pins[k] = FindPin(spec->sort[k].attnum, spec->sort[k].keyclass, nquals, quals);
		if (pins[k] != NULL && pins[k]->op != LEAF_ISNULL)
			combinations *= pins[k]->nvalues;
		if (pins[k] == NULL || combinations > MAX_PRUNE_KEYS)
		{
			pfree(pins);
			pfree(counter);
			return NULL;
		}
	}

	bits = palloc0((spec->nbuckets + 7) / 8);
	for (;;)
	{
		uint32		hash = 0;
		int			bucket;
		int			k;

		for (k = 0; k < spec->nkeys; k++)
		{
			if (pins[k]->op != LEAF_ISNULL)
				hash = KeyHash(spec->sort[k].keyclass, pins[k]->valuetype,
							   pins[k]->values[counter[k]], hash);
		}
		bucket = KeyBucket(hash, spec->nbuckets);
		bits[bucket / 8] |= (uint8) (1 << (bucket % 8));

		/* next combination */
		for (k = 0; k < spec->nkeys; k++)
		{
			if (pins[k]->op != LEAF_ISNULL && ++counter[k] < pins[k]->nvalues)
				break;
			counter[k] = 0;
		}
		if (k == spec->nkeys)
			break;
	}
	pfree(pins);
	pfree(counter);
	return bits;
}

uint8 *
LeafQualsBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals)
{
	Size		size = (spec->nbuckets + 7) / 8;
	uint8	   *bits;

	for (int i = 0; i < nquals; i++)
	{
		/* a NULL comparison value: no row, hence no bucket, qualifies */
		if (quals[i].never)
			return palloc0(size);
	}
	bits = BucketSpecHashKnown(spec) ? PinnedBuckets(spec, nquals, quals) : NULL;
	for (int i = 0; i < nquals; i++)
	{
		if (!LeafQualSaysBucket(&quals[i], spec))
			continue;
		if (bits == NULL)
		{
			bits = palloc(size);
			memset(bits, 0xff, size);
		}
		for (int b = 0; b < spec->nbuckets; b++)
		{
			if (LeafQualOfBucket(&quals[i], spec, b) == 0)
				bits[b / 8] &= (uint8) ~(1 << (b % 8));
		}
	}
	return bits;
}
