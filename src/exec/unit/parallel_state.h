/*
 * parallel_state.h
 *	  What the processes of a parallel plan share below one parallel-aware node
 *	  of ours: the queue of units, and what each worker read and joined, and how
 *	  long that took, for EXPLAIN ANALYZE.
 */
#ifndef BF_PARALLEL_STATE_H
#define BF_PARALLEL_STATE_H

#include "access/parallel.h"
#include "exec/unit/unit_queue.h"
#include "nodes/execnodes.h"

struct BatchInput;

typedef struct ParallelState ParallelState;

/* The nodes of ours below a node: the same lists in the same order in every process. */
typedef struct ParallelNodes
{
	List	   *scans;			/* BucketScanState */
	List	   *joins;			/* BucketJoinState */
	UnitMeter  *meter;			/* of the units shared; NULL: not added yet */
} ParallelNodes;

/* Add the nodes below an input, and itself. */
extern void ParallelNodesAdd(ParallelNodes *nodes, struct BatchInput *input);

/* Bytes to ask for, with so many workers at most. */
extern Size ParallelStateSize(const ParallelNodes *nodes, int nworkers);

extern void ParallelStateInit(ParallelState *state, const ParallelNodes *nodes, int nworkers);

/* The shared part of the queue of units; NULL when nothing is shared (state is NULL). */
extern UnitShared *ParallelStateUnits(ParallelState *state);

/*
 * To be called when a process is done: a worker leaves its counters, the
 * leader adds those of the workers that are done to its nodes'.  *state becomes
 * NULL: the memory goes away with the workers, and a rescan gets other.
 */
extern void ParallelStateShutdown(ParallelState **state, const ParallelNodes *nodes);

/* What a custom scan of ours that can be parallel-aware begins with. */
typedef struct ParallelCustomState
{
	CustomScanState css;		/* must be first */
	ParallelState *parallel;	/* NULL: this process does all the work */
	/* add the nodes whose work and counters are shared; set when the state is made */
	void		(*add_nodes) (struct ParallelCustomState *custom, ParallelNodes *nodes);
} ParallelCustomState;

/* The CustomExecMethods of such a scan that have to do with parallel plans. */
extern Size ParallelCustomEstimateDSM(CustomScanState *node, ParallelContext *pcxt);
extern void ParallelCustomInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void ParallelCustomReInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void ParallelCustomInitializeWorker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void ParallelCustomShutdown(CustomScanState *node);

#endif							/* BF_PARALLEL_STATE_H */
