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

/* A column of numerics that were not made: integers in units of 10^-scale, which is the display scale of all. */
typedef struct ScaledColumn
{
	int64	   *values;			/* nrows entries */
	bool	   *nulls;			/* as in ColumnVector */
	int			scale;
} ScaledColumn;

/* A column of few different values: for each row the place of its value in a dictionary. */
typedef struct CodedColumn
{
	const uint64 *codes;		/* nrows entries; of a row that is NULL any place */
	const bool *nulls;			/* as in ColumnVector */
	int			ndict;			/* at least 1, at most BF_BATCH_ROWS */
	const Datum *dict;			/* not all of them need be values of rows */
} CodedColumn;

/*
 * Rows of one side of a join whose pairs were not made.  The rows of all
 * stretches from one that begins a key to the next such one, or the next batch
 * without stretches, or the end of the unit, have one key; each row of the left
 * side makes a pair with each of the right one.
 */
typedef struct BatchStretch
{
	uint16		to;				/* the row behind its last one */
	bool		left;			/* rows of the left side, else of the right one */
	bool		begins;			/* a key; the first row is a pair, columns of both sides can be asked for */
} BatchStretch;

struct Batch;

/* Decodes one column of a batch that was left for later. */
typedef void (*BatchColumnLoader) (struct Batch *batch, int col);

/* The same as far as integers, without making vectors of it; false if the column does not hold such. */
typedef bool (*BatchScaledLoader) (struct Batch *batch, int col, ScaledColumn *scaled);

/* The same as far as a dictionary and places in it; false if the column does not have one. */
typedef bool (*BatchCodedLoader) (struct Batch *batch, int col, CodedColumn *coded);

typedef struct Batch
{
	int			nrows;			/* rows in the vectors, <= BF_BATCH_ROWS */
	int			nselected;		/* rows that passed the quals so far */
	uint16	   *selection;		/* their numbers, ascending; NULL: all rows */
	int			ncols;
	ColumnVector *cols;
	bool	   *loaded;			/* per column: vector is valid */
	const int64 *times;			/* per row: of how many equal rows it is the only one here; NULL: of one.
								 * Only where the reader was told that rows may be counted */
	int			nstretches;		/* > 0: all rows are in stretches, in order; columns of the other side are not
								 * there.  Only where the reader wants pairs counted */
	const BatchStretch *stretches;
	BatchColumnLoader load;		/* called for a column not loaded */
	BatchScaledLoader load_scaled;	/* and may be; NULL: there is none */
	BatchCodedLoader load_coded;	/* as load_scaled */
	void	   *load_arg;
	MemoryContext cxt;			/* holds what BatchRoom gives */
	int			room_rows;
	ColumnVector *room;
} Batch;

/*
 * Make a batch in the current context, whose columns are filled by "load".
 * nrows: of a column that has to be made, at most; 0: there are none.
 */
static inline void
BatchInit(Batch *batch, int ncols, int nrows, BatchColumnLoader load, void *load_arg)
{
	int			n = Max(ncols, 1);

	batch->ncols = ncols;
	batch->cols = (ColumnVector *) palloc0(n * sizeof(ColumnVector));
	batch->loaded = (bool *) palloc0(n * sizeof(bool));
	batch->load = load;
	batch->load_arg = load_arg;
	batch->cxt = CurrentMemoryContext;
	batch->room_rows = nrows;
	batch->room = nrows > 0 ? (ColumnVector *) palloc0(n * sizeof(ColumnVector)) : NULL;
}

/* Room for the values and null flags of a column, made on first use. */
static inline ColumnVector *
BatchRoom(Batch *batch, int col)
{
	ColumnVector *room = &batch->room[col];

	if (room->values == NULL)
	{
		room->nulls = (bool *) MemoryContextAlloc(batch->cxt, batch->room_rows * sizeof(bool));
		room->values = (Datum *) MemoryContextAlloc(batch->cxt, batch->room_rows * sizeof(Datum));
	}
	return room;
}

/* The column is what was put into its room. */
static inline void
BatchFilled(Batch *batch, int col, bool anynull)
{
	batch->cols[col].values = batch->room[col].values;
	batch->cols[col].nulls = anynull ? batch->room[col].nulls : NULL;
	batch->loaded[col] = true;
}

/* The vector of a column, decoded on first use. */
static inline ColumnVector *
BatchColumn(Batch *batch, int col)
{
	if (!batch->loaded[col])
		batch->load(batch, col);
	return &batch->cols[col];
}

/* A column of numerics as integers, while it is not loaded; false: take its vector. */
static inline bool
BatchScaled(Batch *batch, int col, ScaledColumn *scaled)
{
	return !batch->loaded[col] && batch->load_scaled != NULL && batch->load_scaled(batch, col, scaled);
}

/* A column with a dictionary, while it is not loaded; false: take its vector. */
static inline bool
BatchCoded(Batch *batch, int col, CodedColumn *coded)
{
	return !batch->loaded[col] && batch->load_coded != NULL && batch->load_coded(batch, col, coded);
}

/* Make a batch one of nrows rows, all selected, with no column loaded. */
static inline void
BatchReset(Batch *batch, int nrows)
{
	batch->nrows = nrows;
	batch->nselected = nrows;
	batch->selection = NULL;
	batch->times = NULL;
	batch->nstretches = 0;
	memset(batch->loaded, 0, batch->ncols * sizeof(bool));
}

/* How many rows entries from <= i < to stand for, which are the rows rows[i], or i where rows is NULL. */
static inline int64
BatchTimes(const int64 *times, const uint16 *rows, int from, int to)
{
	int64		sum = 0;

	if (times == NULL)
		return to - from;
	for (int i = from; i < to; i++)
		sum += times[rows ? rows[i] : i];
	return sum;
}

#endif							/* BF_BATCH_H */
