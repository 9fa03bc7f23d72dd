/*
 * change.c
 *	  UPDATE and DELETE of a bucketed table.
 *
 * A row is deleted by its number in the manifest that the statement shares
 * between scan and this node (load/change_manifest.h), which travels as ctid.
 * What core does for heap tables only is done here: constraints, policies of a
 * partitioned parent, rows that are met twice, rows that move to another
 * partition.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include BF_EXPLAIN_HEADER
#include BF_EXPLAIN_STATE_HEADER
#include "executor/executor.h"
#include "fdw/change_start.h"
#include "fdw/modify_state.h"
#include "load/change_check.h"
#include "load/change_manifest.h"
#include "load/pending_deletes.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "storage/row_id.h"
#include "utils/rel.h"

/* Does the list of expressions use a column of the statement's target, or all of it? */
static bool
UsesTarget(List *exprs, Index relid)
{
	Bitmapset  *used = NULL;

	pull_varattnos((Node *) exprs, relid, &used);
	used = bms_del_member(used, TableOidAttributeNumber - FirstLowInvalidHeapAttributeNumber);
	return !bms_is_empty(used);
}

/*
 * Core asks for the whole row where UPDATE or a trigger needs it; RETURNING of
 * DELETE does, too.
 */
void
AddForeignUpdateTargets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte, Relation target_relation)
{
	Var		   *var = makeVar(rtindex, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0);

	add_row_identity_var(root, var, rtindex, "ctid");
	if (root->parse->commandType == CMD_DELETE &&
		UsesTarget(root->parse->returningList, root->parse->resultRelation))
	{
		var = makeVar(rtindex, InvalidAttrNumber, RECORDOID, -1, InvalidOid, 0);
		add_row_identity_var(root, var, rtindex, "wholerow");
	}
}

void
ChangeBegin(ModifyState *state, ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	List	   *tlist = outerPlanState(mtstate)->plan->targetlist;

	state->changes = true;
	state->locked = ChangeIsLocked(RelationGetRelid(rinfo->ri_RelationDesc));
	state->ctid = ExecFindJunkAttributeInTlist(tlist, "ctid");
	state->wholerow = ExecFindJunkAttributeInTlist(tlist, "wholerow");
	if (!AttributeNumberIsValid(state->ctid))
		elog(ERROR, "could not find junk ctid column");
}

/*
 * Delete the row that a row of the plan is about; false: the command has met it
 * before, as when it joins several rows.
 */
static bool
DeleteRow(ModifyState *state, EState *estate, ResultRelInfo *rinfo, TupleTableSlot *planSlot)
{
	Oid			relid = RelationGetRelid(rinfo->ri_RelationDesc);
	bool		isnull;
	Datum		ctid = ExecGetJunkAttribute(planSlot, state->ctid, &isnull);
	uint64		file_id;
	int			file;
	int64		row;
	bool		inlined;
	DeleteResult result;

	if (isnull)
		elog(ERROR, "ctid is NULL");
	if (state->manifest == NULL)
	{
		LoadAllowMemory(work_mem);
		/* as a DELETE of a heap has one */
		(void) GetCurrentTransactionId();
		state->manifest = ChangeManifest(estate, relid);
		if (!state->locked || IsolationUsesXactSnapshot())
		{
			MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

			state->check = ChangeCheckBegin(relid, state->locked);
			MemoryContextSwitchTo(old);
		}
	}
	file_id = ChangeManifestRow(state->manifest, RowIdGet((ItemPointer) DatumGetPointer(ctid)), &file, &row, &inlined);
	result = PendingDelete(relid, file_id, row, inlined, state->cid);
	if (result == DELETE_LATER_COMMAND)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 state->mtstate->operation == CMD_DELETE ?
				 errmsg("tuple to be deleted was already modified by an operation triggered by the current command") :
				 errmsg("tuple to be updated was already modified by an operation triggered by the current command"),
				 errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")));

	if (result == DELETE_DONE && state->check != NULL)
		ChangeCheckRow(state->check, file_id, row);
	if (result == DELETE_DONE)
	{
		MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

		state->deleted++;
		if (!bms_is_member(file, state->files))
			state->files = bms_add_member(state->files, file);
		MemoryContextSwitchTo(old);
	}

	/* later commands of this transaction must get another command id */
	(void) GetCurrentCommandId(true);
	return result == DELETE_DONE;
}

/* Put the row as it was into the slot, for RETURNING. */
static void
StoreOldRow(const ModifyState *state, TupleTableSlot *planSlot, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		datum = ExecGetJunkAttribute(planSlot, state->wholerow, &isnull);
	HeapTupleData tuple;

	if (isnull)
		elog(ERROR, "wholerow is NULL");
	tuple.t_data = DatumGetHeapTupleHeader(datum);
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	/* slots of foreign tables hold on to tuples */
	ExecForceStoreHeapTuple(heap_copytuple(&tuple), slot, true);
}

TupleTableSlot *
ExecForeignDelete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	ModifyState *state = rinfo->ri_FdwState;

	if (!DeleteRow(state, estate, rinfo, planSlot))
		return NULL;
	if (AttributeNumberIsValid(state->wholerow))
		StoreOldRow(state, planSlot, slot);
	return slot;
}

TupleTableSlot *
ExecForeignUpdate(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	ModifyState *state = rinfo->ri_FdwState;
	bool		moves = rinfo->ri_RelationDesc->rd_rel->relispartition &&
		!ExecPartitionCheck(rinfo, slot, estate, false);

	/* a partition that was named itself is not left */
	if (moves && rinfo->ri_RootResultRelInfo == NULL)
		ExecPartitionCheckEmitError(rinfo, slot, estate);
	if (rinfo->ri_WithCheckOptions != NIL)
		ExecWithCheckOptions(WCO_RLS_UPDATE_CHECK, rinfo, slot, estate);
	if (state->check_constraints && !moves)
		ExecConstraints(rinfo, slot, estate);
	if (!DeleteRow(state, estate, rinfo, planSlot))
		return NULL;
	if (moves)
		MoveRow(state->mtstate, rinfo, slot, planSlot);
	else
	{
		if (state->load == NULL)
			state->load = LoadBegin(rinfo->ri_RelationDesc, work_mem);
		LoadRow(state->load, slot, state->cid);
	}
	return slot;
}

/* With ANALYZE: how many rows were deleted, and of how many files; each has a vector of them. */
void
ChangeExplain(const ModifyState *state, ResultRelInfo *rinfo, struct ExplainState *es)
{
	ExplainPropertyInteger("Rows Deleted", NULL, state->deleted, es);
	ExplainPropertyInteger("Files Changed", NULL, bms_num_members(state->files), es);
}
