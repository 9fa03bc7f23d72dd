/*
 * stats_merge.c
 *	  Merge the summaries of a column in many writes.
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "compat.h"
#include "format/stats/column_summary.h"
#include "format/stats/stat_value.h"
#include "mb/pg_wchar.h"
#include "plan/rel/stats_merge.h"
#include "spec/collation.h"
#include "storage/missing_catalog.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* about so many common values and bounds of all writes together are looked at */
#define MERGE_VALUES 4096

/* a sketch that sees so much of all rows as different values means that all are */
#define UNIQUE_SHARE 0.85

/* from this share of the rows on, the number of distinct values is taken to grow with them */
#define GROWING_SHARE 0.1

/* common values must be more frequent than the mean by this factor */
#define COMMON_TIMES 1.25

/* a histogram has so many bounds, if values allow */
#define LEAST_STEPS 8

/* A value of a write and the rows it stands for. */
typedef struct MergeValue
{
	Datum		value;
	double		common;			/* rows with this value */
	double		stretch;		/* rows around it, if it is a bound */
} MergeValue;

struct StatsMerge
{
	Oid			typid;
	Oid			collation;
	KeyClass	keyclass;
	bool		by_collation;	/* texts are ordered by it, not by bytes */
	double		rows;			/* of the writes with a summary */
	double		nulls;
	double		values;
	double		bytes;
	ColumnSketch sketch;
	int			nvalues;
	int			maxvalues;
	MergeValue *merged;
};

StatsMerge *
StatsMergeBegin(Oid typid, Oid collation)
{
	StatsMerge *merge = palloc0(sizeof(StatsMerge));

	merge->typid = typid;
	merge->collation = collation;
	merge->keyclass = KeyClassOfType(typid);
	merge->by_collation = (merge->keyclass == KEYCLASS_TEXT || merge->keyclass == KEYCLASS_BPCHAR) &&
		!CollationIsC(collation);
	ColumnSketchInit(&merge->sketch);
	merge->maxvalues = 64;
	merge->merged = palloc(sizeof(MergeValue) * merge->maxvalues);
	return merge;
}

void
StatsMergeFree(StatsMerge *merge)
{
	pfree(merge->merged);
	pfree(merge);
}

/* A text that was cut must not end inside a character. */
static Datum
WholeCharacters(const StatsMerge *merge, Datum value)
{
	const char *data = VARDATA_ANY(DatumGetPointer(value));
	int			len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	int			whole;

	if (len < BF_STAT_BYTES ||
		(merge->keyclass != KEYCLASS_TEXT && merge->keyclass != KEYCLASS_BPCHAR))
		return value;
	whole = pg_mbcliplen(data, len, len);
	return whole == len ? value : PointerGetDatum(cstring_to_text_with_len(data, whole));
}

static void
AddValue(StatsMerge *merge, Datum value, double common, double stretch)
{
	MergeValue *to;

	if (merge->nvalues == merge->maxvalues)
	{
		merge->maxvalues *= 2;
		merge->merged = repalloc(merge->merged, sizeof(MergeValue) * merge->maxvalues);
	}
	to = &merge->merged[merge->nvalues++];
	to->value = KeyClassIsFixed(merge->keyclass) || merge->keyclass == KEYCLASS_UUID ?
		value : WholeCharacters(merge, value);
	to->common = common;
	to->stretch = stretch;
}

/* What a column of a table holds in rows that are older; false: null. */
static bool
ReadMissing(Oid relid, AttrNumber attnum, Datum *value)
{
	/* whoever wants statistics has locked it */
	Relation	rel = relation_open(relid, NoLock);
	bool		found = MissingValueRead(rel, attnum, value);

	relation_close(rel, NoLock);
	return found;
}

/* Bytes of a value. */
static Size
ValueBytes(Oid typid, Datum value)
{
	int			typlen = get_typlen(typid);

	return typlen > 0 ? (Size) typlen : VARSIZE_ANY(DatumGetPointer(value));
}

/* Add rows all of which have one value. */
static void
AddEqualRows(StatsMerge *merge, double rows, Datum value)
{
	int16		typlen;
	bool		typbyval;

	get_typlenbyval(merge->typid, &typlen, &typbyval);
	merge->values += rows;
	merge->bytes += rows * ValueBytes(merge->typid, value);
	ColumnSketchAddValue(&merge->sketch, typlen, typbyval, value);
	if (merge->keyclass != KEYCLASS_NONE && StatValueKept(merge->keyclass, value) &&
		!(KeyClasses[merge->keyclass].text && VARSIZE_ANY_EXHDR(DatumGetPointer(value)) > BF_STAT_BYTES))
		AddValue(merge, value, rows, 0);
}

