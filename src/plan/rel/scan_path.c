/*
 * scan_path.c
 *	  Scan paths of a bucketed table beyond the plain one.
 *
 * A lookup looks into one block in each run of one bucket, so a nested loop
 * over a small table never reads the big one.  An ordered scan merges all buckets:
 * the executor keeps that promise whatever the files are (ordered_scan.c), so
 * what is read from the manifest here only sets costs.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "compat.h"
#include "exec/scan/merge/merge_memory.h"
#include "exec/scan/ordered_scan.h"
#include "guc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/rel_info.h"
#include "plan/rel/scan_path.h"
#include "plan/rel/subplan_choice.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* sets of outer relations tried for one table */
#define MAX_OUTER_SETS 12

/* opening a file and reading its footer, in units of seq_page_cost */
#define OPEN_COST 4.0
/* files the executor keeps open between rescans, about */
#define KEPT_FILES 512

/* starting a lookup: its values, its buckets, its blocks; in units of cpu_tuple_cost */
#define START_COST 10.0

/* taking a value out of a column of a block, 0.1 us, in units of cpu_operator_cost */
#define TAKE_COST 10.0
/* bytes of a packed value of fixed width, of a key, and those a text takes beyond its own */
#define PACKED_FIXED_BYTES 4.0
#define PACKED_KEY_BYTES 2.0
#define PACKED_TEXT_BYTES 8.0
/* more values than this are not looked up one by one, nor so many rows of a block */
#define MAX_TAKEN_VALUES 64
#define MAX_TAKEN_ROWS 256

/* merging a row by the number of runs' logarithm, 12 ns, in units of cpu_operator_cost */
#define ORDER_COST 1.2

/*
 * What a worker does beyond what any worker does, as a part of
 * parallel_setup_cost: loading the library, opening files, reading their
 * footers, listing the units.  It takes about 2 ms where workers of core's
 * plans are started and ended in 3.6 ms.
 */
#define WORKER_COST 0.55

/* The key column that clauses are wanted for. */
typedef struct KeyMember
{
	Index		relid;
	const SortColumn *col;
} KeyMember;

/*
 * ec_matches_callback_type: is the member the key column, compared by its
 * class, or as the numeric it is cast to?  What comes of it is looked at again.
 */
static bool
MemberIsKey(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
			EquivalenceMember *em, void *arg)
{
	const KeyMember *key = arg;
	Node	   *expr = (Node *) em->em_expr;
	Node	   *column = StripNumericCast(expr);
	Var		   *var = BatchQualColumn(column, key->relid);

	return var != NULL && var->varattno == key->col->attnum &&
		(column != expr || KeyClassOfType(getBaseType(em->em_datatype)) == key->col->keyclass);
}

/* Does the clause fix the column to one value, or to those of an array? */
static bool
ClausePins(RestrictInfo *rinfo, RelOptInfo *rel, const SortColumn *col)
{
	LeafQual	qual;
	List	   *values;

	return !rinfo->pseudoconstant &&
		BatchQualFromClause(rinfo->clause, rel->relid, &qual, &values) &&
		qual.attnum == col->attnum &&
		(qual.op == LEAF_EQ || qual.op == LEAF_ANY || qual.op == LEAF_ISNULL);
}

static List *
AddSet(List *sets, Relids set)
{
	ListCell   *lc;

	foreach(lc, sets)
	{
		if (bms_equal(lfirst(lc), set))
			return sets;
	}
	return list_length(sets) < MAX_OUTER_SETS ? lappend(sets, set) : sets;
}

/*
 * The sets of outer relations whose columns can fix one key column; the empty
 * set when a constant does.
 */
