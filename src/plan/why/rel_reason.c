/*
 * rel_reason.c
 *	  Why a relation is not bucketed, in words.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "compat.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "plan/why/key_side.h"
#include "plan/why/reasons.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* What a relation that is no bucketed table is called. */
static const char *
KindOfRelation(RangeTblEntry *rte)
{
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			switch (rte->relkind)
			{
				case RELKIND_MATVIEW:
					return "a materialized view";
				case RELKIND_FOREIGN_TABLE:
					return "a foreign table of another wrapper";
				case RELKIND_PARTITIONED_TABLE:
					return "a partitioned table without bucketed partitions";
				default:
					return "a table without buckets";
			}
		case RTE_FUNCTION:
		case RTE_TABLEFUNC:
			return "a function";
		case RTE_VALUES:
			return "a VALUES list";
		default:
			return "not a table";
	}
}

/* Why a partitioned table, or one with children, is no input of a bucket join; false: no part of it is bucketed. */
static bool
PartitionedReason(PlannerInfo *root, RelOptInfo *rel, const char *label, Rejection *rejection)
{
	List	   *leaves = NIL;
	bool		bucketed = false;
	ListCell   *lc;

	foreach(lc, LeafRels(root, rel))
	{
		RelOptInfo *leaf = lfirst(lc);

		leaves = lappend_oid(leaves, planner_rt_fetch(leaf->relid, root)->relid);
		bucketed |= BucketRelInfoGet(leaf) != NULL;
	}
	if (!bucketed)
		return false;
	if (rel->part_rels != NULL && PartitionsReason(label, leaves, rejection))
		return true;
	rejection->code = REASON_PARTITIONED;
	rejection->detail = rel->part_rels == NULL ?
		psprintf("%s has children by inheritance, which are not joined as one", label) :
		psprintf("a bucket column of partitioned table %s is not among the columns that are read", label);
	foreach(lc, rel->part_rels ? rel->reltarget->exprs : NIL)
	{
		if (!IsA(lfirst(lc), Var) || lfirst_node(Var, lc)->varattno <= 0)
			rejection->detail = psprintf("a whole row, tableoid or an expression of partitioned table %s is read", label);
	}
	return true;
}

/* The table, or partition, with files of another hash version; NULL: none. */
static RelOptInfo *
OtherHashTable(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, IS_SIMPLE_REL(rel) ? LeafRels(root, rel) : NIL)
	{
		BucketRelInfo *info = BucketRelInfoGet(lfirst(lc));

		if (info != NULL && info->hash_version != 0)
			return lfirst(lc);
	}
	return NULL;
}

/* The reason for a base relation; copy is the hint that would make a bucketed copy, or NULL. */
static void
BaseReason(PlannerInfo *root, RelOptInfo *rel, char *copy, Rejection *rejection)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	char	   *label = RelationLabel(root, rel->relids);

	rejection->relation = label;
	if (rte->rtekind == RTE_RELATION && rel->reloptkind != RELOPT_BASEREL)
	{
		ReasonSay(rejection, REASON_PARTITIONED, label);
		return;
	}
	rejection->hint = copy;
	if (rte->rtekind == RTE_RELATION && rte->inh && PartitionedReason(root, rel, label, rejection))
		return;
	if (rte->rtekind == RTE_SUBQUERY)
	{
		rejection->code = REASON_SUBQUERY;
		rejection->detail = rte->security_barrier ?
			psprintf("%s is a view with security_barrier, which is planned by itself", label) :
			psprintf("%s is a subquery that is planned by itself: it has GROUP BY, DISTINCT, LIMIT, OFFSET, a set operation, a window or a volatile column", label);
		rejection->hint = psprintf("Write the rows of %s to a bucketed table with bucketfdw.create_table_as and join that.", label);
	}
	else if (rte->rtekind == RTE_CTE)
	{
		rejection->code = REASON_SUBQUERY;
		rejection->detail = psprintf("%s is a common table expression that is computed by itself", label);
		rejection->hint = psprintf("Write WITH %s AS NOT MATERIALIZED (...), if it is neither recursive nor volatile and only joins and filters.",
								   quote_identifier(rte->ctename));
	}
	else
	{
		rejection->code = REASON_NOT_BUCKETED;
		rejection->detail = psprintf("%s is %s", label, KindOfRelation(rte));
	}
}

/* Is it possible to join these two by buckets, in an order the planner did not take? */
static bool
OtherOrderCost(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *a, RelOptInfo *b, Cost *cost)
{
	RelOptInfo *joined = a != NULL && b != NULL && a != b ?
		find_join_rel(root, bms_union(a->relids, b->relids)) : NULL;

	/* of the relations of this join alone there is no other order */
	return joined != NULL && joined != joinrel && BucketedCost(joined, cost);
}

