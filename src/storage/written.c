/*
 * written.c
 *	  Which tables the transaction has written to, for those who look after
 *	  them.
 */
#include "postgres.h"

#include "storage/written.h"
#include "utils/memutils.h"

/* in the transaction's context */
static List *written = NIL;

void
WrittenNote(Oid relid, WrittenKind kind, int64 rows)
{
	WrittenTable *table = NULL;
	ListCell   *lc;

	foreach(lc, written)
	{
		if (((WrittenTable *) lfirst(lc))->relid == relid)
			table = lfirst(lc);
	}
	if (table == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

		table = palloc0(sizeof(WrittenTable));
		table->relid = relid;
		written = lappend(written, table);
		MemoryContextSwitchTo(old);
	}
	table->count[kind]++;
	if (kind == WRITTEN_DELETES)
		table->deleted += rows;
	else
		table->rows += rows;
}

const List *
WrittenTables(void)
{
	return written;
}

void
WrittenForget(void)
{
	written = NIL;
}
