/*
 * create_table_as.c
 *	  bucketfdw.create_table_as: a bucketed table from a query, the
 *	  saveAsTable of this world.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "admin/load_query.h"
#include "admin/open_checked.h"
#include "admin/query_text.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "compat.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "guc.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/latest.h"
#include "storage/manifest.h"
#include "upkeep/spec_change.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/varlena.h"

typedef enum SaveMode
{
	SAVE_ERROR,
	SAVE_APPEND,
	SAVE_OVERWRITE,
	SAVE_IGNORE
} SaveMode;

typedef struct CreateTableArgs
{
	RangeVar   *table;
	const char *query;
	List	   *options;		/* those given, as DefElems */
	SaveMode	mode;
	bool		with_data;
	Oid			colocate_with;	/* InvalidOid: not given */
} CreateTableArgs;

PG_FUNCTION_INFO_V1(bucketfdw_create_table_as);

PGDLLEXPORT Datum bucketfdw_create_table_as(PG_FUNCTION_ARGS);

static SaveMode
ParseMode(const char *mode)
{
	if (pg_strcasecmp(mode, "error") == 0 || pg_strcasecmp(mode, "errorifexists") == 0)
		return SAVE_ERROR;
	if (pg_strcasecmp(mode, "append") == 0)
		return SAVE_APPEND;
	if (pg_strcasecmp(mode, "overwrite") == 0)
		return SAVE_OVERWRITE;
	if (pg_strcasecmp(mode, "ignore") == 0)
		return SAVE_IGNORE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid mode \"%s\"", mode),
			 errhint("Valid modes are \"error\" (or \"errorifexists\"), \"append\", \"overwrite\", \"ignore\".")));
}

/* The value of an option that was given, else NULL. */
static char *
GivenOption(const CreateTableArgs *args, const char *name)
{
	ListCell   *lc;

	foreach(lc, args->options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, name) == 0)
			return defGetString(lfirst(lc));
	}
	return NULL;
}

static void
GetArguments(FunctionCallInfo fcinfo, CreateTableArgs *args)
{
	static const struct
	{
		int			number;
		const char *option;
		bool		is_int;
	}			options[] = {
		{2, "bucket_by"}, {3, "buckets", true}, {4, "sort_by"},
		{8, "compression"}, {9, "compression_level", true}, {10, "tablespace"}
	};

	RequireArgument(fcinfo, 0, "table_name");
	args->table = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	args->query = TextArgument(fcinfo, 1, "query");
	args->mode = ParseMode(TextArgument(fcinfo, 5, "mode"));
	RequireArgument(fcinfo, 6, "with_data");
	args->with_data = PG_GETARG_BOOL(6);
	args->colocate_with = PG_ARGISNULL(7) ? InvalidOid : PG_GETARG_OID(7);
	args->options = NIL;
	for (int i = 0; i < lengthof(options); i++)
	{
		int			n = options[i].number;

		if (!PG_ARGISNULL(n))
			args->options = OptionsSet(args->options, options[i].option,
									   options[i].is_int ? psprintf("%d", PG_GETARG_INT32(n)) :
									   text_to_cstring(PG_GETARG_TEXT_PP(n)));
	}
}

static char *
DescribeSpec(const BucketSpec *spec, TupleDesc desc)
{
	return psprintf("bucket_by '%s', buckets '%d', sort_by '%s'",
					BucketSpecBucketBy(spec, desc), spec->nbuckets, BucketSpecSortBy(spec, desc));
}

/*
 * Take the number of buckets from colocate_with and, when the query has
 * columns of these names, the bucket columns.
 */
static void
FollowColocated(CreateTableArgs *args, TupleDesc desc)
{
	Relation	rel = OpenChecked(args->colocate_with, AccessShareLock, RequireReadableBucketTable);
	TupleDesc	other = RelationGetDescr(rel);
	BucketSpec *spec = TableOptionsGet(rel)->spec;
	char	   *buckets = GivenOption(args, "buckets");

	if (buckets != NULL && atoi(buckets) != spec->nbuckets)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("buckets %s contradict colocate_with", buckets),
				 errdetail("Table \"%s\" has %d buckets.", RelationGetRelationName(rel), spec->nbuckets),
				 errhint("Leave out buckets.")));
	args->options = OptionsSet(args->options, "buckets", psprintf("%d", spec->nbuckets));

	if (GivenOption(args, "bucket_by") == NULL)
	{
		for (int i = 0; i < spec->nkeys; i++)
		{
			const char *name = NameStr(TupleDescAttr(other, spec->sort[i].attnum - 1)->attname);

			if (SPI_fnumber(desc, name) <= 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("bucket_by is needed"),
						 errdetail("Table \"%s\" is bucketed by \"%s\", and the query has no column of that name.",
								   RelationGetRelationName(rel), BucketSpecBucketBy(spec, other)),
						 errhint("Name the matching columns of the query in bucket_by.")));
		}
		args->options = OptionsSet(args->options, "bucket_by", BucketSpecBucketBy(spec, other));
	}
	table_close(rel, NoLock);
}

