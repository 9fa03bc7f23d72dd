/*
 * load_stats.c
 *	  Statistics of what a write brings.
 *
 * The rows come by bucket and key, and a key's rows may come in a pattern, so
 * that each stretch of rows gives one at a random place.
 */
#include "postgres.h"

#include "format/stats/column_summary.h"
#include "format/stats/stat_value.h"
#include "load/load_stats.h"
#include "utils/lsyscache.h"

/* rows in a sample, and values in all its columns */
#define SAMPLE_ROWS 1024
#define SAMPLE_VALUES (32 * 1024)

/* a value is common if the sample has it so often, and clearly more often than the others */
#define COMMON_ROWS 10
#define COMMON_TIMES 1.5

/* what a by-reference value takes in the sample */
#define KEPT_BYTES (BF_STAT_BYTES + 8)

typedef struct SampleColumn
{
	FileColumn	meta;			/* attnum, base type and key class only */
	int			nvalues;		/* not null, in the sample */
	StatValue  *values;			/* NULL: the type is of no key class */
	char	   *kept;			/* KEPT_BYTES for each, NULL: by value */
} SampleColumn;

struct LoadStats
{
	ByteBuffer	out;
	int			ncolumns;
	SampleColumn *columns;		/* by attnum */
	ColumnStats *counters;
	SummaryLimits limits;
	int			room;			/* rows the sample may have */
	int			taken;
	int64		nrows;			/* of the write */
	int64		seen;
	int64		next;			/* number of the next row to take */
	uint64		random;
};

static int
CompareColumns(const void *a, const void *b)
{
	return ((const SampleColumn *) a)->meta.attnum - ((const SampleColumn *) b)->meta.attnum;
}

/* Choose the next row, not before "from": at a random place in the next of "room" equal stretches. */
static void
ChooseNext(LoadStats *stats, int64 from)
{
	double		stretch = (double) stats->nrows / stats->room;
	double		place;

	/* xorshift: the same rows give the same statistics */
	stats->random ^= stats->random << 13;
	stats->random ^= stats->random >> 7;
	stats->random ^= stats->random << 17;
	place = (double) (stats->random >> 11) / (double) (UINT64CONST(1) << 53);
	if (stats->taken == stats->room)
		stats->next = PG_INT64_MAX;
	else
		stats->next = Max(from, (int64) ((stats->taken + place) * stretch));
}

LoadStats *
LoadStatsBegin(const RowLayout *layout, int64 nrows)
{
	LoadStats  *stats = palloc0(sizeof(LoadStats));
	int			n = layout->ncols;

	ByteBufferInit(&stats->out, CurrentMemoryContext);
	stats->columns = palloc0(sizeof(SampleColumn) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		FileColumn *meta = &stats->columns[i].meta;

		meta->attnum = layout->cols[i].attnum;
		meta->typlen = layout->cols[i].len;
		meta->typid = getBaseType(TupleDescAttr(layout->desc, meta->attnum - 1)->atttypid);
		meta->keyclass = KeyClassOfType(meta->typid);
	}
	qsort(stats->columns, n, sizeof(SampleColumn), CompareColumns);
	stats->ncolumns = Min(n, SUMMARY_COLUMNS);
	stats->counters = palloc(sizeof(ColumnStats) * Max(stats->ncolumns, 1));
	SummaryGetLimits(stats->ncolumns, &stats->limits);

	stats->nrows = nrows;
	stats->room = (int) Min(nrows, Min(SAMPLE_ROWS, SAMPLE_VALUES / Max(stats->ncolumns, 1)));
	for (int i = 0; i < stats->ncolumns; i++)
	{
		SampleColumn *col = &stats->columns[i];

		ColumnStatsInit(&stats->counters[i]);
		if (col->meta.keyclass == KEYCLASS_NONE)
			continue;
		col->values = palloc(sizeof(StatValue) * Max(stats->room, 1));
		if (!KeyClassIsFixed(col->meta.keyclass))
			col->kept = palloc((Size) KEPT_BYTES * Max(stats->room, 1));
	}
	stats->random = UINT64CONST(0x9e3779b97f4a7c15);
	ChooseNext(stats, 0);
	return stats;
}

ColumnStats *
LoadStatsCounters(LoadStats *stats, int *ncounters)
{
	*ncounters = stats->ncolumns;
	return stats->counters;
}

