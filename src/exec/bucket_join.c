/*
 * bucket_join.c
 *	  Custom Scan (BucketJoin): the executor node.
 *
 * Buckets of both inputs that are congruent modulo the gcd of their counts
 * form a group; groups are joined one after the other by merging.  Counts,
 * runs and groups come from the manifests the children read under the query's
 * snapshot, never from the planner.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/bucket_join.h"
#include "exec/bucket_join_state.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static Node *CreateBucketJoinState(CustomScan *cscan);
static void BeginBucketJoin(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecBucketJoin(CustomScanState *node);
static void EndBucketJoin(CustomScanState *node);
static void ReScanBucketJoin(CustomScanState *node);

const CustomScanMethods bucket_join_scan_methods = {
	.CustomName = "BucketJoin",
	.CreateCustomScanState = CreateBucketJoinState,
};

static const CustomExecMethods bucket_join_exec_methods = {
	.CustomName = "BucketJoin",
	.BeginCustomScan = BeginBucketJoin,
	.ExecCustomScan = ExecBucketJoin,
	.EndCustomScan = EndBucketJoin,
	.ReScanCustomScan = ReScanBucketJoin,
	.ExplainCustomScan = BucketJoinExplain,
};

void
BucketJoinInit(void)
{
	RegisterCustomScanMethods(&bucket_join_scan_methods);
}

static Node *
CreateBucketJoinState(CustomScan *cscan)
{
	BucketJoinState *state = (BucketJoinState *) newNode(sizeof(BucketJoinState),
														 T_CustomScanState);

	state->css.methods = &bucket_join_exec_methods;
	return (Node *) state;
}

/*
 * The scan below a child: the child itself, or what lies under the Result
 * with a one-time filter that core puts on a scan with a pseudoconstant qual.
 */
static void
ResolveInput(JoinInput *input, PlanState *child)
{
	input->planstate = child;
	input->gate = NULL;
	if (IsA(child, ResultState) && outerPlanState(child) != NULL)
	{
		input->gate = (ResultState *) child;
		child = outerPlanState(child);
	}
	input->scanstate = child;
	input->scan = ScanNodeOf(child);
	if (input->scan == NULL && !(child->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY))
		elog(ERROR, "input of a bucket join is not a scan of a bucketed table");
}

/* Types of the batch columns of an input, for the merge's group store. */
static void
DescribeInput(JoinInput *input, List *keys)
{
	BucketScanState *scan = input->scan;
	TupleDesc	desc = RelationGetDescr(scan->ss->ss_currentRelation);
	ListCell   *lc;
	int			k = 0;

	input->nkeys = list_length(keys);
	input->keycols = palloc(input->nkeys * sizeof(int));
	input->keytypes = palloc(input->nkeys * sizeof(Oid));
	input->keyclasses = palloc(input->nkeys * sizeof(KeyClass));
	foreach(lc, keys)
	{
		AttrNumber	attnum = (AttrNumber) lfirst_int(lc);

		input->keycols[k] = ScanNodeColumn(scan, attnum);
		if (input->keycols[k] < 0)
			elog(ERROR, "key column %d of a bucket join is not read", attnum);
		input->keytypes[k] = getBaseType(TupleDescAttr(desc, attnum - 1)->atttypid);
		input->keyclasses[k] = KeyClassOfType(input->keytypes[k]);
		k++;
	}
	input->typlen = palloc(scan->ncols * sizeof(int16));
	input->typbyval = palloc(scan->ncols * sizeof(bool));
	for (int c = 0; c < scan->ncols; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, scan->attnums[c] - 1);

		input->typlen[c] = att->attlen;
		input->typbyval[c] = att->attbyval;
	}
}

/*
 * A plan can outlive the layout it was made for only by a bug; the files have
 * the last word, so say so rather than join in the wrong order.
 */
static void
CheckInputOrder(JoinInput *input, List *keys)
{
	Manifest   *m = input->scan->manifest;

	for (int i = 0; i < m->nspecs; i++)
	{
		const BucketSpec *spec = m->specs[i];
		bool		same = (spec->nkeys == input->nkeys &&
							spec->hash_version == BF_HASH_VERSION);

		for (int k = 0; same && k < input->nkeys; k++)
			same = (spec->sort[k].attnum == list_nth_int(keys, k) &&
					spec->sort[k].keyclass == input->keyclasses[k]);
		if (!same)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("files of bucketed table \"%s\" are not laid out as the plan expects",
							RelationGetRelationName(input->scan->ss->ss_currentRelation)),
					 errhint("Run the statement again; a prepared one must be prepared anew.")));
	}
}

