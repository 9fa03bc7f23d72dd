/*
 * move_row.c
 *	  A row that UPDATE takes to another partition.
 *
 * Core moves rows out of heap partitions only.  As there, the new version is
 * routed from the table that was named and inserted: INSERT triggers of the
 * partition it comes to fire.  The UPDATE triggers of the one it leaves are
 * core's, which knows nothing of the move.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "commands/trigger.h"
#include "compat.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "fdw/modify_state.h"
#include "foreign/fdwapi.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* As core sets it up, which takes it down. */
static PartitionTupleRouting *
GetRouting(ModifyTableState *mtstate)
{
	EState	   *estate = mtstate->ps.state;
	MemoryContext old;

	if (mtstate->mt_partition_tuple_routing == NULL)
	{
		Relation	root = mtstate->rootResultRelInfo->ri_RelationDesc;

		old = MemoryContextSwitchTo(estate->es_query_cxt);
		mtstate->mt_partition_tuple_routing = ExecSetupPartitionTupleRouting(estate, root);
		mtstate->mt_root_tuple_slot = table_slot_create(root, NULL);
		MemoryContextSwitchTo(old);
	}
	return mtstate->mt_partition_tuple_routing;
}

/* A row for a foreign partition, of this wrapper or another one. */
static void
InsertForeign(EState *estate, ResultRelInfo *dest, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	TupleConstr *constr = dest->ri_RelationDesc->rd_att->constr;

	if (dest->ri_TrigDesc && dest->ri_TrigDesc->trig_insert_before_row &&
		!ExecBRInsertTriggers(estate, dest, slot))
		return;
	slot->tts_tableOid = RelationGetRelid(dest->ri_RelationDesc);
	if (constr && constr->has_generated_stored)
		ExecComputeStoredGenerated(dest, estate, slot, CMD_INSERT);
	slot = dest->ri_FdwRoutine->ExecForeignInsert(estate, dest, slot, planSlot);
	if (slot == NULL)
		return;
	slot->tts_tableOid = RelationGetRelid(dest->ri_RelationDesc);
	ExecARInsertTriggers(estate, dest, slot, NIL, NULL);
}

void
MoveRow(ModifyTableState *mtstate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	EState	   *estate = mtstate->ps.state;
	PartitionTupleRouting *routing = GetRouting(mtstate);
	TupleConversionMap *to_root = ExecGetChildToRootMap(rinfo);
	TupleConversionMap *to_dest;
	ResultRelInfo *dest;

	if (to_root != NULL)
		slot = execute_attr_map_slot(to_root->attrMap, slot, mtstate->mt_root_tuple_slot);
	dest = ExecFindPartition(mtstate, mtstate->rootResultRelInfo, routing, slot, estate);
	to_dest = BfRootToPartitionMap(dest, estate);
	if (to_dest != NULL)
		slot = execute_attr_map_slot(to_dest->attrMap, slot, dest->ri_PartitionTupleSlot);
	else if (to_root == NULL)
		/* triggers may change it, and the caller's is returned */
		slot = ExecCopySlot(mtstate->mt_root_tuple_slot, slot);
	if (dest->ri_FdwRoutine != NULL)
	{
		InsertForeign(estate, dest, slot, planSlot);
		return;
	}
	if (dest->ri_RelationDesc->rd_rel->relhasindex && dest->ri_IndexRelationDescs == NULL)
		ExecOpenIndices(dest, false);
	ExecSimpleRelationInsert(dest, estate, slot);
}
