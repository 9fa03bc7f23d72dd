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
#include "fdw/modify.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
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

int64
LoadQueryRun(Query *query, TupleDesc columns, const char *text, Relation rel, LoadState *state)
{
	bool		insert = !RowsFit(rel, columns);
	LoadReceiver receiver = {.state = state};
	PlannedStmt *plan;
	QueryDesc  *desc;
	int64		rows;

	if (insert)
		query = QueryTextInsert(text, rel, columns);
	RowReceiverInit(&receiver.pub, ReceiverRow);
	PushCopiedSnapshot(GetTransactionSnapshot());
	plan = pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL);
	UpdateActiveSnapshotCommandId();
	receiver.cid = GetCurrentCommandId(true);

	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, &receiver.pub, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	receiver.estate = desc->estate;
	if (insert)
		ModifyInto(desc->planstate, state);
	else if (RelationGetDescr(rel)->constr != NULL)
	{
		receiver.checked = makeNode(ResultRelInfo);
		InitResultRelInfo(receiver.checked, rel, 0, NULL, 0);
	}
	BfExecutorRun(desc);
	rows = desc->estate->es_processed;
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	LoadEndCommand(receiver.cid, true);
	PopActiveSnapshot();

	/* what follows sees the rows */
	CommandCounterIncrement();
	return rows;
}
