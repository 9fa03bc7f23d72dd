/*
 * vector_exprs_private.h
 *	  What making expressions of batches and computing them have in common.
 *
 * An expression is a tree of nodes, and a node is what its operands and its
 * operation say, so that equal parts of several expressions are one node.
 */
#ifndef BF_VECTOR_EXPRS_PRIVATE_H
#define BF_VECTOR_EXPRS_PRIVATE_H

#include "exec/agg/expr/decimal_ops.h"
#include "exec/agg/expr/vector_exprs.h"

typedef enum VectorOp
{
	OP_NUMERIC_COLUMN,
	OP_INT_COLUMN,
	OP_CONST,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_NEGATE,
	OP_CAST,					/* to an integer type that may be too small */
	OP_CASE,
	OP_COALESCE
} VectorOp;

typedef struct VectorNode
{
	VectorOp	op;
	int			col;			/* of a column */
	int			left;			/* operands */
	int			right;
	List	   *args;			/* of CASE, in the order of its choice, and COALESCE */
	int			choice;			/* of CASE */
	int64		min;			/* what the type holds, of an integer operation */
	int64		max;			/* 0: it is one of numerics */
	Const	   *value;			/* of a constant */
	DecimalBuffer buf;			/* for the present batch */
	uint64		batch;			/* number of the batch it was computed for */
	bool		ok;				/* it could be */
} VectorNode;

/* Where something is evaluated: in rows for which a choice fell on an arm; choice -1: in all. */
typedef struct VectorMask
{
	int			choice;
	int			arm;
} VectorMask;

#define CACHE_BITS 8
#define CACHE_SIZE (1 << CACHE_BITS)

/*
 * A condition.  If it reads one column only, what came out for a value (or the
 * address of one) in the present batch is known for the next row that has it.
 */
typedef struct Condition
{
	Expr	   *expr;
	ExprState  *state;
	int			nvars;
	int		   *vars;			/* as in VectorSlot */
	Datum		known_value[CACHE_SIZE];
	char		known[CACHE_SIZE];	/* 0: nothing, 'y' or 'n' */
} Condition;

#define NOT_ASKED PG_UINT8_MAX

/* Which of several conditions holds first. */
typedef struct VectorChoice
{
	VectorMask	mask;
	List	   *exprs;
	int			nconditions;
	Condition  *conditions;
	uint8	   *choice;			/* per row: its number, or how many there are if none does, or NOT_ASKED */
	uint64		batch;			/* as in VectorNode */
} VectorChoice;

struct VectorExprs
{
	const VectorSlot *vars;
	PlanState  *parent;
	MemoryContext cxt;
	List	   *nodes;			/* of VectorNode */
	List	   *choices;		/* of VectorChoice */
	Batch	   *batch;
	uint64		number;			/* of the batch */
	DecimalRows at;
};

static inline VectorNode *
NodeAt(VectorExprs *exprs, int node)
{
	return list_nth(exprs->nodes, node);
}

static inline VectorChoice *
ChoiceAt(VectorExprs *exprs, int choice)
{
	return list_nth(exprs->choices, choice);
}

#endif							/* BF_VECTOR_EXPRS_PRIVATE_H */
