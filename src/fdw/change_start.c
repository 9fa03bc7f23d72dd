/*
 * change_start.c
 *	  Statements that change or lock rows of bucketed tables, when they begin.
 *
 * Core locks the rows of heap tables one by one and looks at each again when
 * others have changed it.  Rows of a file cannot be looked at so.  Instead what
 * a statement may change is locked first, and then, under READ COMMITTED, it
 * gets its snapshot: nothing that it sees can be changed by others before it
 * ends.  The whole statement gets it, as what is joined must be of the same
 * moment.
 *
 * Partitions that the values of other rows may leave out are not locked here:
 * a prepared UPDATE of the current month would wait for everybody who changes
 * an old one.  They are locked when their first row is to be changed, and
 * checked as in transactions that keep their snapshot (load/change_check.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class_d.h"
#include "compat.h"
#include "exec/scan/scan_node.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "fdw/change_start.h"
#include "load/change_lock.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "storage/manifest.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* A table that is changed, or whose rows are locked. */
typedef struct ChangeTarget
{
	Index		rti;
	Oid			relid;
	ChangeLockMode mode;
	LockWaitPolicy wait;
	bool		changed;		/* an UPDATE or DELETE */
	bool		pruned;			/* no row of it is read */
	bool		later;			/* perhaps not: other rows decide */
	const ForeignScan *scan;	/* that reads it; NULL: none was found, or several */
	int			nscans;
	ChangeSlots slots;
} ChangeTarget;

/* What is found out of a statement. */
typedef struct ChangeStart
{
	QueryDesc  *query;
	int			n;
	ChangeTarget *targets;
	EState	   *estate;			/* for leaving out partitions, NULL: not made yet */
} ChangeStart;

/* Of the statement that begins. */
typedef struct LockedTables
{
	int			n;
	const ChangeTarget *targets;
} LockedTables;

static LockedTables locked_tables;

static ExecutorStart_hook_type prev_ExecutorStart = NULL;

bool
ChangeIsLocked(Oid relid)
{
	for (int i = 0; i < locked_tables.n; i++)
	{
		const ChangeTarget *target = &locked_tables.targets[i];

		if (target->relid == relid && target->changed && !target->later && !target->pruned)
			return true;
	}
	return false;
}

/* Add a table, if it is one of ours. */
static void
AddTarget(ChangeStart *start, Index rti, ChangeLockMode mode, LockWaitPolicy wait, bool changed)
{
	RangeTblEntry *rte = rt_fetch(rti, start->query->plannedstmt->rtable);

	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE || !IsBucketTable(rte->relid))
		return;
	start->targets = start->targets == NULL ? palloc(sizeof(ChangeTarget)) :
		repalloc(start->targets, (start->n + 1) * sizeof(ChangeTarget));
	start->targets[start->n++] = (ChangeTarget)
	{
		.rti = rti,.relid = rte->relid,.mode = mode,.wait = wait,.changed = changed,.slots = CHANGE_WHOLE
	};
}

static ChangeTarget *
FindTarget(ChangeStart *start, Index rti)
{
	for (int i = 0; i < start->n; i++)
	{
		if (start->targets[i].rti == rti)
			return &start->targets[i];
	}
	return NULL;
}

/* The tables of an UPDATE or DELETE: it is on top of the plan, or of that of a WITH query. */
static void
AddChanged(ChangeStart *start, const Plan *plan)
{
	const ModifyTable *modify = (const ModifyTable *) plan;
	ListCell   *lc;

	if (plan == NULL || !IsA(plan, ModifyTable) ||
		(modify->operation != CMD_UPDATE && modify->operation != CMD_DELETE))
		return;
	foreach(lc, modify->resultRelations)
		AddTarget(start, lfirst_int(lc), CHANGE_LOCK_EXCLUSIVE, LockWaitBlock, true);
}

/* The tables of FOR UPDATE and its like, of all levels of the query. */
static void
AddLocked(ChangeStart *start)
{
	ListCell   *lc;

	foreach(lc, start->query->plannedstmt->rowMarks)
	{
		const PlanRowMark *mark = lfirst(lc);

		if (mark->isParent || mark->strength == LCS_NONE)
			continue;
		AddTarget(start, mark->rti,
				  mark->strength >= LCS_FORNOKEYUPDATE ? CHANGE_LOCK_EXCLUSIVE : CHANGE_LOCK_SHARE,
				  mark->waitPolicy, false);
	}
}

static void
FindTargets(ChangeStart *start)
{
	const PlannedStmt *stmt = start->query->plannedstmt;
	ListCell   *lc;

	AddChanged(start, stmt->planTree);
	foreach(lc, stmt->subplans)
		AddChanged(start, lfirst(lc));
	AddLocked(start);
}

