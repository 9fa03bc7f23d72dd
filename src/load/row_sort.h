/*
 * row_sort.h
 *	  Sort the rows of one bucket in memory.
 */
#ifndef BF_ROW_SORT_H
#define BF_ROW_SORT_H

#include "load/row_buffer.h"

typedef struct SortEntry
{
	uint64		prefix;			/* RowPrefix of the row */
	char	   *row;
} SortEntry;

/* Arrays that are reused from bucket to bucket. */
typedef struct RowSorter
{
	MemoryContext cxt;
	SortEntry  *entries;		/* the result */
	SortEntry  *spare;
	int64		capacity;
} RowSorter;

extern void RowSorterInit(RowSorter *sorter, MemoryContext cxt);
extern void RowSorterFree(RowSorter *sorter);

/*
 * Sort the rows of a bucket that are in memory, those of all the sets
 * together.  Returns their number; they stand in entries.
 */
extern int64 RowSorterSort(RowSorter *sorter, RowSet **sets, int nsets, int bucket);

#endif							/* BF_ROW_SORT_H */
