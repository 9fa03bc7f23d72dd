/*
 * vector_exprs.h
 *	  Expressions that are computed for all rows of a batch, one operation
 *	  after the other, instead of row by row.
 *
 * They are made of columns and constants of smallint, integer, bigint and
 * numeric; +, -, * and casts between these; CASE and COALESCE.  Conditions in
 * CASE may be anything: they are evaluated by core, row by row, where CASE
 * evaluates them.  Everything else raises no error: a batch for which core
 * might raise one is left to core.
 */
#ifndef BF_VECTOR_EXPRS_H
#define BF_VECTOR_EXPRS_H

#include "nodes/execnodes.h"
#include "vector/batch.h"
#include "vector/decimal_vector.h"

/* Expressions over the same batches; what they have in common is computed once. */
typedef struct VectorExprs VectorExprs;

/* Where expressions find columns: in a slot, which is filled for conditions. */
typedef struct VectorSlot
{
	int			nvars;
	int		   *var_cols;		/* batch columns */
	int		   *var_places;		/* and where in the slot they stand */
	TupleTableSlot *slot;
	ExprContext *econtext;		/* its scan tuple is the slot; reset for each row */
} VectorSlot;

/*
 * Would VectorExprsAdd take the expression, its columns being there?  What
 * stands in conditions of CASE is added to the list.
 */
extern bool VectorExprsTakes(Node *expr, List **conditions);

/* No expressions so far; vars is read when they are computed.  parent: the node they belong to. */
extern VectorExprs *VectorExprsCreate(const VectorSlot *vars, PlanState *parent);

/* Put the columns that expressions read into the slot. */
extern void VectorSlotFill(const VectorSlot *vars, Batch *batch, int row);

/* Rows for which a condition holds; to be given to the functions below. */
extern int	VectorExprsAddFilter(VectorExprs *exprs, Expr *condition);

/*
 * An expression, which core would evaluate for the rows that a filter leaves
 * (-1: for all rows); -1: it must be evaluated row by row.
 */
extern int	VectorExprsAdd(VectorExprs *exprs, Expr *expr, int filter);

/* A column of numerics. */
extern int	VectorExprsAddNumeric(VectorExprs *exprs, int col);

/* Go on to a batch, of which these rows (NULL: the first n) are to be computed. */
extern void VectorExprsBegin(VectorExprs *exprs, Batch *batch, const uint16 *rows, int n);

/* Per row of the batch: 0 if the filter leaves it. */
extern const uint8 *VectorExprsFilter(VectorExprs *exprs, int filter);

/* The values of an expression for the present batch; NULL: core must evaluate it. */
extern const DecimalVector *VectorExprsCompute(VectorExprs *exprs, int expr);

#endif							/* BF_VECTOR_EXPRS_H */
