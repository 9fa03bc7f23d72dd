/*
 * join_reason.c
 *	  Why a join is not made by buckets, in words.
 *
 * The decision is JoinCheck's and JoinKeysMatch's; what follows here looks
 * for the clause, the column and the statement to name.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "parser/parsetree.h"
#include "plan/key/key_expr.h"
#include "plan/why/key_side.h"
#include "plan/why/reasons.h"
#include "plan/rel/batch_qual.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static char *
SideText(PlannerInfo *root, const KeySide *side)
{
	return side->column ? ColumnLabel(root, side->column) : pstrdup("an expression");
}

/* What both inputs are bucketed by. */
static char *
InputsText(JoinCandidate *join, const BucketInput *outer, const BucketInput *inner)
{
	return psprintf("%s is bucketed by %s, %s is bucketed by %s",
					RelationLabel(join->root, join->outerrel->relids), KeyNames(join->root, outer),
					RelationLabel(join->root, join->innerrel->relids), KeyNames(join->root, inner));
}

/* What is in the way of the checks that have nothing to do with keys. */
static void
CheckReason(JoinCandidate *join, BucketReason code, Rejection *rejection)
{
	PlannerInfo *root = join->root;
	char	   *label = RelationLabel(root, join->culprit ? join->culprit->relids : join->joinrel->relids);

	switch (code)
	{
		case REASON_DISABLED:
			ReasonSay(rejection, code, bf_enable ? "bucketfdw.enable_bucketjoin" : "bucketfdw.enable");
			break;
		case REASON_NOT_BUCKETED:
			rejection->code = code;
			if (join->culprit != NULL)
			{
				rejection->relation = label;
				NotBucketedReason(root, join->culprit, join, rejection);
				return;
			}
			rejection->detail = "another extension has added its own plans to this join";
			break;
		case REASON_ROW_MARKS:
			rejection->code = code;
			if (root->parse->commandType == CMD_SELECT)
			{
				rejection->detail = "the query locks rows (FOR UPDATE, FOR SHARE), and may have to fetch them again";
				rejection->hint = "Leave out the lock, or join the bucketed tables in WITH j AS MATERIALIZED (...) and the table whose rows are to be locked with j.";
			}
			else
			{
				rejection->detail = "the statement changes rows of a table that is not bucketed, and may have to fetch single rows again";
				rejection->hint = "Do the join of the bucketed tables in WITH j AS MATERIALIZED (...) and update, delete or merge from j.";
			}
			break;
		default:
			ReasonSay(rejection, code, label);
			if ((code == REASON_VOLATILE || code == REASON_ONE_TIME_FILTER) && join->jointype != JOIN_INNER)
				rejection->hint = NULL;
	}
	rejection->relation = join->culprit ? label : NULL;
}

/* A copy of the table of a key with the type of that key changed. */
static char *
CastCopy(PlannerInfo *root, const KeySide *side, const BucketInput *input, Oid type)
{
	Oid			relid = planner_rt_fetch(side->column->varno, root)->relid;
	List	   *columns = NIL;
	List	   *types = NIL;

	for (int k = 0; k < input->nkeys; k++)
	{
		ListCell   *lc;

		foreach(lc, input->vars[k])
		{
			Var		   *key = lfirst(lc);

			if (!IsA(key, Var) || key->varno != side->column->varno)
				continue;
			columns = lappend(columns, makeString(get_attname(relid, key->varattno, false)));
			types = lappend(types, k == side->key ? format_type_be(type) : NULL);
			break;
		}
	}
	return BucketedCopyStatement(relid, columns, types, (int) input->nbuckets, 0);
}

