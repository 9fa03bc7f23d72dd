/*
 * change_manifest.c
 *	  The manifest that all parts of a statement which changes rows share.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "load/change_manifest.h"
#include "load/load_internal.h"
#include "utils/memutils.h"

typedef struct SharedManifest
{
	dlist_node	node;
	Manifest   *manifest;
} SharedManifest;

/* A statement that changes rows of tables of ours; lives as long as its executor. */
typedef struct ChangingStatement
{
	dlist_node	node;
	EState	   *estate;
	dlist_head	manifests;
	MemoryContextCallback callback;
} ChangingStatement;

static dlist_head statements = DLIST_STATIC_INIT(statements);

/* Memory context callback: the executor's memory goes. */
static void
ForgetStatement(void *arg)
{
	dlist_delete(&((ChangingStatement *) arg)->node);
	bf_load_changing--;
}

static ChangingStatement *
GetStatement(EState *estate)
{
	ChangingStatement *statement;
	dlist_iter	iter;

	dlist_foreach(iter, &statements)
	{
		statement = dlist_container(ChangingStatement, node, iter.cur);
		if (statement->estate == estate)
			return statement;
	}
	statement = palloc0(sizeof(ChangingStatement));
	statement->estate = estate;
	dlist_init(&statement->manifests);
	statement->callback.func = ForgetStatement;
	statement->callback.arg = statement;
	dlist_push_head(&statements, &statement->node);
	bf_load_changing++;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &statement->callback);
	return statement;
}

Manifest *
ChangeManifest(EState *estate, Oid relid)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ChangingStatement *statement = GetStatement(estate);
	SharedManifest *shared;
	dlist_iter	iter;

	dlist_foreach(iter, &statement->manifests)
	{
		shared = dlist_container(SharedManifest, node, iter.cur);
		if (shared->manifest->relid == relid)
		{
			MemoryContextSwitchTo(old);
			return shared->manifest;
		}
	}
	shared = palloc(sizeof(SharedManifest));
	shared->manifest = LoadManifestToChange(relid, estate->es_snapshot);
	dlist_push_head(&statement->manifests, &shared->node);
	MemoryContextSwitchTo(old);
	return shared->manifest;
}

uint64
ChangeManifestRow(const Manifest *manifest, int64 number, int *file, int64 *row, bool *inlined)
{
	const RowOrigin *origins;

	*file = ManifestFileOfNumber(manifest, number, row);
	origins = manifest->files[*file].origins;
	*inlined = origins != NULL;
	if (origins == NULL)
		return manifest->files[*file].file_id;
	origins += *row;
	*row = origins->row;
	return origins->file_id;
}
