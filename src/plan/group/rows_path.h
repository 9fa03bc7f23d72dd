/*
 * rows_path.h
 *	  Rows of a bucketed input key by key, those of each key in an order:
 *	  BucketRows.
 */
#ifndef BF_ROWS_PATH_H
#define BF_ROWS_PATH_H

#include "plan/key/bucketed.h"

/* How the rows of each key are to be sorted; all lists have an element per column. */
typedef struct RowOrder
{
	List	   *exprs;
	List	   *operators;		/* Oids of < or > */
	List	   *nulls_first;	/* integers */
} RowOrder;

/*
 * Sort by SortGroupClauses of the target list too, after what is there, where
 * they are no keys of the input.  False when rows cannot be sorted by one of
 * them beforehand: it is volatile, has a subquery, or its type no order.
 */
extern bool RowOrderAddClauses(RowOrder *order, const BucketInput *input, List *clauses,
							   List *targetlist);

/*
 * Sort by what is grouped by, in any order: if possible in that of the files,
 * so that nothing is left to do.  clauses are SortGroupClauses of the target
 * list.  The same result.
 */
extern bool RowOrderAddGroups(PlannerInfo *root, RelOptInfo *rel, const BucketInput *input,
							  RowOrder *order, List *clauses, List *targetlist);

/*
 * Sort by pathkeys of rel; false when one of them cannot be computed from the
 * columns it gives.
 */
extern bool RowOrderAddPathkeys(RelOptInfo *rel, RowOrder *order, List *pathkeys);

/*
 * The path that gives rel's target so, for one process or, with workers > 0,
 * for each of several.  NULL when the target needs more than columns.  Not
 * added to anything.
 */
extern Path *BucketRowsPath(PlannerInfo *root, RelOptInfo *rel, const BucketInput *input,
							const RowOrder *order, int workers);

/* Is it such a path? */
extern bool IsBucketRowsPath(const Path *path);

#endif							/* BF_ROWS_PATH_H */
