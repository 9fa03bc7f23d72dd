/*
 * key_vector.h
 *	  The keys of a batch prepared for merging: one int64 per row that decides
 *	  most comparisons, and the full comparison for the rest.
 *
 * For one key column of a fixed class, and for a batch of short texts, the
 * int64 decides alone ("exact").  Otherwise it is a monotone image of the
 * first key column: unequal images order the rows, equal ones need the full
 * comparison.  Two vectors may be of different classes that meet
 * (KeyClassesMeet).  Includes no planner or executor header.
 */
#ifndef BF_KEY_VECTOR_H
#define BF_KEY_VECTOR_H

#include "spec/bucket_spec.h"
#include "vector/batch.h"

/* A key to which a sorted stream may skip: rows with a smaller key are not wanted. */
typedef struct KeyBound
{
	int			nkeys;
	const KeyClass *classes;
	const Oid  *types;			/* of the values below */
	const Datum *values;		/* none is null */
} KeyBound;

typedef struct KeyVector
{
	/* fixed at init */
	int			nkeys;
	int		   *cols;			/* batch columns of the keys */
	KeyClass   *classes;
	Oid		   *types;
	bool		floors;			/* the other vector holds integers, or numerics, where this has numerics, or integers */
	bool		decides;		/* by the key's class, equal images are equal keys */
	int			low_bits;		/* the second key may share the image with the first: its bits there; 0: no */
	bool		always_packed;	/* by their types, both keys fit */

	/* of the present batch */
	Batch	   *batch;
	bool		exact;			/* equal images are equal keys */
	bool		fits;			/* an image can hold the first two keys of each entry */
	bool		packed;			/* and does */
	int			skip;			/* first bytes of texts, which all share: not in the images */
	int			n;				/* entries */
	const uint16 *rows;			/* row of each entry; NULL: entry i is row i */
	const int64 *k64;			/* one per entry */
	const bool *entry_null;		/* entry has a NULL key; NULL: none has */

	uint16	   *row_buffer;
	bool	   *null_buffer;
	int64	   *k64_buffer;
} KeyVector;

/* The image of a key column's NULLs, which sort last. */
#define KEY64_NULL PG_INT64_MAX

extern void KeyVectorInit(KeyVector *kv, int nkeys, const int *cols,
						  const KeyClass *classes, const Oid *types);

/*
 * For two vectors that are filled beside each other and compared, whose images
 * must be made one way: those of integers and numerics become comparable; and
 * one image may hold the first two keys, where both are integers, dates or the
 * like and the values of the batches allow it.
 */
extern void KeyVectorsAlign(KeyVector *a, KeyVector *b);

/*
 * Prepare the selected rows of a batch.  keep_nulls: rows with a NULL key are
 * entries too (streams); otherwise they are left out (joins: they match nothing).
 */
extern void KeyVectorFill(KeyVector *kv, Batch *batch, bool keep_nulls);

/*
 * As KeyVectorFill, beside a vector with which this one will be compared: first
 * bytes that all texts of both share are left out of the images, so that what
 * follows decides; two keys are packed where all of both fit.  Entries of
 * other are those from other_pos on; returns whether their images were made
 * anew.
 */
extern bool KeyVectorFillBeside(KeyVector *kv, Batch *batch, bool keep_nulls,
								KeyVector *other, int other_pos);

/*
 * Of n pairs of rows, which have no NULL keys, keep those with equal keys;
 * returns how many.
 */
extern int	KeyVectorKeepEqual(const KeyVector *a, uint16 *arows, const KeyVector *b, uint16 *brows, int n);

/* Full comparison of two entries, NULLs last and equal to each other. */
extern int	KeyVectorCompareFull(const KeyVector *a, int i, const KeyVector *b, int j);

/* The same where columns may be descending or have NULLs first (BF_SORT_* per key, NULL: none). */
extern int	KeyVectorCompareFlags(const KeyVector *a, int i, const KeyVector *b, int j,
								  const uint8 *flags);

/* Compare two entries. */
static inline int
KeyVectorCompare(const KeyVector *a, int i, const KeyVector *b, int j)
{
	int64		x = a->k64[i];
	int64		y = b->k64[j];

	if (x != y)
		return x < y ? -1 : 1;
	/* a NULL among two keys shares its image with the largest value */
	if (a->exact && b->exact && x != KEY64_NULL &&
		!(a->packed && (a->entry_null || b->entry_null)))
		return 0;
	return KeyVectorCompareFull(a, i, b, j);
}

static inline int
KeyVectorRow(const KeyVector *kv, int entry)
{
	return kv->rows ? kv->rows[entry] : entry;
}

/* Compare an entry with a bound. */
extern int	KeyVectorCompareBound(const KeyVector *kv, int entry, const KeyBound *bound);

/* First entry at or after "from" whose key is not below the bound. */
extern int	KeyVectorLowerBound(const KeyVector *kv, int from, const KeyBound *bound);

/*
 * An image for the first key of a bound that no image of a row of that class,
 * which must be one whose images decide alone, has below it unless the row is
 * below the bound.
 */
extern int64 KeyBoundImage(const KeyBound *bound, KeyClass keyclass);

#endif							/* BF_KEY_VECTOR_H */