static List *
OuterSetsOfColumn(PlannerInfo *root, RelOptInfo *rel, const SortColumn *col)
{
	List	   *sets = NIL;
	List	   *clauses;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!ClausePins(rinfo, rel, col))
			continue;
		/* of an array, an outer row may want one value only */
		sets = AddSet(sets, NULL);
		if (!IsA(rinfo->clause, ScalarArrayOpExpr))
			return sets;
	}
	foreach(lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (join_clause_is_movable_to(rinfo, rel) && ClausePins(rinfo, rel, col))
			sets = AddSet(sets, bms_del_member(bms_copy(rinfo->clause_relids), rel->relid));
	}
	if (rel->has_eclass_joins)
	{
		KeyMember	key = {rel->relid, col};

		clauses = generate_implied_equalities_for_column(root, rel, MemberIsKey, &key,
														 rel->lateral_referencers);
		foreach(lc, clauses)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

			if (ClausePins(rinfo, rel, col))
				sets = AddSet(sets, bms_del_member(bms_copy(rinfo->clause_relids), rel->relid));
		}
	}
	return sets;
}

double
ScanLoops(PlannerInfo *root, Relids outer)
{
	double		loops = 0;
	int			relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		RelOptInfo *rel;

		if (relid >= root->simple_rel_array_size || (rel = root->simple_rel_array[relid]) == NULL ||
			rel->rows <= 0)
			continue;
		if (loops == 0 || rel->rows < loops)
			loops = rel->rows;
	}
	return Max(1.0, loops);
}

/*
 * Cost of taking a row out of a block, of which *first is needed when the block
 * was not hit before.  Values of fixed width and numerics stay packed; texts are
 * unpacked.  What memory has no room for is read again.
 */
static Cost
LookupTakeCost(RelOptInfo *rel, double blocks, double block_rows, Cost *first)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	double		rows = blocks * block_rows;
	double		memory = work_mem * 1024.0 - rows * info->options->spec->nkeys * PACKED_KEY_BYTES;
	double		needed = 0;
	double		missing;
	int			ncolumns = list_length(rel->reltarget->exprs);
	int			ntexts = 0;
	Cost		text_cost = block_rows * DECODE_VARLENA_COST * cpu_operator_cost;
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		Node	   *expr = lfirst(lc);
		Oid			typid = exprType(expr);

		if (get_typlen(typid) > 0 || getBaseType(typid) == NUMERICOID)
			needed += rows * PACKED_FIXED_BYTES;
		else
		{
			int32		width = 0;

			if (IsA(expr, Var) && ((Var *) expr)->varattno > 0)
				width = rel->attr_widths[((Var *) expr)->varattno - rel->min_attr];
			if (width <= 0)
				width = get_typavgwidth(typid, exprTypmod(expr));
			ntexts++;
			needed += rows * (width + PACKED_TEXT_BYTES);
		}
	}
	missing = needed > 0 ? Min(1.0, Max(0.0, 1.0 - memory / needed)) : 0.0;
	*first = ntexts * text_cost;
	return ncolumns * TAKE_COST * cpu_operator_cost +
		missing * (*first + info->bytes / BLCKSZ / blocks * info->column_share * seq_page_cost);
}

/*
 * Cost of one lookup.  In each run of the bucket one block is searched, and the
 * rows are taken out of it.  What an earlier lookup fetched may still be in
 * memory: of blocks hit at random core's formula for heap pages says how many
 * are fetched.  Of many values, of NULLs and of many rows with one value the
 * blocks are decoded as a whole.  All of that comes before the first row: who
 * wants one row only does not save it.
 */
