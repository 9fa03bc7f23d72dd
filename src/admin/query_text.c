/*
 * query_text.c
 *	  A query that comes as the text of an argument.
 */
#include "postgres.h"

#include "admin/query_text.h"
#include "tcop/tcopprot.h"

void
QueryTextErrorCallback(void *text)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery((const char *) text);
	}
}

RawStmt *
QueryTextParse(const char *text, const char *name, const char *hint)
{
	List	   *parsed = pg_parse_query(text);

	if (list_length(parsed) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 parsed == NIL ? errmsg("%s is empty", name) :
				 errmsg("%s must be one statement, not %d", name, list_length(parsed)),
				 hint ? errhint("%s", hint) : 0));
	return linitial_node(RawStmt, parsed);
}
