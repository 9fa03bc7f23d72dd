/*
 * guc.c
 *	  Settings of bucketfdw.
 */
#include "postgres.h"

#include <limits.h>

#include "guc.h"
#include "miscadmin.h"
#include "spec/bucket_spec.h"
#include "utils/guc.h"

bool		bf_enable = true;
bool		bf_enable_bucketjoin = true;
bool		bf_enable_bucketagg = true;
bool		bf_enable_pruning = true;
bool		bf_enable_routing = true;
bool		bf_log_rejections = false;
bool		bf_verify_order = false;
bool		bf_ignore_damaged_files = false;
int			bf_debug_unit_rows = 0;
int			bf_default_buckets = 64;
int			bf_inline_limit = 16 * 1024;
int			bf_min_free_space = 1024;
int			bf_max_counted_tables = 1000;
bool		bf_upkeep = true;
double		bf_upkeep_deleted = 0.2;
int			bf_upkeep_runs = 12;
double		bf_upkeep_analyze = 0.1;
int			bf_upkeep_cost_limit = 200;
double		bf_upkeep_cost_delay = 2;
int			bf_log_upkeep_min_duration = 600000;

void
GucInit(void)
{
	DefineCustomIntVariable("bucketfdw.debug_unit_rows",
							"Rows of buckets, or parts of buckets, that are worked on at a time, 0 to let the number of processes decide.",
							"A debugging aid; also plans of one process are cut then.",
							&bf_debug_unit_rows,
							0, 0, INT_MAX,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.default_buckets",
							"Number of buckets of a table created without the option \"buckets\".",
							NULL,
							&bf_default_buckets,
							64, 1, BF_MAX_BUCKETS,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.enable",
							 "Enables bucket plans; when off, bucketed tables stay readable and writable.",
							 NULL,
							 &bf_enable,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.enable_bucketagg",
							 "Enables the planner's use of aggregation on the bucket key without hash and sort.",
							 NULL,
							 &bf_enable_bucketagg,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.enable_bucketjoin",
							 "Enables the planner's use of bucket join plans.",
							 NULL,
							 &bf_enable_bucketjoin,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.enable_pruning",
							 "Enables skipping of buckets and blocks that cannot hold wanted rows.",
							 NULL,
							 &bf_enable_pruning,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.enable_routing",
							 "Enables bucket joins with an input that is sorted into the buckets of the other.",
							 NULL,
							 &bf_enable_routing,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.ignore_damaged_files",
							 "Continues reading a table some of whose files are missing or damaged, without these.",
							 "For rescue: each is a warning, and its rows are not there. All files of a table are read and checked first.",
							 &bf_ignore_damaged_files,
							 false, PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.inline_limit",
							"Size up to which what a transaction writes to a table makes no file but waits in the catalog, 0 for none.",
							"Such writes become files together.",
							&bf_inline_limit,
							16 * 1024, 0, 1024 * 1024,
							PGC_USERSET, GUC_UNIT_BYTE, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.log_rejections",
							 "Logs joins and aggregations of bucketed tables that do not use buckets, and why.",
							 "Each is logged once per statement text and session.",
							 &bf_log_rejections,
							 false, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.log_upkeep_min_duration",
							"Minimum time of the upkeep of a table above which it is logged.",
							"Zero logs all upkeep. -1 turns this off.",
							&bf_log_upkeep_min_duration,
							600000, -1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	/* a setting of the postmaster cannot be made later */
	if (process_shared_preload_libraries_in_progress)
		DefineCustomIntVariable("bucketfdw.max_counted_tables",
								"Tables of all databases that counters are kept of in shared memory.",
								"Of more tables, those that were used last have them.",
								&bf_max_counted_tables,
								1000, 0, 1000000,
								PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.min_free_space",
							"Space a write must leave free on the volume of the data directory.",
							NULL,
							&bf_min_free_space,
							1024, 0, INT_MAX,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.upkeep",
							 "Starts upkeep of a table that a transaction leaves in need of it.",
							 NULL,
							 &bf_upkeep,
							 true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("bucketfdw.upkeep_analyze",
							 "Part of its rows by which a table changes before upkeep analyzes it.",
							 NULL,
							 &bf_upkeep_analyze,
							 0.1, 0, 100,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("bucketfdw.upkeep_cost_delay",
							 "Time that upkeep sleeps when it has done work of the cost limit.",
							 NULL,
							 &bf_upkeep_cost_delay,
							 2, 0, 100,
							 PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.upkeep_cost_limit",
							"Cost of the work of upkeep between two sleeps, in the units of vacuum_cost_limit.",
							NULL,
							&bf_upkeep_cost_limit,
							200, 1, 10000,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("bucketfdw.upkeep_deleted",
							 "Part of the rows of a file that may be deleted before it is written anew.",
							 "While rows are appended, more than half of them may be.",
							 &bf_upkeep_deleted,
							 0.2, 0, 1,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("bucketfdw.upkeep_runs",
							"Number of runs of a bucket that are not merged.",
							NULL,
							&bf_upkeep_runs,
							12, 2, 1000,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("bucketfdw.verify_order",
							 "Checks order and placement of every row read.",
							 "A debugging aid; damage that checksums cannot see becomes an error.",
							 &bf_verify_order,
							 false, PGC_USERSET, 0, NULL, NULL, NULL);

	MarkGUCPrefixReserved("bucketfdw");
}
