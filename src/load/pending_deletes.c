/*
 * pending_deletes.c
 *	  Rows that the current transaction deleted, until they are delete vectors.
 */
#include "postgres.h"

#include "access/xact.h"
#include "load/load_internal.h"
#include "load/pending_deletes.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/inline_catalog.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* rows of a command in a file that become a vector at its end */
#define STATEMENT_DELETES 4096

/* more vectors are not made for the sake of workers */
#define MAX_VECTORS_FOR_WORKERS 16

/* Hashed byte by byte. */
typedef struct FileKey
{
	uint64		file_id;
	Oid			relid;
	uint32		zero;
} FileKey;

/* A file of which rows were deleted. */
typedef struct PendingFile
{
	FileKey		key;
	bool		inlined;		/* an inline write */
	dlist_head	sets;			/* DeleteSet, those of later commands first */
} PendingFile;

/* What one command deleted of it. */
typedef struct DeleteSet
{
	dlist_node	node;
	CommandId	cid;
	SubTransactionId subid;		/* whose deletes these are */
	SubTransactionId consumed_in;	/* sealed or discarded there; invalid: they wait */
	RowNumbers *rows;
} DeleteSet;

static inline bool
IsWaiting(const DeleteSet *set)
{
	return set->consumed_in == InvalidSubTransactionId;
}

/* A walk over all sets; that which was given last may be freed. */
typedef struct SetWalk
{
	HASH_SEQ_STATUS seq;
	PendingFile *file;			/* of the set that was given last; NULL: none */
	dlist_node *next;			/* after it */
} SetWalk;

static void
SetWalkBegin(SetWalk *walk)
{
	walk->file = NULL;
	if (bf_load.deletes != NULL)
		hash_seq_init(&walk->seq, bf_load.deletes);
}

/* The next set, NULL at the end; to be called until then. */
static DeleteSet *
SetWalkNext(SetWalk *walk)
{
	dlist_node *node;

	if (bf_load.deletes == NULL)
		return NULL;
	while (walk->file == NULL || walk->next == &walk->file->sets.head)
	{
		walk->file = hash_seq_search(&walk->seq);
		if (walk->file == NULL)
			return NULL;
		walk->next = walk->file->sets.head.next;
	}
	node = walk->next;
	walk->next = node->next;
	return dlist_container(DeleteSet, node, node);
}

static void
FreeSet(DeleteSet *set)
{
	dlist_delete(&set->node);
	RowNumbersFree(set->rows);
	pfree(set);
}

static PendingFile *
GetFile(Oid relid, uint64 file_id, bool inlined)
{
	FileKey		key = {.file_id = file_id,.relid = relid};
	PendingFile *file;
	bool		found;

	if (bf_load.deletes == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(FileKey),.entrysize = sizeof(PendingFile),.hcxt = bf_load.cxt};

		bf_load.deletes = hash_create("bucketfdw deletes", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	file = hash_search(bf_load.deletes, &key, HASH_ENTER, &found);
	if (!found)
	{
		file->inlined = inlined;
		dlist_init(&file->sets);
	}
	return file;
}

DeleteResult
PendingDelete(Oid relid, uint64 file_id, int64 row, bool inlined, CommandId cid)
{
	PendingFile *file = GetFile(relid, file_id, inlined);
	SubTransactionId current = GetCurrentSubTransactionId();
	DeleteSet  *set = NULL;
	dlist_node *later = NULL;	/* last of those of later commands */
	MemoryContext old;
	dlist_iter	iter;

	dlist_foreach(iter, &file->sets)
	{
		DeleteSet  *other = dlist_container(DeleteSet, node, iter.cur);

		if (other->cid < cid)
			break;
		if (IsWaiting(other) && RowNumbersHas(other->rows, row))
			return other->cid == cid ? DELETE_SAME_COMMAND : DELETE_LATER_COMMAND;
		if (other->cid == cid && other->subid == current && IsWaiting(other))
			set = other;
		later = &other->node;
	}
	old = MemoryContextSwitchTo(bf_load.cxt);
	if (set == NULL)
	{
		set = palloc0(sizeof(DeleteSet));
		set->cid = cid;
		set->subid = current;
		set->rows = RowNumbersCreate();
		if (later != NULL)
			dlist_insert_after(later, &set->node);
		else
			dlist_push_head(&file->sets, &set->node);
	}
	(void) RowNumbersAdd(set->rows, row);
	MemoryContextSwitchTo(old);
	return DELETE_DONE;
}

/* The rows of a file that wait and that commands before one deleted; NULL: none. */
static RowNumbers *
RowsOfFile(const PendingFile *file, CommandId before)
{
	RowNumbers *rows = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, (dlist_head *) &file->sets)
	{
		const DeleteSet *set = dlist_container(DeleteSet, node, iter.cur);

		if (!IsWaiting(set) || set->cid >= before)
			continue;
		if (rows == NULL)
			rows = RowNumbersCreate();
		(void) RowNumbersUnion(rows, set->rows);
	}
	return rows;
}

