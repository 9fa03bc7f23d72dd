/*
 * merge_window_sort.h
 *	  The rows of a window in order.
 */
#ifndef BF_MERGE_WINDOW_SORT_H
#define BF_MERGE_WINDOW_SORT_H

#include "exec/scan/merge/window_state.h"

/*
 * Make entries of the rows of the cursors' parts up to an image, in the order
 * of their images, and move the cursors behind them.  window->base is the
 * least image, and from it on all of those rows' fit so many bits; rows is how
 * many they are, at most.
 */
extern void MergeWindowSort(MergeWindow *window, int64 upto, int bits, int rows);

#endif							/* BF_MERGE_WINDOW_SORT_H */
