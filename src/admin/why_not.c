/*
 * why_not.c
 *	  bucketfdw.why_not: which joins and aggregations of a query use buckets,
 *	  and why the others do not; could two tables be joined by buckets?
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/open_checked.h"
#include "admin/query_text.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "load/load.h"
#include "nodes/nodeFuncs.h"
#include "plan/why/plan_report.h"
#include "plan/why/reasons.h"
#include "storage/manifest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(bucketfdw_why_not_query);
PG_FUNCTION_INFO_V1(bucketfdw_why_not_tables);

PGDLLEXPORT Datum bucketfdw_why_not_query(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_why_not_tables(PG_FUNCTION_ARGS);

/* Rights on all tables of a query, those in subqueries and view bodies too. */
static bool
CheckRights(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		BfCheckRelationRights((Query *) node);
		return query_tree_walker((Query *) node, CheckRights, context, 0);
	}
	return expression_tree_walker(node, CheckRights, context);
}

static void
PutRow(FunctionCallInfo fcinfo, const ReportRow *row)
{
	const Rejection *rejection = &row->rejection;
	char	   *values[] = {
		unconstify(char *, row->kind), row->relations, unconstify(char *, row->join_type),
		row->used ? "t" : "f",
		rejection->code == REASON_NONE ? NULL : unconstify(char *, ReasonName(rejection->code)),
		RejectionDetail(rejection), rejection->hint
	};

	PutTexts(fcinfo, values);
}

Datum
bucketfdw_why_not_query(PG_FUNCTION_ARGS)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Query	   *query;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	query = QueryTextPlannable(string);
	/* before planning, which may call functions and look at statistics */
	(void) CheckRights((Node *) query, NULL);
	foreach(lc, PlanReportCollect(query, string, CURSOR_OPT_PARALLEL_OK))
		PutRow(fcinfo, lfirst(lc));
	return (Datum) 0;
}

/* A table of the two, and what it is bucketed by; NULL: it is not bucketed. */
typedef struct ComparedTable
{
	Oid			relid;
	char	   *label;
	BucketSpec *spec;			/* its own, or that of its first partition */
	List	   *columns;		/* names of the bucket columns */
	int			buckets;		/* of its files, else of its options; of several partitions what divides them all */
	Oid			other_hash;		/* a table with files of another hash version than this library's, or InvalidOid */
	int			hash_version;	/* of these files */
	Rejection	partitions;		/* what stands in the way in its partitions, if spec is NULL */
} ComparedTable;

/* Look at a bucketed table, which the compared one is or has as a partition. */
static void
AddBucketed(Oid relid, ComparedTable *table)
{
	Relation	rel = relation_open(relid, NoLock);
	BucketSpec *spec = TableOptionsGet(rel)->spec;
	Manifest   *manifest = LoadManifestSizes(relid, GetActiveSnapshot(), false);
	int			buckets = ManifestBuckets(manifest);

	relation_close(rel, NoLock);
	if (buckets == 0)
		buckets = spec->nbuckets;
	table->buckets = table->spec == NULL ? buckets : GreatestCommonDivisor(table->buckets, buckets);
	if (table->spec == NULL)
	{
		table->spec = spec;
		table->columns = BucketColumnNames(relid, spec);
	}
	for (int i = 0; i < manifest->nspecs; i++)
	{
		if (!BucketSpecHashKnown(manifest->specs[i]))
		{
			table->other_hash = relid;
			table->hash_version = manifest->specs[i]->hash_version;
		}
	}
}

static void
OpenCompared(Oid relid, ComparedTable *table)
{
	List	   *leaves = NIL;
	ListCell   *lc;

	memset(table, 0, sizeof(*table));
	table->relid = relid;
	relation_close(OpenChecked(relid, AccessShareLock, RequireReadable), NoLock);
	table->label = TableLabel(relid);
	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
	{
		foreach(lc, find_all_inheritors(relid, AccessShareLock, NULL))
		{
			if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
				leaves = lappend_oid(leaves, lfirst_oid(lc));
		}
		if (PartitionsReason(table->label, leaves, &table->partitions))
			return;
	}
	else if (IsBucketTable(relid))
		leaves = list_make1_oid(relid);
	foreach(lc, leaves)
		AddBucketed(lfirst_oid(lc), table);
}