void
LoadStatsRows(LoadStats *stats, Datum *const *values, bool *const *nulls, int n)
{
	while (stats->next < stats->seen + n)
	{
		int			row = (int) (stats->next - stats->seen);

		for (int i = 0; i < stats->ncolumns; i++)
		{
			SampleColumn *col = &stats->columns[i];
			int			index = col->meta.attnum - 1;

			if (col->values == NULL || nulls[index][row] ||
				!StatValueKept(col->meta.keyclass, values[index][row]))
				continue;
			StatValueKeep(&col->values[col->nvalues],
						  col->kept ? col->kept + (Size) col->nvalues * KEPT_BYTES : NULL,
						  col->meta.keyclass, values[index][row]);
			col->nvalues++;
		}
		stats->taken++;
		ChooseNext(stats, stats->seen + row + 1);
	}
	stats->seen += n;
}

static int
CompareSample(const void *a, const void *b, void *arg)
{
	const FileColumn *meta = arg;

	return KeyCompare(meta->keyclass, meta->typid, ((const StatValue *) a)->value,
					  meta->typid, ((const StatValue *) b)->value);
}

/* A stretch of equal values in the sorted sample. */
typedef struct SampleGroup
{
	int			first;
	int			count;
} SampleGroup;

static int
CompareGroups(const void *a, const void *b)
{
	return ((const SampleGroup *) b)->count - ((const SampleGroup *) a)->count;
}

/* Take the common values out of the sorted sample; returns how many values are left. */
static int
TakeCommon(const LoadStats *stats, SampleColumn *col, double distinct, ColumnSummary *summary)
{
	SampleGroup *groups = palloc(sizeof(SampleGroup) * col->nvalues);
	double		mean = col->nvalues / Max(distinct, 1.0);
	bool		few = distinct <= stats->limits.common;
	int			ngroups = 0;
	int			left = 0;

	for (int i = 0; i < col->nvalues;)
	{
		int			end = i + 1;

		while (end < col->nvalues && CompareSample(&col->values[i], &col->values[end], &col->meta) == 0)
			end++;
		if (!col->values[i].truncated &&
			(few || (end - i >= COMMON_ROWS && end - i > COMMON_TIMES * mean)))
		{
			groups[ngroups].first = i;
			groups[ngroups++].count = end - i;
		}
		i = end;
	}
	qsort(groups, ngroups, sizeof(SampleGroup), CompareGroups);
	for (int g = 0; g < Min(ngroups, stats->limits.common); g++)
	{
		summary->common[summary->ncommon] = col->values[groups[g].first];
		summary->shares[summary->ncommon++] = (float) groups[g].count / stats->taken;
		for (int i = 0; i < groups[g].count; i++)
			col->values[groups[g].first + i].isnull = true;
	}
	for (int i = 0; i < col->nvalues; i++)
	{
		if (!col->values[i].isnull)
			col->values[left++] = col->values[i];
	}
	pfree(groups);
	return left;
}

static void
SummarizeColumn(const LoadStats *stats, int index, ColumnSummary *summary)
{
	SampleColumn *col = &stats->columns[index];
	const ColumnStats *counters = &stats->counters[index];
	int			left;

	memset(summary, 0, sizeof(*summary));
	summary->attnum = col->meta.attnum;
	summary->keyclass = col->meta.keyclass;
	summary->nulls = counters->nulls;
	summary->values = counters->values;
	summary->bytes = counters->bytes;
	summary->nhashes = ColumnSketchRead(&counters->sketch, stats->limits.hashes,
										summary->hashes, &summary->below);
	if (col->nvalues == 0)
		return;
	qsort_arg(col->values, col->nvalues, sizeof(StatValue), CompareSample, &col->meta);
	left = TakeCommon(stats, col, ColumnSketchDistinct(summary->nhashes, summary->below), summary);
	summary->nbounds = Min(left, stats->limits.bounds);
	for (int i = 0; i < summary->nbounds; i++)
		summary->bounds[i] = col->values[summary->nbounds == 1 ? 0 :
										 (int64) i * (left - 1) / (summary->nbounds - 1)];

	/* the ends are known exactly */
	if (summary->nbounds > 1 && counters->has_minmax)
	{
		summary->bounds[0] = counters->min;
		summary->bounds[summary->nbounds - 1] = counters->max;
	}
}

bytea *
LoadStatsEnd(LoadStats *stats)
{
	ColumnSummary *summary = palloc(sizeof(ColumnSummary));
	bytea	   *result;

	SummaryBegin(&stats->out, stats->ncolumns);
	for (int i = 0; i < stats->ncolumns; i++)
	{
		SummarizeColumn(stats, i, summary);
		SummaryAdd(&stats->out, i, summary);
	}
	result = palloc(VARHDRSZ + stats->out.len);
	SET_VARSIZE(result, VARHDRSZ + stats->out.len);
	memcpy(VARDATA(result), stats->out.data, stats->out.len);
	pfree(summary);
	return result;
}
