/*
 * bucketfdw.c
 *	  Module entry: settings, hooks, callbacks.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/agg/bucket_agg.h"
#include "exec/join/bucket_join.h"
#include "exec/keyed/bucket_rows.h"
#include "exec/scan/scan_node.h"
#include "fmgr.h"
#include "guc.h"
#include "load/load.h"
#include "plan/group/agg_path.h"
#include "plan/join/join_path.h"
#include "plan/key/bucketed.h"
#include "plan/rel/table_stats.h"
#include "plan/why/plan_report.h"
#include "storage/file_store.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	GucInit();
	StoreInit();
	LoadInit();
	ScanNodeInit();
	BucketJoinInit();
	BucketAggInit();
	BucketRowsInit();
	BucketedInit();
	JoinPathInit();
	AggPathInit();
	PlanReportInit();
	TableStatsInit();
}
