/*
 * join_cost.c
 *	  What a bucket join costs.
 *
 * Where a constant stands for time, cpu_operator_cost (0.0025 by default) is
 * taken for 10 ns, which is what core's joins come to on today's machines.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "compat.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/join/join_cost.h"

/* making the key of a row, and merging a row; in units of cpu_operator_cost */
#define KEY_COST 0.06
#define MERGE_COST 0.2
/* rows of a side that are looked at to find the place of one of the other side */
#define GALLOP 4.0
/* handing a joined row to the executor, in units of cpu_tuple_cost */
#define PAIR_COST 0.5

/*
 * Hashing a row, packing it, sorting its bucket and reading it into a batch, in
 * units of cpu_tuple_cost: 40 to 60 ns, which is 0.01 to 0.015.  Core's
 * estimates for hash tables leave out what it takes to wait for memory, a
 * factor of two and more; so that the two compare, this becomes less where the
 * hash table would not fit into the caches: from so many bytes on by this part
 * each time they double, down to a half.
 */
#define ROUTE_COST 1.5
#define CACHED_BYTES (8.0 * 1024 * 1024)
#define UNCACHED_FACTOR 0.5
#define MOST_UNCACHED 2.0
/* the same where rows of one bucket have keys to be compared: per comparison, in units of cpu_operator_cost */
#define COMPARE_COST 1.0
/* beginning, and what is done for each group of buckets; in units of cpu_operator_cost */
#define ROUTE_START_COST 2500.0
#define ROUTE_GROUP_COST 2.0

/* part of the rows that an anti join with conditions beside the key leaves, at least */
#define LEFT_OVER 0.01

/* beside the row, bytes for sorting it, and for sorting it in temporary files */
#define SORT_BYTES 32.0
#define FILE_SORT_BYTES 48.0

/*
 * Writing rows to temporary files and reading them back, if they do not fit
 * into work_mem; and the same once more, with comparisons, if a bucket does
 * not fit.
 */
static Cost
SpillCost(const BucketInput *input, double rows)
{
	double		memory = work_mem * 1024.0;
	double		width = MAXALIGN(input->path->pathtarget->width + 1);
	double		bucket_rows = rows / input->nbuckets;
	double		bucket = bucket_rows * (width + SORT_BYTES);
	Cost		page_cost = 0.75 * seq_page_cost + 0.25 * random_page_cost;
	Cost		cost = 0;

	if (rows * width + bucket > memory)
		cost += 2 * rows * width / BLCKSZ * page_cost;
	if (bucket > memory)
		cost += 2 * rows * (width + FILE_SORT_BYTES) / BLCKSZ * page_cost +
			rows * log2(Max(bucket_rows, 2)) * cpu_operator_cost;
	return cost;
}

/* Memory of the rows of an input in a hash table: the row, its header, the entry of its bucket, and its share of those. */
static double
HashTableBytes(const BucketInput *input)
{
	return input->path->rows * (MAXALIGN(input->path->pathtarget->width) + MAXALIGN(SizeofMinimalTupleHeader) +
						 2 * sizeof(void *));
}

/* How many times longer it takes than core thinks to join the two by a hash table of the smaller one. */
static double
UncachedFactor(const BucketInput *a, const BucketInput *b)
{
	double		bytes = Min(HashTableBytes(a), HashTableBytes(b));

	if (bytes <= CACHED_BYTES)
		return 1.0;
	return Min(1.0 + UNCACHED_FACTOR * log2(bytes / CACHED_BYTES), MOST_UNCACHED);
}

/* Hashing, sorting and reading back the rows of an input that is routed to be joined with another, without making them. */
static Cost
RoutingCost(const BucketInput *input, const BucketInput *other)
{
	double		rows = Max(input->path->rows, 2);
	bool		strings = input->classes[0] == KEYCLASS_TEXT ||
		input->classes[0] == KEYCLASS_BPCHAR || input->classes[0] == KEYCLASS_BYTEA;

	return (ROUTE_START_COST + input->nbuckets * ROUTE_GROUP_COST) * cpu_operator_cost +
		rows * (ROUTE_COST / UncachedFactor(input, other) * cpu_tuple_cost +
				(strings ? log2(rows) * COMPARE_COST * cpu_operator_cost : 0)) +
		SpillCost(input, rows);
}

/* How many times more rows an input is expected to give than core expects of its relation. */
static double
RowsFactor(const BucketInput *input)
{
	return Max(1.0, input->path->rows / Max(input->path->parent->rows, 1.0));
}

/*
 * Rows of a bucket join.  With conditions beside the key, such as a.x <> b.x,
 * core expects nearly every row to have a match and an anti join to give one
 * row.  A bucket join is expected to leave a small part of the rows, and so
 * are bucket joins that read it, so that what is above them is not made for a
 * single row.  Core's own paths for the same joins keep core's estimate.
 */
