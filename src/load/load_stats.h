/*
 * load_stats.h
 *	  Statistics of what a write brings, for the planner: counts from the file
 *	  writer, common values and quantiles from a sample of the rows.
 */
#ifndef BF_LOAD_STATS_H
#define BF_LOAD_STATS_H

#include "format/stats/column_stats.h"
#include "rows/row_format.h"

typedef struct LoadStats LoadStats;

/* For a write of nrows rows; lives in the current context.  ncolumns is the number of counters. */
extern LoadStats *LoadStatsBegin(const RowLayout *layout, int64 nrows);

/* Counters for the file writer, for the stored columns in order of attnum. */
extern ColumnStats *LoadStatsCounters(LoadStats *stats, int *ncounters);

/* The next n rows of the write, as columns indexed by attnum - 1: some are taken into the sample. */
extern void LoadStatsRows(LoadStats *stats, Datum *const *values, bool *const *nulls, int n);

/* A bytea with the summary of all columns. */
extern bytea *LoadStatsEnd(LoadStats *stats);

#endif							/* BF_LOAD_STATS_H */
