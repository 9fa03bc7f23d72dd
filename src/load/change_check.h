/*
 * change_check.h
 *	  May the rows that a snapshot sees be changed, or have others changed them
 *	  since?
 *
 * Under READ COMMITTED a statement locks what it changes before it takes its
 * snapshot, so nothing can be newer.  The check is for transactions that keep
 * one snapshot, and for partitions that are locked when their first row is to
 * be changed.
 */
#ifndef BF_CHANGE_CHECK_H
#define BF_CHANGE_CHECK_H

#include "postgres.h"

typedef struct ChangeCheck ChangeCheck;

/*
 * To be called once for each statement and table, before its first row is
 * changed.  Locks the table unless it was locked when the statement began.  In
 * the current context.
 */
extern ChangeCheck *ChangeCheckBegin(Oid relid, bool locked);

/*
 * Error, as core raises it, if others have deleted or updated the row of a
 * file or inline write since, or have rewritten its file.
 */
extern void ChangeCheckRow(ChangeCheck *check, uint64 file_id, int64 row);

#endif							/* BF_CHANGE_CHECK_H */
