/*
 * pending.c
 *	  What this transaction does to files, and the callbacks that finish it.
 *
 * Entries carry the nest level of their subtransaction: an aborted one undoes
 * its own, a finished one hands them to its parent.  The callbacks at commit
 * and abort must not raise errors.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/directory.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/pending.h"
#include "utils/wait_event.h"

typedef struct PendingFile
{
	uint64		file_id;
	Oid			relid;
	int			first_bucket;
	int			nest;
	File		vfd;			/* -1: closed */
	bool		unsynced;		/* written to its end, but not yet fsynced */
} PendingFile;

typedef struct PendingDrop
{
	Oid			relid;
	int			nest;
} PendingDrop;

/* directories this transaction wrote to and did not sync yet, or made */
typedef struct PendingDirectory
{
	Oid			relid;
	bool		created;		/* by this transaction */
	bool		parents;		/* entries above to be synced */
	bool		dirty;
} PendingDirectory;

/* so many files wait to be fsynced together */
#define SYNC_FILES 64

/* all in TopMemoryContext, kept from transaction to transaction unless large */
static PendingFile *files = NULL;
static int	nfiles = 0;
static int	files_room = 0;
static int	nunsynced = 0;
static PendingDrop *drops = NULL;
static int	ndrops = 0;
static int	drops_room = 0;
static PendingDirectory *directories = NULL;
static int	ndirectories = 0;
static int	directories_room = 0;

/* nest level of the outermost subtransaction that changed something; 0: none */
static int	wrote_nest = 0;

/* tables whose directory entries this backend has synced up to the data directory */
static Oid *synced = NULL;
static int	nsynced = 0;
static int	synced_room = 0;

/* Give back an array that grew large. */
static void *
Shrink(void *array, int *room)
{
	if (*room <= 1024)
		return array;
	pfree(array);
	*room = 0;
	return NULL;
}

void
PendingNoteWrite(void)
{
	int			nest = GetCurrentTransactionNestLevel();

	if (wrote_nest == 0 || wrote_nest > nest)
		wrote_nest = nest;
}

void
PendingReserve(void)
{
	files = GrowArray(files, TopMemoryContext, &files_room, nfiles + 1, sizeof(PendingFile));
}

/* Raises no error after PendingReserve. */
void
PendingAddFile(Oid relid, uint64 file_id, int first_bucket, File vfd)
{
	PendingFile *entry;

	PendingReserve();
	entry = &files[nfiles++];
	entry->file_id = file_id;
	entry->relid = relid;
	entry->first_bucket = first_bucket;
	entry->nest = GetCurrentTransactionNestLevel();
	entry->vfd = vfd;
	entry->unsynced = false;
	PendingNoteWrite();
}

/* The newest entry of a file, or NULL. */
static PendingFile *
FindFile(uint64 file_id)
{
	for (int i = nfiles - 1; i >= 0; i--)
		if (files[i].file_id == file_id)
			return &files[i];
	return NULL;
}

/* fsync and close the files that are written to their end. */
static void
SyncFiles(void)
{
	for (int i = 0; i < nfiles && nunsynced > 0; i++)
	{
		PendingFile *entry = &files[i];

		if (!entry->unsynced)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (FileSync(entry->vfd, WAIT_EVENT_DATA_FILE_IMMEDIATE_SYNC) < 0)
			ereport(data_sync_elevel(ERROR),
					(errcode_for_file_access(),
					 errmsg("could not fsync file \"%s\": %m", FilePathName(entry->vfd))));
		entry->unsynced = false;
		nunsynced--;
		FileClose(entry->vfd);
		entry->vfd = -1;
	}
	Assert(nunsynced == 0);
}

/*
 * Waiting for the disk once for many files takes a fraction of the time that
 * waiting for each of them does, and most of what they hold is written by then.
 */
void
PendingFileFinished(uint64 file_id)
{
	PendingFile *entry = FindFile(file_id);

	if (entry == NULL)
		elog(ERROR, "file %016llx is not of this transaction", (unsigned long long) file_id);
	entry->unsynced = true;
	if (++nunsynced >= SYNC_FILES)
		SyncFiles();
}

bool
PendingHasFile(uint64 file_id)
{
	return FindFile(file_id) != NULL;
}

/* Is the table dropped in this transaction? */
static bool
IsDropped(Oid relid)
{
	for (int i = 0; i < ndrops; i++)
		if (drops[i].relid == relid)
			return true;
	return false;
}

void
StoreDropAtCommit(Oid relid)
{
	if (IsDropped(relid))
		return;
	drops = GrowArray(drops, TopMemoryContext, &drops_room, ndrops + 1, sizeof(PendingDrop));
	drops[ndrops].relid = relid;
	drops[ndrops].nest = GetCurrentTransactionNestLevel();
	ndrops++;
	PendingNoteWrite();

	/* nothing is unlinked for a commit that a crash could lose */
	ForceSyncCommit();
}

