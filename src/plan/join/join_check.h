/*
 * join_check.h
 *	  May a join be made by buckets?  One test, for the planner and for those
 *	  who ask why not.
 */
#ifndef BF_JOIN_CHECK_H
#define BF_JOIN_CHECK_H

#include "plan/key/join_keys.h"
#include "plan/words/reason.h"

/* A join that could become a bucket join. */
typedef struct JoinCandidate
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	JoinType	jointype;
	List	   *restrictlist;	/* RestrictInfos */
	bool		no_hints;		/* nobody shows what would help */

	/* set by JoinCheck */
	List	   *outers;			/* ways to deliver the inputs: BucketInput */
	List	   *inners;
	JoinClauses clauses;
	RelOptInfo *culprit;		/* which relation the reason is about, or NULL */

	/* set by JoinCheckForm */
	bool		form_known;
	BucketReason form;
} JoinCandidate;

/*
 * Everything but the keys: REASON_NONE when a bucket join is possible for
 * each pair of outers and inners whose keys match.
 */
extern BucketReason JoinCheck(JoinCandidate *join);

/* The part of it that asks nothing of buckets. */
extern BucketReason JoinCheckForm(JoinCandidate *join);

/*
 * Where no pair of inputs fits: ways to route the rows of one of them to the
 * buckets of the other.  Each way and the one it is joined with stand at the same place of
 * outers and inners.  False when there is none.
 */
extern bool JoinRoutes(JoinCandidate *join);

/* May core run the plan again for single rows, which are locked or were changed meanwhile? */
extern bool RowsAreRechecked(PlannerInfo *root);

/* Does a relation hold a bucketed table, itself, in a partition or in a subquery? */
extern bool HoldsBucketedTable(PlannerInfo *root, RelOptInfo *rel);

/* Does a query level hold one among its relations? */
extern bool LevelHoldsBucketedTable(PlannerInfo *root);

/* An equality that core could join by? */
extern bool IsJoinEquality(RestrictInfo *rinfo);

#endif							/* BF_JOIN_CHECK_H */
