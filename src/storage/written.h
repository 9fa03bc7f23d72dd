/*
 * written.h
 *	  Which tables the transaction has written to, for those who look after
 *	  them.
 */
#ifndef BF_WRITTEN_H
#define BF_WRITTEN_H

#include "nodes/pg_list.h"

/* Files: a bucket has one run more at most; rows that are in no file; deleted rows; files were replaced. */
typedef enum WrittenKind
{
	WRITTEN_FILES,
	WRITTEN_INLINE,
	WRITTEN_DELETES,
	WRITTEN_GARBAGE
} WrittenKind;

#define WRITTEN_KINDS (WRITTEN_GARBAGE + 1)

typedef struct WrittenTable
{
	Oid			relid;
	int			count[WRITTEN_KINDS];
	int64		rows;			/* added */
	int64		deleted;		/* rows */
} WrittenTable;

/* rows are those added, or deleted.  What aborted subtransactions wrote may be counted too. */
extern void WrittenNote(Oid relid, WrittenKind kind, int64 rows);

/* List of WrittenTable; NIL once the transaction has ended. */
extern const List *WrittenTables(void);
extern void WrittenForget(void);

#endif							/* BF_WRITTEN_H */
