/*
 * load_query.h
 *	  Run a query and collect its rows for a bucketed table.
 */
#ifndef BF_LOAD_QUERY_H
#define BF_LOAD_QUERY_H

#include "load/load.h"
#include "nodes/parsenodes.h"
#include "utils/tuplestore.h"

/*
 * Run the query of a text, which gives these columns, and collect its rows for
 * the columns of the same names.  Parallel plans are allowed where the rows
 * can be stored as they are.  Without a collector rows go where INSERT brings
 * them: to partitions.  Returns the number of rows.
 */
extern int64 LoadQueryRun(Query *query, TupleDesc columns, const char *text, Relation rel, LoadState *state);

/* Run the query of a text and keep its rows. */
extern Tuplestorestate *QueryRunStore(Query *query, const char *text);

/*
 * Connect to SPI, where the kept rows of these columns are the relation
 * "kept_rows" from now on.
 */
extern void KeptRowsConnect(TupleDesc columns, Tuplestorestate *store);

/* A table's name, as SQL finds it whatever the search_path. */
extern char *TableName(Oid relid);

/* The columns as in a list of SQL. */
extern char *ColumnNames(TupleDesc columns);

#endif							/* BF_LOAD_QUERY_H */