/* The file of a manifest with an id, -1: it is not there. */
static int
FindFile(const Manifest *manifest, uint64 file_id)
{
	for (int f = 0; f < manifest->nfiles; f++)
	{
		if (manifest->files[f].file_id == file_id)
			return f;
	}
	return -1;
}

int64
PendingDeletesApply(Manifest *manifest, CommandId before)
{
	int64		n = 0;
	HASH_SEQ_STATUS seq;
	PendingFile *file;

	if (bf_load.deletes == NULL)
		return 0;
	hash_seq_init(&seq, bf_load.deletes);
	while ((file = hash_seq_search(&seq)) != NULL)
	{
		RowNumbers *rows = file->key.relid == manifest->relid ? RowsOfFile(file, before) : NULL;
		int64	   *counts = NULL;
		int			nruns = 0;

		if (rows == NULL)
			continue;
		n += RowNumbersCount(rows);
		if (manifest->files != NULL)
		{
			int			f = file->inlined ? -1 : FindFile(manifest, file->key.file_id);

			if (f >= 0)
				counts = ManifestCountByRun(manifest, f, rows, &nruns);
			/* a snapshot may not see the file */
			if (f >= 0 || file->inlined)
				manifest->deletes = DeletesAdd(manifest->deletes, file->key.file_id, rows, counts, nruns);
		}
		RowNumbersFree(rows);
	}
	if (n > 0 && manifest->files != NULL)
		ManifestApplyDeletes(manifest);
	else
	{
		manifest->rows -= n;
		manifest->deleted += n;
	}
	return n;
}

/* The sets of a file are sealed or discarded: by the subtransaction that may undo it. */
static void
Consume(PendingFile *file, CommandId only)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &file->sets)
	{
		DeleteSet  *set = dlist_container(DeleteSet, node, iter.cur);

		if (!IsWaiting(set) || (only != InvalidCommandId && set->cid != only))
			continue;
		set->consumed_in = GetCurrentSubTransactionId();
		if (set->subid == set->consumed_in)
			FreeSet(set);
	}
}

/* Make a vector of rows of a file, or take it out if no others are left: marked in drop then. */
static void
SealFile(const PendingFile *file, const RowNumbers *rows, const Manifest *manifest, CommandId cid, bool *drop)
{
	Oid			relid = file->key.relid;
	int64		deleted = RowNumbersCount(rows);
	int64	   *counts = NULL;
	int			nruns = 0;

	if (file->inlined)
	{
		const FileDeletes *before = DeletesOfFile(manifest->deletes, file->key.file_id);

		if (drop != NULL && InlineDeleteEmpty(relid, file->key.file_id, deleted + (before ? before->rows : 0)))
		{
			DeletesRemove(relid, &file->key.file_id, 1);
			return;
		}
	}
	else
	{
		int			f = FindFile(manifest, file->key.file_id);

		/* it was given up since */
		if (f < 0)
			return;
		if (drop != NULL && ManifestFileLive(&manifest->files[f]) == deleted)
		{
			drop[f] = true;
			return;
		}
		counts = ManifestCountByRun(manifest, f, rows, &nruns);
	}
	DeletesInsert(relid, file->key.file_id, rows, counts, nruns, cid);
}

/* The tables that have rows which wait to be deleted. */
static List *
PendingTables(void)
{
	List	   *tables = NIL;
	SetWalk		walk;
	DeleteSet  *set;

	SetWalkBegin(&walk);
	while ((set = SetWalkNext(&walk)) != NULL)
	{
		if (IsWaiting(set))
			tables = list_append_unique_oid(tables, walk.file->key.relid);
	}
	return tables;
}

/* Take files that have no rows left out of the manifest. */
static void
DropFiles(const Manifest *manifest, const bool *drop)
{
	uint64	   *ids = palloc(Max(manifest->nfiles, 1) * sizeof(uint64));
	int			n = 0;
	MemoryContext old;

	for (int f = 0; f < manifest->nfiles; f++)
	{
		if (drop[f])
			ids[n++] = manifest->files[f].file_id;
	}
	if (n == 0)
		return;
	qsort(ids, n, sizeof(uint64), CompareFileIds);
	(void) ManifestDropFiles(manifest->relid, ids, n);
	old = MemoryContextSwitchTo(bf_load.cxt);
	bf_load.sealed = list_append_unique_oid(bf_load.sealed, manifest->relid);
	MemoryContextSwitchTo(old);
}

/* Has nobody who may still read taken a snapshot since a command? */
static bool
NobodySaw(CommandId cid)
{
	for (int i = 0; i < bf_load.nreaders; i++)
	{
		if (bf_load.readers[i].curcid > cid)
			return false;
	}
	return true;
}