/*
 * The children of an Append or MergeAppend that the values of this execution
 * leave; *later: others may leave out more of them.
 */
static Bitmapset *
PruneChildren(ChangeStart *start, const Plan *plan, int nchildren, bool *later)
{
	PartitionPruneState *prune;
	Bitmapset  *valid = NULL;
	PlanState  *node;
	MemoryContext old;

	if (start->estate == NULL)
	{
		start->estate = CreateExecutorState();
		old = MemoryContextSwitchTo(start->estate->es_query_cxt);
		start->estate->es_param_list_info = start->query->params;
		start->estate->es_snapshot = start->query->snapshot;
		BfInitRangeTable(start->estate, start->query->plannedstmt);
		BfPruneAtStart(start->estate, start->query->plannedstmt);
	}
	else
		old = MemoryContextSwitchTo(start->estate->es_query_cxt);
	node = (PlanState *) makeNode(ResultState);
	node->state = start->estate;
	if (IsA(plan, Append))
		prune = BfPruneAppend(node, (const Append *) plan, nchildren, &valid);
	else
		prune = BfPruneAppend(node, (const MergeAppend *) plan, nchildren, &valid);
	*later = prune->do_exec_prune;
	if (!prune->do_initial_prune)
		valid = bms_add_range(NULL, 0, nchildren - 1);
	MemoryContextSwitchTo(old);
	return valid;
}

static void FindScans(ChangeStart *start, const Plan *plan, bool pruned, bool later);

static void
FindScansOfList(ChangeStart *start, List *plans, bool pruned, bool later)
{
	ListCell   *lc;

	foreach(lc, plans)
		FindScans(start, lfirst(lc), pruned, later);
}

/* Below an Append, which may leave out children. */
static void
FindScansOfAppend(ChangeStart *start, const Plan *plan, List *children, bool has_pruning, bool pruned, bool later)
{
	bool		prunes_later;
	Bitmapset  *valid;
	ListCell   *lc;
	int			i = 0;

	if (!has_pruning || pruned)
	{
		FindScansOfList(start, children, pruned, later);
		return;
	}
	valid = PruneChildren(start, plan, list_length(children), &prunes_later);
	foreach(lc, children)
		FindScans(start, lfirst(lc), !bms_is_member(i++, valid), later || prunes_later);
}

/* Find out how the targets are read. */
static void
FindScans(ChangeStart *start, const Plan *plan, bool pruned, bool later)
{
	ChangeTarget *target;

	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			target = FindTarget(start, ((const ForeignScan *) plan)->scan.scanrelid);
			if (target != NULL)
			{
				target->scan = target->nscans++ == 0 ? (const ForeignScan *) plan : NULL;
				target->pruned = pruned;
				target->later = later;
			}
			break;
		case T_Append:
			FindScansOfAppend(start, plan, ((const Append *) plan)->appendplans,
							  BfAppendIsPruned((const Append *) plan), pruned, later);
			break;
		case T_MergeAppend:
			FindScansOfAppend(start, plan, ((const MergeAppend *) plan)->mergeplans,
							  BfAppendIsPruned((const MergeAppend *) plan), pruned, later);
			break;
		case T_SubqueryScan:
			FindScans(start, ((const SubqueryScan *) plan)->subplan, pruned, later);
			break;
		case T_CustomScan:
			FindScansOfList(start, ((const CustomScan *) plan)->custom_plans, pruned, later);
			break;
		default:
			break;
	}
	FindScans(start, plan->lefttree, pruned, later);
	FindScans(start, plan->righttree, pruned, later);
}

/* The slots of the bucket keys that a scan asks for. */
static ChangeSlots
SlotsOfScan(const ChangeStart *start, Oid relid, const ForeignScan *scan)
{
	Relation	rel = RelationIdGetRelation(relid);
	BucketSpec *spec = BucketSpecCopy(TableOptionsGet(rel)->spec);
	const uint8 *bits;

	RelationClose(rel);
	if (!BucketSpecHashKnown(spec))
		return CHANGE_WHOLE;
	spec->nbuckets = CHANGE_SLOTS;
	bits = ScanBucketsAtStart(scan, spec, start->query->params);
	return bits == NULL ? CHANGE_WHOLE : (ChangeSlots) (bits[0] | bits[1] << 8);
}