void
StatsMergeAdd(StatsMerge *merge, Oid relid, const ManifestStats *writes, int nwrites, AttrNumber attnum)
{
	ColumnSummary *summary = palloc(sizeof(ColumnSummary));
	int			most = Max(MERGE_VALUES / Max(nwrites, 1) / 2, 2);
	double		older = 0;		/* rows of writes before the column was added */
	Datum		missing;

	for (int w = 0; w < nwrites; w++)
	{
		double		rows = writes[w].rows;
		double		rest;
		int			nbounds;

		if (!SummaryFind(writes[w].data, writes[w].len, attnum, summary))
		{
			if (SummaryIsComplete(writes[w].data, writes[w].len))
				older += rows;
			continue;
		}
		if (summary->keyclass != merge->keyclass)
			continue;
		merge->rows += rows;
		merge->nulls += summary->nulls;
		merge->values += summary->values;
		merge->bytes += summary->bytes;
		ColumnSketchMerge(&merge->sketch, summary->hashes, summary->nhashes, summary->below);

		/* of very many writes, the most important values are enough */
		rest = summary->values;
		for (int i = 0; i < Min(summary->ncommon, most); i++)
		{
			AddValue(merge, summary->common[i].value, summary->shares[i] * rows, 0);
			rest -= summary->shares[i] * rows;
		}
		nbounds = Min(summary->nbounds, most);
		for (int i = 0; i < nbounds; i++)
		{
			int			from = nbounds == 1 ? 0 : i * (summary->nbounds - 1) / (nbounds - 1);

			AddValue(merge, summary->bounds[from].value, 0, Max(rest, 1) / nbounds);
		}
	}
	pfree(summary);
	merge->rows += older;
	if (older > 0 && ReadMissing(relid, attnum, &missing))
		AddEqualRows(merge, older, missing);
	else
		merge->nulls += older;
}

int
StatsMergeWidth(Oid relid, const ManifestStats *writes, int nwrites, AttrNumber attnum)
{
	ColumnSummary *summary = palloc(sizeof(ColumnSummary));
	double		older = 0;
	double		values = 0;
	double		bytes = 0;
	Datum		missing;

	for (int w = 0; w < nwrites; w++)
	{
		if (!SummaryFind(writes[w].data, writes[w].len, attnum, summary))
		{
			if (SummaryIsComplete(writes[w].data, writes[w].len))
				older += writes[w].rows;
			continue;
		}
		values += summary->values;
		bytes += summary->bytes;
	}
	pfree(summary);
	if (older > 0 && ReadMissing(relid, attnum, &missing))
	{
		values += older;
		bytes += older * ValueBytes(getBaseType(get_atttype(relid, attnum)), missing);
	}
	return values > 0 ? (int) Min(rint(bytes / values), (double) (1 << 30)) : 0;
}

static int
CompareValues(const void *a, const void *b, void *arg)
{
	const StatsMerge *merge = arg;
	Datum		x = ((const MergeValue *) a)->value;
	Datum		y = ((const MergeValue *) b)->value;

	if (!merge->by_collation)
		return KeyCompare(merge->keyclass, merge->typid, x, merge->typid, y);
	if (merge->keyclass == KEYCLASS_BPCHAR)
		return DatumGetInt32(DirectFunctionCall2Coll(bpcharcmp, merge->collation, x, y));
	return DatumGetInt32(DirectFunctionCall2Coll(bttextcmp, merge->collation, x, y));
}

/* Sort the values and make one of those that are equal. */
static void
Unite(StatsMerge *merge)
{
	int			n = 0;

	qsort_arg(merge->merged, merge->nvalues, sizeof(MergeValue), CompareValues, merge);
	for (int i = 0; i < merge->nvalues; i++)
	{
		if (n > 0 && CompareValues(&merge->merged[n - 1], &merge->merged[i], merge) == 0)
		{
			merge->merged[n - 1].common += merge->merged[i].common;
			merge->merged[n - 1].stretch += merge->merged[i].stretch;
		}
		else
			merge->merged[n++] = merge->merged[i];
	}
	merge->nvalues = n;
}

static int
CompareCommon(const void *a, const void *b)
{
	double		x = (*(MergeValue *const *) a)->common;
	double		y = (*(MergeValue *const *) b)->common;

	return (y > x) - (y < x);
}

