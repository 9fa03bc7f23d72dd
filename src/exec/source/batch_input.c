/*
 * batch_input.c
 *	  A child of a node of ours, read batch by batch: a Foreign Scan, a
 *	  BucketJoin, an Append of Foreign Scans, or any plan that is routed.
 */
#include "postgres.h"

#include "exec/join/bucket_join_state.h"
#include "exec/source/batch_input.h"
#include "exec/unit/unit_cutter.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * The node below a child: the child itself, or what lies under the Result
 * with a one-time filter that core puts on a scan with a pseudoconstant qual.
 */
void
BatchInputResolve(BatchInput *input, PlanState *child, BatchInputKind kind)
{
	input->planstate = child;
	input->kind = kind;
	if (kind == BATCH_INPUT_ROUTED)
	{
		input->node = child;
		if (!(child->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY))
			input->routed = RoutedInputCreate(child);
		return;
	}
	if (IsA(child, ResultState) && outerPlanState(child) != NULL)
	{
		input->gate = (ResultState *) child;
		child = outerPlanState(child);
	}
	input->node = child;
	if (kind == BATCH_INPUT_APPEND)
	{
		if (!(child->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY))
			input->append = AppendInputCreate(child);
		return;
	}
	input->scan = ScanNodeOf(child);
	input->join = BucketJoinOf(child);
}

void
BatchInputReScan(BatchInput *input, PlanState *parent)
{
	PlanState  *child = input->planstate;

	/* core passes changed parameters to left and right trees only */
	if (parent->chgParam != NULL)
		UpdateChangedParamSet(child, parent->chgParam);
	if (child->chgParam != NULL || (input->routed != NULL && RoutedInputKeepsRows(input->routed)))
		return;
	ExecReScan(child);
	if (input->routed != NULL)
		RoutedInputForget(input->routed);
}

static void
DescribeKey(BatchInput *input, int k, int col, Oid type)
{
	input->keycols[k] = col;
	input->keytypes[k] = getBaseType(type);
	input->keyclasses[k] = KeyClassOfType(input->keytypes[k]);
}

void
BatchInputDescribe(BatchInput *input, List *keys)
{
	input->nkeys = list_length(keys);
	input->keycols = palloc(input->nkeys * sizeof(int));
	input->keytypes = palloc(input->nkeys * sizeof(Oid));
	input->keyclasses = palloc(input->nkeys * sizeof(KeyClass));
	if (input->scan != NULL)
	{
		BucketScanState *scan = input->scan;
		TupleDesc	desc = RelationGetDescr(scan->ss->ss_currentRelation);

		input->ncols = scan->ncols;
		input->typlen = palloc(input->ncols * sizeof(int16));
		input->typbyval = palloc(input->ncols * sizeof(bool));
		for (int c = 0; c < scan->ncols; c++)
		{
			Form_pg_attribute att = TupleDescAttr(desc, scan->attnums[c] - 1);

			input->typlen[c] = att->attlen;
			input->typbyval[c] = att->attbyval;
		}
		for (int k = 0; k < input->nkeys; k++)
		{
			AttrNumber	attnum = (AttrNumber) list_nth_int(keys, k);
			int			col = ScanNodeColumn(scan, attnum);

			if (col < 0)
				elog(ERROR, "key column %d of a bucket join is not read", attnum);
			DescribeKey(input, k, col, TupleDescAttr(desc, attnum - 1)->atttypid);
		}
	}
	else
	{
		List	   *tlist = input->append || input->routed ? input->node->plan->targetlist :
			((CustomScan *) input->node->plan)->custom_scan_tlist;
		ListCell   *lc;
		int			c = 0;

		input->ncols = list_length(tlist);
		input->typlen = palloc(input->ncols * sizeof(int16));
		input->typbyval = palloc(input->ncols * sizeof(bool));
		foreach(lc, tlist)
		{
			TargetEntry *tle = lfirst_node(TargetEntry, lc);

			get_typlenbyval(exprType((Node *) tle->expr), &input->typlen[c], &input->typbyval[c]);
			c++;
		}
		for (int k = 0; k < input->nkeys; k++)
		{
			int			col = list_nth_int(keys, k);
			TargetEntry *tle = list_nth_node(TargetEntry, tlist, col);

			DescribeKey(input, k, col, exprType((Node *) tle->expr));
		}
	}
	if (input->append)
		AppendInputSetKeys(input->append, input->nkeys, input->keycols, input->keyclasses);
	if (input->routed)
		RoutedInputSetKeys(input->routed, input->nkeys, input->keycols, input->keyclasses,
						   input->keytypes);
}

void
BatchInputStart(BatchInput *input)
{
	/* as ExecProcNode would: parameters may have changed */
	if (input->planstate->chgParam != NULL)
	{
		ExecReScan(input->planstate);
		if (input->routed)
			RoutedInputForget(input->routed);
	}
	if (input->node->chgParam != NULL)
		ExecReScan(input->node);
	input->gate_closed = input->gate != NULL &&
		!ExecQual(input->gate->resconstantqual, input->gate->ps.ps_ExprContext);
	if (input->scan)
		ScanNodeStart(input->scan);
	else if (input->append)
		AppendInputStart(input->append);
	else if (input->routed)
		RoutedInputStart(input->routed);
	else
		JoinNodeStart(input->join);
}

int
BatchInputBuckets(BatchInput *input)
{
	if (input->append)
		return AppendInputBuckets(input->append);
	if (input->routed)
		return 0;
	return input->scan ? ManifestBuckets(input->scan->manifest) : input->join->nbuckets;
}

