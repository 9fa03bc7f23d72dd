/*
 * plan_report.h
 *	  Which joins and aggregations of a plan use buckets, and why the others
 *	  do not.
 */
#ifndef BF_PLAN_REPORT_H
#define BF_PLAN_REPORT_H

#include "plan/words/reason.h"

/* A join or an aggregation of a plan. */
typedef struct ReportRow
{
	PlannerInfo *root;			/* the query level */
	const char *kind;			/* "join", "aggregate" */
	char	   *relations;
	const char *join_type;		/* NULL for aggregates */
	bool		used;
	Rejection	rejection;		/* when not used */
} ReportRow;

/*
 * A query level is planned, final_rel its result: note which joins and
 * aggregations use buckets, for EXPLAIN, why_not and log_rejections.
 */
extern void PlanReportLevel(PlannerInfo *root, RelOptInfo *final_rel);

/*
 * Plan a query, which is scribbled on, and return its ReportRows: joins and
 * aggregations that concern a bucketed table, inner ones first.  Rights are
 * the caller's matter.
 */
extern List *PlanReportCollect(Query *query, const char *text, int cursor_options);

/*
 * Why a bucketed table that feeds an equality join is not read by a bucket
 * join, for the plan node of its scan; false when there is nothing to say.
 */
extern bool ScanRejection(PlannerInfo *root, RelOptInfo *baserel, Rejection *rejection);

#endif							/* BF_PLAN_REPORT_H */
