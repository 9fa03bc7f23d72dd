/*
 * change_start.h
 *	  Statements that change or lock rows of bucketed tables, when they begin.
 */
#ifndef BF_CHANGE_START_H
#define BF_CHANGE_START_H

#include "postgres.h"

/*
 * Has the statement whose execution begins locked the rows that it may change
 * in a table?  Before it took its snapshot, under READ COMMITTED.  For
 * BeginForeignModify, which is called while a statement begins.
 */
extern bool ChangeIsLocked(Oid relid);

/* Install the hook; once, from _PG_init. */
extern void ChangeStartInit(void);

#endif							/* BF_CHANGE_START_H */
