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

/* Error if a column that is NOT NULL has a null, with core's text and code. */
extern void CheckNotNullColumns(Relation rel);

/* Error if rows violate a validated CHECK constraint of that name, if the table has it. */
extern void CheckConstraintHolds(Relation rel, const char *conname);

/* Error if rows lie outside the bounds of a partition. */
extern void CheckPartitionBound(Relation rel);

/* Error if a column that was added cannot be read as NULL from old files. */
extern void CheckAddedColumn(Relation rel, const char *colname);

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
