/*
 * rel_info.h
 *	  Find out what the planner knows of a bucketed table, and what reading it
 *	  costs.
 */
#ifndef BF_REL_INFO_H
#define BF_REL_INFO_H

#include "plan/rel/bucket_rel.h"

/* The relations whose rows a base relation has: itself, or its children on all levels that are not proven empty. */
extern List *LeafRels(PlannerInfo *root, RelOptInfo *rel);

/* What clauses with fixed values say about where the rows lie; an estimate for costs. */
typedef struct KeyPins
{
	bool		pinned;			/* every key column has few values */
	double		combinations;	/* of them */
	bool		nulls;			/* some of them NULL: many rows may have that key */
	double		fraction;		/* of the buckets that are left */
} KeyPins;

/* Find in clauses (RestrictInfos) the ones that pin the key columns of a rel. */
extern void KeyPinsFind(RelOptInfo *rel, const BucketSpec *spec, List *clauses, KeyPins *pins);

/* Rows decoded when only the blocks left by the pins are read. */
extern double KeyPinsRows(const BucketRelInfo *info, const KeyPins *pins);

/* Rows that conditions on batches leave: those on which the others are tested. */
extern double BucketPassedRows(const BucketRelInfo *info);

/* Read the sizes of a table and set rows, tuples, pages and fdw_private of baserel. */
extern void BucketRelInfoBuild(PlannerInfo *root, RelOptInfo *baserel, Oid relid);

/*
 * Work per value or row in units of cpu_operator_cost (0.0025 by default,
 * about 10 ns in core's joins on today's machines): reading and decoding a
 * value takes 0.6 ns if its width is fixed, and if not 3 ns (numeric) to 6 ns
 * (text that hardly repeats).
 */
#define DECODE_FIXED_COST 0.06
#define DECODE_VARLENA_COST 0.3

/* A block of which no column is read, 0.4 us, in units of cpu_operator_cost. */
#define BLOCK_COST 40.0

/* Testing a row by a batch qual, 1 ns and more, in units of cpu_operator_cost. */
#define BATCH_QUAL_COST 0.1

/* Cost of reading the table in any order: row by row through the executor, or batches for a node of ours. */
extern void BucketScanCost(RelOptInfo *rel, bool batches, Cost *startup, Cost *total);

/* Merging the runs of buckets, per row and doubling of their number: 1.5 ns. */
#define RUN_MERGE_COST 0.15

/* Cost of merging the runs of each bucket. */
extern Cost BucketMergeCost(RelOptInfo *rel);

/* Cost of decoding so many rows of the rel's columns, and those deleted among them, and of reading them from files. */
extern Cost BucketReadCost(RelOptInfo *rel, double rows, Cost page_cost);

/*
 * A Foreign Scan path on the table.  key_attnums are the bucket columns of
 * batches that are wanted in their order, and read whatever the target list
 * says; NIL: in any order.
 */
extern ForeignPath *BucketScanPath(PlannerInfo *root, RelOptInfo *rel, bool batches,
								   List *key_attnums);

#endif							/* BF_REL_INFO_H */
