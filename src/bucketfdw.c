/*
 * bucketfdw.c
 *	  Module entry: settings, hooks, callbacks.
 */
#include "postgres.h"

#include "admin/explain_option.h"
#include "compat.h"
#include "exec/bucket_agg.h"
#include "exec/bucket_join.h"
#include "exec/bucket_rows.h"
#include "fmgr.h"
#include "guc.h"
#include "load/load.h"
#include "plan/agg_path.h"
#include "plan/bucketed.h"
#include "plan/join_path.h"
#include "plan/join_size.h"
#include "plan/plan_report.h"
#include "plan/table_stats.h"
#include "storage/file_store.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	GucInit();
	StoreInit();
	LoadInit();
	BucketJoinInit();
	BucketAggInit();
	BucketRowsInit();
	BucketedInit();
	JoinPathInit();
	JoinSizeInit();
	AggPathInit();
	PlanReportInit();
	TableStatsInit();
	ExplainOptionInit();
}
