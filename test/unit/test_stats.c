/*
 * test_stats.c
 *	  Counting distinct values, and column statistics as bytes and back.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "format/stats/column_summary.h"
#include "format_data.h"
#include "pg_shim.h"
#include "utils/memutils.h"

static uint32
random_hash(void)
{
	return (uint32) (DataRandom() >> 16);
}

/* Add n different values, each "times" times, to one of two sketches. */
static void
check_sketch(int n, int times)
{
	ColumnSketch whole;
	ColumnSketch parts[2];
	ColumnSketch merged;
	uint32	   *values = palloc(n * sizeof(uint32));
	uint32		hashes[SKETCH_HASHES];
	uint32		hashes2[SKETCH_HASHES];
	uint64		below;
	uint64		below2;
	int			count;
	int			count2;
	double		estimate;

	ColumnSketchInit(&whole);
	ColumnSketchInit(&parts[0]);
	ColumnSketchInit(&parts[1]);
	ColumnSketchInit(&merged);
	for (int i = 0; i < n; i++)
		values[i] = random_hash();
	for (int t = 0; t < times; t++)
	{
		for (int i = 0; i < n; i++)
		{
			ColumnSketchMerge(&whole, &values[i], 1, UINT64CONST(1) << 32);
			/* some values are in both parts */
			ColumnSketchMerge(&parts[i % 2], &values[i], 1, UINT64CONST(1) << 32);
			if (i % 3 == 0)
				ColumnSketchMerge(&parts[1 - i % 2], &values[i], 1, UINT64CONST(1) << 32);
		}
	}
	count = ColumnSketchRead(&whole, SKETCH_HASHES, hashes, &below);
	estimate = ColumnSketchDistinct(count, below);
	if (n <= SKETCH_HASHES)
		ShimOk(estimate == n, "%d values, %d times: exact", n, times);
	else
		ShimOk(estimate > n * 0.7 && estimate < n * 1.3, "%d values, %d times: about %.0f", n, times, estimate);

	for (int p = 0; p < 2; p++)
	{
		count2 = ColumnSketchRead(&parts[p], SKETCH_HASHES, hashes2, &below2);
		ColumnSketchMerge(&merged, hashes2, count2, below2);
	}
	count2 = ColumnSketchRead(&merged, SKETCH_HASHES, hashes2, &below2);
	estimate = ColumnSketchDistinct(count2, below2);
	ShimOk(estimate > n * 0.7 && estimate < n * 1.3, "%d values in two sketches: about %.0f", n, estimate);
	ShimOk(memcmp(hashes, hashes2, Min(count, count2) * sizeof(uint32)) == 0, "the same hashes");

	/* fewer hashes estimate the same, less exactly */
	count2 = ColumnSketchRead(&whole, 32, hashes2, &below2);
	estimate = ColumnSketchDistinct(count2, below2);
	ShimOk(count2 <= 32 && estimate > n * 0.4 && estimate < n * 1.9, "32 hashes of %d values: about %.0f", n, estimate);
	pfree(values);
}

static void
fill_summary(ColumnSummary *summary, AttrNumber attnum, Oid typid)
{
	memset(summary, 0, sizeof(*summary));
	summary->attnum = attnum;
	summary->keyclass = KeyClassOfType(typid);
	summary->nulls = 5 * attnum;
	summary->values = 1000 + attnum;
	summary->bytes = 4000;
	summary->nhashes = 20 * attnum % SKETCH_HASHES;
	for (int i = 0; i < summary->nhashes; i++)
		summary->hashes[i] = 7 * i + attnum;
	summary->below = UINT64CONST(1) << 32;
	if (attnum % 2 == 0 && summary->nhashes > 0)
		summary->below = (uint64) summary->hashes[summary->nhashes - 1] + 1;
	if (summary->keyclass == KEYCLASS_NONE)
		return;
	summary->ncommon = attnum % SUMMARY_COMMON;
	summary->nbounds = attnum % SUMMARY_BOUNDS;
	for (int i = 0; i < summary->ncommon; i++)
	{
		summary->shares[i] = 1.0f / (i + 2);
		summary->common[i].value = DataValue(typid, SHAPE_NARROW, i);
	}
	for (int i = 0; i < summary->nbounds; i++)
		summary->bounds[i].value = DataValue(typid, SHAPE_NARROW, i + 100);
}

static bool
same_values(const StatValue *a, const StatValue *b, int n, KeyClass keyclass, Oid typid)
{
	for (int i = 0; i < n; i++)
	{
		if (KeyCompare(keyclass, typid, a[i].value, typid, b[i].value) != 0)
			return false;
	}
	return true;
}

static void
check_summaries(void)
{
	static const Oid types[] = {INT8OID, TEXTOID, NUMERICOID, FLOAT4OID, JSONBOID, UUIDOID, BPCHAROID, DATEOID, BYTEAOID};
	int			n = lengthof(types);
	ByteBuffer	out;
	ColumnSummary wanted;
	ColumnSummary got;
	char	   *copy;
	int			found = 0;

	ByteBufferInit(&out, CurrentMemoryContext);
	SummaryBegin(&out, n);
	for (int i = 0; i < n; i++)
	{
		DataSeed(i);
		fill_summary(&wanted, i + 3, types[i]);
		SummaryAdd(&out, i, &wanted);
	}
	for (int i = 0; i < n; i++)
	{
		bool		same;

		DataSeed(i);
		fill_summary(&wanted, i + 3, types[i]);
		same = SummaryFind(out.data, out.len, i + 3, &got) &&
			got.keyclass == wanted.keyclass && got.nulls == wanted.nulls &&
			got.values == wanted.values && got.bytes == wanted.bytes &&
			got.nhashes == wanted.nhashes && got.below == wanted.below &&
			memcmp(got.hashes, wanted.hashes, got.nhashes * sizeof(uint32)) == 0 &&
			got.ncommon == wanted.ncommon && got.nbounds == wanted.nbounds &&
			memcmp(got.shares, wanted.shares, got.ncommon * sizeof(float)) == 0 &&
			same_values(got.common, wanted.common, got.ncommon, got.keyclass, types[i]) &&
			same_values(got.bounds, wanted.bounds, got.nbounds, got.keyclass, types[i]);
		ShimOk(same, "summary of a column of type %u", types[i]);
	}
	ShimOk(!SummaryFind(out.data, out.len, 1, &got), "no summary of another column");
	ShimOk(SummaryIsComplete(out.data, out.len), "all columns have one");

	/* cut off anywhere, and with any byte changed, they are read within their bounds */
	for (size_t len = 0; len < out.len; len++)
	{
		copy = palloc(Max(len, 1));
		memcpy(copy, out.data, len);
		for (int i = 0; i < n; i++)
			found += SummaryFind(copy, len, i + 3, &got);
		pfree(copy);
	}
	copy = palloc(out.len);
	for (size_t at = 0; at < out.len; at++)
	{
		memcpy(copy, out.data, out.len);
		copy[at] ^= 0xff;
		for (int i = 0; i < n; i++)
			found += SummaryFind(copy, out.len, i + 3, &got);
	}
	ShimOk(found > 0, "damaged summaries: %d still read", found);
}

int
main(void)
{
	static const int counts[] = {1, 2, 127, 128, 129, 255, 256, 257, 1000, 30000, 1000000};

	ShimInit();
	DataSeed(20260501);
	for (int i = 0; i < lengthof(counts); i++)
		check_sketch(counts[i], counts[i] > 1000 ? 1 : 3);
	check_summaries();
	return ShimDone();
}