/* "a (integer), b (text)": the bucket columns and their key classes. */
static char *
KeyText(const BucketSpec *spec, TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < spec->nkeys; i++)
		appendStringInfo(&buf, "%s%s (%s)", i > 0 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(desc, spec->sort[i].attnum - 1)->attname)),
						 KeyClassName(spec->sort[i].keyclass));
	return buf.data;
}

/* Raise an error unless per-bucket joins with the table named in colocate_with are possible. */
static void
CheckColocated(const CreateTableArgs *args, const BucketSpec *spec, TupleDesc desc)
{
	Relation	rel = table_open(args->colocate_with, NoLock);	/* by FollowColocated */
	BucketSpec *with = TableOptionsGet(rel)->spec;
	bool		fits = spec->nkeys == with->nkeys && spec->nbuckets == with->nbuckets;

	for (int i = 0; fits && i < spec->nkeys; i++)
		fits = KeyClassesMeet(spec->sort[i].keyclass, with->sort[i].keyclass);
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tables \"%s\" and \"%s\" would not be joined per bucket",
						args->table->relname, RelationGetRelationName(rel)),
				 errdetail("\"%s\" would have %d buckets by %s; \"%s\" has %d buckets by %s.",
						   args->table->relname, spec->nbuckets, KeyText(spec, desc),
						   RelationGetRelationName(rel), with->nbuckets,
						   KeyText(with, RelationGetDescr(rel))),
				 errhint("The bucket columns must be of the same key classes, in the same order.")));
	table_close(rel, NoLock);
}

static void
Execute(const char *sql)
{
	int			rc;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	rc = SPI_execute(sql, false, 0);
	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "unexpected result %d of \"%s\"", rc, sql);
	SPI_finish();
	CommandCounterIncrement();
}

/*
 * CREATE FOREIGN TABLE with the columns of the query: as a statement, so that
 * privileges, search_path and event triggers work as ever.  Returns its oid.
 */
static Oid
CreateTable(const CreateTableArgs *args, Oid nspoid, TupleDesc desc)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (",
					 quote_qualified_identifier(args->table->schemaname ? args->table->schemaname :
												get_namespace_name(nspoid),
												args->table->relname));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		appendStringInfo(&sql, "%s%s %s", i > 0 ? ", " : "", quote_identifier(NameStr(att->attname)),
						 format_type_with_typemod(att->atttypid, att->atttypmod));
		if (OidIsValid(att->attcollation) && att->attcollation != get_typcollation(att->atttypid))
			appendStringInfo(&sql, " COLLATE %s", generate_collation_name(att->attcollation));
	}
	appendStringInfoString(&sql, ") SERVER bucketfdw OPTIONS (");
	foreach(lc, args->options)
	{
		DefElem    *option = lfirst(lc);

		appendStringInfo(&sql, "%s%s %s", foreach_current_index(lc) > 0 ? ", " : "",
						 quote_identifier(option->defname), quote_literal_cstr(defGetString(option)));
	}
	appendStringInfoChar(&sql, ')');
	Execute(sql.data);
	return get_relname_relid(args->table->relname, nspoid);
}

/* The tablespace of an existing table stays; to ask for another is an error. */
static void
CheckSameTablespace(const CreateTableArgs *args, Relation rel)
{
	char	   *tablespace = GivenOption(args, "tablespace");

	if (tablespace != NULL &&
		FileTablespace(get_tablespace_oid(tablespace, false)) != SpecTablespace(RelationGetRelid(rel)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bucketed table \"%s\" is in another tablespace", RelationGetRelationName(rel)),
				 errhint("Leave out tablespace, or change it with ALTER FOREIGN TABLE ... OPTIONS.")));
}

/*
 * Spec and compression of a table that is appended to stay; arguments that ask
 * for others are an error.
 */
