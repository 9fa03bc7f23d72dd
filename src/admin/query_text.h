/*
 * query_text.h
 *	  What functions for users share: arguments, queries given as text, rows of
 *	  results.
 */
#ifndef BF_QUERY_TEXT_H
#define BF_QUERY_TEXT_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"
#include "utils/relcache.h"

/* Error if an argument is null; name is how messages call it. */
extern void RequireArgument(FunctionCallInfo fcinfo, int n, const char *name);

/* The text of an argument; for a null one NULL, or an error if name says what it is called. */
extern char *TextArgument(FunctionCallInfo fcinfo, int n, const char *name);

/*
 * The one SELECT, VALUES or TABLE of a text, analysed and rewritten with the
 * caller's rights; its tables are locked.
 */
extern Query *QueryTextSelect(const char *text, const char *name);

/* Such a text as INSERT into a table, columns being what it gives. */
extern Query *QueryTextInsert(const char *text, Relation rel, TupleDesc columns);

/*
 * The one statement of a text that has a plan, also one inside EXPLAIN, CREATE
 * TABLE AS or DECLARE CURSOR; $1 and so on take their types from it.
 */
extern Query *QueryTextPlannable(const char *text);

/* "a integer, b text": the columns a user sees. */
extern char *ColumnsText(TupleDesc desc);

/* Add a row to the result of a function, which InitMaterializedSRF began; values as text, NULL: null. */
extern void PutTexts(FunctionCallInfo fcinfo, char **values);

/* Fill in a receiver of rows that has nothing to do before or after them. */
extern void RowReceiverInit(DestReceiver *receiver,
							bool (*row) (TupleTableSlot *slot, DestReceiver *self));

#endif							/* BF_QUERY_TEXT_H */
