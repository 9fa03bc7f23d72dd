/*
 * run_sort.h
 *	  Sorts the rows of each key among themselves, for rows that come key by
 *	  key.
 *
 * Several keys are sorted at a time, as many as make a thousand rows; a key
 * with more rows than work_mem holds goes to temporary files.
 */
#ifndef BF_RUN_SORT_H
#define BF_RUN_SORT_H

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

/* rows after which a sort ends with the present key */
#define RUN_SORT_ROWS 1024

typedef struct RunSort RunSort;

/*
 * Rows have the columns of desc, which are sorted by n columns, then by
 * nothing.  attnums, operators, collations and nulls_first as for tuplesort.
 */
extern RunSort *RunSortCreate(TupleDesc desc, int n, const AttrNumber *attnums,
							  const Oid *operators, const Oid *collations,
							  const bool *nulls_first);

/* Put a row; new_key: it is the first of its key. */
extern void RunSortPut(RunSort *sort, const Datum *values, const bool *nulls, bool new_key);

/* Rows put since the last start. */
extern int64 RunSortRows(const RunSort *sort);

/* All rows of the last key have been put: now they can be got. */
extern void RunSortPerform(RunSort *sort);

/* The next row, valid until the next call; false when there is no more: rows can be put again. */
extern bool RunSortGet(RunSort *sort, Datum **values, bool **nulls);

/* Forget the rows. */
extern void RunSortReset(RunSort *sort);

/* All rows sorted so far, and kilobytes of the largest sort that went to disk. */
extern void RunSortStats(const RunSort *sort, int64 *rows, int64 *disk_kb);

extern void RunSortEnd(RunSort *sort);

#endif							/* BF_RUN_SORT_H */
