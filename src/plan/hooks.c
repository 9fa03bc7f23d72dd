/*
 * hooks.c
 *	  The hooks of core's planner that we are called from, all of them, in the
 *	  order of a query's planning.  Whoever was there before comes first.
 */
#include "postgres.h"

#include "guc.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "plan/group/agg_path.h"
#include "plan/hooks.h"
#include "plan/join/join_path.h"
#include "plan/rel/table_stats.h"
#include "plan/why/plan_report.h"
#include "utils/selfuncs.h"

static get_relation_stats_hook_type prev_relation_stats = NULL;
static set_join_pathlist_hook_type prev_join_pathlist = NULL;
static create_upper_paths_hook_type prev_upper_paths = NULL;

/* Statistics of a column are wanted. */
static bool
RelationStats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	if (prev_relation_stats && prev_relation_stats(root, rte, attnum, vardata))
		return true;
	return TableStatsOf(root, rte, attnum, vardata);
}

/* The paths of a join of two relations, in this order, are there. */
static void
JoinPathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_join_pathlist)
		prev_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);
	if (bf_enable && bf_enable_bucketjoin)
		JoinPathsAdd(root, joinrel, outerrel, innerrel, jointype, extra);
}

/* The paths of a stage above scans and joins are there. */
static void
UpperPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
		   RelOptInfo *output_rel, void *extra)
{
	if (prev_upper_paths)
		prev_upper_paths(root, stage, input_rel, output_rel, extra);
	if (bf_enable && bf_enable_bucketagg)
		GroupPathsAdd(root, stage, input_rel, output_rel);
	if (stage == UPPERREL_FINAL)
		PlanReportLevel(root, output_rel);
}

void
PlanHooksInit(void)
{
	prev_relation_stats = get_relation_stats_hook;
	get_relation_stats_hook = RelationStats;
	prev_join_pathlist = set_join_pathlist_hook;
	set_join_pathlist_hook = JoinPathlist;
	prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = UpperPaths;
}
