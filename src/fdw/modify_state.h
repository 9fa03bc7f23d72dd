/*
 * modify_state.h
 *	  The state of INSERT, UPDATE and DELETE of one table; for the files of this
 *	  folder.
 *
 * A partition that is updated may be one that rows of other partitions go to,
 * too: both share the state.
 */
#ifndef BF_MODIFY_STATE_H
#define BF_MODIFY_STATE_H

#include "load/load.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

struct ExplainState;

typedef struct ModifyState
{
	ModifyTableState *mtstate;
	LoadState  *load;			/* NULL: no row has come in */
	CommandId	cid;
	bool		copy;
	WCOKind		rls_kind;
	bool		check_constraints;
	bool		check_partition;	/* of rows that are inserted */

	/* UPDATE and DELETE */
	bool		changes;
	bool		locked;			/* when the statement began */
	struct ChangeCheck *check;	/* NULL: what the statement sees is the newest */
	AttrNumber	ctid;			/* of the plan's rows: what identifies a row of the table */
	AttrNumber	wholerow;		/* and all of it; 0: it is not there */
	Manifest   *manifest;		/* of the statement; NULL: no row has come */
	int64		deleted;		/* rows */
	Bitmapset  *files;			/* of the manifest, that had them */
} ModifyState;

/* change.c */
extern void AddForeignUpdateTargets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte,
									Relation target_relation);
extern void ChangeBegin(ModifyState *state, ModifyTableState *mtstate, ResultRelInfo *rinfo);
extern TupleTableSlot *ExecForeignUpdate(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
										 TupleTableSlot *planSlot);
extern TupleTableSlot *ExecForeignDelete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
										 TupleTableSlot *planSlot);
extern void ChangeExplain(const ModifyState *state, ResultRelInfo *rinfo, struct ExplainState *es);

/* move_row.c: insert a new version of a row that belongs to another partition of the table that was named. */
extern void MoveRow(ModifyTableState *mtstate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot);

#endif							/* BF_MODIFY_STATE_H */