static void
BeginBucketJoin(CustomScanState *node, EState *estate, int eflags)
{
	BucketJoinState *state = (BucketJoinState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *okeys = list_nth(cscan->custom_private, JOIN_PRIVATE_OUTER_KEYS);
	List	   *ikeys = list_nth(cscan->custom_private, JOIN_PRIVATE_INNER_KEYS);
	List	   *sides = list_nth(cscan->custom_private, JOIN_PRIVATE_SIDES);
	List	   *attnums = list_nth(cscan->custom_private, JOIN_PRIVATE_ATTNUMS);
	ListCell   *lc;
	int			i = 0;

	foreach(lc, cscan->custom_plans)
	{
		PlanState  *child = ExecInitNode((Plan *) lfirst(lc), estate, eflags);

		node->custom_ps = lappend(node->custom_ps, child);
		ResolveInput(&state->input[i++], child);
	}
	Assert(i == 2);
	state->joinqual = ExecInitQual(cscan->custom_exprs, &node->ss.ps);

	state->nout = list_length(sides);
	state->out = palloc0(state->nout * sizeof(JoinOutput));
	for (i = 0; i < state->nout; i++)
	{
		state->out[i].side = list_nth_int(sides, i);
		state->out[i].attnum = (AttrNumber) list_nth_int(attnums, i);
	}
	state->group = -1;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	DescribeInput(&state->input[0], okeys);
	DescribeInput(&state->input[1], ikeys);
	CheckInputOrder(&state->input[0], okeys);
	CheckInputOrder(&state->input[1], ikeys);
	for (i = 0; i < state->nout; i++)
	{
		JoinOutput *out = &state->out[i];

		if (out->attnum > 0)
			out->col = ScanNodeColumn(state->input[out->side].scan, out->attnum);
		if (out->attnum > 0 && out->col < 0)
			elog(ERROR, "output column %d of a bucket join is not read", out->attnum);
	}
	state->cxt = CurrentMemoryContext;
}

/* MergeInputNext: the next batch of an input. */
static Batch *
NextInputBatch(void *arg, const KeyBound *bound)
{
	return ScanNodeNextBatch((BucketScanState *) arg, bound);
}

static void
MergeSpecOf(JoinInput *input, MergeInputSpec *spec)
{
	spec->next = NextInputBatch;
	spec->arg = input->scan;
	spec->keycols = input->keycols;
	spec->keytypes = input->keytypes;
	spec->ncols = input->scan->ncols;
	spec->typlen = input->typlen;
	spec->typbyval = input->typbyval;
}

/* First use: fix the groups. */
static void
StartJoin(BucketJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->cxt);
	int			buckets[2];
	bool		empty = false;

	for (int i = 0; i < 2; i++)
	{
		JoinInput  *input = &state->input[i];
		BucketScanState *scan = input->scan;

		/* as ExecProcNode would: parameters may have changed */
		if (input->planstate->chgParam != NULL)
			ExecReScan(input->planstate);
		if (input->scanstate->chgParam != NULL)
			ExecReScan(input->scanstate);
		if (input->gate != NULL &&
			!ExecQual(input->gate->resconstantqual, input->gate->ps.ps_ExprContext))
			empty = true;
		ScanNodeStart(scan);
		if (scan->never)
			empty = true;
		buckets[i] = ManifestBuckets(scan->manifest);
		if (buckets[i] == 0)
			empty = true;
	}
	state->ngroups = empty ? 0 : GreatestCommonDivisor(buckets[0], buckets[1]);
	state->nbuckets[0] = buckets[0];
	state->nbuckets[1] = buckets[1];
	state->group = 0;
	state->in_group = false;
	if (state->merge == NULL)
	{
		MergeInputSpec left;
		MergeInputSpec right;

		MergeSpecOf(&state->input[0], &left);
		MergeSpecOf(&state->input[1], &right);
		state->merge = MergeJoinCreate(state->input[0].nkeys, state->input[0].keyclasses,
									   &left, &right, (Size) work_mem * 1024);
		state->pairs = palloc(sizeof(MergePairs));
	}
	state->pairs->n = 0;
	state->pair = 0;
	MemoryContextSwitchTo(old);
}

