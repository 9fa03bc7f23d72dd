/*
 * parallel_state.h
 *	  What the processes of a parallel plan share below one parallel-aware node
 *	  of ours: the queue of units, and what each worker read and joined, for
 *	  EXPLAIN ANALYZE.
 */
#ifndef BF_PARALLEL_STATE_H
#define BF_PARALLEL_STATE_H

#include "exec/unit_queue.h"
#include "nodes/pg_list.h"

struct BatchInput;

typedef struct ParallelState ParallelState;

/* The nodes of ours below a node: the same lists in the same order in every process. */
typedef struct ParallelNodes
{
	List	   *scans;			/* BucketScanState */
	List	   *joins;			/* BucketJoinState */
} ParallelNodes;

/* Add the nodes below an input, and itself. */
extern void ParallelNodesAdd(ParallelNodes *nodes, struct BatchInput *input);

/* Bytes to ask for, with so many workers at most. */
extern Size ParallelStateSize(const ParallelNodes *nodes, int nworkers);

extern void ParallelStateInit(ParallelState *state, const ParallelNodes *nodes, int nworkers);

extern UnitShared *ParallelStateUnits(ParallelState *state);

/*
 * To be called when a process is done: a worker leaves its counters, the
 * leader adds those of the workers that are done to its nodes'.
 */
extern void ParallelStateShutdown(ParallelState *state, const ParallelNodes *nodes);

#endif							/* BF_PARALLEL_STATE_H */
