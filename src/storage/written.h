/*
 * written.h
 *	  Which tables the transaction has written to, for those who look after
 *	  them.
 */
#ifndef BF_WRITTEN_H
#define BF_WRITTEN_H

#include "nodes/pg_list.h"

typedef struct WrittenTable
{
	Oid			relid;
	int			writes;			/* a bucket has at most so many new runs */
	int64		rows;			/* added */
	bool		garbage;		/* files were replaced */
} WrittenTable;

/* What aborted subtransactions wrote may be counted too. */
extern void WrittenNote(Oid relid, int writes, int64 rows, bool garbage);

/* List of WrittenTable; NIL once the transaction has ended. */
extern const List *WrittenTables(void);
extern void WrittenForget(void);

#endif							/* BF_WRITTEN_H */
