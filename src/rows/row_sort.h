/*
 * row_sort.h
 *	  Sort the rows of one bucket in memory.
 */
#ifndef BF_ROW_SORT_H
#define BF_ROW_SORT_H

#include "rows/row_buffer.h"

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

/* Make room for n entries; those there may be lost. */
extern void RowSorterRoom(RowSorter *sorter, int64 n);

/* Put the first n entries into the order of the layout. */
extern void RowSorterOrder(RowSorter *sorter, const RowLayout *layout, int64 n);

/*
 * Sort the rows of a bucket that are in memory, those of all the sets
 * together.  Returns their number; they stand in entries.
 */
extern int64 RowSorterSort(RowSorter *sorter, RowSet **sets, int nsets, int bucket);

#endif							/* BF_ROW_SORT_H */
