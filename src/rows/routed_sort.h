/*
 * routed_sort.h
 *	  The routed rows of one group in key order.
 *
 * A group is sorted when it is opened: in memory if it fits, else in temporary
 * files.
 */
#ifndef BF_ROUTED_SORT_H
#define BF_ROUTED_SORT_H

#include "rows/routed_store.h"

typedef struct RoutedSort RoutedSort;

/* Rows are sorted as the layout, which must live as long as the sort, says. */
extern RoutedSort *RoutedSortCreate(const RowLayout *layout);

/* Begin with the rows of a group. */
extern void RoutedSortOpen(RoutedSort *sort, RoutedStore *store, int group);

/*
 * The next rows, no more than max and, if they are copies, hardly more than so
 * many bytes of them; returns how many, 0 at the end.  Valid until the next
 * call.
 */
extern int	RoutedSortNext(RoutedSort *sort, char **rows, int max, Size bytes);

/* Kilobytes of temporary files that sorting the largest group took beside those of the store. */
extern int64 RoutedSortDisk(const RoutedSort *sort);

/* Forget the rows and give up memory and files. */
extern void RoutedSortClose(RoutedSort *sort);

#endif							/* BF_ROUTED_SORT_H */
