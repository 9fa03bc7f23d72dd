/*
 * load_query.c
 *	  Run a query into the collector of a bucketed table.
 *
 * Rows that are those of the table already are collected as they come, as
 * CREATE TABLE AS does it; for others core runs INSERT, which knows casts,
 * defaults, generated columns, triggers and constraints.
 */
#include "postgres.h"

#include "access/xact.h"
#include "admin/load_query.h"
#include "admin/query_text.h"
#include "compat.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "fdw/modify.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

typedef struct LoadReceiver
{
	DestReceiver pub;
	LoadState  *state;
	CommandId	cid;
	EState	   *estate;
	ResultRelInfo *checked;		/* NULL: no column of the table is NOT NULL */
} LoadReceiver;

static bool
ReceiverRow(TupleTableSlot *slot, DestReceiver *self)
{
	LoadReceiver *receiver = (LoadReceiver *) self;

	if (receiver->checked != NULL)
		ExecConstraints(receiver->checked, slot, receiver->estate);
	LoadRow(receiver->state, slot, receiver->cid);
	return true;
}

/*
 * Are rows of these columns rows of the table, with nothing to be done but a
 * look for nulls, and may the user insert all of it?
 */
static bool
RowsFit(Relation rel, TupleDesc columns)
{
	TupleDesc	desc = RelationGetDescr(rel);

	if (desc->natts != columns->natts || rel->trigdesc != NULL || rel->rd_rel->relispartition ||
		(desc->constr != NULL && desc->constr->num_check > 0) ||
		pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_INSERT) != ACLCHECK_OK)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Form_pg_attribute given = TupleDescAttr(columns, i);

		if (att->attisdropped || att->attgenerated || att->attidentity ||
			strcmp(NameStr(att->attname), NameStr(given->attname)) != 0 ||
			att->atttypid != given->atttypid ||
			(att->atttypmod != -1 && att->atttypmod != given->atttypmod))
			return false;
	}
	return true;
}

/* Plan a query and begin to run it. */
static QueryDesc *
StartQuery(Query *query, const char *text, DestReceiver *dest, CommandId *cid)
{
	PlannedStmt *plan;
	QueryDesc  *desc;

	PushCopiedSnapshot(GetTransactionSnapshot());
	plan = pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL);
	UpdateActiveSnapshotCommandId();
	*cid = GetCurrentCommandId(true);
	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, dest, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	return desc;
}

/* Run it to its end; returns how many rows there were, which what follows sees. */
static int64
FinishQuery(QueryDesc *desc, CommandId cid)
{
	int64		rows;

	BfExecutorRun(desc);
	rows = desc->estate->es_processed;
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	LoadEndCommand(cid, true);
	PopActiveSnapshot();
	CommandCounterIncrement();
	return rows;
}

int64
LoadQueryRun(Query *query, TupleDesc columns, const char *text, Relation rel, LoadState *state)
{
	bool		insert = state == NULL || !RowsFit(rel, columns);
	LoadReceiver receiver = {.state = state};
	QueryDesc  *desc;

	if (insert)
		query = QueryTextInsert(text, rel, columns);
	RowReceiverInit(&receiver.pub, ReceiverRow);
	desc = StartQuery(query, text, &receiver.pub, &receiver.cid);
	receiver.estate = desc->estate;
	if (insert && state != NULL)
		ModifyInto(desc->planstate, state);
	else if (!insert && RelationGetDescr(rel)->constr != NULL)
	{
		receiver.checked = makeNode(ResultRelInfo);
		InitResultRelInfo(receiver.checked, rel, 0, NULL, 0);
	}
	return FinishQuery(desc, receiver.cid);
}

Tuplestorestate *
QueryRunStore(Query *query, const char *text)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false, maintenance_work_mem);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	QueryDesc  *desc;
	CommandId	cid;

	/* what it reads may be gone when the rows are */
	SetTuplestoreDestReceiverParams(dest, store, CurrentMemoryContext, true, NULL, NULL);
	desc = StartQuery(query, text, dest, &cid);
	(void) FinishQuery(desc, cid);
	dest->rDestroy(dest);
	return store;
}

void
KeptRowsConnect(TupleDesc columns, Tuplestorestate *store)
{
	EphemeralNamedRelation kept = palloc0(sizeof(EphemeralNamedRelationData));

	kept->md.name = "kept_rows";
	kept->md.tupdesc = columns;
	kept->md.enrtype = ENR_NAMED_TUPLESTORE;
	kept->md.enrtuples = tuplestore_tuple_count(store);
	kept->reldata = store;
	if (SPI_connect() != SPI_OK_CONNECT || SPI_register_relation(kept) != SPI_OK_REL_REGISTER)
		elog(ERROR, "could not register rows");
}

char *
TableName(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

char *
ColumnNames(TupleDesc columns)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < columns->natts; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(columns, i)->attname)));
	return names.data;
}