static void
LookupCost(PlannerInfo *root, RelOptInfo *rel, ParamPathInfo *param, const KeyPins *pins,
		   Cost *startup, Cost *total)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	double		loops = ScanLoops(root, param->ppi_req_outer);
	double		rows = KeyPinsRows(info, pins);
	double		runs = Max(1.0, Min(info->nruns, info->nruns * pins->fraction));
	double		files = Max(1.0, Min(info->nfiles, runs));
	double		opened = files;
	/* that lookups can hit, and their pages that are read */
	double		blocks = Max(1.0, Min(Max(1.0, rel->pages), info->stored_rows / BucketBlockRows(info)));
	double		width = Max(1.0, rel->pages) / blocks * info->column_share;
	double		hit;
	double		fetched;
	Cost		cost;

	/* files stay open between lookups if they are not too many */
	if (info->nfiles <= KEPT_FILES)
		opened = Min(files, info->nfiles / loops);

	hit = Max(1.0, blocks * rows / Max(info->rows, 1.0));
	fetched = index_pages_fetched(hit * loops, (BlockNumber) blocks, 0, root) / loops;

	cost = opened * OPEN_COST * seq_page_cost;
	cost += fetched * (random_page_cost + Max(0.0, width - 1.0) * seq_page_cost);
	if (pins->combinations > MAX_TAKEN_VALUES || pins->nulls || param->ppi_rows > hit * MAX_TAKEN_ROWS)
	{
		cost += BucketReadCost(rel, rows, 0.0);
		if (pins->combinations > 1 || pins->nulls)
			cost += rows * BATCH_QUAL_COST * cpu_operator_cost;
	}
	else
	{
		Cost		first;
		Cost		take = LookupTakeCost(rel, blocks, BucketBlockRows(info), &first);

		cost += Min(fetched, hit) * first + hit * take;
	}
	cost += (START_COST + runs) * cpu_tuple_cost;
	*startup = cost + rel->reltarget->cost.startup;
	*total = *startup + param->ppi_rows * (cpu_tuple_cost + rel->reltarget->cost.per_tuple);
}

/*
 * Conditions that are tested row by row, on the rows that the key and the
 * conditions on batches leave: less than one, if most lookups find none.
 * What core can hash by, such as an equality with a correlated subquery, core
 * does not charge for in the hash join that competes, and neither is it here.
 */
static void
RowQualCost(PlannerInfo *root, RelOptInfo *rel, List *clauses, double loops, QualCost *cost)
{
	List	   *batch = NIL;
	List	   *row = NIL;
	double		tests = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		LeafQual	qual;
		List	   *values;

		if (!rinfo->pseudoconstant &&
			BatchQualFromClause(rinfo->clause, rel->relid, &qual, &values))
			batch = lappend(batch, rinfo);
		else if (!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator))
			row = lappend(row, rinfo);
	}
	if (row != NIL)
		tests = BucketRelInfoGet(rel)->rows * clauselist_selectivity(root, batch, rel->relid, JOIN_INNER, NULL);
	/* what is computed once, is so for all lookups */
	QualCostOfTests(root, row, tests * loops, cost);
	cost->startup /= loops;
	cost->per_tuple *= tests;
}

static void
AddLookupPath(PlannerInfo *root, RelOptInfo *rel, Relids outer)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	Relids		required = bms_union(outer, rel->lateral_relids);
	ParamPathInfo *param = get_baserel_parampathinfo(root, rel, required);
	List	   *clauses;
	KeyPins		pins;
	QualCost	quals;
	Cost		startup;
	Cost		total;

	if (param == NULL)
		return;
	/* core chose the clauses: an equivalence class may have given another pair */
	clauses = list_concat_copy(rel->baserestrictinfo, param->ppi_clauses);
	KeyPinsFind(rel, info->options->spec, clauses, &pins);
	if (!pins.pinned)
		return;
	RowQualCost(root, rel, clauses, ScanLoops(root, required), &quals);
	LookupCost(root, rel, param, &pins, &startup, &total);
	add_path(rel, (Path *) BfCreateScanPath(root, rel, param->ppi_rows, startup + quals.startup,
											total + quals.startup + quals.per_tuple,
											NIL, required, list_make3(NIL, NIL, NIL)));
}

