/*
 * load_query.c
 *	  Run a query into the collector of a bucketed table: as CREATE TABLE AS
 *	  runs it for a new table, with the checks of INSERT for an old one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "admin/load_query.h"
#include "admin/query_text.h"
#include "catalog/pg_attribute.h"
#include "commands/trigger.h"
#include "compat.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Where a column of the table comes from. */
typedef struct TargetColumn
{
	int			source;			/* column of the query, or -1 */
	Expr	   *expr;			/* over the query's row (OUTER_VAR), when not simply copied */
	ExprState  *state;
} TargetColumn;

struct LoadTarget
{
	Relation	rel;
	TargetColumn *columns;
	bool		plain;			/* nothing to evaluate: parallel plans are safe */
	EState	   *estate;
	ResultRelInfo *rinfo;
	TupleTableSlot *slot;		/* a row of the table */
};

typedef struct LoadReceiver
{
	DestReceiver pub;
	LoadState  *state;
	LoadTarget *target;
	CommandId	cid;
	int64		rows;
} LoadReceiver;

/* The column as the query gives it, coerced as INSERT would. */
static Expr *
CoercedColumn(Form_pg_attribute att, Form_pg_attribute source, int number)
{
	Node	   *var = (Node *) makeVar(OUTER_VAR, number + 1, source->atttypid, source->atttypmod,
									   source->attcollation, 0);
	Node	   *expr = coerce_to_target_type(NULL, var, source->atttypid, att->atttypid, att->atttypmod,
											 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	if (expr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s but the query gives type %s",
						NameStr(att->attname), format_type_be(att->atttypid),
						format_type_be(source->atttypid)),
				 errhint("You will need to rewrite or cast the expression.")));
	return expr == var ? NULL : (Expr *) expr;
}

/* What a column gets that the query does not give: its default, or NULL as its domain has it. */
static Expr *
DefaultColumn(Relation rel, Form_pg_attribute att)
{
	Node	   *expr;
	Oid			basetype;
	int32		basetypmod;

	if (att->attgenerated)
		return NULL;
	expr = build_column_default(rel, att->attnum);
	if (expr != NULL)
		return (Expr *) expr;
	basetypmod = att->atttypmod;
	basetype = getBaseTypeAndTypmod(att->atttypid, &basetypmod);
	if (basetype == att->atttypid)
		return NULL;
	return (Expr *) coerce_to_domain((Node *) makeNullConst(basetype, basetypmod, att->attcollation),
									 basetype, basetypmod, att->atttypid,
									 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1, false);
}

LoadTarget *
LoadTargetCreate(Relation rel, TupleDesc query_desc)
{
	TupleDesc	desc = RelationGetDescr(rel);
	LoadTarget *target = palloc0(sizeof(LoadTarget));
	bool	   *used = palloc0(sizeof(bool) * Max(query_desc->natts, 1));

	target->rel = rel;
	target->columns = palloc0(sizeof(TargetColumn) * Max(desc->natts, 1));
	target->plain = rel->trigdesc == NULL && !rel->rd_rel->relispartition &&
		(desc->constr == NULL ||
		 (desc->constr->num_check == 0 && !desc->constr->has_generated_stored));

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		TargetColumn *column = &target->columns[i];

		column->source = -1;
		if (att->attisdropped)
			continue;
		for (int s = 0; s < query_desc->natts; s++)
		{
			if (strcmp(NameStr(TupleDescAttr(query_desc, s)->attname), NameStr(att->attname)) == 0)
				column->source = s;
		}
		if (column->source < 0)
			column->expr = DefaultColumn(rel, att);
		else if (att->attgenerated || att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS)
			ereport(ERROR,
					(errcode(ERRCODE_GENERATED_ALWAYS),
					 errmsg("cannot insert a non-DEFAULT value into column \"%s\"", NameStr(att->attname)),
					 att->attgenerated ?
					 errdetail("Column \"%s\" is a generated column.", NameStr(att->attname)) :
					 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
							   NameStr(att->attname))));
		else
		{
			used[column->source] = true;
			column->expr = CoercedColumn(att, TupleDescAttr(query_desc, column->source), column->source);
		}
		if (column->expr != NULL)
			target->plain = false;
	}
	for (int s = 0; s < query_desc->natts; s++)
	{
		if (!used[s])
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							NameStr(TupleDescAttr(query_desc, s)->attname), RelationGetRelationName(rel)),
					 errhint("The columns of the query are matched to those of the table by name.")));
	}
	pfree(used);
	return target;
}

