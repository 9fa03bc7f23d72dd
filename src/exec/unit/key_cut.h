/*
 * key_cut.h
 *	  Places between the rows of a bucket group, in the order of their keys:
 *	  where a unit of work that is a part of a group begins and ends.
 *
 * All rows of a full key tuple are on one side of a cut, in every input of a
 * join, whatever the types of the key columns inside their classes.  Includes
 * no planner or executor header.
 */
#ifndef BF_KEY_CUT_H
#define BF_KEY_CUT_H

#include "format/read/reader.h"
#include "vector/key_vector.h"

typedef enum KeyCutKind
{
	CUT_BEFORE_KEY,				/* before the first row with the key */
	CUT_AFTER_KEY,				/* after the last one */
	CUT_BEFORE_NULLS			/* before the rows whose first key column is NULL; there is no key */
} KeyCutKind;

typedef struct KeyCut
{
	KeyCutKind	kind;
	KeyBound	key;
} KeyCut;

/* What a unit reads of each run of its group. */
typedef struct UnitPart
{
	const KeyCut *from;			/* NULL: from the first row */
	const KeyCut *to;			/* NULL: to the last row, NULL keys too */
	int			slice;			/* of what is between them, one of so many shares; */
	int			nslices;		/* 0 or 1: all of it */
	bool		by_rows;		/* shares end anywhere in a block, not only between blocks */
} UnitPart;

/* Is every row of a block before the cut?  Only answers true when that is certain. */
extern bool BlockBeforeCut(const BucketSpec *spec, const FileBlock *block, const KeyCut *cut);

/* Is no row of a block before the cut?  Only answers true when that is certain. */
extern bool BlockAfterCut(const BucketSpec *spec, const FileBlock *block, const KeyCut *cut);

/*
 * The first row of a sorted block that is not before the cut; cols are the
 * batch columns of the keys.
 */
extern int	RowAfterCut(const BucketSpec *spec, Batch *batch, const int *cols, const KeyCut *cut);

#endif							/* BF_KEY_CUT_H */
