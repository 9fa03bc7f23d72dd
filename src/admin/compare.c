/*
 * compare.c
 *	  bucketfdw.compare: a query with bucket plans, without, and the same
 *	  question over other tables: times, reads, memory, and do the answers agree?
 *
 * Whatever the text of the query is and whatever functions it calls, nothing
 * it does stays: all runs are inside one read-only subtransaction, each in
 * another one below it, and all are rolled back.  That also restores settings.
 * Rights are checked by the executor, as for any query of the caller.
 *
 * All runs use one snapshot, so that what others commit meanwhile does not
 * look like a wrong answer.
 */
#include "postgres.h"

#include "access/xact.h"
#include "admin/compare_answer.h"
#include "admin/query_text.h"
#include "compat.h"
#include "exec/scan/leaf_reader.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "funcapi.h"
#include "load/load.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "portability/instr_time.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#define MAX_RUNS 1000

/* Rows of a node between two looks at the memory in use. */
#define WATCH_ROWS 256

/* What is measured in a run; medians are reported. */
typedef enum Measure
{
	MEASURE_PLANNING,			/* ms */
	MEASURE_EXECUTION,			/* ms */
	MEASURE_BYTES_READ,
	MEASURE_TEMP_BYTES,
	NMEASURES
} Measure;

/* One row of the result. */
typedef struct Contender
{
	const char *plan;
	const char *text;
	bool		bucket_plans;
	Query	   *query;
	double	   *samples[NMEASURES];
	double		medians[NMEASURES];
	Answer	   *answer;
	int64		rows;
	Size		peak_memory;
	bool		same;
} Contender;

/* Counts rows, and keeps them if there is an answer to keep them in. */
typedef struct RowReceiver
{
	DestReceiver pub;
	Answer	   *answer;
	int64		rows;
} RowReceiver;

/* The query whose memory is being watched. */
typedef struct MemoryWatch
{
	EState	   *estate;
	Size		peak;
	int			rows;
} MemoryWatch;

static MemoryWatch watch;

PG_FUNCTION_INFO_V1(bucketfdw_compare);

PGDLLEXPORT Datum bucketfdw_compare(PG_FUNCTION_ARGS);

static void
ReceiverStartup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

/* A row counts only when all its columns are there. */
static bool
ReceiverRow(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;

	slot_getallattrs(slot);
	receiver->rows++;
	if (receiver->answer != NULL)
		AnswerAdd(receiver->answer, slot);
	return true;
}

static void
ReceiverEnd(DestReceiver *self)
{
}

/* Note what the executor of the watched query has allocated now. */
static void
WatchMemory(void)
{
	watch.peak = Max(watch.peak, MemoryContextMemAllocated(watch.estate->es_query_cxt, true));
}

/* Stands in for the node's own function: looks at the memory, then does what the executor would do. */
static TupleTableSlot *
WatchedProcNode(PlanState *node)
{
	TupleTableSlot *slot;

	check_stack_depth();
	if (node->state == watch.estate && ++watch.rows >= WATCH_ROWS)
	{
		watch.rows = 0;
		WatchMemory();
	}
	/* somebody's ExecutorStart_hook may have asked for it */
	if (node->instrument)
		InstrStartNode(node->instrument);
	slot = node->ExecProcNodeReal(node);
	if (node->instrument)
		InstrStopNode(node->instrument, TupIsNull(slot) ? 0.0 : 1.0);
	return slot;
}

static bool
WatchNode(PlanState *node, void *context)
{
	if (node == NULL)
		return false;
	node->ExecProcNode = WatchedProcNode;
	return planstate_tree_walker(node, WatchNode, context);
}

static void
RunErrorCallback(void *arg)
{
	errcontext("bucketfdw.compare, plan \"%s\"", ((Contender *) arg)->plan);
}

/* Parse, analyse and rewrite the one statement of a text; locks its tables. */
static Query *
AnalyzeText(const char *text, const char *argument)
{
	ErrorContextCallback callback = {.callback = QueryTextErrorCallback,.arg = (void *) text};
	List	   *queries;
	RawStmt    *raw;
	Query	   *query;

	callback.previous = error_context_stack;
	error_context_stack = &callback;
	raw = QueryTextParse(text, argument, QUERY_TEXT_SELECT_HINT);
	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	error_context_stack = callback.previous;

	/* the executor says the same of tables, but rules may leave it nothing to do */
	query = queries == NIL ? NULL : linitial_node(Query, queries);
	if (query == NULL || list_length(queries) > 1 ||
		(query->commandType != CMD_SELECT && query->commandType != CMD_UTILITY))
		PreventCommandIfReadOnly(CreateCommandName(raw->stmt));
	if (query == NULL || query->commandType != CMD_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s is not a SELECT", argument),
				 errhint("Give one SELECT, VALUES or TABLE statement.")));
	return query;
}

