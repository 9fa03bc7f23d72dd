/*
 * bucketed.h
 *	  The "bucketed" property of a relation: by which columns its rows can be
 *	  delivered bucket by bucket, sorted inside.
 *
 * Kept beside the RelOptInfo, never read back from its path list: core throws
 * paths away (and frees them) that look dear at one level and would have paid
 * off above.
 */
#ifndef BF_BUCKETED_H
#define BF_BUCKETED_H

#include "nodes/pathnodes.h"
#include "plan/rel/rel_info.h"

/* One way to deliver a relation bucketed. */
typedef struct BucketInput
{
	int			nkeys;
	KeyClass   *classes;		/* per key, that of the first of its expressions */
	List	  **vars;			/* per key: expressions equal to it in every row, of classes that meet; see key_expr.h */
	Path	   *path;			/* batches for a bucket join above; never given to add_path */
	double		nbuckets;
	double		pieces;			/* parts that are read or left out as a whole, between other keys */
	double		runs;			/* blocks of one piece */
	double		pages;			/* of heap tables of the rows read for it: what decides on the number of workers */
	bool		routed;			/* path gives rows in any order, to be routed by the join */
	bool		holds_routed;	/* that is so of this or of an input below: for one process only */
	bool		fixed;			/* conditions may fix a key to a value, see KeyIsConstant */
} BucketInput;

/*
 * The ways to deliver a base or join relation; NIL when there is none.  Those of
 * a base relation are made once and serve all its joins.
 */
extern List *BucketInputs(PlannerInfo *root, RelOptInfo *rel);

/*
 * The rows of a base relation, for the executor, with all rows of a key
 * together; partial: each key in one process.  NULL: there is no such path.
 */
extern Path *BaseRowsPath(PlannerInfo *root, const BucketInput *input, bool partial);

/*
 * A base relation's rows in any order: a bucketed table, or any partitioned one
 * of such tables only.  It has no keys.  NULL: there is no such way.  Whoever
 * asks computes these expressions of the target.
 */
extern BucketInput *UnorderedInput(PlannerInfo *root, RelOptInfo *rel, List *computed);

/*
 * Which key an expression is, casts aside, or -1.  A column that an outer join
 * above the input may have set to NULL is none.
 */
extern int	BucketInputKey(const BucketInput *input, Node *expr);

/*
 * Remember a way for a join relation: kept when no way with the same keys is
 * cheaper.
 */
extern void BucketInputAdd(RelOptInfo *joinrel, BucketInput *input);

/*
 * Would a way of this cost be kept, whose k-th key is equal to the expressions
 * of x and, unless it is NULL, to those of y?  It may be asked for nothing but
 * to spare making it: if any key has no column, the answer is yes.
 */
extern bool BucketInputWanted(RelOptInfo *joinrel, const BucketInput *x, const BucketInput *y, Cost total);

/*
 * Was the pair looked at before, the other way round?  Asked once for each pair
 * of a join for which both ways are the same; it is remembered.
 */
extern bool BucketedSeenMirrored(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel);

/* Remember what the cheapest bucket join of a join relation costs; paths themselves are thrown away. */
extern void BucketedNoteCost(RelOptInfo *joinrel, Cost total);

/* False when no bucket join of this relation is possible. */
extern bool BucketedCost(RelOptInfo *joinrel, Cost *total);

/* Can a join relation carry the property at all? */
extern bool BucketedAllowed(RelOptInfo *joinrel);

/* Is the column itself in a target, so that a path delivers it? */
extern bool TargetHasColumn(const PathTarget *target, const Var *var);

#endif							/* BF_BUCKETED_H */
