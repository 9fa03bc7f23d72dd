/*
 * compare.c
 *	  bucketfdw.compare: a query with bucket plans, without, and the same
 *	  question over other tables: times, reads, memory, and do the answers agree?
 *
 * Whatever the text of the query is and whatever functions it calls, nothing
 * it does stays: each run is inside a read-only subtransaction that is rolled
 * back, which also restores settings.  Rights are checked by the executor, as
 * for any query of the caller.  All runs use one snapshot, so that what others
 * commit meanwhile does not look like a wrong answer.
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
#include "optimizer/optimizer.h"
#include "portability/instr_time.h"
#include "storage/damaged.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define MAX_RUNS 1000

/* rows of a result between two looks at the memory in use */
#define WATCH_ROWS 256

/* What is measured in a run; medians are reported. */
enum
{
	MEASURE_PLANNING,			/* ms */
	MEASURE_EXECUTION,			/* ms */
	MEASURE_BYTES_READ,
	MEASURE_TEMP_BYTES,
	NMEASURES
};

/* One row of the result. */
typedef struct Contender
{
	const char *plan;
	const char *text;
	bool		bucket_plans;
	Query	   *query;
	double	   *samples[NMEASURES];
	Answer	   *answer;			/* of the first run */
	int64		rows;
	Size		peak_memory;
	bool		same;
} Contender;

/* Counts rows, and keeps them if there is an answer to keep them in. */
typedef struct RowReceiver
{
	DestReceiver pub;
	EState	   *estate;
	Answer	   *answer;
	int64		rows;
	Size		peak_memory;
} RowReceiver;

PG_FUNCTION_INFO_V1(bucketfdw_compare);

PGDLLEXPORT Datum bucketfdw_compare(PG_FUNCTION_ARGS);

/* Note what the executor has allocated now. */
static void
WatchMemory(RowReceiver *receiver)
{
	receiver->peak_memory = Max(receiver->peak_memory,
								MemoryContextMemAllocated(receiver->estate->es_query_cxt, true));
}

/* A row counts only when all its columns are there. */
static bool
ReceiverRow(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;

	slot_getallattrs(slot);
	if (receiver->answer != NULL)
	{
		if (receiver->rows % WATCH_ROWS == 0)
			WatchMemory(receiver);
		AnswerAdd(receiver->answer, slot);
	}
	receiver->rows++;
	return true;
}

static void
RunErrorCallback(void *arg)
{
	errcontext("bucketfdw.compare, plan \"%s\"", ((Contender *) arg)->plan);
}

/* Raise an error unless both queries give columns of the same types. */
static void
CheckSameTypes(const Query *query, const Query *baseline)
{
	TupleDesc	desc = ExecCleanTypeFromTL(query->targetList);
	TupleDesc	other = ExecCleanTypeFromTL(baseline->targetList);
	bool		same = desc->natts == other->natts;

	for (int i = 0; same && i < desc->natts; i++)
		same = getBaseType(TupleDescAttr(desc, i)->atttypid) == getBaseType(TupleDescAttr(other, i)->atttypid);
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query and baseline do not give the same columns"),
				 errdetail("The query gives (%s), the baseline (%s).", ColumnsText(desc), ColumnsText(other)),
				 errhint("Cast the columns of one of them.")));
}

/* Bytes read by this process and its workers so far, blocks in memory included. */
static double
BytesRead(void)
{
	return (double) LeafBytesRead() +
		(double) BLCKSZ * (pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
						   pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read);
}

/* A run of a contender; number -1 keeps the answer and watches the memory, for which the others are left alone. */
typedef struct Run
{
	Contender  *contender;
	Snapshot	snapshot;
	int			number;
	MemoryContext cxt;
} Run;

