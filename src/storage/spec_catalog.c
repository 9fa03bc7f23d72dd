/*
 * spec_catalog.c
 *	  Which tables are ours, their effective options, and the spec rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "guc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "spec/column_list.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* The handler decides, not the names of wrapper and server. */
bool
IsBucketTable(Oid relid)
{
	HeapTuple	table;
	ForeignServer *server = NULL;
	ForeignDataWrapper *wrapper = NULL;
	HeapTuple	proc;
	Oid			nspoid;
	oidvector  *noargs;
	bool		result;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		return false;
	nspoid = get_namespace_oid("bucketfdw", true);
	if (!OidIsValid(nspoid))
		return false;

	/* without a lock, any of them may go at this moment */
	table = SearchSysCache1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	if (HeapTupleIsValid(table))
	{
		server = GetForeignServerExtended(((Form_pg_foreign_table) GETSTRUCT(table))->ftserver,
										  FSV_MISSING_OK);
		ReleaseSysCache(table);
	}
	if (server != NULL)
		wrapper = GetForeignDataWrapperExtended(server->fdwid, FDW_MISSING_OK);
	if (wrapper == NULL || !OidIsValid(wrapper->fdwhandler))
		return false;

	noargs = buildoidvector(NULL, 0);
	proc = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum("handler"),
						   PointerGetDatum(noargs), ObjectIdGetDatum(nspoid));
	if (!HeapTupleIsValid(proc))
		return false;
	result = ((Form_pg_proc) GETSTRUCT(proc))->oid == wrapper->fdwhandler;
	ReleaseSysCache(proc);
	return result;
}

/* Name of an option's string, or NULL. */
static char *
OptionString(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

/* true if every column an option names is one of the table. */
static bool
NamesResolve(List *options, const char *option, bool allow_order, TupleDesc desc)
{
	char	   *text = OptionString(options, option);
	ListCell   *lc;

	if (text == NULL)
		return true;
	foreach(lc, ColumnListParse(option, text, allow_order))
	{
		ColumnItem *item = lfirst(lc);
		bool		found = false;

		for (int i = 0; i < desc->natts && !found; i++)
		{
			Form_pg_attribute att = TupleDescAttr(desc, i);

			found = !att->attisdropped && strcmp(NameStr(att->attname), item->name) == 0;
		}
		if (!found)
			return false;
	}
	return true;
}

/* true if all columns of a spec still exist. */
static bool
ColumnsExist(const BucketSpec *spec, TupleDesc desc)
{
	for (int i = 0; i < spec->nsort; i++)
		if (spec->sort[i].attnum > desc->natts ||
			TupleDescAttr(desc, spec->sort[i].attnum - 1)->attisdropped)
			return false;
	return true;
}

/* The list with one option set, in its old place; other elements are shared. */
List *
OptionsSet(List *options, const char *name, const char *value)
{
	DefElem    *element = makeDefElem(pstrdup(name), (Node *) makeString(pstrdup(value)), -1);
	List	   *result = NIL;
	bool		found = false;
	ListCell   *lc;

	foreach(lc, options)
	{
		bool		same = strcmp(lfirst_node(DefElem, lc)->defname, name) == 0;

		result = lappend(result, same ? element : lfirst(lc));
		found |= same;
	}
	return found ? result : lappend(result, element);
}

/*
 * Options whose column names are those of today: a column renamed while the
 * event triggers were off is found by its number in the newest spec row.
 */
static List *
OptionsFollowRename(Relation rel, List *options)
{
	TupleDesc	desc = RelationGetDescr(rel);
	BucketSpec *spec;
	int			version;

	if (NamesResolve(options, "bucket_by", false, desc) &&
		NamesResolve(options, "sort_by", true, desc))
		return options;

	spec = SpecNewest(RelationGetRelid(rel), &version);
	if (spec == NULL || !ColumnsExist(spec, desc))
		return options;

	options = OptionsSet(options, "bucket_by", BucketSpecBucketBy(spec, desc));
	if (OptionString(options, "sort_by") != NULL)
		options = OptionsSet(options, "sort_by", BucketSpecSortBy(spec, desc));
	return options;
}

bool
TableWantsUpkeep(Oid relid)
{
	char	   *value = OptionString(GetForeignTable(relid)->options, "upkeep");
	bool		wanted = true;

	if (value != NULL)
		(void) parse_bool(value, &wanted);
	return wanted;
}

TableOptions *
TableOptionsGet(Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));

	return TableOptionsParse(OptionsFollowRename(rel, table->options), RelationGetDescr(rel),
							 RelationGetRelationName(rel), bf_default_buckets);
}

