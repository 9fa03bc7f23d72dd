/*
 * ddl.h
 *	  What DDL does to bucketed tables.
 */
#ifndef BF_DDL_H
#define BF_DDL_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

/* Write the options of a table into pg_foreign_table, which is seen at once; its lock keeps others from that. */
extern void TableOptionsWrite(Oid relid, List *options);

/* true if any row, seen with the latest snapshot, makes a boolean expression (SQL text) false. */
extern bool AnyRowViolates(Relation rel, const char *expr);

/* Error if a column that is NOT NULL, that of a name or (NULL) any, has a null, with core's text and code. */
extern void CheckNotNullColumns(Relation rel, const char *colname);

/* Error if rows violate a validated CHECK constraint of that name, if the table has it. */
extern void CheckConstraintHolds(Relation rel, const char *conname);

/* Error if rows lie outside the bounds of a partition. */
extern void CheckPartitionBound(Relation rel);

/*
 * A column was added to a table with rows: what it holds in them is recorded.
 * Error if that cannot be one value for all of them.
 */
extern void ColumnAdded(Relation rel, AttrNumber attnum);

/* A column of a table with rows has another type now: error unless that holds all that is stored, as it is. */
extern void ColumnTypeChanged(Relation rel, AttrNumber attnum);

/* Has a stored, that is not virtual, column this name; and its number, 0: there is none. */
extern AttrNumber StoredColumn(Relation rel, const char *colname);

/*
 * The tablespace of a new table, from its option (NULL: not written) and what
 * core looks at for a table: settled, with its dependency.  The table has a
 * spec row.
 */
extern void TablespaceSettle(Relation rel, const char *option);

/* The option is in an ALTER: files and future files go where it says now. */
extern void TablespaceChange(Relation rel, const char *option);

/* Error if the table is, or lies in, a default partition. */
extern void CheckNotDefaultPartition(Relation rel);

#endif							/* BF_DDL_H */
