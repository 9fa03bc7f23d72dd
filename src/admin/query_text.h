/*
 * query_text.h
 *	  Functions that get a query as the text of an argument, and run it.
 */
#ifndef BF_QUERY_TEXT_H
#define BF_QUERY_TEXT_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"

/* The text of an argument; for a null one NULL, or an error if name says what it is called. */
extern char *TextArgument(FunctionCallInfo fcinfo, int n, const char *name);

/*
 * Error context for work on the text (the callback's arg): positions in it
 * are not positions in the client's statement.
 */
extern void QueryTextErrorCallback(void *text);

/*
 * Parse a text that must hold one statement; name is how messages call it,
 * hint (or NULL) is added to them.  To be called under the callback.
 */
extern RawStmt *QueryTextParse(const char *text, const char *name, const char *hint);

/*
 * The one SELECT, VALUES or TABLE of a text, analysed and rewritten with the
 * caller's rights; its tables are locked.
 */
extern Query *QueryTextSelect(const char *text, const char *name);

/* "a integer, b text": the columns a user sees. */
extern char *ColumnsText(TupleDesc desc);

/* Fill in a receiver of rows that has nothing to do before or after them. */
extern void RowReceiverInit(DestReceiver *receiver,
							bool (*row) (TupleTableSlot *slot, DestReceiver *self));

#endif							/* BF_QUERY_TEXT_H */