/* Raise an error unless both queries give columns of the same types. */
static void
CheckSameTypes(const Query *query, const Query *baseline)
{
	TupleDesc	desc = ExecCleanTypeFromTL(query->targetList);
	TupleDesc	other = ExecCleanTypeFromTL(baseline->targetList);

	if (desc->natts != other->natts)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query and baseline do not give the same columns"),
				 errdetail("Number of columns: %d in the query, %d in the baseline.",
						   desc->natts, other->natts)));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute a = TupleDescAttr(desc, i);
		Form_pg_attribute b = TupleDescAttr(other, i);

		if (getBaseType(a->atttypid) != getBaseType(b->atttypid))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("query and baseline do not give the same columns"),
					 errdetail("Column %d, \"%s\", is of type %s in the query and %s in the baseline.",
							   i + 1, NameStr(a->attname), format_type_be(a->atttypid),
							   format_type_be(b->atttypid)),
					 errhint("Cast the column in one of them.")));
	}
}

static double
BlocksToBytes(int64 blocks)
{
	return (double) blocks * BLCKSZ;
}

/*
 * Run a contender once.  With an answer this is the warm-up: it keeps the rows
 * there and watches the memory, for which the timed runs are left alone.
 * Otherwise sample number run is taken.
 */
static void
RunOnce(Contender *contender, Snapshot snapshot, Answer *answer, int run)
{
	MemoryContext oldcxt = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw compare run",
											  ALLOCSET_DEFAULT_SIZES);
	ErrorContextCallback callback = {.callback = RunErrorCallback,.arg = contender};
	RowReceiver receiver = {0};
	PlannedStmt *plan;
	QueryDesc  *desc;
	BufferUsage usage;
	uint64		bytes;
	instr_time	start;
	instr_time	planned;
	instr_time	end;

	receiver.pub.receiveSlot = ReceiverRow;
	receiver.pub.rStartup = ReceiverStartup;
	receiver.pub.rShutdown = ReceiverEnd;
	receiver.pub.rDestroy = ReceiverEnd;
	receiver.pub.mydest = DestNone;
	receiver.answer = answer;

	callback.previous = error_context_stack;
	error_context_stack = &callback;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	(void) set_config_option("bucketfdw.enable", contender->bucket_plans ? "on" : "off",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	PushActiveSnapshot(snapshot);

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(copyObject(contender->query), contender->text,
						 CURSOR_OPT_PARALLEL_OK, NULL);
	INSTR_TIME_SET_CURRENT(planned);
	usage = pgBufferUsage;
	bytes = LeafBytesRead();

	desc = CreateQueryDesc(plan, contender->text, snapshot, InvalidSnapshot,
						   (DestReceiver *) &receiver, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	if (answer != NULL)
	{
		watch.estate = desc->estate;
		watch.peak = 0;
		watch.rows = 0;
		(void) WatchNode(desc->planstate, NULL);
	}
	BfExecutorRun(desc);
	if (answer != NULL)
	{
		WatchMemory();
		contender->peak_memory = watch.peak;
	}
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	INSTR_TIME_SET_CURRENT(end);
	FreeQueryDesc(desc);

	if (answer != NULL)
		contender->rows = receiver.rows;
	else
	{
		/* the times of core's EXPLAIN (ANALYZE, SUMMARY) */
		INSTR_TIME_SUBTRACT(end, planned);
		INSTR_TIME_SUBTRACT(planned, start);
		contender->samples[MEASURE_PLANNING][run] = INSTR_TIME_GET_MILLISEC(planned);
		contender->samples[MEASURE_EXECUTION][run] = INSTR_TIME_GET_MILLISEC(end);
		contender->samples[MEASURE_BYTES_READ][run] = (double) (LeafBytesRead() - bytes) +
			BlocksToBytes(pgBufferUsage.shared_blks_hit - usage.shared_blks_hit) +
			BlocksToBytes(pgBufferUsage.shared_blks_read - usage.shared_blks_read) +
			BlocksToBytes(pgBufferUsage.local_blks_hit - usage.local_blks_hit) +
			BlocksToBytes(pgBufferUsage.local_blks_read - usage.local_blks_read);
		contender->samples[MEASURE_TEMP_BYTES][run] =
			BlocksToBytes(pgBufferUsage.temp_blks_written - usage.temp_blks_written);
		if (receiver.rows != contender->rows)
			contender->same = false;
	}

	PopActiveSnapshot();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(oldcxt);
	CurrentResourceOwner = oldowner;
	error_context_stack = callback.previous;
	MemoryContextDelete(cxt);
}

/* Warm up and compare the answers, then run in turns. */
static void
RunAll(Contender *contenders, int n, int runs)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	Contender  *stock = &contenders[1];

	for (int i = 0; i < n; i++)
	{
		Contender  *c = &contenders[i];

		c->same = true;
		c->answer = AnswerBegin(ExecCleanTypeFromTL(c->query->targetList));
		RunOnce(c, snapshot, c->answer, 0);
		AnswerFinish(c->answer);

		/* no more answers at a time than needed */
		if (i == 1)
		{
			contenders[0].same = AnswersSame(contenders[0].answer, stock->answer);
			AnswerFree(contenders[0].answer);
		}
		else if (i == 2)
		{
			c->same = AnswersSame(c->answer, stock->answer);
			AnswerFree(c->answer);
		}
	}
	AnswerFree(stock->answer);

	for (int run = 0; run < runs; run++)
	{
		for (int i = 0; i < n; i++)
			RunOnce(&contenders[i], snapshot, NULL, run);
	}
	UnregisterSnapshot(snapshot);
}

