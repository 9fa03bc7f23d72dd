/*
 * leaf_qual.h
 *	  Conditions on whole batches, and what they allow to skip.
 *
 * A condition is a tree: AND and OR of comparisons of one column with a value,
 * or with another column.  Applied, it keeps the selected rows for which it is
 * true; false and NULL are not told apart, so that NOT stands in no tree: the
 * planner moves it into the comparisons.
 *
 * Only operators whose meaning the key classes define are compared here, and
 * LIKE; they raise no error.  A condition of one column that is none of these
 * can be a leaf as LEAF_EVALUATE: core computes it, once for each value, and
 * only for rows that are reached, because it may raise one.
 */
#ifndef BF_LEAF_QUAL_H
#define BF_LEAF_QUAL_H

#include "access/attnum.h"
#include "nodes/execnodes.h"
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
	LEAF_NOT_PREFIX,
	LEAF_LIKE,					/* the text is LIKE the value, a pattern of LikePatternFits */
	LEAF_NOT_LIKE,
	LEAF_COLUMNS,				/* the column is compared with another one */
	LEAF_EVALUATE,				/* core evaluates it */
	LEAF_OR,					/* one of several quals holds */
	LEAF_AND					/* all of several hold */
} LeafQualOp;

/* What is compared in a column of int64, values being sorted: those of one comparison or of a list. */
typedef struct IntTest
{
	LeafQualOp	op;				/* LEAF_EQ to LEAF_ANY, LEAF_NONE_OF; LEAF_NOTNULL: any value will do */
	bool		none;			/* none will do */
	int			nvalues;
	int64	   *values;
	const uint64 *bits;			/* of a list: a bit for each integer from values[0] to the last; NULL: search */
} IntTest;

typedef struct LeafQual
{
	AttrNumber	attnum;
	KeyClass	keyclass;		/* NONE for LEAF_ISNULL and LEAF_NOTNULL on other types */
	Oid			coltype;		/* base type of the column */
	LeafQualOp	op;
	Oid			valuetype;		/* base type of the value, or of the array's elements */
	int			col;			/* batch column of attnum, set by the reader */

	/* LEAF_COLUMNS only */
	LeafQualOp	compare;		/* LEAF_EQ to LEAF_GE */
	AttrNumber	othernum;		/* the second column */
	Oid			othertype;
	int			othercol;		/* set by the reader */
	int64	   *room[2];		/* a batch of integers for each, made when it is needed */

	/* bucket_id only; attnum is the first of the columns */
	int			modulus;
	int			nhash;
	AttrNumber *hashattnums;
	Oid		   *hashtypes;		/* their base types */
	int		   *hashcols;		/* their batch columns, set by the reader */

	/* LEAF_OR and LEAF_AND only; attnum is that of the first arm */
	int			narms;
	struct LeafQual *arms;		/* no bucket_id */

	bool		of_numeric;		/* LeafQualSetValue gets a numeric; valuetype is that of the integer made of it */

	/* set before reading starts, by LeafQualSetValue / LeafQualSetArray */
	bool		never;			/* no row qualifies: the value is NULL, for one */
	int			nvalues;		/* 1, or the elements of the array, sorted, without NULLs */
	Datum	   *values;
	IntTest		test;			/* of fixed classes: by KeySort64 */
	IntTest		scaled;			/* of numerics: by integers in units of 10^-scale */
	int			scale;			/* for which that was made; -1: for none so far */
	struct LikePattern *like;
	MemoryContext cxt;			/* of the values, and of room */

	struct QualEvaluation *evaluation;	/* of LEAF_EVALUATE */
} LeafQual;

static inline bool
LeafQualIsBucket(const LeafQual *qual)
{
	return qual->op == LEAF_BUCKET || qual->op == LEAF_BUCKET_ANY;
}

/* Is it a tree of others? */
static inline bool
LeafQualHasArms(const LeafQual *qual)
{
	return qual->op == LEAF_OR || qual->op == LEAF_AND;
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
	return qual->op != LEAF_ISNULL && qual->op != LEAF_NOTNULL && qual->op != LEAF_COLUMNS &&
		qual->op != LEAF_EVALUATE && !LeafQualHasArms(qual);
}

/* Has it an expression in the plan: its value, or what core evaluates? */
static inline bool
LeafQualHasExpr(const LeafQual *qual)
{
	return LeafQualHasValue(qual) || qual->op == LEAF_EVALUATE;
}

/* As the planner describes it: is an integer column set equal to a numeric known only when it is read? */
static inline bool
LeafQualIntOfNumeric(const LeafQual *qual)
{
	return qual->keyclass == KEYCLASS_INT && qual->op == LEAF_EQ &&
		KeyClassOfType(qual->valuetype) == KEYCLASS_NUMERIC;
}

/* Does every row qualify, NULL or not?  So it is when all elements of an empty array must differ. */
static inline bool
LeafQualAlways(const LeafQual *qual)
{
	return qual->op == LEAF_NONE_OF && !qual->never && qual->nvalues == 0;
}

/*
 * qual_describe.c: a qual without its value as a list of integers, or of such
 * lists, for a plan; and back.
 */
extern List *LeafQualDescribe(const LeafQual *qual);
extern void LeafQualRead(List *desc, LeafQual *qual);

/*
 * qual_value.c
 */

/* Give the qual its value; by-reference values are copied into the current context. */
extern void LeafQualSetValue(LeafQual *qual, Datum value, bool isnull);

/*
 * Give a qual its array (of valuetype elements).  A NULL element equals
 * nothing, and nothing is known to differ from it.
 */
extern void LeafQualSetArray(LeafQual *qual, Datum array, bool isnull);

/* All arms of a tree have their values. */
extern void LeafQualArmsSet(LeafQual *qual);

/*
 * qual_evaluate.c: what LEAF_EVALUATE evaluates; the column is put into the
 * slot.  keep: what comes out for a value is the same after a rescan.
 */
extern void LeafQualSetEvaluation(LeafQual *qual, ExprState *state, ExprContext *econtext,
								  TupleTableSlot *slot, bool keep);

/* Values may come out otherwise from now on, unless they are kept. */
extern void LeafQualForget(LeafQual *qual);

/*
 * qual_apply.c
 */

/* May an error be raised for a row?  Then it must not be applied to rows that others before it drop. */
extern bool LeafQualMayFail(const LeafQual *qual);

/* About how long it takes for a row, to sort by. */
extern int	LeafQualEffort(const LeafQual *qual);

/* Narrow the selection of a batch to the rows that satisfy the qual; they are put into selection. */
extern void LeafQualApply(LeafQual *qual, Batch *batch, uint16 *selection);

/*
 * qual_buckets.c
 */

/* Does a bucket_id qual speak of whole buckets of files with this spec? */
extern bool LeafQualSaysBucket(const LeafQual *qual, const BucketSpec *spec);

/*
 * What a bucket_id qual says of all rows in a bucket of a file: 1 all
 * qualify, 0 none, -1 it cannot be told from the bucket.
 */
extern int	LeafQualOfBucket(const LeafQual *qual, const BucketSpec *spec, int bucket);

/*
 * The set of buckets of a spec that the quals leave: a bitmap of nbuckets
 * bits, palloc'd, or NULL when nothing can be left out.
 */
extern uint8 *LeafQualsBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals);

#endif							/* BF_LEAF_QUAL_H */
