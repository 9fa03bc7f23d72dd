/*
 * scan_path.h
 *	  Scan paths of a bucketed table beyond the plain one: lookups by key for
 *	  nested loops, and rows in the order of the key.
 */
#ifndef BF_SCAN_PATH_H
#define BF_SCAN_PATH_H

#include "nodes/pathnodes.h"

/* Add the parameterised paths whose parameters fix all bucket columns. */
extern void BucketAddLookupPaths(PlannerInfo *root, RelOptInfo *rel);

/* How often a path with these required outer relations is run, at least: as core reckons it for index scans. */
extern double ScanLoops(PlannerInfo *root, Relids outer);

/* Add the path that merges all buckets, if its order is of use. */
extern void BucketAddOrderedPath(PlannerInfo *root, RelOptInfo *rel);

/*
 * fdw_private of any path on a bucketed table is a list of three: the columns
 * it needs whatever the target list says, its order for OrderedScanDescribe's
 * reader, and the number of bucket columns if rows come bucket by bucket.
 */

/*
 * A path that gives rows bucket by bucket, so that rows with equal keys stand
 * together (but are not sorted as a whole).  key_attnums are all bucket columns.
 */
extern Path *BucketClusteredPath(PlannerInfo *root, RelOptInfo *rel, List *key_attnums);

/* Workers worth having for reading rows of so many pages, 0: none. */
extern int	PartialWorkers(PlannerInfo *root, RelOptInfo *rel, double pages);

/*
 * Make a path a partial one: rows and costs are shared out, but for the fixed
 * part of its startup cost.  What each worker does at its start is added.
 */
extern void MakePartial(Path *path, Cost fixed, int workers);

/* Add a partial scan to a table. */
extern void BucketAddPartialPath(PlannerInfo *root, RelOptInfo *rel);

/* Are rows of a relation changed or locked, so that its scan must tell which they are? */
extern bool ScanIdentifiesRows(PlannerInfo *root, const RelOptInfo *rel);

#endif							/* BF_SCAN_PATH_H */