/* Plan and run a contender, measure it, and leave what stays to be rolled back. */
static void
RunQuery(void *arg)
{
	Run		   *run = arg;
	Contender  *contender = run->contender;
	RowReceiver receiver = {.answer = run->number < 0 ? contender->answer : NULL};
	int64		temp = pgBufferUsage.temp_blks_written;
	double		bytes;
	PlannedStmt *plan;
	QueryDesc  *desc;
	instr_time	start;
	instr_time	planned;
	instr_time	end;

	MemoryContextSwitchTo(run->cxt);
	XactReadOnly = true;
	(void) set_config_option("bucketfdw.enable", contender->bucket_plans ? "on" : "off",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	PushActiveSnapshot(run->snapshot);
	RowReceiverInit(&receiver.pub, ReceiverRow);
	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(copyObject(contender->query), contender->text, CURSOR_OPT_PARALLEL_OK, NULL);
	INSTR_TIME_SET_CURRENT(planned);
	bytes = BytesRead();
	desc = CreateQueryDesc(plan, contender->text, run->snapshot, InvalidSnapshot, &receiver.pub, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	receiver.estate = desc->estate;
	BfExecutorRun(desc);
	WatchMemory(&receiver);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	INSTR_TIME_SET_CURRENT(end);
	FreeQueryDesc(desc);
	PopActiveSnapshot();

	if (run->number < 0)
	{
		contender->rows = receiver.rows;
		contender->peak_memory = receiver.peak_memory;
		return;
	}

	/* the times of core's EXPLAIN (ANALYZE, SUMMARY) */
	INSTR_TIME_SUBTRACT(end, planned);
	INSTR_TIME_SUBTRACT(planned, start);
	contender->samples[MEASURE_PLANNING][run->number] = INSTR_TIME_GET_MILLISEC(planned);
	contender->samples[MEASURE_EXECUTION][run->number] = INSTR_TIME_GET_MILLISEC(end);
	contender->samples[MEASURE_BYTES_READ][run->number] = BytesRead() - bytes;
	contender->samples[MEASURE_TEMP_BYTES][run->number] = (double) BLCKSZ * (pgBufferUsage.temp_blks_written - temp);
	contender->same &= receiver.rows == contender->rows;
}

/* The same in a subtransaction that leaves nothing behind, be there an error or not. */
static void
RunOnce(Contender *contender, Snapshot snapshot, int number)
{
	Run			run = {contender, snapshot, number};
	ErrorContextCallback callback = {error_context_stack, RunErrorCallback, contender};
	ErrorData  *error;

	run.cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw compare run", ALLOCSET_DEFAULT_SIZES);
	error_context_stack = &callback;
	error = TryWork(RunQuery, &run, false);
	error_context_stack = callback.previous;
	if (error != NULL)
		ReThrowError(error);
	MemoryContextDelete(run.cxt);
}

/* Run all once, compare the answers with that of stock plans, then run in turns. */
static void
RunAll(Contender *contenders, int n, int runs)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	for (int i = 0; i < n; i++)
	{
		contenders[i].answer = AnswerBegin(ExecCleanTypeFromTL(contenders[i].query->targetList));
		RunOnce(&contenders[i], snapshot, -1);
		AnswerFinish(contenders[i].answer);
	}
	for (int i = 0; i < n; i++)
		contenders[i].same = i == 1 || AnswersSame(contenders[i].answer, contenders[1].answer);
	for (int i = 0; i < n; i++)
		AnswerFree(contenders[i].answer);
	for (int run = 0; run < runs; run++)
	{
		for (int i = 0; i < n; i++)
			RunOnce(&contenders[i], snapshot, run);
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
	return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/*
 * bucketfdw.compare(query, runs, baseline): one row for bucket plans, one for
 * stock plans, one for the baseline if there is one.
 */
Datum
bucketfdw_compare(PG_FUNCTION_ARGS)
{
	char	   *text = TextArgument(fcinfo, 0, "query");
	char	   *baseline = TextArgument(fcinfo, 2, NULL);
	int			n = baseline != NULL ? 3 : 2;
	Contender	contenders[3] = {
		{.plan = "bucket",.text = text,.bucket_plans = true},
		{.plan = "stock",.text = text},
		{.plan = "baseline",.text = baseline}
	};
	int			runs = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	bool		is_volatile = false;

	PreventCommandIfParallelMode("bucketfdw.compare()");
	if (runs < 1 || runs > MAX_RUNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("runs must be between 1 and %d", MAX_RUNS)));
	InitMaterializedSRF(fcinfo, 0);

	/* rows that wait would be written in each run, and rolled back with it */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	LoadSealAll();
	PopActiveSnapshot();

	contenders[0].query = contenders[1].query = QueryTextSelect(text, "query");
	if (baseline != NULL)
	{
		contenders[2].query = QueryTextSelect(baseline, "baseline");
		CheckSameTypes(contenders[0].query, contenders[2].query);
	}
	for (int i = 0; i < n; i++)
	{
		is_volatile |= contain_volatile_functions((Node *) contenders[i].query);
		for (int m = 0; m < NMEASURES; m++)
			contenders[i].samples[m] = palloc0(sizeof(double) * runs);
	}
	RunAll(contenders, n, runs);

	for (int i = 0; i < n; i++)
	{
		Contender  *c = &contenders[i];
		double		stock_ms = Median(contenders[1].samples[MEASURE_EXECUTION], runs);
		double		ms = Median(c->samples[MEASURE_EXECUTION], runs);
		bool		unknown = is_volatile && !c->same;
		char	   *values[] = {
			unconstify(char *, c->plan),
			psprintf("%.17g", Median(c->samples[MEASURE_PLANNING], runs)),
			psprintf("%.17g", ms),
			psprintf(INT64_FORMAT, c->rows),
			psprintf("%.0f", Median(c->samples[MEASURE_BYTES_READ], runs)),
			psprintf("%.0f", Median(c->samples[MEASURE_TEMP_BYTES], runs)),
			psprintf("%zu", c->peak_memory),
			ms > 0 ? psprintf("%.17g", stock_ms / ms) : NULL,
			unknown ? NULL : c->same ? "t" : "f"
		};

		PutTexts(fcinfo, values);
		if (unknown)
			ereport(NOTICE,
					(errmsg("the answer of plan \"%s\" cannot be compared", c->plan),
					 errdetail("The query calls volatile functions, whose results may differ from run to run.")));
	}
	PG_RETURN_NULL();
}
