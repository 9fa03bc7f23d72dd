/*
 * load_hooks.c
 *	  Loading and the executor: before a query with workers rows are sealed,
 *	  at the end of a statement that brought many, too.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "load/load_internal.h"
#include "storage/grow.h"
#include "utils/memutils.h"

static ExecutorStart_hook_type prev_ExecutorStart = NULL;
static ExecutorFinish_hook_type prev_ExecutorFinish = NULL;
static ExecutorEnd_hook_type prev_ExecutorEnd = NULL;

/*
 * Remember the snapshot of a query until it ends: if it is a cursor's, later
 * statements of the client must leave what it sees apart.
 */
static void
NoteReader(const QueryDesc *queryDesc)
{
	LoadReader *reader;

	if (queryDesc->snapshot == NULL || queryDesc->snapshot->snapshot_type != SNAPSHOT_MVCC)
		return;
	bf_load.readers = GrowArray(bf_load.readers, bf_load.cxt, &bf_load.readers_room,
								bf_load.nreaders + 1, sizeof(LoadReader));
	reader = &bf_load.readers[bf_load.nreaders++];
	reader->query = queryDesc;
	reader->subid = GetCurrentSubTransactionId();
	reader->curcid = queryDesc->snapshot->curcid;
}

static void
ForgetReader(const QueryDesc *queryDesc)
{
	for (int i = bf_load.nreaders - 1; i >= 0; i--)
	{
		if (bf_load.readers[i].query != queryDesc)
			continue;
		bf_load.readers[i] = bf_load.readers[--bf_load.nreaders];
		return;
	}
}

/* A subtransaction is aborted: what was opened in it does not go on. */
void
LoadForgetReaders(SubTransactionId subid)
{
	int			n = 0;

	for (int i = 0; i < bf_load.nreaders; i++)
	{
		if (bf_load.readers[i].subid < subid)
			bf_load.readers[n++] = bf_load.readers[i];
	}
	bf_load.nreaders = n;
}

/* Let a query do without workers; its plan may be a cached one and stays as it is. */
static void
RunWithoutWorkers(QueryDesc *queryDesc)
{
	PlannedStmt *copy = MemoryContextAlloc(GetMemoryChunkContext(queryDesc), sizeof(PlannedStmt));

	*copy = *queryDesc->plannedstmt;
	copy->parallelModeNeeded = false;
	queryDesc->plannedstmt = copy;
}

/*
 * Workers see files, not rows that wait in the leader: before a parallel
 * query starts, all that its functions could read is sealed, or it is no
 * parallel one.
 */
static void
LoadExecutorStart(QueryDesc *queryDesc, int eflags)
{
	if (bf_load.cxt != NULL && queryDesc->plannedstmt->parallelModeNeeded &&
		!(eflags & EXEC_FLAG_EXPLAIN_ONLY) && !IsParallelWorker() && !LoadSealForWorkers())
		RunWithoutWorkers(queryDesc);
	if (prev_ExecutorStart)
		prev_ExecutorStart(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
	if (bf_load.cxt != NULL)
		NoteReader(queryDesc);
}

/*
 * The end of a statement, after its triggers and the parts of it that only
 * change data.  What it takes counts as the statement's, for EXPLAIN ANALYZE
 * and who else measures.
 */
static void
LoadExecutorFinish(QueryDesc *queryDesc)
{
	if (prev_ExecutorFinish)
		prev_ExecutorFinish(queryDesc);
	else
		standard_ExecutorFinish(queryDesc);
	if (bf_load.cxt == NULL ||
		(queryDesc->operation == CMD_SELECT && !queryDesc->plannedstmt->hasModifyingCTE))
		return;
	if (queryDesc->totaltime)
		InstrStartNode(queryDesc->totaltime);
	LoadEndCommand(queryDesc->estate->es_output_cid, false);
	if (queryDesc->totaltime)
		InstrStopNode(queryDesc->totaltime, 0);
}

static void
LoadExecutorEnd(QueryDesc *queryDesc)
{
	if (bf_load.nreaders > 0)
		ForgetReader(queryDesc);
	if (prev_ExecutorEnd)
		prev_ExecutorEnd(queryDesc);
	else
		standard_ExecutorEnd(queryDesc);
}

void
LoadHooksInit(void)
{
	prev_ExecutorStart = ExecutorStart_hook;
	ExecutorStart_hook = LoadExecutorStart;
	prev_ExecutorFinish = ExecutorFinish_hook;
	ExecutorFinish_hook = LoadExecutorFinish;
	prev_ExecutorEnd = ExecutorEnd_hook;
	ExecutorEnd_hook = LoadExecutorEnd;
}