static double
JoinedRows(const RelOptInfo *joinrel, JoinType jointype, const JoinClauses *clauses,
		   const BucketInput *outer, const BucketInput *inner)
{
	double		rows = joinrel->rows * RowsFactor(outer);

	if (jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		rows *= RowsFactor(inner);
	if (jointype == JOIN_ANTI && clauses->residual != NIL)
		rows = Max(rows, outer->path->rows * LEFT_OVER);
	return clamp_row_est(rows);
}

/* Pairs with equal keys: what reaches the join filter. */
static double
CandidatePairs(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
			   const JoinClauses *clauses, SpecialJoinInfo *sjinfo)
{
	List	   *keyclauses = list_difference_ptr(clauses->joinquals, clauses->residual);

	if (clauses->residual == NIL)
		return joinrel->rows;
	return clamp_row_est(outer->rows * inner->rows *
						 clauselist_selectivity(root, keyclauses, 0, JOIN_INNER, sjinfo));
}

/* Are all rows of a side wanted, with or without a match? */
static bool
IsPreserved(JoinType jointype, int side)
{
	return jointype == JOIN_FULL || (side == 0 && (jointype == JOIN_LEFT || jointype == JOIN_ANTI));
}

/*
 * Cost of reading a side and merging its rows.  So many rows of the other side
 * lie in some of the blocks of a side that is bucketed; the merge leaves out
 * the other blocks, unless all rows are wanted.
 */
static Cost
SideCost(const BucketInput *input, double rows, double other_rows, bool preserved)
{
	Path	   *path = input->path;
	double		share = 1.0;
	Cost		cost = 0;

	if (!input->routed)
	{
		if (!preserved && input->pieces > 1)
			share = 1.0 - pow(1.0 - 1.0 / input->pieces, other_rows);
		cost = path->total_cost - path->startup_cost;
		/* pages next to each other are cheaper, by the interpolation of core's bitmap scans */
		if (share < 1.0)
			cost = Min(cost, cost * share + input->pieces * share * input->runs *
					   Max(0, random_page_cost - seq_page_cost) * (1.0 - sqrt(share)));
	}
	rows *= share;
	return cost + rows * KEY_COST * cpu_operator_cost +
		Min(rows, other_rows * GALLOP) * MERGE_COST * cpu_operator_cost;
}

Cost
PairsCost(double pairs)
{
	return pairs * MERGE_COST * cpu_operator_cost;
}

/* Rows that are routed are all read before the first one is joined. */
void
CostBucketJoin(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
			   JoinType jointype, SpecialJoinInfo *sjinfo, const JoinClauses *clauses,
			   const BucketInput *outer, const BucketInput *inner, JoinCosts *costs)
{
	const BucketInput *inputs[2] = {outer, inner};
	double		rows[2] = {outer->path->rows, inner->path->rows};
	double		pairs = CandidatePairs(root, joinrel, outerrel, innerrel, clauses, sjinfo);
	QualCost	joinqual;
	QualCost	otherqual;

	memset(costs, 0, sizeof(*costs));
	cost_qual_eval(&joinqual, clauses->residual, root);
	cost_qual_eval(&otherqual, clauses->otherquals, root);
	costs->rows = JoinedRows(joinrel, jointype, clauses, outer, inner);
	costs->units = Min(outer->nbuckets, inner->nbuckets);
	costs->width = joinrel->reltarget->width;
	costs->startup = joinqual.startup + otherqual.startup + joinrel->reltarget->cost.startup;
	for (int i = 0; i < 2; i++)
	{
		Path	   *child = inputs[i]->path;

		costs->startup += inputs[i]->routed ? child->total_cost + RoutingCost(inputs[i], inputs[1 - i]) :
			child->startup_cost;
		costs->run += SideCost(inputs[i], rows[i], rows[1 - i], IsPreserved(jointype, i));
		BfAddDisabledNodes(costs, child);
	}
	costs->run += PairsCost(pairs) + pairs * joinqual.per_tuple;
	costs->run += costs->rows * otherqual.per_tuple;
	costs->output = costs->rows * (PAIR_COST * cpu_tuple_cost + joinrel->reltarget->cost.per_tuple);
}

void
SetJoinCosts(Path *path, const JoinCosts *costs, bool as_input)
{
	Cost		run = costs->run + (as_input ? 0 : costs->output);
	Cost		wait;

	/*
	 * The first row needs the first blocks of one unit, and the less rows there
	 * are the longer it takes until one is met.  Without the latter a join
	 * that is thought to give one row would start for next to nothing, and
	 * of two paths above it that differ by less than add_path looks at, a
	 * scan of the whole other table would win over a lookup in an index, whose
	 * start costs a fraction more.
	 */
	wait = Min(run / Max(costs->units, 1), 2 * seq_page_cost * (1 + costs->width / 8.0));
	if (!as_input)
		wait = Max(wait, run / (costs->rows + 1));
	path->startup_cost = costs->startup + wait;
	path->total_cost = costs->startup + run;
	path->rows = costs->rows;
	BfSetDisabledNodes(path, costs->disabled_nodes);
}
