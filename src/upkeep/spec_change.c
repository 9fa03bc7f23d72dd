/*
 * spec_change.c
 *	  Other options of a table that decide how its files are written.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "ddl/ddl.h"
#include "foreign/foreign.h"
#include "spec/column_list.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "upkeep/spec_change.h"
#include "utils/rel.h"

/* The bucket columns, then what the table is sorted by beyond its key now. */
static char *
SortBehind(const char *bucket_by, const BucketSpec *spec, TupleDesc desc)
{
	List	   *keys = ColumnListParse("bucket_by", bucket_by, false);
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, keys)
		ColumnItemAppend(&buf, ((ColumnItem *) lfirst(lc))->name, 0);
	for (int i = spec->nkeys; i < spec->nsort; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, spec->sort[i].attnum - 1)->attname);
		bool		is_key = false;

		foreach(lc, keys)
			is_key |= strcmp(((ColumnItem *) lfirst(lc))->name, name) == 0;
		if (!is_key)
			ColumnItemAppend(&buf, name, spec->sort[i].flags);
	}
	return buf.data;
}

/* The value of an option, or NULL. */
static const char *
OptionValue(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, name) == 0)
			return defGetString(lfirst(lc));
	}
	return NULL;
}

SpecChange *
SpecChangeMake(Relation rel, List *given)
{
	SpecChange *change = palloc0(sizeof(SpecChange));
	const char *bucket_by = OptionValue(given, "bucket_by");
	ListCell   *lc;

	change->now = TableOptionsGet(rel);
	change->options = GetForeignTable(RelationGetRelid(rel))->options;
	if (bucket_by != NULL && OptionValue(change->options, "sort_by") != NULL)
		change->options = OptionsSet(change->options, "sort_by",
									 SortBehind(bucket_by, change->now->spec, RelationGetDescr(rel)));
	foreach(lc, given)
	{
		DefElem    *option = lfirst(lc);

		change->options = OptionsSet(change->options, option->defname, defGetString(option));
	}
	change->wanted = TableOptionsParse(change->options, RelationGetDescr(rel), RelationGetRelationName(rel),
									   change->now->spec->nbuckets);
	return change;
}

bool
SpecChanges(const SpecChange *change)
{
	return !BucketSpecEqual(change->now->spec, change->wanted->spec) ||
		change->wanted->compression != change->now->compression ||
		change->wanted->compression_level != change->now->compression_level;
}

void
SpecChangeApply(Oid relid, const SpecChange *change)
{
	TableOptionsWrite(relid, change->options);
	if (change->wanted->compression != change->now->compression)
		SpecRenew(relid, change->wanted->spec);
	else
		SpecRecord(relid, change->wanted->spec);
}