void
BucketAddLookupPaths(PlannerInfo *root, RelOptInfo *rel)
{
	const BucketSpec *spec = BucketRelInfoGet(rel)->options->spec;
	List	   *sets = list_make1(NULL);
	ListCell   *lc;

	if (!bf_enable || !bf_enable_pruning ||
		(rel->joininfo == NIL && !rel->has_eclass_joins))
		return;
	for (int k = 0; k < spec->nkeys; k++)
	{
		List	   *column = OuterSetsOfColumn(root, rel, &spec->sort[k]);
		List	   *both = NIL;

		foreach(lc, sets)
		{
			ListCell   *lc2;

			foreach(lc2, column)
				both = AddSet(both, bms_union(lfirst(lc), lfirst(lc2)));
		}
		sets = both;
	}
	foreach(lc, sets)
	{
		if (!bms_is_empty(lfirst(lc)))
			AddLookupPath(root, rel, lfirst(lc));
	}
}

/*
 * Pathkeys of the leading sort columns, and in *ncols how many columns they
 * take.  A column ends the list when its order in the files is not that of its
 * collation, or when nobody in the query asks for it.
 */
static List *
SortPathkeys(PlannerInfo *root, RelOptInfo *rel, const BucketSpec *spec, int *ncols)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	List	   *pathkeys = NIL;
	int		   *upto = palloc0((spec->nsort + 1) * sizeof(int));
	List	   *useful;

	for (int i = 0; i < spec->nsort; i++)
	{
		const SortColumn *col = &spec->sort[i];
		bool		descending = (col->flags & BF_SORT_DESC) != 0;
		bool		nulls_first = (col->flags & BF_SORT_NULLS_FIRST) != 0;
		Oid			typid;
		int32		typmod;
		Oid			collation;
		TypeCacheEntry *type;
		List	   *found;
		PathKey    *pathkey;
		bool		redundant;
		ListCell   *lc;

		get_atttypetypmodcoll(rte->relid, col->attnum, &typid, &typmod, &collation);
		if (!CollationAllows(col->keyclass, collation, true))
			break;
		type = lookup_type_cache(col->typid, TYPECACHE_LT_OPR);
		if (!OidIsValid(type->lt_opr))
			break;
		found = BfExpressionPathkey(root, (Expr *) makeVar(rel->relid, col->attnum, typid,
														   typmod, collation, 0),
									type->lt_opr, rel);
		if (found == NIL)
			break;
		pathkey = linitial(found);
		redundant = EC_MUST_BE_REDUNDANT(pathkey->pk_eclass);
		foreach(lc, pathkeys)
			redundant |= ((PathKey *) lfirst(lc))->pk_eclass == pathkey->pk_eclass;
		if (!redundant)
			pathkeys = lappend(pathkeys, BfCanonicalPathkey(root, pathkey, descending, nulls_first));
		upto[list_length(pathkeys)] = i + 1;
	}
	useful = truncate_useless_pathkeys(root, rel, pathkeys);
	*ncols = upto[list_length(useful)];
	return useful;
}

bool
ScanIdentifiesRows(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	if (bms_is_member(rel->relid, root->leaf_result_relids))
		return true;
	foreach(lc, root->rowMarks)
	{
		const PlanRowMark *mark = lfirst(lc);

		if (mark->rti == rel->relid && mark->strength != LCS_NONE)
			return true;
	}
	return false;
}

/*
 * Cost of merging all runs.  Each file is opened before the first row, and of
 * each run that the first rows come from a block is decoded: whoever wants these
 * rows only does not save that.  Of blocks that memory has no room for the
 * executor makes copies in temporary files, see merge_memory.h.
 */
