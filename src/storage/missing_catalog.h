/*
 * missing_catalog.h
 *	  What a column holds in rows that were written before it was added: rows of
 *	  bucketfdw.missing_values, as core has them in pg_attribute for heap tables.
 *
 * A file, or a write that stands inline, lacks a column exactly if it is older
 * than the column, as the number of a dropped one is not given again.  So the
 * value of a column is that of all its older rows.  It is never null: without
 * a row they read as null.
 */
#ifndef BF_MISSING_CATALOG_H
#define BF_MISSING_CATALOG_H

#include "access/attnum.h"
#include "utils/relcache.h"

/*
 * The values of all columns, by attnum - 1, in the current context; columns
 * without one are null.  They are as of now, like the columns themselves,
 * whatever snapshot the rows are read with: the table is locked, so no ALTER
 * is under way.
 */
extern void MissingValuesRead(Relation rel, Datum *values, bool *nulls);

/* The value of one column; false: null. */
extern bool MissingValueRead(Relation rel, AttrNumber attnum, Datum *value);

/* With which type and typmod the value of a column was recorded; false: it has none. */
extern bool MissingValueType(Relation rel, AttrNumber attnum, Oid *typid, int32 *typmod);

/* Record the value, not null, of a column that was added to a table with rows.  Needs AccessExclusiveLock. */
extern void MissingValueInsert(Relation rel, AttrNumber attnum, Datum value);

/* Forget the value of a column, if it has one; CatalogForgetTable forgets those of a table. */
extern void MissingValueDelete(Oid relid, AttrNumber attnum);

#endif							/* BF_MISSING_CATALOG_H */
