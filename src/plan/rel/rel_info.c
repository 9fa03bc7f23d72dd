/*
 * rel_info.c
 *	  Sizes and costs of bucketed tables.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "compat.h"
#include "guc.h"
#include "load/load.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/implied_qual.h"
#include "plan/rel/rel_info.h"
#include "plan/rel/subplan_choice.h"
#include "plan/rel/table_stats.h"
#include "storage/manifest.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* handing a row to the executor, in units of cpu_tuple_cost */
#define ROW_COST 0.5

List *
LeafRels(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *leaves = NIL;
	ListCell   *lc;

	if (!planner_rt_fetch(rel->relid, root)->inh)
		return list_make1(rel);
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child = root->simple_rel_array[appinfo->child_relid];

		if (appinfo->parent_relid == rel->relid && child != NULL && !IS_DUMMY_REL(child))
			leaves = list_concat(leaves, LeafRels(root, child));
	}
	return leaves;
}

void
KeyPinsFind(RelOptInfo *rel, const BucketSpec *spec, List *clauses, KeyPins *pins)
{
	double	   *wanted = palloc0(spec->nkeys * sizeof(double));
	double		share = 1.0;
	ListCell   *lc;

	memset(pins, 0, sizeof(*pins));
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		LeafQual	qual;
		List	   *values;
		double		n = 1;

		if (rinfo->pseudoconstant ||
			!BatchQualFromClause(rinfo->clause, rel->relid, &qual, &values))
			continue;
		if (LeafQualIsArray(&qual))
			n = Max(1.0, BfEstimateArrayLength(linitial(values)));
		if (LeafQualIsBucket(&qual))
		{
			if (LeafQualSaysBucket(&qual, spec))
				share = Min(share, n / qual.modulus);
			continue;
		}
		if (qual.op != LEAF_EQ && qual.op != LEAF_ANY && qual.op != LEAF_ISNULL)
			continue;
		for (int k = 0; k < spec->nkeys; k++)
		{
			if (qual.attnum != spec->sort[k].attnum ||
				(wanted[k] > 0 && wanted[k] <= n))
				continue;
			wanted[k] = n;
			pins->nulls |= qual.op == LEAF_ISNULL;
		}
	}
	pins->pinned = true;
	pins->combinations = 1;
	for (int k = 0; k < spec->nkeys; k++)
	{
		pins->pinned &= wanted[k] > 0;
		pins->combinations *= Max(wanted[k], 1);
	}
	pins->fraction = share;
	if (pins->pinned)
		pins->fraction = Min(share, pins->combinations / spec->nbuckets);
	pins->fraction = Min(1.0, pins->fraction);
	pfree(wanted);
}

double
KeyPinsRows(const BucketRelInfo *info, const KeyPins *pins)
{
	double		rows = info->rows * pins->fraction;

	if (pins->pinned && !pins->nulls && info->nruns > 0)
	{
		double		block_rows = BucketBlockRows(info) * info->rows / Max(info->stored_rows, 1.0);

		/* in each run a key lies in one block */
		rows = Min(rows, pins->combinations * info->runs_per_bucket * Max(1.0, block_rows));
	}
	return rows;
}

/* How much of a row's bytes lies in columns that are read. */
static double
ColumnShare(RelOptInfo *baserel, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *wanted = UsedColumns(baserel);
	double		all = 0;
	double		read = 0;

	if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, wanted))
		return 1.0;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int32		width = 0;

		if (att->attisdropped)
			continue;
		if (att->attlen > 0)
			width = att->attlen;
		else
			width = get_attavgwidth(RelationGetRelid(rel), att->attnum);
		if (width <= 0)
			width = get_typavgwidth(att->atttypid, att->atttypmod);
		all += width;
		if (bms_is_member(att->attnum - FirstLowInvalidHeapAttributeNumber, wanted))
			read += width;
	}
	/* rows are counted by one column at least */
	return Min(1.0, Max(read, sizeof(int32)) / Max(all, sizeof(int32)));
}