void
NotBucketedReason(PlannerInfo *root, RelOptInfo *rel, JoinCandidate *join, Rejection *rejection)
{
	RelOptInfo *other = join == NULL ? NULL : rel == join->outerrel ? join->innerrel : join->outerrel;
	RelOptInfo *table;
	BucketInput *input = NULL;
	RelOptInfo *base = NULL;
	Var		   *named = NULL;
	Var		   *opposite = NULL;
	char	   *copy = NULL;
	ListCell   *lc;
	int			rti = -1;

	/* core does not even look at the size of a table that is proven empty */
	if (IS_DUMMY_REL(rel))
	{
		rejection->relation = RelationLabel(root, rel->relids);
		ReasonSay(rejection, REASON_PROVEN_EMPTY, rejection->relation);
		return;
	}
	table = OtherHashTable(root, rel);
	if (table != NULL)
	{
		Oid			relid = planner_rt_fetch(table->relid, root)->relid;

		/* a partition has the alias of its parent */
		HashVersionReason(relid, table == rel ? RelationLabel(root, rel->relids) :
						  quote_identifier(get_rel_name(relid)),
						  BucketRelInfoGet(table)->hash_version, rejection);
		return;
	}
	if (other != NULL && BucketInputs(root, other) != NIL)
		input = linitial(BucketInputs(root, other));

	/* the table the condition names, best one that stands against a bucket column */
	foreach(lc, join ? join->restrictlist : NIL)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *mine = IsJoinEquality(rinfo) ? ClauseSide(rinfo, rel->relids, other->relids) : NULL;
		Var		   *column = mine ? ColumnUnderCasts(mine) : NULL;
		Var		   *against;
		Cost		cost;

		if (column == NULL)
			continue;
		against = ColumnUnderCasts(ClauseSide(rinfo, other->relids, rel->relids));
		if (OtherOrderCost(root, join->joinrel, RelationOfColumn(root, column), RelationOfColumn(root, against), &cost))
		{
			rejection->code = REASON_COST;
			rejection->detail = psprintf("%s and %s could be joined by buckets; to join %s first is estimated to cost less",
										 RelationLabel(root, RelationOfColumn(root, column)->relids),
										 RelationLabel(root, RelationOfColumn(root, against)->relids),
										 RelationLabel(root, rel->relids));
			rejection->costs = psprintf("that bucket join alone costs %.2f, this join %.2f",
										cost, join->joinrel->cheapest_total_path ?
										join->joinrel->cheapest_total_path->total_cost : 0);
			rejection->hint = "If the estimates are far off, ANALYZE the tables by name. To have the other order, put the join of the two into WITH ... AS MATERIALIZED, or SET join_collapse_limit = 1 and write it first.";
			return;
		}
		if (named == NULL || (input != NULL && against != NULL && BucketInputKey(input, (Node *) against) >= 0))
		{
			named = column;
			opposite = against;
		}
	}
	if (named != NULL)
		base = RelationOfColumn(root, named);
	while (base == NULL && (rti = bms_next_member(rel->relids, rti)) >= 0)
	{
		if (rti < root->simple_rel_array_size && root->simple_rel_array[rti] != NULL &&
			BucketRelInfoGet(root->simple_rel_array[rti]) == NULL)
			base = root->simple_rel_array[rti];
	}
	if (base != NULL && BucketRelInfoGet(base) == NULL)
	{
		if (input != NULL)
			copy = CopyForKeys(join, other, input, rel, base->relid,
							   psprintf("Make a bucketed copy and use it in place of %s",
										RelationLabel(root, base->relids)));
		BaseReason(root, base, copy, rejection);
		if (rejection->code == REASON_NOT_BUCKETED && UnbucketableReason(root, named, rejection))
			rejection->code = REASON_TYPE_CLASS;
		else if (rejection->code == REASON_NOT_BUCKETED && copy == NULL && input != NULL)
			rejection->hint = CopiesOfBoth(join, named, opposite, (int) input->nbuckets);
	}
	else if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL || rel->reloptkind == RELOPT_OTHER_JOINREL)
	{
		rejection->relation = RelationLabel(root, rel->relids);
		ReasonSay(rejection, REASON_PARTITIONED, rejection->relation);
	}
	else
	{
		rejection->code = REASON_NOT_BUCKETED;
		rejection->relation = RelationLabel(root, rel->relids);
		rejection->detail = psprintf("the join %s is not made by buckets", rejection->relation);
		rejection->hint = "First see why that join is not: bucketfdw.why_not has a row for it.";
	}
}