/* The types of an equality whose sides are both the k-th key. */
static void
TypeReason(JoinCandidate *join, OpExpr *op, const KeySide *outer, const KeySide *inner,
		   const BucketInput *outerinput, const BucketInput *innerinput, Rejection *rejection)
{
	PlannerInfo *root = join->root;
	const KeySide *sides[2] = {outer, inner};
	KeyClass	oclass = outerinput->classes[outer->key];
	KeyClass	iclass = innerinput->classes[inner->key];
	KeyClass	opclass;
	Oid			left;
	Oid			right;
	Oid			target;
	List	   *statements = NIL;

	op_input_types(op->opno, &left, &right);
	/* of date = timestamp the one that holds both */
	target = KeyClassOfType(right) > KeyClassOfType(left) ? right : left;
	opclass = KeyClassOfType(target);
	if (oclass == iclass && opclass == oclass && !CollationAllows(oclass, op->inputcollid, false))
	{
		rejection->code = REASON_COLLATION;
		rejection->detail = psprintf("%s and %s are compared under collation %s, by which different texts may be equal",
									 ColumnLabel(root, outer->column), ColumnLabel(root, inner->column),
									 OidIsValid(op->inputcollid) ? quote_identifier(get_collation_name(op->inputcollid)) : "\"\"");
		rejection->hint = "If only identical texts are to be equal, compare them under a deterministic collation.";
		return;
	}
	if (KeyClassesMeet(oclass, iclass) && KeyClassesMeet(opclass, oclass))
	{
		rejection->code = REASON_EXPRESSION_ON_KEY;
		rejection->detail = psprintf("%s or %s is cast to a narrower type in the condition",
									 ColumnLabel(root, outer->column), ColumnLabel(root, inner->column));
		rejection->hint = psprintf("If the cast makes no values equal that differ without it, write %s = %s.",
								   ColumnLabel(root, outer->column), ColumnLabel(root, inner->column));
		return;
	}
	rejection->code = REASON_TYPE_CLASS;
	rejection->detail = psprintf("%s is %s, %s is %s, and the condition compares them as %s%s",
								 ColumnLabel(root, outer->column), ColumnType(outer->column),
								 ColumnLabel(root, inner->column), ColumnType(inner->column),
								 format_type_be(target),
								 oclass == iclass ? "" : ": other bucket hash or order");
	if (oclass == iclass)
	{
		rejection->hint = psprintf("If the cast to %s makes no values equal that differ without it, write %s = %s.",
								   format_type_be(target), ColumnLabel(root, outer->column),
								   ColumnLabel(root, inner->column));
		return;
	}
	for (int i = 0; i < 2; i++)
	{
		const BucketInput *input = i == 0 ? outerinput : innerinput;

		if (!KeyClassesMeet(input->classes[sides[i]->key], opclass))
			statements = lappend(statements, CastCopy(root, sides[i], input, target));
	}
	rejection->hint = psprintf("Make a copy with the type changed and use it instead: %s",
							   WordList(statements));
}

/* How much a reason says: of several, the first of these is given. */
static int
Rank(BucketReason code)
{
	static const BucketReason order[] = {
		REASON_NONE, REASON_TYPE_CLASS, REASON_COLLATION,
		REASON_EXPRESSION_ON_KEY, REASON_BUCKET_COLUMN_ORDER,
		REASON_OUTER_JOIN_POSITION, REASON_BUCKET_COLUMNS_DIFFER, REASON_JOIN_KEYS_SUBSET,
		REASON_CONSTANT_KEY, REASON_KEY_NOT_EQUAL_JOINED
	};

	for (int i = 0; i < lengthof(order); i++)
	{
		if (order[i] == code)
			return i;
	}
	return lengthof(order);
}

/* Name the columns the join equates though they are not the bucket columns. */
static void
OtherColumnsReason(JoinCandidate *join, const BucketInput *outer, const BucketInput *inner,
				   const KeySide *oside, const KeySide *iside, Rejection *rejection)
{
	PlannerInfo *root = join->root;
	bool		inner_wrong = oside->key >= 0 && iside->key < 0;
	RelOptInfo *keyrel = inner_wrong ? join->outerrel : join->innerrel;
	RelOptInfo *rel = inner_wrong ? join->innerrel : join->outerrel;
	const KeySide *wrong = inner_wrong ? iside : oside;
	char	   *copy;

	rejection->detail = psprintf("the join equates %s with %s; %s",
								 SideText(root, oside), SideText(root, iside),
								 InputsText(join, outer, inner));
	if (oside->key < 0 && iside->key < 0)
	{
		rejection->hint = CopiesOfBoth(join, oside->column, iside->column,
									   (int) Max(outer->nbuckets, inner->nbuckets));
		return;
	}
	if (UnbucketableReason(root, wrong->column, rejection))
		rejection->code = REASON_TYPE_CLASS;
	if (wrong->column == NULL)
		return;
	if (IsBucketColumn(root, wrong->column))
	{
		rejection->hint = psprintf("Join %s with %s first, if the kinds of the joins allow it: rows of %s were distributed to other buckets to join them.",
								   quote_identifier(planner_rt_fetch(wrong->column->varno, root)->eref->aliasname),
								   RelationLabel(root, keyrel->relids), RelationLabel(root, rel->relids));
		return;
	}
	copy = CopyForKeys(join, keyrel, inner_wrong ? outer : inner, rel, wrong->column->varno,
					   psprintf("Make a copy bucketed by the joined column and use it in place of %s",
								quote_identifier(planner_rt_fetch(wrong->column->varno, root)->eref->aliasname)));
	if (copy != NULL)
		rejection->hint = copy;
}