int64
BatchInputGroupRows(BatchInput *input, int ngroups, int group)
{
	if (input->gate_closed)
		return 0;
	if (input->scan)
		return input->scan->never ? 0 : LeafGroupRows(input->scan->leaf, ngroups, group);
	if (input->append)
		return AppendInputGroupRows(input->append, ngroups, group);
	if (input->routed)
		return RoutedInputGroupRows(input->routed, ngroups, group);
	return JoinNodeGroupRows(input->join, ngroups, group);
}

int64
BatchInputGroupWork(BatchInput *input, int ngroups, int group)
{
	if (input->gate_closed)
		return 0;
	if (input->join)
		return JoinNodeGroupWork(input->join, ngroups, group);
	return BatchInputGroupRows(input, ngroups, group);
}

bool
BatchInputCutSources(BatchInput *input, UnitCutter *cutter, bool may_slice)
{
	if (input->routed)
		return false;
	if (input->join)
		return JoinNodeCutSources(input->join, cutter, may_slice);
	/* what gives no row needs no cut */
	if (input->gate_closed)
		return true;
	if (input->scan)
	{
		if (!input->scan->never)
			UnitCutterAdd(cutter, input->scan->leaf, input->nkeys, input, may_slice);
		return true;
	}
	for (int c = 0; c < AppendInputCount(input->append); c++)
	{
		BatchInput *child = AppendInputChild(input->append, c);

		if (!child->gate_closed && !child->scan->never)
			UnitCutterAdd(cutter, child->scan->leaf, input->nkeys, input, may_slice);
	}
	return true;
}

/* UnitRows */
static int64
GroupWork(void *arg, int ngroups, int group)
{
	return BatchInputGroupWork(arg, ngroups, group);
}

/* UnitInputs */
static bool
CutInputs(void *arg, UnitCutter *cutter)
{
	return BatchInputCutSources(arg, cutter, cutter->split);
}

void
BatchInputStartUnits(BatchInput *input, UnitQueue *queue)
{
	UnitQueueStart(queue, BatchInputBuckets(input), GroupWork, CutInputs, input);
}

void
BatchInputCountRows(BatchInput *input)
{
	if (input->scan)
		ScanNodeCountRows(input->scan);
}

bool
BatchInputOpenNext(BatchInput *input, UnitQueue *queue)
{
	const Unit *unit = UnitQueueNext(queue);

	if (unit == NULL)
		return false;
	BatchInputOpenUnit(input, queue->ngroups, unit);
	return true;
}

void
BatchInputOpenUnit(BatchInput *input, int ngroups, const Unit *unit)
{
	Unit		own = *unit;

	if (input->join)
	{
		JoinNodeOpenUnit(input->join, ngroups, unit);
		return;
	}
	/* another input is sliced: this one is read whole, for each slice */
	if (unit->sliced != NULL && unit->sliced != input)
		own.part.nslices = 0;
	own.sliced = NULL;
	if (input->scan)
		ScanNodeOpenGroup(input->scan, ngroups, unit->group, input->nkeys, &own.part);
	else if (input->append)
		AppendInputOpenUnit(input->append, ngroups, &own);
	else
		RoutedInputOpenGroup(input->routed, ngroups, unit->group);
}

void
BatchInputClose(BatchInput *input)
{
	if (input->scan)
		ScanNodeClose(input->scan);
	else if (input->append)
		AppendInputClose(input->append);
	else if (input->join)
		JoinNodeCloseGroup(input->join);
}

/* The next batch of the scan or join itself. */
static Batch *
NextOfNode(BatchInput *input, const KeyBound *bound)
{
	if (input->scan)
		return ScanNodeNextBatch(input->scan, bound);
	if (input->append)
	{
		/* in the place of an Append with one child stands that child, which takes its own time */
		Instrumentation *instrument = IsA(input->node, AppendState) ? input->node->instrument : NULL;
		Batch	   *batch;

		if (instrument)
			InstrStartNode(instrument);
		batch = AppendInputNext(input->append, bound);
		if (instrument)
			InstrStopNode(instrument, batch ? batch->nselected : 0);
		return batch;
	}
	if (input->routed)
		return RoutedInputNext(input->routed);
	return JoinNodeNextBatch(input->join, bound);
}

Batch *
BatchInputNext(void *arg, const KeyBound *bound)
{
	BatchInput  *input = arg;
	Instrumentation *gate = input->gate ? input->gate->ps.instrument : NULL;
	Batch	   *batch;

	if (gate)
		InstrStartNode(gate);
	batch = input->gate_closed ? NULL : NextOfNode(input, bound);
	if (gate)
		InstrStopNode(gate, batch ? BatchTimes(batch->times, batch->selection, 0, batch->nselected) : 0);
	return batch;
}

int
BatchInputColumn(const BatchInput *input, int column)
{
	int			col;

	if (input->scan == NULL)
		return column;
	col = ScanNodeColumn(input->scan, (AttrNumber) column);
	if (col < 0)
		elog(ERROR, "column %d of a child is not read", column);
	return col;
}

void
BatchInputCheckOrder(BatchInput *input, List *keys)
{
	Manifest   *m;

	if (input->scan == NULL)
		return;
	m = input->scan->manifest;
	for (int i = 0; i < m->nspecs; i++)
	{
		const BucketSpec *spec = m->specs[i];
		bool		same = spec->nkeys == input->nkeys && BucketSpecHashKnown(spec);

		for (int k = 0; same && k < input->nkeys; k++)
			same = (spec->sort[k].attnum == list_nth_int(keys, k) &&
					spec->sort[k].keyclass == input->keyclasses[k]);
		if (!same)
			ScanNodeLayoutError(input->scan);
	}
}