/* Set up evaluation and fire BEFORE STATEMENT triggers. */
static void
TargetStart(LoadTarget *target)
{
	TupleDesc	desc = RelationGetDescr(target->rel);

	target->estate = CreateExecutorState();
	target->rinfo = makeNode(ResultRelInfo);
	InitResultRelInfo(target->rinfo, target->rel, 0, NULL, 0);
	target->slot = ExecInitExtraTupleSlot(target->estate, desc, &TTSOpsVirtual);
	for (int i = 0; i < desc->natts; i++)
	{
		if (target->columns[i].expr)
			target->columns[i].state = ExecPrepareExpr(target->columns[i].expr, target->estate);
	}
	ExecBSInsertTriggers(target->estate, target->rinfo);
}

/* The table's row made of a row of the query; NULL when a trigger suppressed it. */
static TupleTableSlot *
TargetRow(LoadTarget *target, TupleTableSlot *input)
{
	Relation	rel = target->rel;
	TupleDesc	desc = RelationGetDescr(rel);
	EState	   *estate = target->estate;
	ExprContext *econtext = GetPerTupleExprContext(estate);
	TupleTableSlot *slot = target->slot;
	bool		constraints = desc->constr != NULL;
	bool		before_trigger = rel->trigdesc && rel->trigdesc->trig_insert_before_row;

	ResetPerTupleExprContext(estate);
	slot_getallattrs(input);
	ExecClearTuple(slot);
	econtext->ecxt_outertuple = input;
	for (int i = 0; i < desc->natts; i++)
	{
		TargetColumn *column = &target->columns[i];

		if (column->state)
			slot->tts_values[i] = ExecEvalExprSwitchContext(column->state, econtext,
															&slot->tts_isnull[i]);
		else if (column->source >= 0)
		{
			slot->tts_values[i] = input->tts_values[column->source];
			slot->tts_isnull[i] = input->tts_isnull[column->source];
		}
		else
		{
			slot->tts_values[i] = (Datum) 0;
			slot->tts_isnull[i] = true;
		}
	}
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(rel);

	if (before_trigger && !ExecBRInsertTriggers(estate, target->rinfo, slot))
		return NULL;
	if (constraints && desc->constr->has_generated_stored)
		ExecComputeStoredGenerated(target->rinfo, estate, slot, CMD_INSERT);
	if (constraints)
		ExecConstraints(target->rinfo, slot, estate);
	if (rel->rd_rel->relispartition)
		ExecPartitionCheck(target->rinfo, slot, estate, true);
	return slot;
}

/* Fire AFTER triggers and clean up. */
static void
TargetEnd(LoadTarget *target)
{
	ExecASInsertTriggers(target->estate, target->rinfo, NULL);
	AfterTriggerEndQuery(target->estate);
	ExecResetTupleTable(target->estate->es_tupleTable, false);
	ExecCloseResultRelations(target->estate);
	FreeExecutorState(target->estate);
	target->estate = NULL;
}

static bool
ReceiverRow(TupleTableSlot *slot, DestReceiver *self)
{
	LoadReceiver *receiver = (LoadReceiver *) self;
	LoadTarget *target = receiver->target;

	if (target != NULL)
	{
		slot = TargetRow(target, slot);
		if (slot == NULL)
			return true;
	}
	LoadRow(receiver->state, slot, receiver->cid);
	receiver->rows++;
	if (target != NULL && target->rel->trigdesc)
		ExecARInsertTriggers(target->estate, target->rinfo, slot, NIL, NULL);
	return true;
}

int64
LoadQueryRun(Query *query, const char *text, LoadState *state, LoadTarget *target)
{
	LoadReceiver receiver = {0};
	bool		plain = target == NULL || target->plain;
	PlannedStmt *plan;
	QueryDesc  *desc;

	/* what is left to do at the end needs the query to be over */
	RowReceiverInit(&receiver.pub, ReceiverRow);
	receiver.state = state;
	receiver.target = target;

	PushCopiedSnapshot(GetTransactionSnapshot());
	plan = pg_plan_query(query, text, plain ? CURSOR_OPT_PARALLEL_OK : 0, NULL);
	UpdateActiveSnapshotCommandId();
	receiver.cid = GetCurrentCommandId(true);

	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot,
						   (DestReceiver *) &receiver, NULL, NULL, 0);
	if (target)
	{
		AfterTriggerBeginQuery();
		TargetStart(target);
	}
	ExecutorStart(desc, 0);
	BfExecutorRun(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	if (target)
		TargetEnd(target);
	LoadEndCommand(receiver.cid, true);
	PopActiveSnapshot();

	/* what follows sees the rows */
	CommandCounterIncrement();
	return receiver.rows;
}
