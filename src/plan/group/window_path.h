/*
 * window_path.h
 *	  Window functions over partitions that are the bucket key.
 */
#ifndef BF_WINDOW_PATH_H
#define BF_WINDOW_PATH_H

#include "nodes/pathnodes.h"

/*
 * Add paths to window_rel that compute the window functions key by key, when
 * there is one window, partitioned by the bucket columns of input_rel or more.
 */
extern void WindowAddPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *window_rel);

#endif							/* BF_WINDOW_PATH_H */