/* "a is bucketed by x (integer) and y (text), 64 buckets" */
static char *
SpecText(const ComparedTable *table)
{
	List	   *words = NIL;
	ListCell   *lc;
	int			k = 0;

	foreach(lc, table->columns)
		words = lappend(words, psprintf("%s (%s)", quote_identifier(strVal(lfirst(lc))),
										format_type_be(table->spec->sort[k++].typid)));
	return psprintf("%s is bucketed by %s, %d buckets", table->label, WordList(words), table->buckets);
}

/*
 * The statement that makes a copy of one table bucketed like the other; NULL:
 * it has no columns of those names whose classes meet.
 */
static char *
CopyLike(const ComparedTable *table, const ComparedTable *like)
{
	ListCell   *lc;
	int			k = 0;

	foreach(lc, like->columns)
	{
		AttrNumber	attnum = get_attnum(table->relid, strVal(lfirst(lc)));

		if (attnum == InvalidAttrNumber ||
			!KeyClassesMeet(KeyClassOfType(getBaseType(get_atttype(table->relid, attnum))),
							like->spec->sort[k++].keyclass))
			return NULL;
	}
	return BucketedCopyStatement(table->relid, like->columns, NIL, like->buckets, 0);
}

/* The type both columns can be cast to without a change of what is equal; InvalidOid: none is known. */
static Oid
CommonType(KeyClass a, KeyClass b)
{
	KeyClass	low = Min(a, b);
	KeyClass	high = Max(a, b);

	if ((low == KEYCLASS_INT || low == KEYCLASS_NUMERIC) && high == KEYCLASS_FLOAT)
		return FLOAT8OID;
	if (low == KEYCLASS_INT && high == KEYCLASS_OID)
		return INT8OID;
	if (low == KEYCLASS_DATE && (high == KEYCLASS_TIMESTAMP || high == KEYCLASS_TIMESTAMPTZ))
		return high == KEYCLASS_TIMESTAMP ? TIMESTAMPOID : TIMESTAMPTZOID;
	if (low == KEYCLASS_TIMESTAMP && high == KEYCLASS_TIMESTAMPTZ)
		return TIMESTAMPTZOID;
	if (low == KEYCLASS_TEXT && high == KEYCLASS_BPCHAR)
		return TEXTOID;
	return InvalidOid;
}

/* The classes differ at some position: the table to write anew, with the column cast. */
static void
CompareTypes(ComparedTable *tables, int k, Rejection *rejection)
{
	KeyClass	a = tables[0].spec->sort[k].keyclass;
	KeyClass	b = tables[1].spec->sort[k].keyclass;
	Oid			common = CommonType(a, b);
	ComparedTable *wrong = &tables[KeyClassOfType(common) == a ? 1 : 0];
	List	   *types = NIL;

	rejection->code = REASON_TYPE_CLASS;
	if (!OidIsValid(common))
		return;
	for (int i = 0; i < wrong->spec->nkeys; i++)
		types = lappend(types, i == k ? format_type_be(common) : NULL);
	rejection->hint = psprintf("Make a copy with type %s in place of %s: %s", format_type_be(common),
							   wrong->label,
							   BucketedCopyStatement(wrong->relid, wrong->columns,
													 types, wrong->buckets, 0));
}

