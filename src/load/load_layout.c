/*
 * load_layout.c
 *	  Layouts of the tables that this session writes to, kept from transaction
 *	  to transaction.
 */
#include "postgres.h"

#include "load/load_internal.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* more are forgotten at the end of a transaction */
#define MAX_KEPT_TABLES 64

/* The layout of a table as of the last look at it. */
typedef struct LoadTable
{
	Oid			relid;
	bool		valid;			/* layout is up to date */
	bool		invalidated;	/* while it was looked at */
	LoadKnown	known;
	RowLayout  *layout;
	MemoryContext cxt;			/* of the layout */
} LoadTable;

static MemoryContext tables_cxt = NULL;
static List *tables = NIL;

static void
RelcacheCallback(Datum arg, Oid relid)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		LoadTable  *table = lfirst(lc);

		if (relid == InvalidOid || table->relid == relid)
		{
			table->valid = false;
			table->invalidated = true;
			memset(&table->known, 0, sizeof(LoadKnown));
		}
	}
}

static LoadTable *
GetTable(Oid relid)
{
	MemoryContext old;
	LoadTable  *table;
	ListCell   *lc;

	foreach(lc, tables)
	{
		table = lfirst(lc);
		if (table->relid == relid)
			return table;
	}
	if (tables_cxt == NULL)
		tables_cxt = AllocSetContextCreate(TopMemoryContext, "bucketfdw layouts", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(tables_cxt);
	table = palloc0(sizeof(LoadTable));
	table->relid = relid;
	tables = lappend(tables, table);
	MemoryContextSwitchTo(old);
	return table;
}

/*
 * The current layout of a table, shared by all its sets while it stays the
 * same; it lives as long as the transaction at least.
 */
RowLayout *
LoadGetLayout(Relation rel)
{
	LoadTable  *table = GetTable(RelationGetRelid(rel));
	TableOptions *options;
	MemoryContext cxt;
	MemoryContext old;
	RowLayout  *layout;

	if (table->valid)
		return table->layout;

	table->invalidated = false;
	options = TableOptionsGet(rel);
	if (table->layout == NULL || !RowLayoutMatches(table->layout, RelationGetDescr(rel), options))
	{
		cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw layout", ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(cxt);
		layout = RowLayoutCreate(RelationGetRelid(rel), RelationGetDescr(rel), options);
		MemoryContextSwitchTo(old);

		/* rows that wait may need the old one */
		if (table->layout != NULL)
			MemoryContextSetParent(table->cxt, TopTransactionContext);
		MemoryContextSetParent(cxt, tables_cxt);
		table->cxt = cxt;
		table->layout = layout;
	}
	table->valid = !table->invalidated;
	return table->layout;
}

/* To be filled in by who finds it out. */
LoadKnown *
LoadGetKnown(const RowLayout *layout)
{
	static LoadKnown nothing;
	LoadTable  *table = GetTable(layout->relid);

	memset(&nothing, 0, sizeof(LoadKnown));
	return table->layout == layout && table->valid ? &table->known : &nothing;
}

/* The end of a transaction, or the abort of a subtransaction: what was seen may have been its own. */
void
LoadLayoutsAtEnd(bool commit)
{
	ListCell   *lc;

	if (!commit)
	{
		foreach(lc, tables)
			((LoadTable *) lfirst(lc))->known.recorded = false;
	}
	else if (list_length(tables) > MAX_KEPT_TABLES)
	{
		tables = NIL;
		MemoryContextDelete(tables_cxt);
		tables_cxt = NULL;
	}
}

void
LoadLayoutsInit(void)
{
	CacheRegisterRelcacheCallback(RelcacheCallback, (Datum) 0);
}