static void
CloseGroup(BucketJoinState *state)
{
	if (!state->in_group)
		return;
	MergeJoinReset(state->merge);
	ScanNodeClose(state->input[0].scan);
	ScanNodeClose(state->input[1].scan);
	state->in_group = false;
}

/* Open the next group with rows on both sides; false when there is none. */
static bool
OpenNextGroup(BucketJoinState *state)
{
	for (; state->group < state->ngroups; state->group++)
	{
		int64		rows[2];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < 2; i++)
			rows[i] = LeafGroupRows(state->input[i].scan->leaf, state->ngroups, state->group);
		if (rows[0] == 0 || rows[1] == 0)
			continue;
		for (int i = 0; i < 2; i++)
			ScanNodeOpenGroup(state->input[i].scan, state->ngroups, state->group,
							  state->input[i].nkeys);
		MergeJoinStart(state->merge, rows[0] < rows[1]);
		state->in_group = true;
		state->units++;
		state->group++;
		return true;
	}
	return false;
}

/* A whole row of one side, as a composite Datum of the table's row type. */
static Datum
WholeRow(BucketScanState *scan, Batch *batch, int row)
{
	TupleTableSlot *slot = ScanNodeFillSlot(scan, batch, row);

	return ExecFetchSlotHeapTupleDatum(slot);
}

/* Put a pair into the scan slot. */
static inline void
FillPair(BucketJoinState *state, TupleTableSlot *slot, int pair)
{
	MergePairs *pairs = state->pairs;

	ExecClearTuple(slot);
	for (int i = 0; i < state->nout; i++)
	{
		JoinOutput *out = &state->out[i];
		Batch	   *batch = out->side == 0 ? pairs->left : pairs->right;
		int			row = out->side == 0 ? pairs->lrow[pair] : pairs->rrow[pair];

		if (likely(out->attnum > 0))
		{
			ColumnVector *vec = BatchColumn(batch, out->col);

			slot->tts_values[i] = vec->values[row];
			slot->tts_isnull[i] = vec->nulls ? vec->nulls[row] : false;
		}
		else if (out->attnum == 0)
		{
			slot->tts_values[i] = WholeRow(state->input[out->side].scan, batch, row);
			slot->tts_isnull[i] = false;
		}
		else
		{
			Assert(out->attnum == TableOidAttributeNumber);
			slot->tts_values[i] =
				ObjectIdGetDatum(RelationGetRelid(state->input[out->side].scan->ss->ss_currentRelation));
			slot->tts_isnull[i] = false;
		}
	}
	ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
ExecBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	ProjectionInfo *proj = node->ss.ps.ps_ProjInfo;
	ExprState  *qual = node->ss.ps.qual;

	if (state->group < 0)
		StartJoin(state);
	for (;;)
	{
		while (state->pair < state->pairs->n)
		{
			ResetExprContext(econtext);
			{
				/* whole rows are made in per-tuple memory */
				MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

				FillPair(state, slot, state->pair++);
				MemoryContextSwitchTo(old);
			}
			econtext->ecxt_scantuple = slot;
			if (state->joinqual != NULL && !ExecQual(state->joinqual, econtext))
			{
				state->rows_filtered++;
				continue;
			}
			if (qual != NULL && !ExecQual(qual, econtext))
			{
				InstrCountFiltered1(node, 1);
				continue;
			}
			return proj ? ExecProject(proj) : slot;
		}
		CHECK_FOR_INTERRUPTS();
		if (state->in_group && MergeJoinNext(state->merge, state->pairs))
		{
			state->pair = 0;
			continue;
		}
		state->pairs->n = 0;
		state->pair = 0;
		CloseGroup(state);
		if (!OpenNextGroup(state))
			return ExecClearTuple(slot);
	}
}

static void
EndBucketJoin(CustomScanState *node)
{
	ListCell   *lc;

	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

static void
ReScanBucketJoin(CustomScanState *node)
{
	BucketJoinState *state = (BucketJoinState *) node;
	ListCell   *lc;

	if (state->merge != NULL)
		CloseGroup(state);
	state->group = -1;
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		/* core passes changed parameters to left and right trees only */
		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(child, node->ss.ps.chgParam);
		if (child->chgParam == NULL)
			ExecReScan(child);
	}
}