/* The newest spec row that a snapshot sees, or the newest that has this spec; *tablespace is that of it. */
BucketSpec *
SpecNewestRow(Oid relid, const BucketSpec *wanted, Snapshot snapshot, int *version, Oid *tablespace)
{
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext row_cxt = AllocSetContextCreate(cxt, "bucketfdw spec row", ALLOCSET_SMALL_SIZES);
	Oid			rowtype = get_rel_type_id(relid);
	BucketSpec *spec = NULL;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_spec];

	*version = 0;
	*tablespace = InvalidOid;

	/* a parallel query may not take a snapshot; its own serves */
	CatalogScanBegin(&scan, "spec", AccessShareLock, relid,
					 snapshot == NULL && IsInParallelMode() ? GetActiveSnapshot() : snapshot);
	MemoryContextSwitchTo(row_cxt);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_spec);
		if (DatumGetObjectId(values[Anum_spec_rowtype - 1]) == rowtype &&
			DatumGetInt32(values[Anum_spec_spec_version - 1]) > *version)
		{
			BucketSpec *found = CatalogGetSpec(values, Anum_spec_hash_version);

			if (wanted != NULL && !BucketSpecEqual(found, wanted))
				continue;
			*version = DatumGetInt32(values[Anum_spec_spec_version - 1]);
			*tablespace = DatumGetObjectId(values[Anum_spec_tablespace - 1]);
			spec = found;
		}
	}
	MemoryContextSwitchTo(cxt);
	if (spec != NULL)
		spec = BucketSpecCopy(spec);
	CatalogScanEnd(&scan);
	MemoryContextDelete(row_cxt);
	return spec;
}

BucketSpec *
SpecNewest(Oid relid, int *version)
{
	Oid			tablespace;

	return SpecNewestRow(relid, NULL, NULL, version, &tablespace);
}

Oid
SpecTablespace(Oid relid)
{
	int			version;
	Oid			tablespace;

	(void) SpecNewestRow(relid, NULL, NULL, &version, &tablespace);
	return tablespace;
}

int
SpecRenew(Oid relid, const BucketSpec *spec)
{
	int			version;
	Oid			tablespace;
	Relation	rel;
	Datum		values[Natts_spec];
	bool		nulls[Natts_spec] = {false};

	if (SpecNewestRow(relid, NULL, NULL, &version, &tablespace) == NULL)
		CatalogDeleteRows("spec", relid);

	values[Anum_spec_relid - 1] = ObjectIdGetDatum(relid);
	values[Anum_spec_rowtype - 1] = ObjectIdGetDatum(get_rel_type_id(relid));
	values[Anum_spec_database - 1] = ObjectIdGetDatum(MyDatabaseId);
	values[Anum_spec_tablespace - 1] = ObjectIdGetDatum(tablespace);
	values[Anum_spec_spec_version - 1] = Int32GetDatum(version + 1);
	CatalogSetSpec(spec, values, Anum_spec_hash_version);

	rel = table_open(BucketCatalogOid("spec"), RowExclusiveLock);
	CatalogInsert(rel, values, nulls, Natts_spec, GetCurrentCommandId(true));
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return version + 1;
}

int
SpecRecord(Oid relid, const BucketSpec *spec)
{
	int			version;
	BucketSpec *newest = SpecNewest(relid, &version);

	return newest != NULL && BucketSpecEqual(newest, spec) ? version : SpecRenew(relid, spec);
}

int
SpecVersion(Oid relid, const BucketSpec *spec)
{
	int			version;
	Oid			tablespace;

	return SpecNewestRow(relid, spec, NULL, &version, &tablespace) != NULL ? version : SpecRenew(relid, spec);
}

/* The newest row is written anew: its version is that of the spec. */
void
SpecSetTablespace(Oid relid, Oid tablespace)
{
	int			version;
	Oid			before;
	CatalogScan scan;
	HeapTuple	tuple;
	Oid			rowtype = get_rel_type_id(relid);

	if (SpecNewestRow(relid, NULL, NULL, &version, &before) == NULL || before == tablespace)
		return;
	CatalogScanBegin(&scan, "spec", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		Datum		values[Natts_spec];
		bool		nulls[Natts_spec] = {false};

		CatalogDeform(scan.rel, tuple, values, Natts_spec);
		if (DatumGetObjectId(values[Anum_spec_rowtype - 1]) != rowtype ||
			DatumGetInt32(values[Anum_spec_spec_version - 1]) != version)
			continue;
		values[Anum_spec_tablespace - 1] = ObjectIdGetDatum(tablespace);
		if (!CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			elog(ERROR, "spec of bucketed table with OID %u was changed concurrently", relid);
		CatalogInsert(scan.rel, values, nulls, Natts_spec, GetCurrentCommandId(true));
	}
	CatalogScanEnd(&scan);
	CommandCounterIncrement();
}
