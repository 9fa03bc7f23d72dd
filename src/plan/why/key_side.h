/*
 * key_side.h
 *	  What the sides of an equality have to do with bucket columns; for those
 *	  who explain a plan.
 */
#ifndef BF_KEY_SIDE_H
#define BF_KEY_SIDE_H

#include "plan/join/join_check.h"

/* What a side of an equality has to do with the bucket columns of its input. */
typedef struct KeySide
{
	Var		   *column;			/* the column it is, under whatever casts, or NULL */
	int			key;			/* which bucket column that is, or -1 */
	bool		inside;			/* a bucket column stands inside an expression */
	bool		lost;			/* a bucket column that is no key of the input, as an outer join may have set it to NULL */
} KeySide;

/* The column an expression is under any casts; NULL: none. */
extern Var *ColumnUnderCasts(Node *node);

/* Names of the bucket columns of an input: "a.x and a.y". */
extern char *KeyNames(PlannerInfo *root, const BucketInput *input);

/* The relation of a column, when it is one of this query level. */
extern RelOptInfo *RelationOfColumn(PlannerInfo *root, Var *var);

/* Is it a bucket column of its own table? */
extern bool IsBucketColumn(PlannerInfo *root, Var *var);

extern void LookAtSide(PlannerInfo *root, Node *expr, const BucketInput *input, KeySide *side);

/*
 * The words, and a statement that buckets a table, otherno in otherrel, by what
 * the join equates with the keys of input; NULL when it is no table, or a key
 * is equated with no column of it.
 */
extern char *CopyForKeys(JoinCandidate *join, RelOptInfo *keyrel, const BucketInput *input,
						 RelOptInfo *otherrel, Index otherno, const char *words);

/* The table of a column that a copy can be made of, else InvalidOid. */
extern Oid	TableOfColumn(PlannerInfo *root, Var *column);

/* Statements that bucket the tables of two columns by them; NULL when that cannot be. */
extern char *CopiesOfBoth(JoinCandidate *join, Var *a, Var *b, int nbuckets);

/* Is it a column of a type that cannot be bucketed by?  Then the detail is set. */
extern bool UnbucketableReason(PlannerInfo *root, Var *column, Rejection *rejection);

#endif							/* BF_KEY_SIDE_H */
