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
	LEAF_NOTNULL
} LeafQualOp;

typedef struct LeafQual
{
	AttrNumber	attnum;
	KeyClass	keyclass;		/* NONE for LEAF_ISNULL and LEAF_NOTNULL on other types */
	Oid			coltype;		/* base type of the column */
	LeafQualOp	op;
	Oid			valuetype;		/* base type of the value, or of the array's elements */

	/* set before reading starts, by LeafQualSetValue / LeafQualSetArray */
	bool		never;			/* the value is NULL: no row qualifies */
	int			nvalues;		/* 1, or the elements of LEAF_ANY, sorted, without NULLs */
	Datum	   *values;
	int64	   *values64;		/* KeySort64 of values, for fixed classes */
} LeafQual;

/* Give the qual its value; by-reference values are copied into the current context. */
extern void LeafQualSetValue(LeafQual *qual, Datum value, bool isnull);

/* Give LEAF_ANY its array (of valuetype elements); NULL elements never match. */
extern void LeafQualSetArray(LeafQual *qual, Datum array, bool isnull);

/* Narrow the selection of a batch to the rows of column col that satisfy the qual. */
extern void LeafQualApply(const LeafQual *qual, Batch *batch, int col, uint16 *selection);

/*
 * The set of buckets of a spec that the quals leave: a bitmap of nbuckets
 * bits, palloc'd, or NULL when nothing can be left out.
 */
extern uint8 *LeafQualsBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals);

#endif							/* BF_LEAF_QUAL_H */