/*
 * Rows decoded when only the blocks are read whose first sort column may be
 * what clauses on batches want.
 */
static double
RangeRows(PlannerInfo *root, RelOptInfo *baserel, List *clauses)
{
	const BucketRelInfo *info = BucketRelInfoGet(baserel);
	List	   *narrowing = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Expr	   *clause = lfirst(lc);
		LeafQual	qual;
		List	   *values;

		if (IsA(clause, RestrictInfo))
			clause = ((RestrictInfo *) clause)->clause;
		if (BatchQualFromClause(clause, baserel->relid, &qual, &values) && !LeafQualIsBucket(&qual) &&
			qual.attnum == info->options->spec->sort[0].attnum && qual.op >= LEAF_LT && qual.op <= LEAF_GE)
			narrowing = lappend(narrowing, lfirst(lc));
	}
	if (narrowing == NIL || !bf_enable_pruning)
		return info->rows;
	/* of each run, a block that has both more and less is read whole */
	return Min(info->rows, info->rows * clauselist_selectivity(root, narrowing, 0, JOIN_INNER, NULL) +
			   info->nruns * BucketBlockRows(info) / 2);
}

void
BucketRelInfoBuild(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	BucketRelInfo *info = palloc0(sizeof(BucketRelInfo));
	Relation	rel = table_open(relid, NoLock);
	Snapshot	snapshot;
	Manifest   *manifest;
	List	   *batch_clauses = NIL;
	List	   *range_clauses = NIL;
	List	   *row_clauses = NIL;
	List	   *other_clauses = NIL;
	KeyPins		pins;
	double		bucket_share = 1.0;
	double		width;
	double		selectivity;
	int			buckets;
	ListCell   *lc;

	snapshot = RegisterSnapshot(ActiveSnapshotSet() ? GetActiveSnapshot() : GetLatestSnapshot());

	manifest = LoadManifestSizes(relid, snapshot, TableStatsWanted(root, baserel));
	UnregisterSnapshot(snapshot);

	info->magic = BUCKET_REL_MAGIC;
	info->options = TableOptionsGet(rel);
	info->rows = manifest->rows;
	info->stored_rows = ManifestStoredRows(manifest);
	info->bytes = manifest->bytes;
	info->nfiles = manifest->nfiles;
	info->nruns = manifest->nruns;
	for (int i = 0; i < manifest->nspecs; i++)
	{
		if (!BucketSpecHashKnown(manifest->specs[i]))
			info->hash_version = manifest->specs[i]->hash_version;
	}
	info->column_share = ColumnShare(baserel, rel);
	buckets = ManifestBuckets(manifest);
	info->runs_per_bucket = buckets > 0 ? Max(1.0, (double) manifest->nruns / buckets) : 1.0;
	table_close(rel, NoLock);

	/* from here on the planner's questions about columns find an answer */
	info->stats.nwrites = manifest->nstats;
	info->stats.writes = manifest->stats;
	baserel->fdw_private = info;
	TableStatsSetWidths(baserel, relid, &info->stats);
	width = sizeof(ItemIdData) + MAXALIGN(SizeofHeapTupleHeader) +
		MAXALIGN(get_relation_data_width(relid, baserel->attr_widths - baserel->min_attr));
	info->plain_pages = Max(info->bytes, info->rows * width) / BLCKSZ;

	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		LeafQual	qual;
		List	   *values;
		bool		batch;
		Expr	   *implied;

		if (rinfo->pseudoconstant)
			continue;
		batch = BatchQualFromClause(rinfo->clause, baserel->relid, &qual, &values);
		if (batch && LeafQualIsBucket(&qual))
		{
			/* core knows no statistics of it; we know its share */
			bucket_share *= Min(1.0, (LeafQualIsArray(&qual) ?
									  BfEstimateArrayLength(linitial(values)) : 1.0) / qual.modulus);
			continue;
		}
		other_clauses = lappend(other_clauses, rinfo);
		/* what core evaluates costs what it does row by row, unless values repeat */
		batch = batch && !LeafQualMayFail(&qual);
		implied = ImpliedClause(rinfo->clause, baserel->relid, batch);
		if (batch)
		{
			batch_clauses = lappend(batch_clauses, rinfo);
			/* rows are not dropped twice */
			if (implied != NULL)
				range_clauses = lappend(range_clauses, implied);
		}
		else
		{
			row_clauses = lappend(row_clauses, rinfo);
			if (implied != NULL)
				batch_clauses = lappend(batch_clauses, implied);
		}
	}
	baserel->tuples = info->rows;
	baserel->pages = (BlockNumber) Min(ceil(info->bytes / BLCKSZ), (double) MaxBlockNumber);
	selectivity = bucket_share * clauselist_selectivity(root, other_clauses, 0, JOIN_INNER, NULL);
	baserel->rows = clamp_row_est(info->rows * selectivity);
	info->batch_quals = batch_clauses != NIL || bucket_share < 1.0;
	info->batch_selectivity = bucket_share *
		clauselist_selectivity(root, batch_clauses, 0, JOIN_INNER, NULL);
	KeyPinsFind(baserel, info->options->spec, baserel->baserestrictinfo, &pins);
	info->bucket_fraction = pins.fraction;
	info->read_rows = Min(KeyPinsRows(info, &pins), RangeRows(root, baserel, list_concat(range_clauses, batch_clauses)));
	QualCostOfTests(root, row_clauses, BucketPassedRows(info), &info->row_qual_cost);
}