/* Choose the common values; they are out of the histogram then. */
static void
ChooseCommon(StatsMerge *merge, double distinct, MergedStats *result)
{
	MergeValue **candidates = palloc(sizeof(MergeValue *) * Max(merge->nvalues, 1));
	double		floor = merge->values / Max(distinct, 1) * COMMON_TIMES;
	double		sum = 0;
	int			n = 0;

	/* if all values are known, it does not matter that some are rare */
	if (distinct <= MERGED_COMMON)
		floor = 0;
	for (int i = 0; i < merge->nvalues; i++)
	{
		if (merge->merged[i].common > floor)
			candidates[n++] = &merge->merged[i];
	}
	qsort(candidates, n, sizeof(MergeValue *), CompareCommon);
	result->ncommon = Min(n, MERGED_COMMON);
	for (int i = 0; i < result->ncommon; i++)
	{
		result->common[i] = candidates[i]->value;
		result->shares[i] = candidates[i]->common / merge->rows;
		candidates[i]->common = candidates[i]->stretch = 0;
	}
	pfree(candidates);

	/* a sample may show them a little too often */
	for (int i = 0; i < result->ncommon; i++)
		sum += result->shares[i];
	for (int i = 0; i < result->ncommon && sum * merge->rows > merge->values; i++)
		result->shares[i] *= merge->values / (sum * merge->rows);
}

/* Bounds between which about the same number of rows lie. */
static void
ChooseBounds(const StatsMerge *merge, MergedStats *result)
{
	double		total = 0;
	double		largest = 1;
	double		sum = 0;
	int			last = -1;
	int			steps;

	for (int i = 0; i < merge->nvalues; i++)
	{
		const MergeValue *v = &merge->merged[i];

		total += v->common + v->stretch;
		largest = Max(largest, v->common + v->stretch);
		if (v->common + v->stretch > 0)
			last = i;
	}

	/* of a large write and a small one: steps below those of the large one would all fall on the small one */
	steps = (int) Min(Max(total / largest, LEAST_STEPS), MERGED_BOUNDS - 1);
	for (int i = 0; i <= last; i++)
	{
		const MergeValue *v = &merge->merged[i];
		double		weight = v->common + v->stretch;

		if (weight <= 0)
			continue;
		/* the first, the last, and those that the next step of the sum falls on */
		if (result->nbounds == 0 || i == last ||
			(sum + weight / 2 >= total * result->nbounds / steps &&
			 result->nbounds < MERGED_BOUNDS - 1))
			result->bounds[result->nbounds++] = v->value;
		sum += weight;
	}
	if (result->nbounds < 2)
		result->nbounds = 0;
}

bool
StatsMergeEnd(StatsMerge *merge, MergedStats *result)
{
	uint32		hashes[SKETCH_HASHES];
	uint64		below;
	int			nhashes;
	double		distinct;

	memset(result, 0, sizeof(*result));
	if (merge->rows <= 0)
		return false;
	nhashes = ColumnSketchRead(&merge->sketch, SKETCH_HASHES, hashes, &below);
	distinct = Min(ColumnSketchDistinct(nhashes, below), merge->values);
	if (distinct > UNIQUE_SHARE * merge->values)
		distinct = merge->values;

	result->null_fraction = merge->nulls / merge->rows;
	result->width = get_typlen(merge->typid);
	if (result->width <= 0)
		result->width = (int) Min(rint(merge->bytes / Max(merge->values, 1)), (double) (1 << 30));
	result->distinct = distinct > GROWING_SHARE * merge->rows ? -distinct / merge->rows : distinct;

	Unite(merge);
	ChooseCommon(merge, distinct, result);
	ChooseBounds(merge, result);
	return true;
}

void
StatsMergeSummary(StatsMerge *merge, AttrNumber attnum, const SummaryLimits *limits, ColumnSummary *result)
{
	MergedStats merged;

	memset(result, 0, sizeof(*result));
	result->attnum = attnum;
	result->keyclass = merge->keyclass;
	result->nulls = (int64) merge->nulls;
	result->values = (int64) merge->values;
	result->bytes = (int64) merge->bytes;
	result->nhashes = ColumnSketchRead(&merge->sketch, limits->hashes, result->hashes, &result->below);
	if (!StatsMergeEnd(merge, &merged))
		return;
	result->ncommon = Min(merged.ncommon, limits->common);
	for (int i = 0; i < result->ncommon; i++)
	{
		result->common[i].value = merged.common[i];
		result->shares[i] = merged.shares[i];
	}
	result->nbounds = Min(merged.nbounds, limits->bounds);
	for (int i = 0; i < result->nbounds; i++)
		result->bounds[i].value = merged.bounds[i * (merged.nbounds - 1) / (result->nbounds - 1)];
}