static void
CheckSameSpec(const CreateTableArgs *args, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TableOptions *have = TableOptionsGet(rel);
	BucketSpec *spec = BucketSpecCopy(have->spec);
	List	   *options = args->options;
	TableOptions *want;

	if (GivenOption(args, "bucket_by") == NULL)
		options = OptionsSet(options, "bucket_by", BucketSpecBucketBy(spec, desc));
	/* without sort_by the order of the table is meant */
	if (GivenOption(args, "sort_by") == NULL)
		spec->nsort = spec->nkeys;
	want = TableOptionsParse(options, desc, RelationGetRelationName(rel), spec->nbuckets);
	if (!BucketSpecEqual(want->spec, spec))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bucketed table \"%s\" has another bucket spec", RelationGetRelationName(rel)),
				 errdetail("The table has %s; the call asks for %s.",
						   DescribeSpec(have->spec, desc), DescribeSpec(want->spec, desc)),
				 errhint("Leave out bucket_by, buckets and sort_by to use those of the table.")));
	if ((GivenOption(args, "compression") && want->compression != have->compression) ||
		(GivenOption(args, "compression_level") && want->compression_level != have->compression_level))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bucketed table \"%s\" has another compression", RelationGetRelationName(rel)),
				 errhint("Leave out compression and compression_level, or change them with ALTER FOREIGN TABLE ... OPTIONS.")));
}

/*
 * The table must have the columns of the query.  When its contents are
 * replaced, the query must have those of the table, except what the table
 * computes itself.
 */
static void
CheckColumns(Relation rel, TupleDesc query_desc, bool overwrite)
{
	TupleDesc	desc = RelationGetDescr(rel);
	const char *unknown = NULL;
	bool		same = true;

	for (int i = 0; i < query_desc->natts; i++)
	{
		Form_pg_attribute given = TupleDescAttr(query_desc, i);
		AttrNumber	attnum = get_attnum(RelationGetRelid(rel), NameStr(given->attname));

		if (attnum <= 0)
			unknown = NameStr(given->attname);
		else if (getBaseType(TupleDescAttr(desc, attnum - 1)->atttypid) != getBaseType(given->atttypid))
			same = false;
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		same &= att->attisdropped || att->attgenerated || att->attidentity ||
			SPI_fnumber(query_desc, NameStr(att->attname)) > 0;
	}
	if (overwrite && (!same || unknown != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("bucketed table \"%s\" has other columns than the query", RelationGetRelationName(rel)),
				 errdetail("The table has (%s); the query has (%s).",
						   ColumnsText(desc), ColumnsText(query_desc)),
				 errhint("Make the query give the columns of the table, or drop the table first.")));
	if (unknown != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", unknown,
						RelationGetRelationName(rel)),
				 errhint("The columns of the query are matched to those of the table by name.")));
}

/* The given options that may be others than those of the table. */
static List *
SpecOptions(const CreateTableArgs *args)
{
	List	   *options = list_copy(args->options);
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "tablespace") == 0)
			options = foreach_delete_current(options, lc);
	}
	return options;
}

/* What the arguments mean for one bucketed table, itself or a partition; NULL: its options stay. */
static SpecChange *
CheckTable(const CreateTableArgs *args, Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	SpecChange *change = NULL;

	CheckSameTablespace(args, rel);
	if (args->mode == SAVE_APPEND)
		CheckSameSpec(args, rel);
	else
	{
		change = SpecChangeMake(rel, SpecOptions(args));
		if (SpecChanges(change) && !BfIsTableOwner(relid, GetUserId()))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, RelationGetRelationName(rel));
		LatestCheckNothingNew(relid);
	}
	if (OidIsValid(args->colocate_with))
		CheckColocated(args, change ? change->wanted->spec : TableOptionsGet(rel)->spec, RelationGetDescr(rel));
	table_close(rel, NoLock);
	return change;
}

