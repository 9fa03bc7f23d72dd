/*
 * parallel_state.h
 *	  What the processes of a parallel plan share below one parallel-aware node
 *	  of ours: the queue of units, and what each worker read and joined, and how
 *	  long that took, for EXPLAIN ANALYZE.
 */
#ifndef BF_PARALLEL_STATE_H
#define BF_PARALLEL_STATE_H

#include "access/parallel.h"
#include "exec/source/batch_source.h"

typedef struct ParallelState ParallelState;

/* What is shared: the work of a source and of those below it, unit by unit. */
typedef struct ParallelWork
{
	BatchSource *source;
	UnitMeter  *meter;
} ParallelWork;

/* Bytes to ask for, with so many workers at most. */
extern Size ParallelStateSize(const ParallelWork *work, int nworkers);

extern void ParallelStateInit(ParallelState *state, const ParallelWork *work, int nworkers);

/* The shared part of the queue of units; NULL when nothing is shared (state is NULL). */
extern UnitShared *ParallelStateUnits(ParallelState *state);

/*
 * To be called when a process is done: a worker leaves its counters, the
 * leader adds those of the workers that are done to its nodes'.  *state becomes
 * NULL: the memory goes away with the workers, and a rescan gets other.
 */
extern void ParallelStateShutdown(ParallelState **state, const ParallelWork *work);

/* What a custom scan of ours that can be parallel-aware begins with. */
typedef struct ParallelCustomState
{
	CustomScanState css;		/* must be first */
	ParallelState *parallel;	/* NULL: this process does all the work */
	ParallelWork work;			/* set when the node begins, unless it is only explained */
} ParallelCustomState;

/* The CustomExecMethods of such a scan that have to do with parallel plans. */
extern Size ParallelCustomEstimateDSM(CustomScanState *node, ParallelContext *pcxt);
extern void ParallelCustomInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void ParallelCustomReInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void ParallelCustomInitializeWorker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void ParallelCustomShutdown(CustomScanState *node);

#endif							/* BF_PARALLEL_STATE_H */
