/*
 * explain_option.c
 *	  EXPLAIN (BUCKETING): which joins and aggregations use buckets, and why
 *	  the others do not, below the plan.  From PostgreSQL 18 on.
 */
#include "postgres.h"

#include "admin/explain_option.h"
#include "compat.h"

#ifdef BF_HAS_EXPLAIN_OPTIONS

#include "commands/defrem.h"
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "plan/why/plan_report.h"

/* What the option has asked for, kept with the ExplainState. */
typedef struct BucketingOption
{
	bool		wanted;
	PlanReport *report;			/* while a query is explained */
} BucketingOption;

static int	extension_id;
static ExplainOneQuery_hook_type prev_one_query_hook = NULL;
static explain_per_plan_hook_type prev_per_plan_hook = NULL;

static void
BucketingHandler(ExplainState *es, DefElem *opt, ParseState *pstate)
{
	BucketingOption *option = GetExplainExtensionState(es, extension_id);

	if (option == NULL)
	{
		option = palloc0(sizeof(BucketingOption));
		SetExplainExtensionState(es, extension_id, option);
	}
	option->wanted = defGetBoolean(opt);
}

/* Collect while the query is planned. */
static void
OneQueryHook(Query *query, int cursorOptions, IntoClause *into, ExplainState *es,
			 const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	BucketingOption *option = GetExplainExtensionState(es, extension_id);
	ExplainOneQuery_hook_type explain = prev_one_query_hook ? prev_one_query_hook :
		standard_ExplainOneQuery;

	if (option == NULL || !option->wanted)
	{
		explain(query, cursorOptions, into, es, queryString, params, queryEnv);
		return;
	}
	option->report = PlanReportStart(query);
	PG_TRY();
	{
		explain(query, cursorOptions, into, es, queryString, params, queryEnv);
	}
	PG_FINALLY();
	{
		PlanReportStop(option->report);
		option->report = NULL;
	}
	PG_END_TRY();
}

static void
ExplainRowText(const ReportRow *row, ExplainState *es)
{
	const Rejection *rejection = &row->rejection;

	ExplainIndentText(es);
	appendStringInfo(es->str, "%s of %s: ", row->join_type ? psprintf("%s join", row->join_type) :
					 row->kind, row->relations);
	if (row->used)
		appendStringInfoString(es->str, "used\n");
	else
		appendStringInfo(es->str, "not used (%s: %s)\n", ReasonName(rejection->code),
						 es->costs ? RejectionDetail(rejection) : rejection->detail);
	if (!row->used && rejection->hint != NULL)
	{
		es->indent++;
		ExplainIndentText(es);
		appendStringInfo(es->str, "Hint: %s\n", rejection->hint);
		es->indent--;
	}
}

static void
ExplainRow(const ReportRow *row, ExplainState *es)
{
	const Rejection *rejection = &row->rejection;

	ExplainOpenGroup("Bucketing", NULL, true, es);
	ExplainPropertyText("Kind", row->kind, es);
	ExplainPropertyText("Relations", row->relations, es);
	if (row->join_type != NULL)
		ExplainPropertyText("Join Type", row->join_type, es);
	ExplainPropertyBool("Used", row->used, es);
	if (!row->used)
	{
		ExplainPropertyText("Reason", ReasonName(rejection->code), es);
		ExplainPropertyText("Detail", es->costs ? RejectionDetail(rejection) : rejection->detail, es);
		if (rejection->hint != NULL)
			ExplainPropertyText("Hint", rejection->hint, es);
	}
	ExplainCloseGroup("Bucketing", NULL, true, es);
}

static void
PerPlanHook(PlannedStmt *plannedstmt, IntoClause *into, ExplainState *es,
			const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	BucketingOption *option = GetExplainExtensionState(es, extension_id);
	bool		text = es->format == EXPLAIN_FORMAT_TEXT;
	List	   *rows;
	ListCell   *lc;

	if (prev_per_plan_hook)
		prev_per_plan_hook(plannedstmt, into, es, queryString, params, queryEnv);
	/* without a report it is EXPLAIN EXECUTE: the plan was made before */
	if (option == NULL || option->report == NULL)
		return;
	rows = PlanReportRows(option->report);
	if (text && rows == NIL)
		return;
	ExplainOpenGroup("Bucketing", "Bucketing", false, es);
	if (text)
	{
		ExplainIndentText(es);
		appendStringInfoString(es->str, "Bucketing:\n");
		es->indent++;
	}
	foreach(lc, rows)
	{
		if (text)
			ExplainRowText(lfirst(lc), es);
		else
			ExplainRow(lfirst(lc), es);
	}
	if (text)
		es->indent--;
	ExplainCloseGroup("Bucketing", "Bucketing", false, es);
}

void
ExplainOptionInit(void)
{
	extension_id = GetExplainExtensionId("bucketfdw");
	RegisterExtensionExplainOption("bucketing", BucketingHandler);
	prev_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = OneQueryHook;
	prev_per_plan_hook = explain_per_plan_hook;
	explain_per_plan_hook = PerPlanHook;
}

#else

void
ExplainOptionInit(void)
{
}

#endif
