/*
 * batch.h
 *	  The batch: rows as column vectors with a selection.  What flows between
 *	  the nodes of a bucket plan.
 *
 * A vector holds one Datum and one null flag per row; integers narrower than
 * 64 bits are sign-extended, so that a vector of any integer type is an array
 * of int64.  By-reference Datums point into memory owned by whoever produced
 * the batch, valid until its next call.  Varlena Datums may have a short
 * header, as in heap tuples; they are never compressed nor external.
 */
#ifndef BF_BATCH_H
#define BF_BATCH_H

#include "postgres.h"

/* upper bound of the rows of one batch, and of one block on disk */
#define BF_BATCH_ROWS 8192

typedef struct ColumnVector
{
	Datum	   *values;			/* nrows entries */
	bool	   *nulls;			/* nrows entries, or NULL: no null here */
} ColumnVector;

struct Batch;

/* Decodes one column of a batch that was left for later. */
typedef void (*BatchColumnLoader) (struct Batch *batch, int col);

typedef struct Batch
{
	int			nrows;			/* rows in the vectors, <= BF_BATCH_ROWS */
	int			nselected;		/* rows that passed the quals so far */
	uint16	   *selection;		/* their numbers, ascending; NULL: all rows */
	int			ncols;
	ColumnVector *cols;
	bool	   *loaded;			/* per column: vector is valid */
	BatchColumnLoader load;		/* called for a column not loaded */
	void	   *load_arg;
} Batch;

/* The vector of a column, decoded on first use. */
static inline ColumnVector *
BatchColumn(Batch *batch, int col)
{
	if (!batch->loaded[col])
		batch->load(batch, col);
	return &batch->cols[col];
}

/* Make a batch one of nrows rows, all selected, with no column loaded. */
static inline void
BatchReset(Batch *batch, int nrows)
{
	batch->nrows = nrows;
	batch->nselected = nrows;
	batch->selection = NULL;
	memset(batch->loaded, 0, batch->ncols * sizeof(bool));
}

#endif							/* BF_BATCH_H */
