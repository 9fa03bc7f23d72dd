/*
 * table_state.c
 *	  For the view of tables: what a table has, and what is due for it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "load/load.h"
#include "storage/catalog.h"
#include "upkeep/due.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define TABLE_STATE_COLUMNS 19

/* of so many tables a query asks before a census pays */
#define FEW_TABLES 8

PG_FUNCTION_INFO_V1(bucketfdw_oids_without);
PG_FUNCTION_INFO_V1(bucketfdw_table_state);

PGDLLEXPORT Datum bucketfdw_oids_without(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_table_state(PG_FUNCTION_ARGS);

/* What upkeep would do, and why: an array of text. */
static Datum
DueTexts(const UpkeepDue *due)
{
	const char *blocked = due->blocked ? ", and the files it replaced are still needed" : "";
	Datum		texts[6];
	int			n = 0;

	if (due->flush)
		texts[n++] = CStringGetTextDatum(psprintf("compact: %lld rows stand in the catalog",
												  (long long) due->inlined.rows));
	if (due->merge)
		texts[n++] = CStringGetTextDatum(psprintf("compact: a bucket has %d runs%s", due->max_runs, blocked));
	if (due->clean)
		texts[n++] = CStringGetTextDatum(psprintf("compact: %lld rows in files are deleted%s",
												  (long long) due->manifest->deleted, blocked));
	if (due->unite)
		texts[n++] = CStringGetTextDatum(psprintf("compact: a file has %d delete vectors",
												  DeletesMostVectors(due->manifest->deletes)));
	if (due->analyze && due->analyzed_rows < 0)
		texts[n++] = CStringGetTextDatum(psprintf("analyze: %lld rows, never analyzed",
												  (long long) due->rows));
	else if (due->analyze)
		texts[n++] = CStringGetTextDatum(psprintf("analyze: %lld rows, %.0f when last analyzed",
												  (long long) due->rows, due->analyzed_rows));
	if (due->cleanup)
		texts[n++] = CStringGetTextDatum(psprintf("cleanup: %lld replaced files can be removed",
												  (long long) due->removable));
	return PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Names of the first n sort columns of a spec, with their order if it is not the usual one. */
static Datum
ColumnNames(Oid relid, const BucketSpec *spec, int n)
{
	Datum	   *names = palloc(Max(n, 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
	{
		uint8		flags = spec->sort[i].flags;

		names[i] = CStringGetTextDatum(psprintf("%s%s%s", get_attname(relid, spec->sort[i].attnum, false),
												flags & BF_SORT_DESC ? " desc" : "",
												flags == BF_SORT_DESC ? " nulls last" :
												flags == BF_SORT_NULLS_FIRST ? " nulls first" : ""));
	}
	return PointerGetDatum(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Key classes of the bucket columns of a spec, the same for integers and numerics, which meet. */
static Datum
SpecKeyClasses(const BucketSpec *spec)
{
	int16	   *classes = palloc(Max(spec->nkeys, 1) * sizeof(int16));

	for (int k = 0; k < spec->nkeys; k++)
		classes[k] = spec->sort[k].keyclass == KEYCLASS_NUMERIC ? KEYCLASS_INT : spec->sort[k].keyclass;
	return CatalogMakeArray(classes, spec->nkeys, INT2OID, sizeof(int16));
}

/* What a query that asks about many tables keeps. */
typedef struct TableStateCalls
{
	int			n;
	CatalogCensus *census;		/* NULL: they were few so far */
} TableStateCalls;

/* Count a call; the census, once they are many. */
static const CatalogCensus *
CountCall(FunctionCallInfo fcinfo)
{
	TableStateCalls *calls = fcinfo->flinfo->fn_extra;

	if (calls == NULL)
		calls = fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(TableStateCalls));
	if (++calls->n > FEW_TABLES && calls->census == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		calls->census = CatalogCensusRead(GetActiveSnapshot());
		MemoryContextSwitchTo(old);
	}
	return calls->census;
}

Datum
bucketfdw_table_state(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	UpkeepDue	due;
	TupleDesc	desc;
	Datum		values[TABLE_STATE_COLUMNS];
	bool		nulls[TABLE_STATE_COLUMNS] = {false};
	TimestampTz last_write;
	TimestampTz last_compaction;
	int			n = 0;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	UpkeepLook(relid, GetActiveSnapshot(), CountCall(fcinfo), &due);
	last_write = Max(Max(due.state.last_write, due.manifest->last_write), due.inlined.last_write);
	last_compaction = Max(due.state.last_compaction, due.manifest->last_compaction);

	values[n++] = ColumnNames(relid, due.spec, due.spec ? due.spec->nkeys : 0);
	nulls[n] = due.spec == NULL;
	values[n++] = Int32GetDatum(due.spec ? due.spec->nbuckets : 0);
	values[n++] = ColumnNames(relid, due.spec, due.spec ? due.spec->nsort : 0);
	nulls[n] = due.spec == NULL;
	values[n++] = Int32GetDatum(due.version);
	nulls[n] = due.spec == NULL;
	values[n++] = Int16GetDatum(due.spec ? due.spec->hash_version : 0);
	nulls[n] = due.spec == NULL;
	values[n++] = due.spec ? SpecKeyClasses(due.spec) : (Datum) 0;
	values[n++] = Int64GetDatum(due.manifest->nfiles);
	values[n++] = Int64GetDatum(due.manifest->nruns);
	values[n++] = Int64GetDatum(due.rows);
	values[n++] = Int64GetDatum(due.manifest->bytes + due.inlined.bytes);
	values[n++] = Int64GetDatum(due.manifest->raw_bytes + due.inlined.bytes);
	values[n++] = ObjectIdGetDatum(TablespaceOid(due.tablespace));
	values[n++] = Int32GetDatum(due.max_runs);
	values[n++] = Int64GetDatum(due.manifest->deleted + due.inlined.deleted +
								LoadWaitingDeletes(relid, GetActiveSnapshot()));
	nulls[n] = last_write == 0;
	values[n++] = TimestampTzGetDatum(last_write);
	nulls[n] = last_compaction == 0;
	values[n++] = TimestampTzGetDatum(last_compaction);
	nulls[n] = due.state.last_analysis == 0;
	values[n++] = TimestampTzGetDatum(due.state.last_analysis);
	values[n++] = DueTexts(&due);
	values[n++] = BoolGetDatum(due.blocked);
	Assert(n == desc->natts);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

/* An array of oids, from this extension's own query, without one of them. */
Datum
bucketfdw_oids_without(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Oid			without = PG_GETARG_OID(1);
	Oid		   *oids = (Oid *) ARR_DATA_PTR(array);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Oid		   *left = palloc(Max(n, 1) * sizeof(Oid));
	int			at = 0;

	if (ARR_HASNULL(array))
		elog(ERROR, "array of oids has nulls");
	/* of thousands of tables each has an array of all others */
	while (at < n && oids[at] != without)
		at++;
	memcpy(left, oids, at * sizeof(Oid));
	if (at < n)
		memcpy(left + at, oids + at + 1, (n - at - 1) * sizeof(Oid));
	PG_RETURN_DATUM(CatalogMakeArray(left, at < n ? n - 1 : n, REGCLASSOID, sizeof(Oid)));
}