static void
FindHowRead(ChangeStart *start)
{
	const PlannedStmt *stmt = start->query->plannedstmt;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw locks", ALLOCSET_SMALL_SIZES);
	MemoryContext old;

	FindScans(start, stmt->planTree, false, false);
	FindScansOfList(start, stmt->subplans, false, false);
	if (start->estate != NULL)
	{
		ExecCloseRangeTableRelations(start->estate);
		FreeExecutorState(start->estate);
	}
	old = MemoryContextSwitchTo(cxt);
	for (int i = 0; i < start->n; i++)
	{
		ChangeTarget *target = &start->targets[i];

		/* rows that are only locked have nobody who would do it later */
		target->later &= target->changed;
		if (target->scan != NULL && !target->pruned && !target->later)
			target->slots = SlotsOfScan(start, target->relid, target->scan);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

static int
CompareTargets(const void *a, const void *b)
{
	const ChangeTarget *x = a;
	const ChangeTarget *y = b;

	if (x->relid != y->relid)
		return x->relid < y->relid ? -1 : 1;
	/* who asks for more first does not have to ask for more later */
	if (x->mode != y->mode)
		return x->mode > y->mode ? -1 : 1;
	return (int) y->slots - (int) x->slots;
}

/* Lock a table as a target says. */
static void
LockTarget(const ChangeTarget *target)
{
	if (target->wait == LockWaitBlock)
		ChangeLock(target->relid, target->slots, target->mode);
	else if (target->wait == LockWaitSkip)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("SKIP LOCKED is not supported for bucketed table \"%s\"", get_rel_name(target->relid)),
				 errdetail("Rows of it are not locked one by one."),
				 errhint("Use NOWAIT, or keep rows that are worked on in a heap table.")));
	else if (!ChangeLockIfFree(target->relid, target->slots, target->mode))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not obtain lock on row in relation \"%s\"", get_rel_name(target->relid))));
}

/* Lock what the statement will change; in one order, whatever the plan is. */
static bool
LockTargets(ChangeStart *start)
{
	bool		any = false;

	FindHowRead(start);
	qsort(start->targets, start->n, sizeof(ChangeTarget), CompareTargets);
	for (int i = 0; i < start->n; i++)
	{
		if (start->targets[i].pruned || start->targets[i].later)
			continue;
		LockTarget(&start->targets[i]);
		any = true;
	}
	return any;
}

/* Exchange the snapshot of a query for a new one; it sees the same commands of this transaction. */
static void
TakeNewSnapshot(QueryDesc *query)
{
	Snapshot	old = query->snapshot;
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	snapshot->curcid = old->curcid;
	/* functions that the query calls see what it sees */
	if (ActiveSnapshotSet() && GetActiveSnapshot() == old)
	{
		PopActiveSnapshot();
		PushActiveSnapshot(snapshot);
	}
	query->snapshot = snapshot;
	UnregisterSnapshot(old);
}

/* May the statement change or lock rows at all?  Most do not. */
static bool
MayChange(const QueryDesc *query, int eflags)
{
	const PlannedStmt *stmt = query->plannedstmt;

	return (stmt->commandType == CMD_UPDATE || stmt->commandType == CMD_DELETE ||
			stmt->hasModifyingCTE || stmt->rowMarks != NIL) &&
		!(eflags & EXEC_FLAG_EXPLAIN_ONLY) &&
	/* core has an error for these */
		!XactReadOnly && !IsInParallelMode() &&
		query->snapshot != InvalidSnapshot && query->snapshot->snapshot_type == SNAPSHOT_MVCC;
}

static void
StartNext(QueryDesc *query, int eflags)
{
	if (prev_ExecutorStart)
		prev_ExecutorStart(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static void
ChangeExecutorStart(QueryDesc *query, int eflags)
{
	ChangeStart start = {.query = query};
	LockedTables outer = locked_tables;

	if (MayChange(query, eflags))
		FindTargets(&start);
	if (start.n > 0)
	{
		/* who may not change the table may not make others wait either */
		BfCheckPlanRights(query->plannedstmt);
		if (LockTargets(&start) && !IsolationUsesXactSnapshot())
			TakeNewSnapshot(query);
	}

	if (start.n == 0 && outer.n == 0)
	{
		StartNext(query, eflags);
		return;
	}
	/* a function that is called while the statement begins may be another one */
	PG_TRY();
	{
		locked_tables = (LockedTables) {start.n, start.targets};
		StartNext(query, eflags);
	}
	PG_FINALLY();
	{
		locked_tables = outer;
	}
	PG_END_TRY();
}

void
ChangeStartInit(void)
{
	prev_ExecutorStart = ExecutorStart_hook;
	ExecutorStart_hook = ChangeExecutorStart;
}
