/*
 * stats_merge.h
 *	  Merge the summaries of a column in many writes into what pg_statistic says
 *	  of a column.
 */
#ifndef BF_STATS_MERGE_H
#define BF_STATS_MERGE_H

#include "format/stats/column_summary.h"
#include "storage/manifest.h"

#define MERGED_COMMON 32
#define MERGED_BOUNDS 33

typedef struct MergedStats
{
	float		null_fraction;
	int			width;
	float		distinct;		/* as in pg_statistic: negative as a share of the rows */
	int			ncommon;
	Datum		common[MERGED_COMMON];	/* most frequent first */
	float		shares[MERGED_COMMON];	/* of all rows */
	int			nbounds;		/* of a histogram of the values that are not common */
	Datum		bounds[MERGED_BOUNDS];
} MergedStats;

typedef struct StatsMerge StatsMerge;

/* For a column of this base type and collation; memory is the current context's. */
extern StatsMerge *StatsMergeBegin(Oid typid, Oid collation);

/* Add what is known of a column of a table, which is locked. */
extern void StatsMergeAdd(StatsMerge *merge, Oid relid, const ManifestStats *writes, int nwrites, AttrNumber attnum);

/* False when no write had a summary.  Values live as long as the summaries and the context. */
extern bool StatsMergeEnd(StatsMerge *merge, MergedStats *result);

/* Instead: as the summary of one write of all the rows, of a column whose merge was begun with collation C. */
extern void StatsMergeSummary(StatsMerge *merge, AttrNumber attnum, const SummaryLimits *limits,
							  ColumnSummary *result);
extern void StatsMergeFree(StatsMerge *merge);

/* Mean width of the values of a column; 0 when it is not known. */
extern int	StatsMergeWidth(Oid relid, const ManifestStats *writes, int nwrites, AttrNumber attnum);

#endif							/* BF_STATS_MERGE_H */
