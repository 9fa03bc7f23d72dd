/*
 * rel_info.c
 *	  Sizes and costs of bucketed tables.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "compat.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "plan/batch_qual.h"
#include "plan/rel_info.h"
#include "storage/manifest.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

#define BUCKET_REL_MAGIC 0x6272656c

/*
 * Work per value or row in units of cpu_operator_cost (0.0025 by default,
 * about 10 ns in core's own nodes): decoding a column is about 1 ns a value,
 * a batch qual about 1 ns a row.
 */
#define DECODE_COST 0.1
#define BATCH_QUAL_COST 0.1
/* handing a row to the executor, in units of cpu_tuple_cost */
#define ROW_COST 0.5

BucketRelInfo *
BucketRelInfoGet(RelOptInfo *rel)
{
	BucketRelInfo *info;

	if (rel->rtekind != RTE_RELATION || rel->fdwroutine == NULL || rel->fdw_private == NULL)
		return NULL;
	info = rel->fdw_private;
	return info->magic == BUCKET_REL_MAGIC ? info : NULL;
}

/*
 * Fraction of the buckets that constants on all key columns leave.  An
 * estimate for costs: which buckets are read is decided when the query runs.
 */
static double
BucketFraction(const BucketSpec *spec, RelOptInfo *baserel)
{
	double		combinations = 1;

	for (int k = 0; k < spec->nkeys; k++)
	{
		bool		pinned = false;
		ListCell   *lc;

		foreach(lc, baserel->baserestrictinfo)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
			LeafQual	qual;
			Expr	   *value;

			if (!BatchQualFromClause(rinfo->clause, baserel->relid, &qual, &value) ||
				qual.attnum != spec->sort[k].attnum)
				continue;
			if (qual.op == LEAF_EQ || qual.op == LEAF_ISNULL)
				pinned = true;
			else if (qual.op == LEAF_ANY)
			{
				pinned = true;
				combinations *= BfEstimateArrayLength((Node *) value);
			}
			if (pinned)
				break;
		}
		if (!pinned)
			return 1.0;
	}
	return Min(1.0, combinations / spec->nbuckets);
}

void
BucketRelInfoBuild(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	BucketRelInfo *info = palloc0(sizeof(BucketRelInfo));
	Relation	rel = table_open(relid, NoLock);
	Snapshot	snapshot;
	Manifest   *manifest;
	List	   *batch_clauses = NIL;
	List	   *row_clauses = NIL;
	double		selectivity;
	int			buckets;
	ListCell   *lc;

	snapshot = RegisterSnapshot(ActiveSnapshotSet() ? GetActiveSnapshot() : GetLatestSnapshot());
	manifest = ManifestRead(relid, snapshot);
	UnregisterSnapshot(snapshot);

	info->magic = BUCKET_REL_MAGIC;
	info->options = TableOptionsGet(rel);
	info->rows = manifest->rows;
	info->bytes = manifest->bytes;
	info->nfiles = manifest->nfiles;
	info->natts = RelationGetNumberOfAttributes(rel);
	buckets = ManifestBuckets(manifest);
	info->runs_per_bucket = buckets > 0 ? Max(1.0, (double) manifest->nruns / buckets) : 1.0;
	table_close(rel, NoLock);

	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		LeafQual	qual;
		Expr	   *value;

		if (rinfo->pseudoconstant)
			continue;
		if (BatchQualFromClause(rinfo->clause, baserel->relid, &qual, &value))
			batch_clauses = lappend(batch_clauses, rinfo);
		else
			row_clauses = lappend(row_clauses, rinfo);
	}
	baserel->tuples = info->rows;
	baserel->pages = (BlockNumber) Min(ceil(info->bytes / BLCKSZ), (double) MaxBlockNumber);
	selectivity = clauselist_selectivity(root, baserel->baserestrictinfo, 0, JOIN_INNER, NULL);
	baserel->rows = clamp_row_est(info->rows * selectivity);
	info->batch_selectivity = clauselist_selectivity(root, batch_clauses, 0, JOIN_INNER, NULL);
	cost_qual_eval(&info->row_qual_cost, row_clauses, root);
	info->bucket_fraction = BucketFraction(info->options->spec, baserel);
	baserel->fdw_private = info;
}

void
BucketScanCost(RelOptInfo *rel, bool batches, Cost *startup, Cost *total)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	double		ncols = Max(1, list_length(rel->reltarget->exprs));
	double		rows = info->rows * info->bucket_fraction;
	double		passed = rows * info->batch_selectivity;
	double		bytes = info->bytes * info->bucket_fraction *
		Min(1.0, ncols / Max(1, info->natts));
	Cost		start;
	Cost		run;

	/* each file is opened and its footer read */
	start = rel->reltarget->cost.startup + info->row_qual_cost.startup;
	run = info->nfiles * info->bucket_fraction * seq_page_cost +
		bytes / BLCKSZ * seq_page_cost;
	run += rows * ncols * DECODE_COST * cpu_operator_cost;
	run += rows * BATCH_QUAL_COST * cpu_operator_cost;
	run += passed * info->row_qual_cost.per_tuple;
	if (batches)
	{
		/* merging the runs of a bucket */
		if (info->runs_per_bucket > 1)
			run += passed * log2(info->runs_per_bucket) * cpu_operator_cost;
	}
	else
		run += passed * ROW_COST * cpu_tuple_cost +
			rel->rows * rel->reltarget->cost.per_tuple;
	*startup = start;
	*total = start + run;
}

ForeignPath *
BucketScanPath(PlannerInfo *root, RelOptInfo *rel, bool batches, List *key_attnums)
{
	Cost		startup;
	Cost		total;

	BucketScanCost(rel, batches, &startup, &total);
	return BfCreateForeignScanPath(root, rel, rel->rows, startup, total,
								   rel->lateral_relids, key_attnums);
}
