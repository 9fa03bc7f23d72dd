/*
 * bucket_spec.h
 *	  The bucket spec of a table or file: bucket columns, number of buckets,
 *	  order inside a run; made from the table options.
 */
#ifndef BF_BUCKET_SPEC_H
#define BF_BUCKET_SPEC_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"
#include "spec/key_class.h"

#define BF_MAX_BUCKETS 65536
#define BF_DEFAULT_BLOCK_ROWS 8192

/* values of SortColumn.flags, on disk */
#define BF_SORT_DESC		0x01
#define BF_SORT_NULLS_FIRST	0x02

typedef struct SortColumn
{
	AttrNumber	attnum;
	KeyClass	keyclass;
	Oid			typid;			/* base type of the column */
	uint8		flags;			/* BF_SORT_*; 0 for bucket columns */
} SortColumn;

/*
 * The first nkeys sort columns are the bucket columns, in bucket_by order:
 * ascending, nulls last.  One palloc'd piece of BucketSpecSize(nsort) bytes.
 */
typedef struct BucketSpec
{
	int			hash_version;
	int			nbuckets;		/* 1 .. BF_MAX_BUCKETS */
	int			nkeys;			/* >= 1 */
	int			nsort;			/* >= nkeys */
	SortColumn	sort[FLEXIBLE_ARRAY_MEMBER];
} BucketSpec;

/* Is it known to this library in which bucket a row of such a spec lies? */
#define BucketSpecHashKnown(spec) ((spec)->hash_version == BF_HASH_VERSION)

#define BucketSpecSize(nsort) (offsetof(BucketSpec, sort) + (nsort) * sizeof(SortColumn))

typedef enum BfCompression
{
	BF_COMPRESS_NONE = 0,
	BF_COMPRESS_LZ4 = 1,
	BF_COMPRESS_ZSTD = 2
} BfCompression;

/* Everything the table options say. */
typedef struct TableOptions
{
	BucketSpec *spec;
	BfCompression compression;	/* default lz4 */
	int			compression_level;	/* 0 = the codec's default */
	int			block_rows;		/* 1 .. 8192 */
	const char *tablespace;		/* NULL: option tablespace is not written */
	bool		buckets_given;	/* option buckets is written */
} TableOptions;

/*
 * Parse the options of a table against its columns.  default_buckets is used
 * when buckets is absent.  Bad options raise ERRCODE_FDW_* / undefined column
 * errors with detail and hint; relname is for messages only.  Result is
 * palloc'd in the current context.
 */
extern TableOptions *TableOptionsParse(List *options, TupleDesc desc, const char *relname,
									   int default_buckets);

/*
 * The check the FDW validator can do without columns: names known (else a
 * hint with the valid ones and, for Spark's and Hive's words, the one meant),
 * numbers in range, lists well formed.  No option at all is fine here.
 */
extern void TableOptionsValidate(List *options);

/*
 * Rewrite one column name inside a bucket_by or sort_by string; returns a
 * palloc'd string, or NULL when the name does not occur.
 */
extern char *ColumnListRename(const char *list, const char *oldname, const char *newname);

/* The canonical text of the columns of a spec, quoted where SQL needs it. */
extern char *BucketSpecBucketBy(const BucketSpec *spec, TupleDesc desc);
extern char *BucketSpecSortBy(const BucketSpec *spec, TupleDesc desc);

extern bool BucketSpecEqual(const BucketSpec *a, const BucketSpec *b);

/* Do both place and order rows alike, as they differ in types of one class at most? */
extern bool BucketSpecAlike(const BucketSpec *a, const BucketSpec *b);

extern BucketSpec *BucketSpecCopy(const BucketSpec *spec);

/* Hash of the bucket columns of a row (values indexed by attnum - 1); a NULL leaves the hash unchanged. */
extern uint32 BucketSpecHash(const BucketSpec *spec, const Datum *values, const bool *nulls);

/*
 * Compare two rows given as arrays over the sort columns (index = position in
 * spec->sort), by the first ncols of them.  NULLs equal each other here.
 */
extern int	BucketSpecCompare(const BucketSpec *spec, int ncols,
							  const Datum *avalues, const bool *anulls,
							  const Datum *bvalues, const bool *bnulls);

extern int	GreatestCommonDivisor(int a, int b);

#endif							/* BF_BUCKET_SPEC_H */
