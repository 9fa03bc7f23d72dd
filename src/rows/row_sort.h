/*
 * row_sort.h
 *	  Sort rows in memory.
 */
#ifndef BF_ROW_SORT_H
#define BF_ROW_SORT_H

#include "rows/row_bucket.h"

/* Sorting needs an array of entries and one of the same size to sort into. */
#define ROW_SORT_BYTES 32

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

/* Set entries for the rows of a bucket, which may be NULL, from number n on; returns the number behind them. */
extern int64 RowSorterAdd(RowSorter *sorter, const RowLayout *layout, const RowBucket *bucket, int64 n);

/* Put the first n entries into the order of the layout. */
extern void RowSorterOrder(RowSorter *sorter, const RowLayout *layout, int64 n);

#endif							/* BF_ROW_SORT_H */
