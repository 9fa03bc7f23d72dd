/*
 * evaluated_qual.c
 *	  Conditions that core evaluates once for each value of a column.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/rel/qual_parts.h"
#include "utils/lsyscache.h"

/*
 * A batch is tested before its first row is handed out, which may be the only
 * one that is wanted: what costs more than so many operators is evaluated row
 * by row.
 */
#define MAX_OPERATORS 20

/* The one column that an expression reads. */
typedef struct ColumnSearch
{
	Index		varno;
	Var		   *column;
} ColumnSearch;

/* Does the expression read anything beside one column of the relation and parameters? */
static bool
ReadsMore(Node *node, void *context)
{
	ColumnSearch *search = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup > 0 || var->varno != search->varno || var->varattno <= 0 ||
			(search->column != NULL && search->column->varattno != var->varattno))
			return true;
		search->column = var;
		return false;
	}
	/* what stands for a row of a subquery or of a view, and what is filled in elsewhere */
	if (IsA(node, PlaceHolderVar) || IsA(node, CurrentOfExpr))
		return true;
	return expression_tree_walker(node, ReadsMore, context);
}

/*
 * Is a value of the type likely to come again, and be known again?  Texts are
 * where they have a dictionary; dates and what has two bytes or is one of a
 * list are few.
 */
static bool
ValuesRepeat(Oid type)
{
	int16		typlen;
	bool		typbyval;

	if (KeyClassOfType(type) == KEYCLASS_NUMERIC)
		return false;
	get_typlenbyval(type, &typlen, &typbyval);
	if (!typbyval)
		return typlen == -1;
	return typlen <= 2 || KeyClassOfType(type) == KEYCLASS_DATE || type_is_enum(type);
}

bool
QualFromEvaluation(Node *clause, Index varno, LeafQual *qual, Expr **value)
{
	ColumnSearch search = {.varno = varno};
	QualCost	cost;

	if (ReadsMore(clause, &search) || search.column == NULL ||
		contain_volatile_functions(clause) || contain_subplans(clause))
		return false;
	qual->coltype = getBaseType(search.column->vartype);
	if (!ValuesRepeat(qual->coltype))
		return false;
	cost_qual_eval_node(&cost, clause, NULL);
	if (cost.startup > 0 || cost.per_tuple > MAX_OPERATORS * cpu_operator_cost)
		return false;
	qual->op = LEAF_EVALUATE;
	qual->attnum = search.column->varattno;
	*value = (Expr *) clause;
	return true;
}
