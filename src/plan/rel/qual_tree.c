/*
 * qual_tree.c
 *	  Which restriction clauses can be applied to whole batches.
 *
 * A clause that is turned down here is evaluated row by row by the executor as
 * ever.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/qual_parts.h"

/* each level of a tree has its lists of rows on the stack */
#define MAX_DEPTH 6

/* What may become of the parts of a tree. */
typedef struct TreeWalk
{
	Index		varno;
	bool		evaluate;		/* core evaluates what is no comparison */
	List	   *values;			/* expressions so far */
} TreeWalk;

/*
 * May the value be computed although no row asks for it?  Core evaluates an
 * arm of an OR only where those before it do not hold, so one that can fail
 * must be left to it.
 */
static bool
CannotFail(Node *node)
{
	switch (nodeTag(node))
	{
		case T_Const:
		case T_Var:
			return true;
		case T_Param:
			/* others may stand for a subquery */
			return ((Param *) node)->paramkind == PARAM_EXTERN;
		case T_RelabelType:
			return CannotFail((Node *) ((RelabelType *) node)->arg);
		case T_ArrayExpr:
			{
				ListCell   *lc;

				foreach(lc, ((ArrayExpr *) node)->elements)
				{
					if (!CannotFail(lfirst(lc)))
						return false;
				}
				return !((ArrayExpr *) node)->multidims;
			}
		default:
			return false;
	}
}

/* NOT of a comparison is one too: neither is true where the other is NULL. */
static bool
Negate(LeafQual *qual)
{
	static const LeafQualOp opposite[] = {
		[LEAF_EQ] = LEAF_NE,
		[LEAF_NE] = LEAF_EQ,
		[LEAF_LT] = LEAF_GE,
		[LEAF_GE] = LEAF_LT,
		[LEAF_LE] = LEAF_GT,
		[LEAF_GT] = LEAF_LE,
		[LEAF_ANY] = LEAF_NONE_OF,
		[LEAF_NONE_OF] = LEAF_ANY,
		[LEAF_ISNULL] = LEAF_NOTNULL,
		[LEAF_NOTNULL] = LEAF_ISNULL,
		[LEAF_PREFIX] = LEAF_NOT_PREFIX,
		[LEAF_NOT_PREFIX] = LEAF_PREFIX,
		[LEAF_LIKE] = LEAF_NOT_LIKE,
		[LEAF_NOT_LIKE] = LEAF_LIKE,
		[LEAF_AND] = 0
	};
	LeafQualOp *op = qual->op == LEAF_COLUMNS ? &qual->compare : &qual->op;

	/* the value of a comparison with one that becomes known later is not the one written */
	if (opposite[*op] == 0 || LeafQualIntOfNumeric(qual))
		return false;
	*op = opposite[*op];
	return true;
}

/* A comparison, or LIKE. */
static bool
Plain(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	memset(qual, 0, sizeof(*qual));
	*value = NULL;
	if (QualFromText(clause, varno, qual, value))
		return true;
	memset(qual, 0, sizeof(*qual));
	*value = NULL;
	return QualFromComparison(clause, varno, qual, value);
}

static bool
Leaf(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	return Plain(clause, varno, qual, value) ||
		(is_notclause(clause) && Plain((Node *) get_notclausearg(clause), varno, qual, value) && Negate(qual));
}

static bool
Evaluation(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	memset(qual, 0, sizeof(*qual));
	return QualFromEvaluation(clause, varno, qual, value);
}

/* A part of an OR; depth: of how many trees it is a part. */
static bool
Part(Node *clause, TreeWalk *walk, int depth, LeafQual *qual)
{
	Expr	   *value;

	if (is_orclause(clause) || is_andclause(clause))
	{
		List	   *args = ((BoolExpr *) clause)->args;
		ListCell   *lc;

		if (depth >= MAX_DEPTH)
			return false;
		memset(qual, 0, sizeof(*qual));
		qual->op = is_orclause(clause) ? LEAF_OR : LEAF_AND;
		qual->arms = palloc(list_length(args) * sizeof(LeafQual));
		foreach(lc, args)
		{
			if (!Part(lfirst(lc), walk, depth + 1, &qual->arms[qual->narms++]))
				return false;
		}
		qual->attnum = qual->arms[0].attnum;
		return true;
	}
	if (!Leaf(clause, walk->varno, qual, &value) || LeafQualIsBucket(qual) ||
		(value != NULL && !CannotFail((Node *) value)))
	{
		if (!walk->evaluate || !Evaluation(clause, walk->varno, qual, &value))
			return false;
	}
	if (value != NULL)
		walk->values = lappend(walk->values, value);
	return true;
}

static bool
Tree(Node *clause, Index varno, bool evaluate, LeafQual *qual, List **values)
{
	TreeWalk	walk = {.varno = varno,.evaluate = evaluate};

	if (!Part(clause, &walk, 0, qual))
		return false;
	*values = walk.values;
	return true;
}

bool
BatchQualFromClause(Expr *clause, Index varno, LeafQual *qual, List **values)
{
	bool		tree = is_orclause(clause) || is_andclause(clause);
	Expr	   *value;

	*values = NIL;
	if (tree && Tree((Node *) clause, varno, false, qual, values))
		return true;
	if ((!tree && Leaf((Node *) clause, varno, qual, &value)) ||
		Evaluation((Node *) clause, varno, qual, &value))
	{
		if (value != NULL)
			*values = list_make1(value);
		return true;
	}
	return tree && Tree((Node *) clause, varno, true, qual, values);
}
