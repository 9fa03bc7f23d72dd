/*
 * leaf_qual.h
 *	  Quals of the form "column op value" applied to whole batches, and what
 *	  they allow to skip.
 *
 * Only operators whose meaning the key classes define are made into leaf
 * quals; everything else stays an executor qual, evaluated row by row.
 */
#ifndef BF_LEAF_QUAL_H
#define BF_LEAF_QUAL_H

#include "access/attnum.h"
#include "spec/bucket_spec.h"
#include "vector/batch.h"

typedef enum LeafQualOp
{
	LEAF_EQ = 1,
	LEAF_NE,
	LEAF_LT,
	LEAF_LE,
	LEAF_GT,
	LEAF_GE,
	LEAF_ANY,					/* column = any (array) */
	LEAF_ISNULL,
	LEAF_NOTNULL,
	LEAF_BUCKET,				/* bucket_id(modulus, columns) = value */
	LEAF_BUCKET_ANY,			/* bucket_id(modulus, columns) = any (array) */
	LEAF_NONE_OF,				/* column <> all (array) */
	LEAF_PREFIX,				/* the text begins with the value, byte by byte */
	LEAF_OR						/* one of several quals holds */
} LeafQualOp;

typedef struct LeafQual
{
	AttrNumber	attnum;
	KeyClass	keyclass;		/* NONE for LEAF_ISNULL and LEAF_NOTNULL on other types */
	Oid			coltype;		/* base type of the column */
	LeafQualOp	op;
	Oid			valuetype;		/* base type of the value, or of the array's elements */

	/* bucket_id only; attnum is the first of the columns */
	int			modulus;
	int			nhash;
	AttrNumber *hashattnums;
	Oid		   *hashtypes;		/* their base types */
	int		   *hashcols;		/* their batch columns, set by the reader */

	/* LEAF_OR only; attnum is that of the first arm */
	int			narms;
	struct LeafQual *arms;		/* neither LEAF_OR nor bucket_id */
	int		   *armcols;		/* their batch columns, set by the reader */

	bool		of_numeric;		/* LeafQualSetValue gets a numeric; valuetype is that of the integer made of it */

	/* set before reading starts, by LeafQualSetValue / LeafQualSetArray */
	bool		never;			/* no row qualifies: the value is NULL, for one */
	int			nvalues;		/* 1, or the elements of the array, sorted, without NULLs */
	Datum	   *values;
	int64	   *values64;		/* KeySort64 of values, for fixed classes */
} LeafQual;

/* As the planner describes it: is an integer column set equal to a numeric known only when it is read? */
static inline bool
LeafQualIntOfNumeric(const LeafQual *qual)
{
	return qual->keyclass == KEYCLASS_INT && qual->op == LEAF_EQ &&
		KeyClassOfType(qual->valuetype) == KEYCLASS_NUMERIC;
}

/* Give the qual its value; by-reference values are copied into the current context. */
extern void LeafQualSetValue(LeafQual *qual, Datum value, bool isnull);

/*
 * Give a qual its array (of valuetype elements).  A NULL element equals
 * nothing, and nothing is known to differ from it.
 */
extern void LeafQualSetArray(LeafQual *qual, Datum array, bool isnull);

/* Does a bucket_id qual speak of whole buckets of files with this spec? */
extern bool LeafQualSaysBucket(const LeafQual *qual, const BucketSpec *spec);

/*
 * What a bucket_id qual says of all rows in a bucket of a file: 1 all
 * qualify, 0 none, -1 it cannot be told from the bucket.
 */
extern int	LeafQualOfBucket(const LeafQual *qual, const BucketSpec *spec, int bucket);

static inline bool
LeafQualIsBucket(const LeafQual *qual)
{
	return qual->op == LEAF_BUCKET || qual->op == LEAF_BUCKET_ANY;
}

/* Is the value an array? */
static inline bool
LeafQualIsArray(const LeafQual *qual)
{
	return qual->op == LEAF_ANY || qual->op == LEAF_NONE_OF || qual->op == LEAF_BUCKET_ANY;
}

/* Does the qual compare with a value, so that it needs one? */
static inline bool
LeafQualHasValue(const LeafQual *qual)
{
	return qual->op != LEAF_ISNULL && qual->op != LEAF_NOTNULL && qual->op != LEAF_OR;
}

/* Does every row qualify, NULL or not?  So it is when all elements of an empty array must differ. */
static inline bool
LeafQualAlways(const LeafQual *qual)
{
	return qual->op == LEAF_NONE_OF && !qual->never && qual->nvalues == 0;
}

/* Narrow the selection of a batch to the rows of column col that satisfy the qual. */
extern void LeafQualApply(const LeafQual *qual, Batch *batch, int col, uint16 *selection);

/*
 * The set of buckets of a spec that the quals leave: a bitmap of nbuckets
 * bits, palloc'd, or NULL when nothing can be left out.
 */
extern uint8 *LeafQualsBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals);

#endif							/* BF_LEAF_QUAL_H */
