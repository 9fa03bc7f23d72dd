/*
 * routed_store.h
 *	  Routed rows by group, in memory, or in a temporary file when they are more
 *	  than that holds.  Inside of a group they stand in no order.
 *
 * Rows are put into pieces of memory of their group.  When memory is full all
 * of it is written to the file as a run: group after group, and then an index
 * of where each begins.  Once the store is finished any group can be read, in
 * any order, as often as wanted.
 */
#ifndef BF_ROUTED_STORE_H
#define BF_ROUTED_STORE_H

#include "rows/row_bucket.h"

typedef struct RoutedStore RoutedStore;

/* A store for rows of ngroups groups; budget is that of memory, in bytes. */
extern RoutedStore *RoutedStoreCreate(const RowLayout *layout, int ngroups, Size budget);

/* Room for a row of that size in a group, to be filled in at once. */
extern char *RoutedStoreAdd(RoutedStore *store, int group, Size size);

/* All rows have been added: they can be read. */
extern void RoutedStoreFinish(RoutedStore *store);

extern int	RoutedStoreGroups(const RoutedStore *store);

/* Rows of a group. */
extern int64 RoutedStoreRows(const RoutedStore *store, int group);

/* Can the rows of a group be sorted in memory? */
extern bool RoutedStoreFits(const RoutedStore *store, int group);

/* A walk over the rows of a group. */
typedef struct RoutedWalk
{
	RoutedStore *store;
	int			group;
	RowWalk		memory;
	char	   *row;			/* rows in the buffer: the next one */
	char	   *end;
	int			run;			/* rows in the file: the next run */
	int64		left;			/* bytes of it that are not read yet */
} RoutedWalk;

/* whole: all rows are held in memory, until the next walk or the end of the store. */
extern void RoutedWalkBegin(RoutedWalk *walk, RoutedStore *store, int group, bool whole);

/* The next row; unless the walk is a whole one, valid until the next call.  NULL at the end. */
extern char *RoutedWalkNext(RoutedWalk *walk);

/* Most memory taken so far, and bytes written to the file. */
extern Size RoutedStorePeakMemory(const RoutedStore *store);
extern int64 RoutedStoreWritten(const RoutedStore *store);

/* Free the store with its memory and file. */
extern void RoutedStoreFree(RoutedStore *store);

#endif							/* BF_ROUTED_STORE_H */
