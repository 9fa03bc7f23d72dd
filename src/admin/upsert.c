/*
 * upsert.c
 *	  bucketfdw.upsert: rows of a query replace those of a table with equal keys.
 *
 * Core has neither MERGE nor ON CONFLICT DO UPDATE for foreign tables.  The rows
 * of the query are kept, then one statement deletes what they replace and
 * inserts them.  The table is locked against all who change rows, before the
 * query takes its snapshot, so what it computes from the old rows is not out
 * of date.  INSERT is not locked out: nothing makes a key unique.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "admin/load_query.h"
#include "admin/open_checked.h"
#include "admin/query_text.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "load/change_lock.h"
#include "load/load.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/manifest.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(bucketfdw_upsert);

PGDLLEXPORT Datum bucketfdw_upsert(PG_FUNCTION_ARGS);

/* The key that is wanted, or the bucket columns: names. */
static List *
KeyColumns(char *key, List *tables, const char *name)
{
	List	   *names = NIL;
	char	   *first = NULL;
	ListCell   *lc;

	if (key != NULL)
	{
		if (!SplitIdentifierString(key, ',', &names) || names == NIL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key is not a list of columns"),
					 errhint("Write for example key => 'customer_id, order_id'.")));
		return names;
	}
	foreach(lc, tables)
	{
		Relation	rel = table_open(lfirst_oid(lc), NoLock);
		const BucketSpec *spec = TableOptionsGet(rel)->spec;
		char	   *columns = BucketSpecBucketBy(spec, RelationGetDescr(rel));

		if (first == NULL)
		{
			first = columns;
			for (int k = 0; k < spec->nkeys; k++)
				names = lappend(names, pstrdup(NameStr(TupleDescAttr(RelationGetDescr(rel),
																	 spec->sort[k].attnum - 1)->attname)));
		}
		else if (strcmp(first, columns) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("partitions of table \"%s\" are bucketed by different columns", name),
					 errhint("Say by key which columns tell rows apart.")));
		table_close(rel, NoLock);
	}
	return names;
}

/* Error unless the table and the query have all columns of the key. */
static void
CheckKey(List *key, Oid relid, TupleDesc columns)
{
	ListCell   *lc;

	foreach(lc, key)
	{
		const char *name = lfirst(lc);

		if (get_attnum(relid, name) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", name, get_rel_name(relid))));
		if (SPI_fnumber(columns, name) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("the query has no column \"%s\", which is in the key", name),
					 errdetail("The query has (%s).", ColumnsText(columns)),
					 errhint("The columns of the query are matched to those of the table by name.")));
	}
}

/* "key [separator key ...]", each as the format has it, which gets the quoted name once or twice. */
static char *
ForEachKey(List *key, const char *separator, const char *before, const char *between)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, key)
	{
		const char *name = quote_identifier(lfirst(lc));

		if (text.len > 0)
			appendStringInfoString(&text, separator);
		appendStringInfo(&text, "%s%s", before, name);
		if (between != NULL)
			appendStringInfo(&text, "%s%s", between, name);
	}
	return text.data;
}

/* Error if two of the kept rows have the same key, as ON CONFLICT DO UPDATE has it. */
static void
CheckUnique(List *key, Oid relid)
{
	char	   *columns = ForEachKey(key, ", ", "", NULL);
	char	   *text = psprintf("SELECT pg_catalog.concat_ws(', ', %s) FROM kept_rows WHERE (%s) IS NOT NULL "
								"GROUP BY %s HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 LIMIT 1",
								columns, columns, columns);

	if (SPI_execute(text, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not look for duplicate keys");
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("bucketfdw.upsert cannot affect row of table \"%s\" a second time", get_rel_name(relid)),
				 errdetail("The query gives several rows with key (%s)=(%s).", columns,
						   SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)),
				 errhint("Ensure that no two rows of the query have the same key.")));
}

/*
 * A transaction whose snapshot is older than the lock does not see the rows with
 * these keys that another upsert has added since: to add rows of its own beside
 * them would be wrong.  ON CONFLICT DO UPDATE raises the same error.
 */
static void
CheckNoneAdded(const char *name, const char *condition)
{
	char	   *text = psprintf("SELECT pg_catalog.count(*) FROM %s AS upserted, kept_rows WHERE %s", name, condition);
	SPIPlanPtr	plan = SPI_prepare(text, 0, NULL);
	int64		count[2];

	for (int i = 0; i < 2; i++)
	{
		Snapshot	snapshot = RegisterSnapshot(i == 0 ? GetTransactionSnapshot() : GetLatestSnapshot());
		bool		isnull;

		if (plan == NULL || SPI_execute_snapshot(plan, NULL, NULL, snapshot, InvalidSnapshot, true, false, 0) != SPI_OK_SELECT)
			elog(ERROR, "could not look for rows to replace in %s", name);
		count[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
		UnregisterSnapshot(snapshot);
	}
	if (count[0] != count[1])
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
}

/*
 * Replace rows of a table by those of a query; returns how many these are.  What
 * columns the query does not give get their defaults.
 */
Datum
bucketfdw_upsert(PG_FUNCTION_ARGS)
{
	char	   *sql;
	RangeVar   *table;
	char	   *key_text;
	Query	   *query;
	TupleDesc	columns;
	Oid			relid;
	List	   *tables;
	List	   *key;
	Tuplestorestate *store;
	char	   *name;
	char	   *names;
	char	   *condition;
	int64		rows;
	ListCell   *lc;

	PreventCommandIfReadOnly("bucketfdw.upsert()");
	PreventCommandIfParallelMode("bucketfdw.upsert()");
	RequireArgument(fcinfo, 0, "table_name");
	table = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	sql = TextArgument(fcinfo, 1, "query");
	key_text = TextArgument(fcinfo, 2, NULL);

	CommandCounterIncrement();
	query = QueryTextSelect(sql, "query");
	columns = ExecCleanTypeFromTL(query->targetList);
	CheckAttributeNamesTypes(columns, RELKIND_FOREIGN_TABLE, 0);
	relid = LockForInsert(table, columns, false);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", table->relname)));
	tables = BucketTables(relid);

	/* who may not delete must not make others wait, either */
	if (pg_class_aclcheck(relid, GetUserId(), ACL_DELETE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), table->relname);
	key = KeyColumns(key_text, tables, table->relname);
	CheckKey(key, relid, columns);

	/* in the order of all who lock several */
	list_sort(tables, list_oid_cmp);
	foreach(lc, tables)
		ChangeLock(lfirst_oid(lc), CHANGE_WHOLE, CHANGE_LOCK_EXCLUSIVE);

	store = QueryRunStore(query, sql);
	name = TableName(relid);
	names = ColumnNames(columns);
	LoadAllowMemory(maintenance_work_mem);
	KeptRowsConnect(columns, store);
	CheckUnique(key, relid);
	condition = ForEachKey(key, " AND ", "upserted.", " = kept_rows.");
	if (IsolationUsesXactSnapshot())
		CheckNoneAdded(name, condition);
	sql = psprintf("WITH deleted AS (DELETE FROM %s AS upserted USING kept_rows WHERE %s) "
					"INSERT INTO %s (%s) SELECT * FROM kept_rows",
					name, condition, name, names);
	if (SPI_execute(sql, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not upsert into \"%s\"", get_rel_name(relid));
	rows = SPI_processed;
	SPI_finish();
	CommandCounterIncrement();
	tuplestore_end(store);
	PG_RETURN_INT64(rows);
}