static void
CompareTables(ComparedTable *tables, Rejection *rejection)
{
	ComparedTable *a = &tables[0];
	ComparedTable *b = &tables[1];
	bool		reordered;
	char	   *copy;
	StringInfoData on;

	for (int i = 0; i < 2; i++)
	{
		ComparedTable *other = &tables[1 - i];

		if (tables[i].spec != NULL)
			continue;
		if (tables[i].partitions.code != REASON_NONE &&
			tables[i].partitions.code != REASON_NOT_BUCKETED)
		{
			*rejection = tables[i].partitions;
			return;
		}
		rejection->code = REASON_NOT_BUCKETED;
		rejection->detail = tables[i].partitions.detail ? tables[i].partitions.detail :
			psprintf("%s is not a bucketed table", tables[i].label);
		if (other->spec != NULL)
		{
			rejection->detail = psprintf("%s; %s", rejection->detail, SpecText(other));
			copy = CopyLike(&tables[i], other);
			rejection->hint = copy == NULL ?
				psprintf("Make a copy with bucketfdw.create_table_as, bucketed by the columns that are joined with those of %s.",
						 other->label) :
				psprintf("Make a bucketed copy; bucket_by names the columns that are joined with %s: %s",
						 other->label, copy);
		}
		return;
	}
	for (int i = 0; i < 2; i++)
	{
		if (tables[i].hash_version != 0)
		{
			HashVersionReason(tables[i].other_hash, TableLabel(tables[i].other_hash),
							  tables[i].hash_version, rejection);
			return;
		}
	}
	rejection->detail = psprintf("%s; %s", SpecText(a), SpecText(b));
	initStringInfo(&on);
	/* the same names in another order? */
	reordered = !equal(a->columns, b->columns) && list_difference(a->columns, b->columns) == NIL &&
		list_difference(b->columns, a->columns) == NIL;
	for (int k = 0; k < Min(a->spec->nkeys, b->spec->nkeys); k++)
	{
		if (!KeyClassesMeet(a->spec->sort[k].keyclass, b->spec->sort[k].keyclass))
		{
			if (a->spec->nkeys == b->spec->nkeys && !reordered)
				CompareTypes(tables, k, rejection);
			else
				rejection->code = REASON_BUCKET_COLUMNS_DIFFER;
		}
		appendStringInfo(&on, "%s%s.%s = %s.%s", k > 0 ? " AND " : "",
						 a->label, quote_identifier(strVal(list_nth(a->columns, k))),
						 b->label, quote_identifier(strVal(list_nth(b->columns, k))));
	}
	if (a->spec->nkeys != b->spec->nkeys)
		rejection->code = REASON_BUCKET_COLUMNS_DIFFER;
	else if (reordered)
		rejection->code = REASON_BUCKET_COLUMN_ORDER;
	if (rejection->code == REASON_NONE)
	{
		int			groups = GreatestCommonDivisor(a->buckets, b->buckets);

		rejection->hint = psprintf("Join ON %s: %d bucket group%s.", on.data, groups, groups == 1 ? "" : "s");
	}
	else if (rejection->hint == NULL)
	{
		int			wrong = 1;

		copy = CopyLike(b, a);
		if (copy == NULL)
		{
			wrong = 0;
			copy = CopyLike(a, b);
		}
		rejection->hint = copy == NULL ?
			psprintf("Make a copy of %s or %s with bucketfdw.create_table_as, bucketed by the columns that are joined with those of the other.",
					 a->label, b->label) :
			psprintf("Make a copy of %s bucketed like %s; bucket_by names the columns that are joined: %s",
					 tables[wrong].label, tables[1 - wrong].label, copy);
	}
}

Datum
bucketfdw_why_not_tables(PG_FUNCTION_ARGS)
{
	ComparedTable tables[2];
	ReportRow	row = {.kind = "join"};

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < 2; i++)
		OpenCompared(PG_GETARG_OID(i), &tables[i]);
	CompareTables(tables, &row.rejection);
	row.relations = psprintf("%s, %s", tables[0].label, tables[1].label);
	row.used = row.rejection.code == REASON_NONE;
	PutRow(fcinfo, &row);
	return (Datum) 0;
}