/* Cost of decoding one row. */
static Cost
RowDecodeCost(RelOptInfo *rel)
{
	double		cost = 0;
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
		cost += get_typlen(exprType(lfirst(lc))) > 0 ? DECODE_FIXED_COST : DECODE_VARLENA_COST;
	/* a column is read even if only its filter wants it */
	return Max(cost, DECODE_FIXED_COST) * cpu_operator_cost;
}

Cost
BucketReadCost(RelOptInfo *rel, double rows, Cost page_cost)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	double		share = rows / Max(info->rows, 1.0);
	double		stored = info->stored_rows * share;

	/* rows that are only counted are not read: footers tell how many a block has */
	if (rel->reltarget->exprs == NIL && rel->baserestrictinfo == NIL)
		return stored / info->options->block_rows * BLOCK_COST * cpu_operator_cost;

	return info->bytes * share * info->column_share / BLCKSZ * page_cost +
		stored * RowDecodeCost(rel);
}

double
BucketPassedRows(const BucketRelInfo *info)
{
	return Min(info->rows * info->bucket_fraction * info->batch_selectivity, info->read_rows);
}

Cost
BucketMergeCost(RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);

	return BucketPassedRows(info) * log2(info->runs_per_bucket) * RUN_MERGE_COST * cpu_operator_cost;
}

void
BucketScanCost(RelOptInfo *rel, bool batches, Cost *startup, Cost *total)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	double		passed = BucketPassedRows(info);
	Cost		start;
	Cost		run;

	/* each file is opened and its footer read */
	start = rel->reltarget->cost.startup + info->row_qual_cost.startup;
	run = info->nfiles * info->bucket_fraction * seq_page_cost;
	run += BucketReadCost(rel, info->read_rows, seq_page_cost);
	if (info->batch_quals)
		run += info->read_rows * BATCH_QUAL_COST * cpu_operator_cost;
	run += passed * info->row_qual_cost.per_tuple;
	if (!batches)
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
	if (key_attnums != NIL)
		total += BucketMergeCost(rel);
	return BfCreateForeignScanPath(root, rel, rel->rows, startup, total,
								   rel->lateral_relids, list_make3(key_attnums, NIL, NIL));
}
