/*
 * bucket_rel.h
 *	  What the planner knows of a bucketed table; kept in fdw_private of its
 *	  RelOptInfo.  From the manifest come sizes, which set costs, and the
 *	  hash version; the executor looks at the latter again.
 */
#ifndef BF_BUCKET_REL_H
#define BF_BUCKET_REL_H

#include "nodes/pathnodes.h"
#include "spec/bucket_spec.h"
#include "storage/manifest.h"

#define BUCKET_REL_MAGIC 0x6272656c

/* What loading saw of a table, for table_stats.c. */
typedef struct TableStats
{
	int			nwrites;		/* 0: the manifest had none, or nobody needs them */
	ManifestStats *writes;
	MemoryContext cxt;			/* the planner's */
	List	   *made;			/* StatsTuple, for this table and its parents */
} TableStats;

typedef struct BucketRelInfo
{
	int			magic;
	TableOptions *options;
	double		rows;			/* in all files, without those that are deleted */
	double		stored_rows;	/* with them: they are read, too */
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

	struct Bucketed *bucketed;	/* how joins read it, made by bucketed.c when one asks */

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

/* Rows of a block, about, with those that are deleted. */
static inline double
BucketBlockRows(const BucketRelInfo *info)
{
	return Max(1.0, Min(info->options->block_rows, info->stored_rows / Max(1, info->nruns)));
}

#endif							/* BF_BUCKET_REL_H */
