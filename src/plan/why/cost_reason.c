/*
 * cost_reason.c
 *	  Why a plan by buckets is estimated to cost more than another one.
 */
#include "postgres.h"

#include "parser/parsetree.h"
#include "plan/why/reasons.h"
#include "utils/builtins.h"

/* compaction leaves fewer runs of a bucket than this */
#define MANY_RUNS 16
/* with so few rows it hardly matters how they are joined */
#define FEW_ROWS 1000

/* What is known of the bucketed tables of a join or grouping. */
typedef struct TableTally
{
	Oid			runs_relid;		/* the table with most runs of a bucket */
	double		runs;
	Cost		runs_cost;		/* of all tables with many of them: what they add to the costs */
	Index		rows_rti;		/* the table with the fewest rows */
	double		rows;
} TableTally;

static void
TallyTables(PlannerInfo *root, Relids relids, TableTally *tally)
{
	int			rti = -1;

	memset(tally, 0, sizeof(*tally));
	while ((rti = bms_next_member(relids, rti)) >= 0)
	{
		RelOptInfo *rel = rti < root->simple_rel_array_size ? root->simple_rel_array[rti] : NULL;
		double		rows = 0;
		bool		bucketed = false;
		ListCell   *lc;

		foreach(lc, rel != NULL && rel->rtekind == RTE_RELATION ? LeafRels(root, rel) : NIL)
		{
			RelOptInfo *leaf = lfirst(lc);
			BucketRelInfo *info = BucketRelInfoGet(leaf);

			if (info == NULL)
				continue;
			bucketed = true;
			rows += info->rows;
			if (info->runs_per_bucket < MANY_RUNS)
				continue;
			tally->runs_cost += BucketMergeCost(leaf);
			if (info->runs_per_bucket > tally->runs)
			{
				tally->runs = info->runs_per_bucket;
				tally->runs_relid = planner_rt_fetch(leaf->relid, root)->relid;
			}
		}
		if (bucketed && (tally->rows_rti == 0 || rows < tally->rows))
		{
			tally->rows = rows;
			tally->rows_rti = rti;
		}
	}
}

void
CostReason(PlannerInfo *root, Relids relids, Cost chosen, Cost bucketed, const char *setting, Rejection *rejection)
{
	TableTally	tally;
	char	   *compare = psprintf("To compare: SET %s = off;", setting);

	rejection->code = REASON_COST;
	rejection->hint = psprintf("If the row counts in EXPLAIN are far off, ANALYZE the tables by name. %s", compare);
	TallyTables(root, relids, &tally);
	if (bucketed >= chosen && bucketed - tally.runs_cost < chosen)
	{
		char	   *name = TableLabel(tally.runs_relid);

		rejection->code = REASON_MANY_RUNS;
		rejection->relation = name;
		rejection->detail = psprintf("buckets of %s have %.0f runs each, and merging them costs too much: %s",
									 name, tally.runs, rejection->detail);
		rejection->hint = psprintf("CALL bucketfdw.compact(%s);", quote_literal_cstr(name));
	}
	else if (bucketed >= chosen && tally.rows_rti > 0 && tally.rows <= FEW_ROWS)
	{
		char	   *label = RelationLabel(root, bms_make_singleton(tally.rows_rti));

		rejection->code = REASON_SMALL_TABLE;
		rejection->relation = label;
		rejection->detail = psprintf("%s has %.0f rows: %s", label, tally.rows, rejection->detail);
		rejection->hint = psprintf("Nothing is to be done: with so few rows buckets save little. %s", compare);
	}
}