static void
OrderedScanCost(PlannerInfo *root, RelOptInfo *rel, double runs, Cost *startup, Cost *total)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	int			ncols = Max(1, list_length(rel->reltarget->exprs));
	double		row_pages = (2 * sizeof(int64) + ncols * (sizeof(Datum) + sizeof(bool)) +
							 rel->reltarget->width) / (double) BLCKSZ;
	Size		block = (Size) (BucketBlockRows(info) * row_pages * BLCKSZ);
	Size		excess = MergeExcess(block, MergeRunMemory(ncols, runs, true));
	double		passed = info->rows * info->bucket_fraction * info->batch_selectivity;
	double		begun = runs;
	double		first;

	if (root->limit_tuples > 0 && bms_membership(root->all_baserels) == BMS_SINGLETON)
		begun = Min(runs, ceil(root->limit_tuples * Max(1.0, passed / rel->rows)));
	first = Min(info->read_rows, begun * info->options->block_rows);

	BucketScanCost(rel, false, startup, total);
	*startup += Min(info->nfiles, runs) * OPEN_COST * seq_page_cost +
		BucketReadCost(rel, first, seq_page_cost) +
		2 * first * row_pages * MergeSpooledShare(begun, excess) * seq_page_cost;
	*total += Min(info->nfiles, runs) * OPEN_COST * seq_page_cost +
		passed * log2(runs + 1) * ORDER_COST * cpu_operator_cost +
		2 * info->read_rows * row_pages * MergeSpooledShare(runs, excess) * seq_page_cost;
	*total = Max(*startup, *total);
}

void
BucketAddOrderedPath(PlannerInfo *root, RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	const BucketSpec *spec = info->options->spec;
	double		runs = Max(1.0, info->nruns * info->bucket_fraction);
	List	   *pathkeys;
	List	   *attnums = NIL;
	int			ncols;
	Cost		startup;
	Cost		total;

	if (!bf_enable || !has_useful_pathkeys(root, rel))
		return;
	/* a sort of rows would lose what identifies those that are changed */
	if (ScanIdentifiesRows(root, rel))
		return;
	if (runs > BF_MAX_MERGE_RUNS)
		return;
	pathkeys = SortPathkeys(root, rel, spec, &ncols);
	if (pathkeys == NIL)
		return;
	for (int i = 0; i < ncols; i++)
		attnums = lappend_int(attnums, spec->sort[i].attnum);
	OrderedScanCost(root, rel, runs, &startup, &total);
	add_path(rel, (Path *) BfCreateScanPath(root, rel, rel->rows, startup, total,
											pathkeys, rel->lateral_relids,
											list_make3(attnums,
													   OrderedScanDescribe(ncols, spec->sort), NIL)));
}

Path *
BucketClusteredPath(PlannerInfo *root, RelOptInfo *rel, List *key_attnums)
{
	Cost		startup;
	Cost		total;

	BucketScanCost(rel, false, &startup, &total);
	return (Path *) BfCreateForeignScanPath(root, rel, rel->rows, startup, total + BucketMergeCost(rel),
											rel->lateral_relids,
											list_make3(key_attnums, NIL,
													   list_make1_int(list_length(key_attnums))));
}

int
PartialWorkers(PlannerInfo *root, RelOptInfo *rel, double pages)
{
	if (!rel->consider_parallel || !bms_is_empty(rel->lateral_relids))
		return 0;
	return compute_parallel_worker(rel, pages, -1, max_parallel_workers_per_gather);
}

void
MakePartial(Path *path, Cost fixed, int workers)
{
	double		divisor = workers;

	/* the leader's part as core reckons it */
	if (parallel_leader_participation)
		divisor += Max(0.0, 1.0 - 0.3 * workers);
	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = workers;
	path->rows = clamp_row_est(path->rows / divisor);
	path->startup_cost = fixed + (path->startup_cost - fixed) / divisor + WORKER_COST * parallel_setup_cost;
	path->total_cost = fixed + (path->total_cost - fixed) / divisor + WORKER_COST * parallel_setup_cost;
}

void
BucketAddPartialPath(PlannerInfo *root, RelOptInfo *rel)
{
	int			workers;
	Path	   *path;

	if (!bf_enable)
		return;
	workers = PartialWorkers(root, rel, BucketRelInfoGet(rel)->plain_pages);
	if (workers == 0)
		return;
	path = (Path *) BucketScanPath(root, rel, false, NIL);
	MakePartial(path, path->startup_cost, workers);
	add_partial_path(rel, path);
}
