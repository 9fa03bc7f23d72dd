/*
 * load_query.h
 *	  Run a query and collect its rows for a bucketed table.
 */
#ifndef BF_LOAD_QUERY_H
#define BF_LOAD_QUERY_H

#include "load/load.h"
#include "nodes/parsenodes.h"

/*
 * How the columns of a query become those of an existing table, and what a
 * row has to pass.  NULL stands for a table made for this query.
 */
typedef struct LoadTarget LoadTarget;

/* Match the columns of a query to those of a table by name; raises an error when they do not fit. */
extern LoadTarget *LoadTargetCreate(Relation rel, TupleDesc query_desc);

/*
 * Run the query with parallel plans allowed where nothing forbids them, and
 * give its rows to the collector.  Returns their number.
 */
extern int64 LoadQueryRun(Query *query, const char *text, LoadState *state, LoadTarget *target);

#endif							/* BF_LOAD_QUERY_H */
