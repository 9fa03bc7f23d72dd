/*
 * query_text.c
 *	  What functions for users share: arguments, queries given as text, rows of
 *	  results.
 */
#include "postgres.h"

#include "admin/query_text.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#define SELECT_HINT "Give one SELECT, VALUES or TABLE statement."

void
RequireArgument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

char *
TextArgument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (name != NULL)
		RequireArgument(fcinfo, n, name);
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/*
 * Error context for work on the text (arg): positions in it are not positions
 * in the client's statement.
 */
static void
QueryTextError(void *text)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery((const char *) text);
	}
}

/*
 * Parse a text that must hold one statement; name is how messages call it,
 * hint (or NULL) is added to them.
 */
static RawStmt *
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

Query *
QueryTextSelect(const char *text, const char *name)
{
	ErrorContextCallback callback = {error_context_stack, QueryTextError, (void *) text};
	SelectStmt *stmt;
	RawStmt    *raw;
	List	   *queries;

	error_context_stack = &callback;
	raw = QueryTextParse(text, name, SELECT_HINT);
	if (!IsA(raw->stmt, SelectStmt))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s is not a SELECT", name),
				 errhint(SELECT_HINT)));
	stmt = (SelectStmt *) raw->stmt;
	while (stmt->op != SETOP_NONE)
		stmt = stmt->larg;
	if (stmt->intoClause != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("%s must not be a SELECT INTO", name),
				 errhint("Leave out the INTO clause.")));

	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	error_context_stack = callback.previous;
	return linitial_node(Query, queries);
}

Query *
QueryTextInsert(const char *text, Relation rel, TupleDesc columns)
{
	ErrorContextCallback callback = {error_context_stack, QueryTextError, (void *) text};
	RawStmt    *raw = linitial_node(RawStmt, pg_parse_query(text));
	SelectStmt *select = (SelectStmt *) raw->stmt;
	InsertStmt *insert = makeNode(InsertStmt);
	List	   *queries;

	insert->relation = makeRangeVar(get_namespace_name(RelationGetNamespace(rel)),
									RelationGetRelationName(rel), -1);
	for (int i = 0; i < columns->natts; i++)
	{
		ResTarget  *column = makeNode(ResTarget);

		column->name = NameStr(TupleDescAttr(columns, i)->attname);
		column->location = -1;
		insert->cols = lappend(insert->cols, column);
	}
	insert->selectStmt = (Node *) select;

	/* where it may hold statements that change data */
	insert->withClause = select->withClause;
	select->withClause = NULL;
	raw->stmt = (Node *) insert;

	error_context_stack = &callback;
	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	error_context_stack = callback.previous;
	return linitial_node(Query, queries);
}

char *
ColumnsText(TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		appendStringInfo(&buf, "%s%s %s", buf.len > 0 ? ", " : "",
						 quote_identifier(NameStr(att->attname)),
						 format_type_with_typemod(att->atttypid, att->atttypmod));
	}
	return buf.data;
}

/* The query that EXPLAIN would plan, of a statement around it. */
static Query *
InnerQuery(Query *query)
{
	while (query->commandType == CMD_UTILITY && query->utilityStmt != NULL)
	{
		Node	   *statement = query->utilityStmt;

		if (IsA(statement, ExplainStmt))
			statement = ((ExplainStmt *) statement)->query;
		else if (IsA(statement, CreateTableAsStmt))
			statement = ((CreateTableAsStmt *) statement)->query;
		else if (IsA(statement, DeclareCursorStmt))
			statement = ((DeclareCursorStmt *) statement)->query;
		else
			break;
		if (!IsA(statement, Query))
			break;
		query = (Query *) statement;
	}
	if (query->commandType == CMD_UTILITY)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("query is a utility statement, which has no plan"),
				 errhint("Give one SELECT, INSERT, UPDATE, DELETE or MERGE statement.")));
	return query;
}

Query *
QueryTextPlannable(const char *text)
{
	ErrorContextCallback callback = {error_context_stack, QueryTextError, (void *) text};
	RawStmt    *raw;
	Oid		   *types = NULL;
	int			ntypes = 0;
	List	   *queries;
	Query	   *query;

	error_context_stack = &callback;
	raw = QueryTextParse(text, "query", NULL);
	queries = pg_analyze_and_rewrite_varparams(raw, text, &types, &ntypes, NULL);
	if (list_length(queries) == 1 && linitial_node(Query, queries)->commandType == CMD_UTILITY)
		queries = pg_rewrite_query(copyObject(InnerQuery(linitial_node(Query, queries))));
	if (list_length(queries) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rules make %d statements of the query", list_length(queries))));
	query = InnerQuery(linitial_node(Query, queries));
	error_context_stack = callback.previous;
	return query;
}

void
PutTexts(FunctionCallInfo fcinfo, char **values)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	AttInMetadata *attinmeta = TupleDescGetAttInMetadata(rsinfo->setDesc);

	tuplestore_puttuple(rsinfo->setResult, BuildTupleFromCStrings(attinmeta, values));
}

void
RowReceiverInit(DestReceiver *receiver, bool (*row) (TupleTableSlot *slot, DestReceiver *self))
{
	*receiver = *None_Receiver;
	receiver->receiveSlot = row;
}
