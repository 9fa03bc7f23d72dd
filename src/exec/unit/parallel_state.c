/*
 * parallel_state.c
 *	  What the processes of a parallel plan share below one node of ours.
 *
 * In shared memory: the header, then per worker the counters of all scans,
 * then those of all joins, then those of units; then per scan a flag for each
 * of its buckets.
 */
#include "postgres.h"

#include "exec/join/bucket_join_state.h"
#include "exec/unit/parallel_state.h"
#include "optimizer/optimizer.h"

struct ParallelState
{
	UnitShared	units;
	int			nworkers;
	int			nscans;
	int			njoins;
};

static LeafCounters *
ScanSlot(ParallelState *state, int worker, int scan)
{
	LeafCounters *slots = (LeafCounters *) ((char *) state + MAXALIGN(sizeof(ParallelState)));

	return &slots[worker * state->nscans + scan];
}

static JoinCounters *
JoinSlot(ParallelState *state, int worker, int join)
{
	JoinCounters *slots = (JoinCounters *) ScanSlot(state, state->nworkers, 0);

	return &slots[worker * state->njoins + join];
}

static UnitStats *
UnitSlot(ParallelState *state, int worker)
{
	UnitStats  *slots = (UnitStats *) JoinSlot(state, state->nworkers, 0);

	return &slots[worker];
}

/* The flags of the first scan; those of the others follow. */
static bool *
TouchedFlags(ParallelState *state)
{
	return (bool *) UnitSlot(state, state->nworkers);
}

void
ParallelNodesAdd(ParallelNodes *nodes, BatchInput *input)
{
	if (input->scan)
		nodes->scans = lappend(nodes->scans, input->scan);
	else if (input->append)
	{
		for (int c = 0; c < AppendInputCount(input->append); c++)
			ParallelNodesAdd(nodes, AppendInputChild(input->append, c));
	}
	else if (input->join)
		input->join->base.add_nodes(&input->join->base, nodes);
}

/* Buckets of a scan, as its reader counts them. */
static int
ScanBuckets(const BucketScanState *scan)
{
	return ManifestBuckets(scan->manifest);
}

Size
ParallelStateSize(const ParallelNodes *nodes, int nworkers)
{
	Size		size = MAXALIGN(sizeof(ParallelState)) +
		nworkers * (list_length(nodes->scans) * sizeof(LeafCounters) +
					list_length(nodes->joins) * sizeof(JoinCounters) + sizeof(UnitStats));
	ListCell   *lc;

	foreach(lc, nodes->scans)
		size += ScanBuckets(lfirst(lc));
	return size;
}

void
ParallelStateInit(ParallelState *state, const ParallelNodes *nodes, int nworkers)
{
	memset(state, 0, ParallelStateSize(nodes, nworkers));
	UnitSharedInit(&state->units, nworkers + (parallel_leader_participation ? 1 : 0));
	state->nworkers = nworkers;
	state->nscans = list_length(nodes->scans);
	state->njoins = list_length(nodes->joins);
}

UnitShared *
ParallelStateUnits(ParallelState *state)
{
	return state ? &state->units : NULL;
}

/* Leave what this worker did. */
static void
Report(ParallelState *state, const ParallelNodes *nodes, int worker)
{
	bool	   *touched = TouchedFlags(state);
	ListCell   *lc;
	int			i = 0;

	foreach(lc, nodes->scans)
	{
		BucketScanState *scan = lfirst(lc);

		if (scan->leaf != NULL)
		{
			LeafCountersAdd(ScanSlot(state, worker, i), LeafReaderCounters(scan->leaf));
			/* others may set the same flag to the same value */
			LeafReaderMarkTouched(scan->leaf, touched);
		}
		touched += ScanBuckets(scan);
		i++;
	}
	i = 0;
	foreach(lc, nodes->joins)
	{
		JoinCounters own;

		JoinNodeCounters(lfirst(lc), &own);
		JoinCountersAdd(JoinSlot(state, worker, i++), &own);
	}
	UnitMeterBegin(nodes->meter);
	UnitStatsAdd(UnitSlot(state, worker), &nodes->meter->stats);
}

/* Take over what the workers left. */
static void
Collect(ParallelState *state, const ParallelNodes *nodes)
{
	bool	   *touched = TouchedFlags(state);
	ListCell   *lc;
	int			i = 0;

	foreach(lc, nodes->scans)
	{
		BucketScanState *scan = lfirst(lc);
		int			nbuckets = ScanBuckets(scan);

		if (scan->worker_touched == NULL)
			scan->worker_touched = MemoryContextAllocZero(scan->cxt, Max(nbuckets, 1));
		for (int b = 0; b < nbuckets; b++)
			scan->worker_touched[b] |= touched[b];
		for (int w = 0; w < state->nworkers; w++)
			LeafCountersAdd(&scan->workers, ScanSlot(state, w, i));
		touched += nbuckets;
		i++;
	}
	i = 0;
	foreach(lc, nodes->joins)
	{
		BucketJoinState *join = lfirst(lc);

		for (int w = 0; w < state->nworkers; w++)
			JoinCountersAdd(&join->workers, JoinSlot(state, w, i));
		i++;
	}
	for (int w = 0; w < state->nworkers; w++)
		UnitStatsAdd(&nodes->meter->workers, UnitSlot(state, w));
}

void
ParallelStateShutdown(ParallelState **state, const ParallelNodes *nodes)
{
	if (IsParallelWorker())
		Report(*state, nodes, ParallelWorkerNumber);
	else
		Collect(*state, nodes);
	*state = NULL;
}

/* The nodes that share their work with this one. */
static ParallelNodes
NodesOf(CustomScanState *node)
{
	ParallelCustomState *custom = (ParallelCustomState *) node;
	ParallelNodes nodes = {NIL, NIL, NULL};

	custom->add_nodes(custom, &nodes);
	return nodes;
}

Size
ParallelCustomEstimateDSM(CustomScanState *node, ParallelContext *pcxt)
{
	ParallelNodes nodes = NodesOf(node);

	return ParallelStateSize(&nodes, pcxt->nworkers);
}

void
ParallelCustomInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	ParallelNodes nodes = NodesOf(node);

	((ParallelCustomState *) node)->parallel = coordinate;
	ParallelStateInit(coordinate, &nodes, pcxt->nworkers);
}

void
ParallelCustomReInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	UnitSharedReset(ParallelStateUnits(coordinate));
}

void
ParallelCustomInitializeWorker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((ParallelCustomState *) node)->parallel = coordinate;
}

void
ParallelCustomShutdown(CustomScanState *node)
{
	ParallelNodes nodes;

	/* most nodes share nothing, and one that was only explained has no input */
	if (((ParallelCustomState *) node)->parallel == NULL)
		return;
	nodes = NodesOf(node);
	ParallelStateShutdown(&((ParallelCustomState *) node)->parallel, &nodes);
}
