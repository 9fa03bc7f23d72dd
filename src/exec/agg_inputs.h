/*
 * agg_inputs.h
 *	  What aggregates are advanced with: a column of the batch, or the values
 *	  of an expression; and of these only where a FILTER holds.
 */
#ifndef BF_AGG_INPUTS_H
#define BF_AGG_INPUTS_H

#include "nodes/execnodes.h"
#include "exec/merge_join.h"
#include "vector/batch.h"

/* The input of one aggregate. */
typedef struct AggInput
{
	int			col;			/* batch column; -1: none, or an expression */
	ExprState  *arg;			/* NULL: the column */
	bool		argbyval;
	int16		arglen;
	ExprState  *filter;			/* NULL: all rows */
	int			side;			/* of a join that counts: the side it reads */

	/* computed: rows that the filter drops are NULL, which no aggregate counts */
	ColumnVector vec;
	Datum	   *values;
	bool	   *nulls;
} AggInput;

typedef struct AggInputs
{
	int			n;
	AggInput   *inputs;
	bool		computed;		/* is there an expression or a filter? */

	/* columns that expressions and filters read, and where in the slot they look for them */
	int			nvars;
	int		   *var_cols;
	int		   *var_places;
	TupleTableSlot *slot;
	ExprContext *econtext;		/* reset for each row */
	MemoryContext cxt;			/* values of expressions; reset for each batch */
} AggInputs;

/*
 * Find the vector of each aggregate for the selected rows of a batch, NULL
 * where it reads none; valid until the next call and as long as the batch.
 */
extern void AggInputsLoad(AggInputs *inputs, Batch *batch, const ColumnVector **vectors);

/*
 * The same of a batch of stretches: the vectors hold what is wanted of an
 * aggregate in the stretches of the side it reads, and anything elsewhere.
 */
extern void AggInputsLoadStretches(AggInputs *inputs, Batch *batch, const MergeStretch *stretches,
								   int nstretches, const ColumnVector **vectors);

#endif							/* BF_AGG_INPUTS_H */
