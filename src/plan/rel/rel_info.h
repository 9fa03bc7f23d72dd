/*
 * rel_info.h
 *	  What the planner knows of a bucketed table; kept in fdw_private of its
 *	  RelOptInfo.  From the manifest come sizes, which set costs, and the
 *	  hash version; the executor looks at the latter again.
 */
#ifndef BF_REL_INFO_H
#define BF_REL_INFO_H

#include "nodes/pathnodes.h"
#include "plan/rel/table_stats.h"
#include "spec/bucket_spec.h"

#define BUCKET_REL_MAGIC 0x6272656c

typedef struct BucketRelInfo
{
	int			magic;
	TableOptions *options;
	double		rows;			/* in all files */
	double		bytes;
	int			nfiles;
	int			nruns;
	double		runs_per_bucket;	/* mean */
	int			hash_version;	/* of the files, when one of them has another than this library's; else 0 */
	double		plain_pages;	/* of a heap table of these rows: files are packed, the work on rows is not */
	double		column_share;	/* of the bytes in columns that the query reads */
	bool		batch_quals;	/* there are clauses that are applied to batches */
	double		batch_selectivity;	/* of them */
	QualCost	row_qual_cost;	/* of the other clauses */
	TableStats	stats;
	double		bucket_fraction;	/* of the buckets left by constants on the keys */
	double		read_rows;		/* in the blocks left by them */

	/* for EXPLAIN, set by plan_report.c */
	JoinPath   *feeds;			/* the lowest core join that equates a column of the table */
	bool		in_bucket_join; /* the table stands right under a bucket join */
} BucketRelInfo;

/* The info of a rel that is a bucketed table, else NULL. */
static inline BucketRelInfo *
BucketRelInfoGet(RelOptInfo *rel)
{
	BucketRelInfo *info = rel->rtekind == RTE_RELATION && rel->fdwroutine != NULL ? rel->fdw_private : NULL;

	return info != NULL && info->magic == BUCKET_REL_MAGIC ? info : NULL;
}

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

/*
 * Cost of reading the table: row by row through the executor, or (batches)
 * as one input of a bucket join.  ncols is the number of columns read.
 */
extern void BucketScanCost(RelOptInfo *rel, bool batches, Cost *startup, Cost *total);

/* Cost of decoding so many rows of the rel's columns and of reading them from files. */
extern Cost BucketReadCost(RelOptInfo *rel, double rows, Cost page_cost);

/*
 * A Foreign Scan path on the table.  key_attnums are columns that must be
 * read whatever the target list says.
 */
extern ForeignPath *BucketScanPath(PlannerInfo *root, RelOptInfo *rel, bool batches,
								   List *key_attnums);

#endif							/* BF_REL_INFO_H */
