/*
 * computed_column.h
 *	  Expressions as columns of batches, which rows are grouped by.
 */
#ifndef BF_COMPUTED_COLUMN_H
#define BF_COMPUTED_COLUMN_H

#include "exec/agg/expr/vector_exprs.h"

typedef struct ComputedColumn ComputedColumn;

/* An expression over the columns of a slot; parent: the node it belongs to. */
extern ComputedColumn *ComputedColumnCreate(Expr *expr, const VectorSlot *vars, PlanState *parent);

/* Its values in the selected rows of a batch, valid until the next call. */
extern const ColumnVector *ComputedColumnOf(ComputedColumn *column, Batch *batch);

/* Parameters may have changed. */
extern void ComputedColumnReset(ComputedColumn *column);

#endif							/* BF_COMPUTED_COLUMN_H */