/* INSERT of rows that were kept; returns how many. */
static int64
InsertKept(Oid relid, TupleDesc columns, Tuplestorestate *store)
{
	char	   *text = psprintf("INSERT INTO %s (%s) SELECT * FROM kept_rows", TableName(relid), ColumnNames(columns));
	int64		rows;

	LoadAllowMemory(maintenance_work_mem);
	KeptRowsConnect(columns, store);
	if (SPI_execute(text, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not insert into \"%s\"", get_rel_name(relid));
	rows = SPI_processed;
	SPI_finish();
	CommandCounterIncrement();
	return rows;
}

/*
 * Replace the rows of a table, or of all partitions of one.  They are collected
 * before the old ones go, which the query may read; rows for partitions as they
 * come, as it is INSERT that routes them.
 */
static int64
Overwrite(const CreateTableArgs *args, Query *query, TupleDesc query_desc, Oid relid, List *tables, List *changes)
{
	bool		partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	SpecChange *first = linitial(changes);
	LoadState  *state = NULL;
	Tuplestorestate *store = NULL;
	int64		rows = 0;
	ListCell   *lc;
	ListCell   *lc2;

	if (args->with_data && partitioned)
		store = QueryRunStore(query, args->query);
	else if (args->with_data)
	{
		Relation	rel = table_open(relid, NoLock);

		state = LoadBeginDetached(rel, first->wanted, maintenance_work_mem);
		rows = LoadQueryRun(query, query_desc, args->query, rel, state);
		table_close(rel, NoLock);
	}
	Execute(psprintf("TRUNCATE %s%s", partitioned ? "" : "ONLY ", TableName(relid)));
	forboth(lc, tables, lc2, changes)
	{
		if (SpecChanges(lfirst(lc2)))
			SpecChangeApply(lfirst_oid(lc), lfirst(lc2));
	}
	if (state != NULL)
		LoadSealDetached(state);
	if (store != NULL)
	{
		rows = InsertKept(relid, query_desc, store);
		tuplestore_end(store);
	}
	return rows;
}

/*
 * Load the query into a table that was there before, or its partitions; it is
 * locked, and the caller's rights are checked.
 */
static int64
LoadExisting(const CreateTableArgs *args, Query *query, TupleDesc query_desc, Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	List	   *tables = BucketTables(relid);
	List	   *changes = NIL;
	int64		rows = 0;
	ListCell   *lc;

	foreach(lc, tables)
		changes = lappend(changes, CheckTable(args, lfirst_oid(lc)));
	CheckColumns(rel, query_desc, args->mode == SAVE_OVERWRITE);
	if (args->mode == SAVE_APPEND && args->with_data)
	{
		LoadAllowMemory(maintenance_work_mem);
		rows = LoadQueryRun(query, query_desc, args->query, rel,
							rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? NULL :
							LoadBegin(rel, maintenance_work_mem));
	}
	table_close(rel, NoLock);
	if (args->mode == SAVE_OVERWRITE)
		rows = Overwrite(args, query, query_desc, relid, tables, changes);
	return rows;
}

/*
 * Analyse the table as far as nobody else does: two appends must not wait for
 * one another, and ANALYZE keeps its lock until the end of the transaction.
 */
static void
AnalyzeTable(Oid relid)
{
	int			nestlevel;

	/* others than the owner would only be told so by a warning */
	if (!BfIsTableOwner(relid, GetUserId()))
		return;
	nestlevel = NewGUCNestLevel();
	(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	Execute(psprintf("ANALYZE (SKIP_LOCKED) %s", TableName(relid)));
	AtEOXact_GUC(true, nestlevel);
}

/*
 * Create a bucketed table from a query, or append to or overwrite one.
 * Returns the number of rows written.
 */
Datum
bucketfdw_create_table_as(PG_FUNCTION_ARGS)
{
	CreateTableArgs args;
	Query	   *query;
	TupleDesc	desc;
	Oid			nspoid;
	Oid			relid = InvalidOid;
	bool		existing;
	int64		rows = 0;

	PreventCommandIfReadOnly("bucketfdw.create_table_as()");
	PreventCommandIfParallelMode("bucketfdw.create_table_as()");
	GetArguments(fcinfo, &args);

	/* an old table is found along search_path, a new one gets in the way only where it would be */
	nspoid = RangeVarGetCreationNamespace(args.table);
	existing = args.mode == SAVE_APPEND || args.mode == SAVE_OVERWRITE;
	if (!existing)
		relid = get_relname_relid(args.table->relname, nspoid);
	if (OidIsValid(relid) && args.mode == SAVE_IGNORE)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists, skipping", args.table->relname)));
		PG_RETURN_INT64(0);
	}
	if (OidIsValid(relid) && args.mode == SAVE_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", args.table->relname),
				 errhint("Use mode => 'append', 'overwrite' or 'ignore'.")));

	CommandCounterIncrement();
	query = QueryTextSelect(args.query, "query");
	desc = ExecCleanTypeFromTL(query->targetList);
	CheckAttributeNamesTypes(desc, RELKIND_FOREIGN_TABLE, 0);
	if (existing)
		relid = LockForInsert(args.table, desc, args.mode == SAVE_OVERWRITE);
	if (OidIsValid(args.colocate_with))
		FollowColocated(&args, desc);

	if (OidIsValid(relid))
		rows = LoadExisting(&args, query, desc, relid);
	else
	{
		TableOptions *options;

		if (GivenOption(&args, "bucket_by") == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bucket_by is needed to create bucketed table \"%s\"", args.table->relname),
					 errhint("Name the columns that joins and GROUP BY use, for example bucket_by => 'customer_id'.")));
		options = TableOptionsParse(args.options, desc, args.table->relname, bf_default_buckets);
		if (OidIsValid(args.colocate_with))
			CheckColocated(&args, options->spec, desc);

		relid = CreateTable(&args, nspoid, desc);
		if (args.with_data)
		{
			Relation	rel = table_open(relid, RowExclusiveLock);

			rows = LoadQueryRun(query, desc, args.query, rel, LoadBegin(rel, maintenance_work_mem));
			table_close(rel, NoLock);
		}
	}
	CommandCounterIncrement();
	if (args.with_data)
		AnalyzeTable(relid);
	PG_RETURN_INT64(rows);
}