void
PendingAddDirectory(Oid relid, bool created)
{
	for (int i = 0; i < ndirectories; i++)
	{
		if (directories[i].relid == relid)
		{
			directories[i].created |= created;
			directories[i].parents |= created;
			directories[i].dirty = true;
			return;
		}
	}
	directories = GrowArray(directories, TopMemoryContext, &directories_room, ndirectories + 1, sizeof(PendingDirectory));
	directories[ndirectories].relid = relid;
	directories[ndirectories].created = created;
	directories[ndirectories].parents = created;
	directories[ndirectories].dirty = true;
	ndirectories++;
}

/* true if this backend has synced the way to a table's directory before. */
static bool
WasSynced(Oid relid)
{
	for (int i = 0; i < nsynced; i++)
		if (synced[i] == relid)
			return true;
	return false;
}

/*
 * Another backend may have made the directory and not yet synced its entry
 * above, so each backend does that once for each table; a live table's
 * directory is never removed.
 */
void
StoreSync(void)
{
	SyncFiles();
	for (int i = 0; i < ndirectories; i++)
	{
		PendingDirectory *entry = &directories[i];
		bool		parents;

		if (!entry->dirty)
			continue;
		parents = entry->parents || !WasSynced(entry->relid);
		DirectorySync(entry->relid, parents);
		if (!WasSynced(entry->relid))
		{
			/* a small memory: forgetting costs three fsyncs */
			if (nsynced >= 1024)
				nsynced = 0;
			synced = GrowArray(synced, TopMemoryContext, &synced_room, nsynced + 1, sizeof(Oid));
			synced[nsynced++] = entry->relid;
		}
		entry->parents = false;
		entry->dirty = false;
	}
}

/* The directory of a table may have gone. */
static void
ForgetSynced(Oid relid)
{
	for (int i = 0; i < nsynced; i++)
	{
		if (synced[i] == relid)
		{
			synced[i] = synced[--nsynced];
			return;
		}
	}
}

/*
 * Close and unlink the files of subtransactions at or below a nest level.
 * They stand at the end of the array: a parent adds nothing while its child
 * runs.
 */
static void
UndoFiles(int nest)
{
	int64		removed = 0;

	while (nfiles > 0 && files[nfiles - 1].nest >= nest)
	{
		PendingFile *entry = &files[--nfiles];
		char		path[MAXPGPATH];

		if (entry->unsynced)
			nunsynced--;
		if (entry->vfd >= 0)
			FileClose(entry->vfd);
		DirectoryFilePath(path, MyDatabaseId, entry->relid, entry->file_id, entry->first_bucket);
		(void) DirectoryUnlink(path, LOG, &removed);
	}
}

/* Forget everything at the end of a transaction. */
static void
Forget(void)
{
	nfiles = ndrops = ndirectories = nunsynced = 0;
	wrote_nest = 0;
	files = Shrink(files, &files_room);
	drops = Shrink(drops, &drops_room);
	directories = Shrink(directories, &directories_room);
}

void
StoreAtXactEvent(XactEvent event)
{
	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (wrote_nest != 0)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has written to a bucketed table"),
						 errhint("Use COMMIT; transactions that only read bucketed tables can be prepared.")));
			break;

		case XACT_EVENT_COMMIT:
			for (int i = 0; i < nfiles; i++)
				if (files[i].vfd >= 0)
					FileClose(files[i].vfd);
			for (int i = 0; i < ndrops; i++)
			{
				(void) DirectoryRemoveTable(drops[i].relid);
				ForgetSynced(drops[i].relid);
			}
			Forget();
			break;

		case XACT_EVENT_ABORT:
			UndoFiles(0);

			/* a table made by this transaction leaves an empty directory */
			for (int i = 0; i < ndirectories; i++)
			{
				if (directories[i].created)
					DirectoryRemoveEmpty(directories[i].relid);
				ForgetSynced(directories[i].relid);
			}
			Forget();
			break;

		case XACT_EVENT_PREPARE:
			Forget();
			break;

		default:
			/* parallel workers write nothing */
			break;
	}
}

void
StoreAtSubXactEvent(SubXactEvent event)
{
	int			nest = GetCurrentTransactionNestLevel();

	switch (event)
	{
		case SUBXACT_EVENT_ABORT_SUB:
			UndoFiles(nest);
			while (ndrops > 0 && drops[ndrops - 1].nest >= nest)
				ndrops--;
			if (wrote_nest >= nest)
				wrote_nest = 0;
			break;

		case SUBXACT_EVENT_COMMIT_SUB:
			for (int i = nfiles - 1; i >= 0 && files[i].nest >= nest; i--)
				files[i].nest = nest - 1;
			for (int i = ndrops - 1; i >= 0 && drops[i].nest >= nest; i--)
				drops[i].nest = nest - 1;
			if (wrote_nest >= nest)
				wrote_nest = nest - 1;
			break;

		default:
			break;
	}
}
