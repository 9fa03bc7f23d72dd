/*
 * key_side.c
 *	  What the sides of an equality have to do with bucket columns.
 */
#include "postgres.h"

#include "access/transam.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "plan/key/key_expr.h"
#include "plan/why/key_side.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

Var *
ColumnUnderCasts(Node *node)
{
	for (;;)
	{
		if (node == NULL)
			return NULL;
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CoerceViaIO))
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL &&
				 (((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST ||
				  ((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST))
			node = (Node *) linitial(((FuncExpr *) node)->args);
		else
			break;
	}
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 ? (Var *) node : NULL;
}

RelOptInfo *
RelationOfColumn(PlannerInfo *root, Var *var)
{
	if (var == NULL || var->varno <= 0 || var->varno >= root->simple_rel_array_size)
		return NULL;
	return root->simple_rel_array[var->varno];
}

bool
IsBucketColumn(PlannerInfo *root, Var *var)
{
	RelOptInfo *rel = RelationOfColumn(root, var);
	BucketRelInfo *info = rel ? BucketRelInfoGet(rel) : NULL;

	for (int k = 0; info != NULL && k < info->options->spec->nkeys; k++)
	{
		if (info->options->spec->sort[k].attnum == var->varattno)
			return true;
	}
	return false;
}

void
LookAtSide(PlannerInfo *root, Node *expr, const BucketInput *input, KeySide *side)
{
	ListCell   *lc;

	*side = (KeySide) {.column = ColumnUnderCasts(expr),.key = -1};
	if (side->column != NULL)
	{
		side->key = BucketInputKey(input, (Node *) side->column);
		/* not so where the rows were sorted into other buckets to join them */
		side->lost = side->key < 0 && IsBucketColumn(root, side->column) &&
			BfMayBeNulled(root, side->column);
		return;
	}
	side->key = BucketInputKey(input, expr);
	if (side->key >= 0)
	{
		side->column = KeyExprColumn(expr);
		return;
	}
	foreach(lc, pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst_node(Var, lc);

		if (!IsBucketColumn(root, var))
			continue;
		side->inside = true;
		if (side->column == NULL)
			side->column = var;
		/* coalesce(a.k, b.k) of a.k FULL JOIN b.k USING (k) */
		if (BfVarIsNullable(var) || IsA(expr, CoalesceExpr))
			side->lost = true;
	}
}

char *
CopyForKeys(JoinCandidate *join, RelOptInfo *keyrel, const BucketInput *input,
			RelOptInfo *otherrel, Index otherno, const char *words)
{
	PlannerInfo *root = join->root;
	RangeTblEntry *rte;
	List	   *columns = NIL;
	List	   *types = NIL;
	ListCell   *lc;

	if (join->no_hints || otherno == 0 || root->simple_rel_array[otherno]->reloptkind != RELOPT_BASEREL)
		return NULL;
	rte = planner_rt_fetch(otherno, root);
	if (rte->rtekind != RTE_RELATION)
		return NULL;
	for (int k = 0; k < input->nkeys; k++)
	{
		Var		   *found = NULL;

		foreach(lc, join->restrictlist)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
			KeySide		key;
			Var		   *column;
			Node	   *side;

			if (!IsJoinEquality(rinfo))
				continue;
			side = ClauseSide(rinfo, keyrel->relids, otherrel->relids);
			if (side == NULL)
				continue;
			LookAtSide(root, side, input, &key);
			column = ColumnUnderCasts(ClauseSide(rinfo, otherrel->relids, keyrel->relids));

			/* what an extension's operator calls equal, as that of citext, a cast to the key's type may not */
			if (column != NULL && ((OpExpr *) rinfo->clause)->opno >= FirstNormalObjectId &&
				KeyClassOfType(getBaseType(column->vartype)) == KEYCLASS_NONE)
				continue;
			if (key.key == k && column != NULL && column->varno == otherno && column->varattno > 0)
				found = column;
		}
		if (found == NULL)
			return NULL;
		columns = lappend(columns, makeString(get_attname(rte->relid, found->varattno, false)));
		/* a type that cannot be a bucket column becomes that of the key */
		types = lappend(types, KeyClassOfType(getBaseType(found->vartype)) != KEYCLASS_NONE ? NULL :
						format_type_be(getBaseType(exprType(linitial(input->vars[k])))));
	}
	return psprintf("%s: %s", words,
					BucketedCopyStatement(rte->relid, columns, types, (int) input->nbuckets, 0));
}

Oid
TableOfColumn(PlannerInfo *root, Var *column)
{
	RangeTblEntry *rte;

	if (RelationOfColumn(root, column) == NULL || column->varattno <= 0)
		return InvalidOid;
	rte = planner_rt_fetch(column->varno, root);
	return rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid;
}

bool
UnbucketableReason(PlannerInfo *root, Var *column, Rejection *rejection)
{
	if (!OidIsValid(TableOfColumn(root, column)) ||
		KeyClassOfType(getBaseType(column->vartype)) != KEYCLASS_NONE)
		return false;
	rejection->detail = psprintf("%s is %s, which cannot be a bucket column (%s can)",
								 ColumnLabel(root, column), ColumnType(column), KeyClassTypeList());
	if (rejection->hint == NULL)
		rejection->hint = "Store the key in both tables as a column of one of these types that is equal in the same rows, such as lower(column) of a citext, and bucket and join by it.";
	return true;
}

char *
CopiesOfBoth(JoinCandidate *join, Var *a, Var *b, int nbuckets)
{
	PlannerInfo *root = join->root;
	Var		   *columns[2] = {a, b};
	List	   *statements = NIL;
	Oid			first = InvalidOid;
	Rejection	ignored = {0};

	if (join->no_hints)
		return NULL;
	for (int i = 0; i < 2; i++)
	{
		Oid			relid = TableOfColumn(root, columns[i]);
		String	   *column;

		if (!OidIsValid(relid) || UnbucketableReason(root, columns[i], &ignored))
			return NULL;
		/* a table joined with itself needs one copy, or two */
		if (i == 1 && relid == first && columns[0]->varattno == columns[1]->varattno)
			return psprintf("Make a copy that is bucketed by the joined column and read it on both sides: %s",
							(char *) linitial(statements));
		column = makeString(get_attname(relid, columns[i]->varattno, false));
		statements = lappend(statements, BucketedCopyStatement(relid, list_make1(column), NIL, nbuckets,
															   relid == first ? 1 : 0));
		first = relid;
	}
	return psprintf("Make copies of both that are bucketed by the joined columns: %s", WordList(statements));
}

char *
KeyNames(PlannerInfo *root, const BucketInput *input)
{
	List	   *names = NIL;

	for (int k = 0; k < input->nkeys; k++)
		names = lappend(names, KeyExprLabel(root, linitial(input->vars[k])));
	return WordList(names);
}
