/*
 * query_text.h
 *	  A query that comes as the text of an argument.
 */
#ifndef BF_QUERY_TEXT_H
#define BF_QUERY_TEXT_H

#include "nodes/parsenodes.h"

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

/* The hint where only a query will do. */
#define QUERY_TEXT_SELECT_HINT "Give one SELECT, VALUES or TABLE statement."

#endif							/* BF_QUERY_TEXT_H */
