/*
 * batch_source.c
 *	  Whatever gives batches to a node of ours.
 */
#include "postgres.h"

#include "exec/source/batch_source.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

static struct
{
	NodeTag		tag;
	BatchSourceFinder find;
}			finders[2];
static int	nfinders = 0;

void
BatchSourceRegister(NodeTag tag, BatchSourceFinder find)
{
	if (nfinders == lengthof(finders))
		elog(ERROR, "too many kinds of batch sources");
	finders[nfinders].tag = tag;
	finders[nfinders++].find = find;
}

BatchSource *
BatchSourceFind(PlanState *planstate)
{
	PlanState  *node = planstate;
	BatchSource *source = NULL;

	/* core puts a Result on a scan with a condition without columns */
	if (IsA(planstate, ResultState) && outerPlanState(planstate) != NULL)
		node = outerPlanState(planstate);
	for (int i = 0; source == NULL && i < nfinders; i++)
	{
		if (nodeTag(node) == finders[i].tag)
			source = finders[i].find(node);
	}
	if (source == NULL)
		return NULL;
	source->node = node;
	source->planstate = planstate;
	source->gate = node != planstate ? (ResultState *) planstate : NULL;
	return source;
}

void
BatchSourceSetColumns(BatchSource *source, int ncols)
{
	source->ncols = ncols;
	source->types = palloc(ncols * sizeof(Oid));
	source->typlen = palloc(ncols * sizeof(int16));
	source->typbyval = palloc(ncols * sizeof(bool));
}

void
BatchSourceDescribeList(BatchSource *source, List *tlist)
{
	ListCell   *lc;

	BatchSourceSetColumns(source, list_length(tlist));
	foreach(lc, tlist)
	{
		int			c = foreach_current_index(lc);

		source->types[c] = exprType((Node *) lfirst_node(TargetEntry, lc)->expr);
		get_typlenbyval(source->types[c], &source->typlen[c], &source->typbyval[c]);
	}
}

void
BatchSourceDescribe(BatchSource *source, List *keys)
{
	source->ops->describe(source);
	source->nkeys = list_length(keys);
	source->keycols = palloc(source->nkeys * sizeof(int));
	source->keytypes = palloc(source->nkeys * sizeof(Oid));
	source->keyclasses = palloc(source->nkeys * sizeof(KeyClass));
	for (int k = 0; k < source->nkeys; k++)
	{
		int			col = BatchSourceColumn(source, list_nth_int(keys, k));

		source->keycols[k] = col;
		source->keytypes[k] = getBaseType(source->types[col]);
		source->keyclasses[k] = KeyClassOfType(source->keytypes[k]);
	}
	if (source->ops->use_keys)
		source->ops->use_keys(source, keys);
}

void
BatchSourceCheckOrder(BatchSource *source, List *keys)
{
	if (source->ops->check_order)
		source->ops->check_order(source, keys);
}

bool
BatchSourceIsAttribute(const BatchSource *source, int column)
{
	return source->ops->attribute && source->ops->column(source, column) < 0;
}

int
BatchSourceColumn(const BatchSource *source, int column)
{
	int			col = source->ops->column ? source->ops->column(source, column) : column;

	if (col < 0)
		elog(ERROR, "column %d of a child is none of its batches", column);
	return col;
}

void
BatchSourceWant(BatchSource *source, int wants)
{
	if (source->ops->want)
		source->ops->want(source, wants);
}

static void
Restarted(BatchSource *source)
{
	if (source != NULL && source->ops->restarted)
		source->ops->restarted(source);
}

void
BatchSourceReScan(BatchSource *source, PlanState *child, PlanState *parent)
{
	/* core passes changed parameters to left and right trees only */
	if (parent->chgParam != NULL)
		UpdateChangedParamSet(child, parent->chgParam);
	if (child->chgParam != NULL || (source != NULL && source->keeps_rows))
		return;
	ExecReScan(child);
	Restarted(source);
}

void
BatchSourceStart(BatchSource *source)
{
	/* as ExecProcNode would: parameters may have changed */
	if (source->planstate->chgParam != NULL)
	{
		ExecReScan(source->planstate);
		Restarted(source);
	}
	if (source->node->chgParam != NULL)
		ExecReScan(source->node);
	source->gate_closed = source->gate != NULL &&
		!ExecQual(source->gate->resconstantqual, source->gate->ps.ps_ExprContext);
	source->ops->start(source);
}

int
BatchSourceBuckets(BatchSource *source)
{
	return source->ops->buckets(source);
}

int64
BatchSourceGroupRows(BatchSource *source, int ngroups, int group)
{
	return source->gate_closed ? 0 : source->ops->group_rows(source, ngroups, group);
}

int64
BatchSourceGroupWork(BatchSource *source, int ngroups, int group)
{
	if (source->gate_closed || source->ops->group_work == NULL)
		return BatchSourceGroupRows(source, ngroups, group);
	return source->ops->group_work(source, ngroups, group);
}

bool
BatchSourceCutSources(BatchSource *source, UnitCutter *cutter, bool may_slice)
{
	/* what gives no row needs no cut */
	return source->gate_closed || source->ops->cut_sources(source, cutter, may_slice);
}

/* UnitRows */
static int64
GroupWork(void *arg, int ngroups, int group)
{
	return BatchSourceGroupWork(arg, ngroups, group);
}

/* UnitCutSources */
static bool
CutSources(void *arg, UnitCutter *cutter)
{
	return BatchSourceCutSources(arg, cutter, cutter->split);
}

void
BatchSourceStartUnits(BatchSource *source, UnitQueue *queue)
{
	UnitQueueStart(queue, BatchSourceBuckets(source), GroupWork, CutSources, source);
}

bool
BatchSourceOpenNext(BatchSource *source, UnitQueue *queue)
{
	const Unit *unit = UnitQueueNext(queue);

	if (unit == NULL)
		return false;
	BatchSourceOpenUnit(source, queue->ngroups, unit);
	return true;
}

void
BatchSourceOpenUnit(BatchSource *source, int ngroups, const Unit *unit)
{
	source->ops->open_unit(source, ngroups, unit);
}

UnitPart
BatchSourcePart(const BatchSource *source, const Unit *unit)
{
	UnitPart	part = unit->part;

	if (unit->sliced != NULL && unit->sliced != source)
		part.nslices = 0;
	return part;
}

bool
BatchSourceOpenAll(BatchSource *source, UnitClaim *claim)
{
	if (source->ops->open_all == NULL)
		return false;
	source->ops->open_all(source, claim);
	return true;
}

Batch *
BatchSourceNext(BatchSource *source, const KeyBound *bound)
{
	Instrumentation *instrument;
	Batch	   *batch;

	if (likely(source->gate == NULL))
		return source->ops->next(source, bound);
	instrument = source->gate->ps.instrument;
	if (instrument)
		InstrStartNode(instrument);
	batch = source->gate_closed ? NULL : source->ops->next(source, bound);
	if (instrument)
		InstrStopNode(instrument, batch ?
					  BatchTimes(batch->times, batch->selection, 0, batch->nselected) : 0);
	return batch;
}

void
BatchSourceClose(BatchSource *source)
{
	source->ops->close(source);
}

void
BatchSourceEnd(BatchSource *source)
{
	if (source != NULL && source->ops->end)
		source->ops->end(source);
}

char *
BatchSourceKeyName(BatchSource *source, int key, int k, ExplainState *es)
{
	return source->ops->key_name(source, key, k, es);
}
