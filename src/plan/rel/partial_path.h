/*
 * partial_path.h
 *	  Paths that several processes work on: each takes some of the bucket
 *	  groups, or of the runs.
 */
#ifndef BF_PARTIAL_PATH_H
#define BF_PARTIAL_PATH_H

#include "nodes/pathnodes.h"

/* Workers worth having for reading rows of so many pages, 0: none. */
extern int	PartialWorkers(PlannerInfo *root, RelOptInfo *rel, double pages);

/* By what the rows of all processes are divided to get those of one, as core reckons it. */
extern double PartialDivisor(int workers);

/*
 * Make a path a partial one: rows and costs are shared out, but for the fixed
 * part of its startup cost.  What each worker does at its start is added.
 */
extern void MakePartial(Path *path, Cost fixed, int workers);

/* Add a partial scan to a table. */
extern void BucketAddPartialPath(PlannerInfo *root, RelOptInfo *rel);

#endif							/* BF_PARTIAL_PATH_H */
