/*
 * bucketfdw.c
 *	  Module entry: settings, hooks, callbacks.
 */
#include "postgres.h"

#include "compat.h"
#include "counters/counters.h"
#include "exec/agg/bucket_agg.h"
#include "exec/join/bucket_join.h"
#include "exec/scan/scan_node.h"
#include "fdw/change_start.h"
#include "fmgr.h"
#include "guc.h"
#include "load/load.h"
#include "plan/hooks.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "upkeep/start.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	GucInit();
	CountersInit();
	CatalogInit();
	UpkeepInit();
	LoadInit();
	ChangeStartInit();
	ScanNodeInit();
	BucketJoinInit();
	BucketAggInit();
	PlanHooksInit();
}
