/*
 * parallel_state.c
 *	  What the processes of a parallel plan share below one node of ours.
 *
 * In shared memory: the header, then per worker what it measured of units and
 * the reports of all sources, in the order in which they are visited.
 */
#include "postgres.h"

#include "exec/source/parallel_state.h"
#include "optimizer/optimizer.h"

struct ParallelState
{
	UnitShared	units;
	int			nworkers;
	Size		size;			/* of what a worker leaves */
};

typedef enum ReportStep
{
	REPORT_MEASURE,
	REPORT_LEAVE,
	REPORT_COLLECT
} ReportStep;

/*
 * Go through the source and those below it, whose reports lie one after the
 * other from the place on; returns the place behind them.
 */
static Size
VisitReports(BatchSource *source, ReportStep step, char *base, Size at)
{
	const BatchSourceOps *ops = source->ops;
	BatchSource *child;

	if (ops->report_size)
	{
		if (step == REPORT_LEAVE)
			ops->report(source, base + at);
		else if (step == REPORT_COLLECT)
			ops->collect(source, base + at);
		at += MAXALIGN(ops->report_size(source));
	}
	for (int i = 0; ops->child && (child = ops->child(source, i)) != NULL; i++)
		at = VisitReports(child, step, base, at);
	return at;
}

static Size
WorkerSize(const ParallelWork *work)
{
	return VisitReports(work->source, REPORT_MEASURE, NULL, MAXALIGN(sizeof(UnitTimes)));
}

/* What a worker left. */
static char *
WorkerPart(ParallelState *state, int worker)
{
	return (char *) state + MAXALIGN(sizeof(ParallelState)) + worker * state->size;
}

Size
ParallelStateSize(const ParallelWork *work, int nworkers)
{
	return MAXALIGN(sizeof(ParallelState)) + nworkers * WorkerSize(work);
}

void
ParallelStateInit(ParallelState *state, const ParallelWork *work, int nworkers)
{
	memset(state, 0, ParallelStateSize(work, nworkers));
	UnitSharedInit(&state->units, nworkers + (parallel_leader_participation ? 1 : 0));
	state->nworkers = nworkers;
	state->size = WorkerSize(work);
}

UnitShared *
ParallelStateUnits(ParallelState *state)
{
	return state ? &state->units : NULL;
}

void
ParallelStateShutdown(ParallelState **state, const ParallelWork *work)
{
	const Size	first = MAXALIGN(sizeof(UnitTimes));

	if (IsParallelWorker())
	{
		char	   *part = WorkerPart(*state, ParallelWorkerNumber);

		UnitMeterBegin(work->meter);
		UnitTimesAdd((UnitTimes *) part, &work->meter->stats);
		VisitReports(work->source, REPORT_LEAVE, part, first);
	}
	else
	{
		for (int w = 0; w < (*state)->nworkers; w++)
		{
			char	   *part = WorkerPart(*state, w);

			UnitTimesAdd(&work->meter->workers, (UnitTimes *) part);
			VisitReports(work->source, REPORT_COLLECT, part, first);
		}
	}
	*state = NULL;
}

Size
ParallelCustomEstimateDSM(CustomScanState *node, ParallelContext *pcxt)
{
	return ParallelStateSize(&((ParallelCustomState *) node)->work, pcxt->nworkers);
}

void
ParallelCustomInitializeDSM(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	ParallelCustomState *custom = (ParallelCustomState *) node;

	custom->parallel = coordinate;
	ParallelStateInit(coordinate, &custom->work, pcxt->nworkers);
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
	ParallelCustomState *custom = (ParallelCustomState *) node;

	/* most nodes share nothing */
	if (custom->parallel != NULL)
		ParallelStateShutdown(&custom->parallel, &custom->work);
}
