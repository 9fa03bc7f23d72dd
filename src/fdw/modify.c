/*
 * modify.c
 *	  INSERT, COPY and TRUNCATE of a bucketed table, and what they have in
 *	  common with UPDATE and DELETE (change.c).
 *
 * Core leaves the constraints of foreign tables to the wrapper, but the
 * planner believes them (a CHECK excludes the table, NOT NULL drops a qual).
 * It leaves out the row security policies of a partitioned parent, too.  So
 * every row is checked here, by core's own functions.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "compat.h"
#include BF_EXPLAIN_HEADER
#include BF_EXPLAIN_STATE_HEADER
#include "executor/executor.h"
#include "fdw/modify.h"
#include "fdw/modify_state.h"
#include "fdw/scan.h"
#include "load/load.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/manifest.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * ON CONFLICT with a target is refused by core, because no unique index can be
 * found; without one no row can conflict.  MERGE is refused, too.
 */
static List *
PlanModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation, int subplan_index)
{
	Bitmapset  *used = NULL;
	int			member = -1;

	/* rows of other partitions may have what a partition does not */
	if (resultRelation == root->parse->resultRelation)
		pull_varattnos((Node *) root->parse->returningList, resultRelation, &used);
	while ((member = bms_next_member(used, member)) >= 0)
	{
		int			attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno < 0 && attno != TableOidAttributeNumber)
			RefuseSystemColumn(get_rel_name(planner_rt_fetch(resultRelation, root)->relid), attno);
	}
	return NIL;
}

/*
 * Start collecting rows.  Without a plan this is COPY, which takes the
 * current command for its rows and checks the partition constraint itself.
 * Rows that are routed may come to a partition that is updated: the state is
 * that of both.
 */
static ModifyState *
BeginModify(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	Relation	rel = rinfo->ri_RelationDesc;
	bool		copy = mtstate->ps.plan == NULL;
	ModifyState *state = rinfo->ri_FdwState;

	if (state != NULL)
		return state;
	state = palloc0(sizeof(ModifyState));
	state->mtstate = mtstate;
	state->copy = copy;
	state->cid = copy ? GetCurrentCommandId(true) : mtstate->ps.state->es_output_cid;

	state->rls_kind = mtstate->operation == CMD_UPDATE ? WCO_RLS_UPDATE_CHECK : WCO_RLS_INSERT_CHECK;
	state->check_constraints = RelationGetDescr(rel)->constr != NULL;

	/* a routed row was checked by the routing, unless a trigger changed it since */
	state->check_partition = !copy && rel->rd_rel->relispartition &&
		(rinfo->ri_RootResultRelInfo == NULL ||
		 (rinfo->ri_TrigDesc && rinfo->ri_TrigDesc->trig_insert_before_row));
	rinfo->ri_FdwState = state;
	return state;
}

static void
BeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
				   int subplan_index, int eflags)
{
	ModifyState *state;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state = BeginModify(mtstate, rinfo);
	if (mtstate->operation == CMD_INSERT)
		state->load = LoadBegin(rinfo->ri_RelationDesc, work_mem);
	else
		ChangeBegin(state, mtstate, rinfo);
}

/* COPY, and a partition that rows are routed to. */
static void
BeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	ModifyState *state = BeginModify(mtstate, rinfo);

	if (state->load == NULL)
		state->load = LoadBegin(rinfo->ri_RelationDesc, work_mem);
}

static TupleTableSlot *
ExecForeignInsert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
				  TupleTableSlot *planSlot)
{
	ModifyState *state = rinfo->ri_FdwState;

	/* policies of a partitioned parent; those of views are checked by core */
	if (rinfo->ri_WithCheckOptions != NIL)
		ExecWithCheckOptions(state->rls_kind, rinfo, slot, estate);
	if (state->check_constraints)
		ExecConstraints(rinfo, slot, estate);
	if (state->check_partition)
		ExecPartitionCheck(rinfo, slot, estate, true);
	LoadRow(state->load, slot, state->cid);
	return slot;
}

/* What was to be done at the end of the statement was done when its triggers had run. */
static void
EndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	rinfo->ri_FdwState = NULL;
}

/* The same for a partition that rows are routed to; the end of COPY, however, is here. */
static void
EndForeignInsert(EState *estate, ResultRelInfo *rinfo)
{
	ModifyState *state = rinfo->ri_FdwState;

	rinfo->ri_FdwState = NULL;
	if (state != NULL && state->copy)
		LoadEndCommand(state->cid, false);
}

/* With ANALYZE: what the end of the statement wrote; few rows wait for COMMIT. */
static void
ExplainForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
					 int subplan_index, ExplainState *es)
{
	ModifyState *state = rinfo->ri_FdwState;
	SealCounters written;

	if (!es->analyze || state == NULL)
		return;
	if (state->changes)
		ChangeExplain(state, rinfo, es);
	if (state->load == NULL || !LoadCommandSealed(state->load, state->cid, &written))
		return;
	ExplainPropertyInteger("Rows Written", NULL, written.rows, es);
	ExplainPropertyInteger("Files Written", NULL, written.files, es);
	ExplainPropertyInteger("Runs Written", NULL, written.runs, es);
	ExplainPropertyInteger("Bytes Written", "bytes", written.bytes, es);
	ExplainPropertyInteger("Temporary Bytes", "bytes", written.temp_bytes, es);
}

static int
IsForeignRelUpdatable(Relation rel)
{
	return (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE);
}

/* Core holds AccessExclusiveLock on each of the relations. */
static void
ExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	ListCell   *lc;

	foreach(lc, rels)
	{
		Oid			relid = RelationGetRelid((Relation) lfirst(lc));

		LoadDiscard(relid);
		ManifestTruncate(relid);
	}
}

void
ModifyInto(PlanState *planstate, LoadState *load)
{
	ResultRelInfo *rinfo = castNode(ModifyTableState, planstate)->resultRelInfo;

	((ModifyState *) rinfo->ri_FdwState)->load = load;
}

void
ModifyRoutine(FdwRoutine *routine)
{
	routine->AddForeignUpdateTargets = AddForeignUpdateTargets;
	routine->PlanForeignModify = PlanModify;
	routine->BeginForeignModify = BeginForeignModify;
	routine->ExecForeignInsert = ExecForeignInsert;
	routine->ExecForeignUpdate = ExecForeignUpdate;
	routine->ExecForeignDelete = ExecForeignDelete;
	routine->EndForeignModify = EndForeignModify;
	routine->BeginForeignInsert = BeginForeignInsert;
	routine->EndForeignInsert = EndForeignInsert;
	routine->ExplainForeignModify = ExplainForeignModify;
	routine->IsForeignRelUpdatable = IsForeignRelUpdatable;
	routine->ExecForeignTruncate = ExecForeignTruncate;
}