static int
CompareDoubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double
Median(double *values, int n)
{
	qsort(values, n, sizeof(double), CompareDoubles);
	return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void
PutRow(ReturnSetInfo *rsinfo, const Contender *contender, double stock_ms)
{
	double		ms = contender->medians[MEASURE_EXECUTION];
	Datum		values[9];
	bool		nulls[9] = {false};

	values[0] = CStringGetTextDatum(contender->plan);
	values[1] = Float8GetDatum(contender->medians[MEASURE_PLANNING]);
	values[2] = Float8GetDatum(ms);
	values[3] = Int64GetDatum(contender->rows);
	values[4] = Int64GetDatum((int64) contender->medians[MEASURE_BYTES_READ]);
	values[5] = Int64GetDatum((int64) contender->medians[MEASURE_TEMP_BYTES]);
	values[6] = Int64GetDatum((int64) contender->peak_memory);
	nulls[7] = ms <= 0;
	values[7] = Float8GetDatum(nulls[7] ? 0 : stock_ms / ms);
	values[8] = BoolGetDatum(contender->same);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static char *
TextArgument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/*
 * bucketfdw.compare(query, runs, baseline): one row for bucket plans, one for
 * stock plans, one for the baseline if there is one.
 */
Datum
bucketfdw_compare(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *baseline = TextArgument(fcinfo, 2);
	int			n = baseline != NULL ? 3 : 2;
	Contender	contenders[3] = {
		{.plan = "bucket",.text = TextArgument(fcinfo, 0),.bucket_plans = true},
		{.plan = "stock",.text = TextArgument(fcinfo, 0)},
		{.plan = "baseline",.text = baseline}
	};
	int			runs = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	MemoryContext oldcxt = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	MemoryWatch oldwatch = watch;
	int			nestlevel = GetCurrentTransactionNestLevel();
	MemoryContext cxt;

	PreventCommandIfParallelMode("bucketfdw.compare()");
	if (contenders[0].text == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("query must not be null")));
	if (runs < 1 || runs > MAX_RUNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("runs must be between 1 and %d", MAX_RUNS)));
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < n; i++)
	{
		for (int m = 0; m < NMEASURES; m++)
			contenders[i].samples[m] = palloc0(sizeof(double) * runs);
	}

	/*
	 * Rows that this transaction has written and not yet sealed must not be
	 * sealed in a subtransaction that is rolled back: the next run would have
	 * to do it again.
	 */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	LoadSealAllForRead(GetActiveSnapshot());
	PopActiveSnapshot();

	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw compare", ALLOCSET_DEFAULT_SIZES);
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		MemoryContextSwitchTo(cxt);
		XactReadOnly = true;
		/* locks that keep the tables as they are over all runs */
		contenders[0].query = contenders[1].query = AnalyzeText(contenders[0].text, "query");
		if (baseline != NULL)
		{
			contenders[2].query = AnalyzeText(baseline, "baseline");
			CheckSameTypes(contenders[0].query, contenders[2].query);
		}
		RunAll(contenders, n, runs);
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcxt);
		CurrentResourceOwner = oldowner;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		/* whoever catches the error next rolls back one subtransaction: his own */
		MemoryContextSwitchTo(oldcxt);
		edata = CopyErrorData();
		FlushErrorState();
		while (GetCurrentTransactionNestLevel() > nestlevel)
			RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcxt);
		CurrentResourceOwner = oldowner;
		watch = oldwatch;
		ReThrowError(edata);
	}
	PG_END_TRY();
	watch = oldwatch;
	MemoryContextDelete(cxt);

	for (int i = 0; i < n; i++)
	{
		for (int m = 0; m < NMEASURES; m++)
			contenders[i].medians[m] = Median(contenders[i].samples[m], runs);
	}
	for (int i = 0; i < n; i++)
		PutRow(rsinfo, &contenders[i], contenders[1].medians[MEASURE_EXECUTION]);
	PG_RETURN_NULL();
}
