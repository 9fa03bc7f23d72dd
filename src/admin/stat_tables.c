/*
 * stat_tables.c
 *	  What bucketfdw.stat_tables shows of a table.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "counters/counters.h"
#include "fmgr.h"
#include "funcapi.h"
#include "plan/words/reason.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(bucketfdw_table_counters);
PG_FUNCTION_INFO_V1(bucketfdw_stat_reset);

PGDLLEXPORT Datum bucketfdw_table_counters(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_stat_reset(PG_FUNCTION_ARGS);

/*
 * bucketfdw.table_counters(relid oid): those before COUNT_FALLBACKS in their
 * order, then reasons, how often each, and since when.  NULLs: none are kept.
 */
Datum
bucketfdw_table_counters(PG_FUNCTION_ARGS)
{
	Datum		values[COUNT_FALLBACKS + 3] = {0};
	bool		nulls[COUNT_FALLBACKS + 3];
	Datum		reasons[COUNTER_REASONS];
	Datum		times[COUNTER_REASONS];
	int			nreasons = 0;
	TableCounts counts;
	TimestampTz since;
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(nulls, !CountersKept(), sizeof(nulls));
	if (CountersKept())
	{
		CountersGet(PG_GETARG_OID(0), &counts, &since);
		for (int i = 0; i < COUNT_FALLBACKS; i++)
			values[i] = Int64GetDatum(counts.n[i]);
		for (int r = 0; r < COUNTER_REASONS; r++)
		{
			int64		n = counts.n[COUNT_FALLBACKS + r];

			if (n == 0)
				continue;
			reasons[nreasons] = CStringGetTextDatum(ReasonName((BucketReason) r));
			times[nreasons++] = Int64GetDatum(n);
		}
		values[COUNT_FALLBACKS] = PointerGetDatum(construct_array(reasons, nreasons, TEXTOID, -1, false, TYPALIGN_INT));
		values[COUNT_FALLBACKS + 1] = PointerGetDatum(construct_array(times, nreasons, INT8OID, 8, true, TYPALIGN_DOUBLE));
		values[COUNT_FALLBACKS + 2] = TimestampTzGetDatum(since);
		nulls[COUNT_FALLBACKS + 2] = since == 0;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* bucketfdw.stat_reset() returns void */
Datum
bucketfdw_stat_reset(PG_FUNCTION_ARGS)
{
	CountersReset();
	PG_RETURN_VOID();
}