/* Why the keys of two inputs do not match, in words. */
static void
KeysReason(JoinCandidate *join, const BucketInput *outer, const BucketInput *inner,
		   Rejection *rejection)
{
	PlannerInfo *root = join->root;
	Bitmapset  *matched = NULL;
	int			nkeys = Min(outer->nkeys, inner->nkeys);
	List	   *missing = NIL;
	List	   *present = NIL;
	bool		any = false;	/* equality */
	int			next = 0;		/* equality of keys */
	ListCell   *lc;

	memset(rejection, 0, sizeof(*rejection));
	rejection->code = REASON_KEY_NOT_EQUAL_JOINED;
	foreach(lc, join->clauses.joinquals)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		KeySide		oside;
		KeySide		iside;
		Node	   *expr;
		Rejection	found = {.code = REASON_KEY_NOT_EQUAL_JOINED};
		const KeyEquality *equality;
		bool		exactly;

		if (!IsJoinEquality(rinfo))
			continue;
		expr = ClauseSide(rinfo, join->outerrel->relids, join->innerrel->relids);
		if (expr == NULL)
			continue;
		any = true;
		while (next < join->clauses.nequalities && join->clauses.equalities[next].place < foreach_current_index(lc))
			next++;
		equality = next < join->clauses.nequalities &&
			join->clauses.equalities[next].place == foreach_current_index(lc) ? &join->clauses.equalities[next] : NULL;
		for (int k = 0; k < nkeys; k++)
		{
			if (equality != NULL && EqualityIsOfKeys(equality, outer, inner, k, &exactly))
			{
				matched = bms_add_member(matched, k);
				found.code = REASON_NONE;
			}
		}
		if (found.code == REASON_NONE)
			continue;
		LookAtSide(root, expr, outer, &oside);
		LookAtSide(root, ClauseSide(rinfo, join->innerrel->relids, join->outerrel->relids), inner, &iside);
		if (oside.key >= 0 && iside.key >= 0 && oside.key != iside.key)
		{
			found.code = outer->nkeys == inner->nkeys ? REASON_BUCKET_COLUMN_ORDER :
				REASON_BUCKET_COLUMNS_DIFFER;
			found.detail = psprintf("%s; the join equates column %d of these with column %d, and the order matters to the hash",
									InputsText(join, outer, inner),
									oside.key + 1, iside.key + 1);
			found.hint = CopyForKeys(join, join->outerrel, outer, join->innerrel, join->innerrel->relid,
									 psprintf("Make a copy with the columns in the same order and use it in place of %s",
											  RelationLabel(root, join->innerrel->relids)));
		}
		else if (oside.key >= 0 && iside.key >= 0)
			TypeReason(join, (OpExpr *) rinfo->clause, &oside, &iside, outer, inner, &found);
		else if (oside.lost || iside.lost)
		{
			const KeySide *lost = oside.lost ? &oside : &iside;
			Node	   *key = linitial((oside.lost ? outer : inner)->vars[0]);

			found.code = REASON_OUTER_JOIN_POSITION;
			found.detail = psprintf("%s comes out of an outer join that may have set it to NULL, so that %s is not bucketed by it",
									SideText(root, lost),
									RelationLabel(root, oside.lost ? join->outerrel->relids : join->innerrel->relids));
			found.hint = IsA(key, Var) ?
				"Joining by the column of the side whose rows are all kept, or before the outer join, finds matches for the rows set to NULL, too; do so only if that is meant." :
				psprintf("Join by %s, if that is what is meant; USING names it by the column alone.",
						 KeyExprLabel(root, key));
		}
		else if ((oside.inside && (iside.inside || iside.key >= 0)) ||
				 (iside.inside && oside.key >= 0))
		{
			found.code = REASON_EXPRESSION_ON_KEY;
			found.detail = psprintf("bucket column %s stands inside an expression in the join condition",
									SideText(root, oside.inside ? &oside : &iside));
			found.hint = "Store the expression as a column and bucket by it.";
		}
		else
			OtherColumnsReason(join, outer, inner, &oside, &iside, &found);
		if (Rank(found.code) < Rank(rejection->code) ||
			(found.code == rejection->code && rejection->detail == NULL))
			*rejection = found;
	}
	if (Rank(rejection->code) <= Rank(REASON_OUTER_JOIN_POSITION))
		return;

	for (int k = 0; k < outer->nkeys; k++)
	{
		char	   *name = KeyExprLabel(root, linitial(outer->vars[k]));

		if (bms_is_member(k, matched))
			present = lappend(present, name);
		else
			missing = lappend(missing, k < nkeys ?
							  psprintf("%s = %s", name, KeyExprLabel(root, linitial(inner->vars[k]))) : name);
	}
	if (matched != NULL && outer->nkeys != inner->nkeys)
	{
		rejection->code = REASON_BUCKET_COLUMNS_DIFFER;
		rejection->detail = InputsText(join, outer, inner);
		if (outer->nkeys < inner->nkeys)
			rejection->hint = CopyForKeys(join, join->outerrel, outer, join->innerrel, join->innerrel->relid,
										  "Make a copy with the fewer bucket columns");
		else
			rejection->hint = CopyForKeys(join, join->innerrel, inner, join->outerrel, join->outerrel->relid,
										  "Make a copy with the fewer bucket columns");
	}
	else if (matched != NULL)
	{
		rejection->code = REASON_JOIN_KEYS_SUBSET;
		rejection->detail = psprintf("%s; the join equates %s only",
									 InputsText(join, outer, inner), WordList(present));
		rejection->hint = psprintf("If all rows that are to be joined have %s as well, add that to the condition; otherwise bucket copies of both tables by %s alone.",
								   WordList(missing), WordList(present));
	}
	else if (nkeys > 0 && !any && KeyIsConstant(root, outer, 0) && KeyIsConstant(root, inner, 0))
	{
		rejection->code = REASON_CONSTANT_KEY;
		rejection->detail = psprintf("%s and %s are both a constant: no condition is left between them",
									 KeyExprLabel(root, linitial(outer->vars[0])),
									 KeyExprLabel(root, linitial(inner->vars[0])));
		rejection->hint = "Nothing is to be done: each scan reads the bucket of the constant only.";
	}
	else if (rejection->detail == NULL)
	{
		rejection->detail = psprintf("no condition of the form column = column between %s and %s; %s",
									 RelationLabel(root, join->outerrel->relids),
									 RelationLabel(root, join->innerrel->relids),
									 InputsText(join, outer, inner));
		rejection->hint = psprintf("A bucket join gives only pairs with %s = %s; if no other pairs are wanted, add that as a condition of its own, else buckets cannot serve this join.",
								   KeyExprLabel(root, linitial(outer->vars[0])),
								   KeyExprLabel(root, linitial(inner->vars[0])));
	}
}

void
JoinReason(JoinCandidate *join, Rejection *rejection)
{
	BucketReason code = JoinCheck(join);
	bool		first = true;
	ListCell   *lo;
	ListCell   *li;

	memset(rejection, 0, sizeof(*rejection));
	if (code != REASON_NONE)
	{
		CheckReason(join, code, rejection);
		return;
	}
	foreach(lo, join->outers)
	{
		foreach(li, join->inners)
		{
			Rejection	found;

			code = JoinKeysMatch(join->root, lfirst(lo), lfirst(li), &join->clauses);
			if (code == REASON_NONE)
			{
				memset(rejection, 0, sizeof(*rejection));
				return;
			}
			KeysReason(join, lfirst(lo), lfirst(li), &found);
			if (first || Rank(found.code) < Rank(rejection->code))
				*rejection = found;
			first = false;
		}
	}
}