/*
 * Make vectors of what waits of a table: one for a file, if no snapshot is used
 * after this, else one for each command; or only of one command.
 */
static void
SealTable(Oid relid, bool divide, CommandId only)
{
	/* a manifest row that is deleted now is there for snapshots of between */
	bool		may_drop = !divide || (only != InvalidCommandId && NobodySaw(only));
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw seal deletes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Snapshot	snapshot;
	Manifest   *manifest;
	bool	   *drop;
	HASH_SEQ_STATUS seq;
	PendingFile *file;

	/*
	 * Rows of the catalog that go here may just have been written under an
	 * earlier command's id; their toasted values have the current one, which
	 * cannot delete them.
	 */
	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	manifest = ManifestRead(relid, snapshot);
	drop = palloc0(Max(manifest->nfiles, 1) * sizeof(bool));
	hash_seq_init(&seq, bf_load.deletes);
	while ((file = hash_seq_search(&seq)) != NULL)
	{
		dlist_iter	iter;

		CHECK_FOR_INTERRUPTS();
		if (file->key.relid != relid)
			continue;
		if (!divide)
		{
			RowNumbers *rows = RowsOfFile(file, InvalidCommandId);

			if (rows != NULL)
				SealFile(file, rows, manifest, GetCurrentCommandId(true), drop);
		}
		else
		{
			dlist_foreach(iter, &file->sets)
			{
				const DeleteSet *set = dlist_container(DeleteSet, node, iter.cur);

				if (IsWaiting(set) && (only == InvalidCommandId || set->cid == only))
					SealFile(file, set->rows, manifest, set->cid, may_drop ? drop : NULL);
			}
		}
		Consume(file, only);
	}
	UnregisterSnapshot(snapshot);
	DropFiles(manifest, drop);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

void
PendingDeletesSealAll(void)
{
	List	   *tables = PendingTables();
	ListCell   *lc;

	foreach(lc, tables)
		SealTable(lfirst_oid(lc), false, InvalidCommandId);
	list_free(tables);
}

void
PendingDeletesSeal(Oid relid)
{
	List	   *tables = PendingTables();
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (!OidIsValid(relid) || lfirst_oid(lc) == relid)
			SealTable(lfirst_oid(lc), true, InvalidCommandId);
	}
	list_free(tables);
}

bool
PendingDeletesAreFew(void)
{
	int			n = 0;
	SetWalk		walk;
	DeleteSet  *set;

	SetWalkBegin(&walk);
	while ((set = SetWalkNext(&walk)) != NULL)
		n += IsWaiting(set);

	/* who is changing rows must find in memory which ones it has changed */
	return n == 0 || (n <= MAX_VECTORS_FOR_WORKERS && bf_load_changing == 0);
}

void
PendingDeletesEndCommand(CommandId cid)
{
	List	   *tables = NIL;
	bool		large = false;
	SetWalk		walk;
	DeleteSet  *set;
	ListCell   *lc;

	/* an outer statement that changes rows must find in memory what this one has changed */
	if (bf_load_changing > 1)
		return;
	SetWalkBegin(&walk);
	while ((set = SetWalkNext(&walk)) != NULL)
	{
		if (!IsWaiting(set) || set->cid != cid)
			continue;
		large |= RowNumbersCount(set->rows) >= STATEMENT_DELETES;
		tables = list_append_unique_oid(tables, walk.file->key.relid);
	}
	if (!large)
		return;
	foreach(lc, tables)
		SealTable(lfirst_oid(lc), true, cid);
}

void
PendingDeletesDiscard(Oid relid)
{
	HASH_SEQ_STATUS seq;
	PendingFile *file;

	if (bf_load.deletes == NULL)
		return;
	hash_seq_init(&seq, bf_load.deletes);
	while ((file = hash_seq_search(&seq)) != NULL)
	{
		if (file->key.relid == relid)
			Consume(file, InvalidCommandId);
	}
}

void
PendingDeletesSubCommit(SubTransactionId subid, SubTransactionId parent)
{
	SetWalk		walk;
	DeleteSet  *set;

	SetWalkBegin(&walk);
	while ((set = SetWalkNext(&walk)) != NULL)
	{
		if (set->subid == subid)
			set->subid = parent;
		if (set->consumed_in == subid)
			set->consumed_in = parent;
		if (set->consumed_in == set->subid)
			FreeSet(set);
	}
}

/* Takes no memory and raises no error. */
void
PendingDeletesSubAbort(SubTransactionId subid)
{
	SetWalk		walk;
	DeleteSet  *set;

	SetWalkBegin(&walk);
	while ((set = SetWalkNext(&walk)) != NULL)
	{
		if (set->subid == subid)
			FreeSet(set);
		else if (set->consumed_in == subid)
			set->consumed_in = InvalidSubTransactionId;
	}
}
