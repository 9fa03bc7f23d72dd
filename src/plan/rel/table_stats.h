/*
 * table_stats.h
 *	  Statistics for tables that were never analyzed, from what loading saw.
 *
 * They reach the planner through get_relation_stats_hook, in the shape of
 * pg_statistic rows.  What ANALYZE found always comes first.
 */
#ifndef BF_TABLE_STATS_H
#define BF_TABLE_STATS_H

#include "plan/rel/bucket_rel.h"
#include "utils/selfuncs.h"

/* Numbers of the columns of a relation that its target and conditions use, as pull_varattnos gives them. */
extern Bitmapset *UsedColumns(RelOptInfo *rel);

/*
 * Does the query use a column of the table that ANALYZE has not seen, there or
 * in a partitioned table above?
 */
extern bool TableStatsWanted(PlannerInfo *root, RelOptInfo *rel);

/* Set the widths of such columns, once the table's BucketRelInfo is there. */
extern void TableStatsSetWidths(RelOptInfo *rel, Oid relid, const TableStats *stats);

/*
 * For get_relation_stats_hook: a row like those of pg_statistic for a column
 * of a bucketed table, or of a partitioned one all of whose partitions are,
 * when ANALYZE has seen none.
 */
extern bool TableStatsOf(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
						 VariableStatData *vardata);

#endif							/* BF_TABLE_STATS_H */
