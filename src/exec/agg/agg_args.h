/*
 * agg_args.h
 *	  What aggregates are advanced with: a column of the batch, or the values
 *	  of an expression; and of these only where a FILTER holds.
 */
#ifndef BF_AGG_ARGS_H
#define BF_AGG_ARGS_H

#include "exec/agg/vector_agg.h"
#include "exec/agg/expr/vector_exprs.h"
#include "vector/batch.h"

/* The argument of one aggregate. */
typedef struct AggArg
{
	int			col;			/* batch column; -1: none, or an expression */
	int			side;			/* of a join that counts: the side it reads */
	const BatchAgg *agg;
	ExprState  *arg;			/* row by row; NULL: the column */
	int			filter;			/* in the expressions of its side; -1: all rows */
	int			expr;			/* there; -1: the column, or row by row */
	int			failures;		/* batches one after the other that could not be computed at once */

	/* of the present batch */
	bool		by_row;			/* it is computed row by row */
	DecimalVector decimals;
	ColumnVector vec;
	Datum	   *values;			/* room, NULL until it is needed */
	bool	   *nulls;
} AggArg;

typedef struct AggArgs
{
	int			n;
	AggArg	   *list;
	PlanState  *parent;
	VectorSlot	vars;			/* columns that expressions and filters read */
	VectorExprs *exprs[2];		/* per side; NULL: there is none */
	MemoryContext cxt;			/* values of expressions; reset for each batch */
	uint64		nbatches;		/* so far */
	uint16	   *rows[2];		/* of a batch of stretches, those of each side */
} AggArgs;

/*
 * Prepare an argument whose column and side are set, with what stands in the plan
 * as its filter and argument (NULL: none).
 */
extern void AggArgInit(AggArgs *args, AggArg *in, const BatchAgg *agg, Expr *filter, Expr *arg);

/*
 * Find the vector of each aggregate for the selected rows of a batch, valid
 * until the next call and as long as the batch.  Where the batch has stretches
 * the vectors hold what is wanted of an aggregate in the stretches of the side
 * it reads, and anything elsewhere.
 */
extern void AggArgsLoad(AggArgs *args, Batch *batch, AggVector *vectors);

#endif							/* BF_AGG_ARGS_H */
