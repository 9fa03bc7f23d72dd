/*
 * drop.c
 *	  Files that are dropped when the transaction commits.
 */
#include "postgres.h"

#include "access/nbtxlog.h"
#include "access/rmgr.h"
#include "access/xlog.h"
#include "access/xlogutils.h"
#include "access/xloginsert.h"
#include "catalog/storage.h"
#include "compat.h"
#include "storage/file_store.h"
#include "storage/grow.h"
#include "storage/written.h"
#include "utils/rel.h"

/*
 * A file that core's list has twice makes 15 panic after the commit record, and
 * again when that is replayed.  So we keep what we gave it; an aborted
 * subtransaction forgets its own, a finished one hands them to its parent.
 */
typedef struct DroppedFile
{
	FileLocator locator;
	int			nest;
} DroppedFile;

/* in TopMemoryContext, kept from transaction to transaction unless large */
static DroppedFile *dropped = NULL;
static int	ndropped = 0;
static int	dropped_room = 0;

static bool
IsDropped(FileLocator locator)
{
	for (int i = ndropped - 1; i >= 0; i--)
		if (dropped[i].locator.number == locator.number &&
			dropped[i].locator.tablespace == locator.tablespace)
			return true;
	return false;
}

bool
StoreDrop(FileLocator locator, uint64 file_id)
{
	BfRelLocator rel = FileRelLocator(locator);
	Relation	fake;

	if (IsDropped(locator))
		return false;
	switch (StoreLookAt(locator, file_id))
	{
		case STORE_MISSING:
			return false;
		case STORE_FOREIGN:
			ereport(WARNING,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("file \"%s\" is left alone", StorePath(locator)),
					 errdetail("It does not begin as the file of a bucketed table that stood there.")));
			return false;
		case STORE_OURS:
			break;
	}

	/* a commit that drops files must have an id */
	(void) GetTopTransactionId();
	dropped = GrowArray(dropped, TopMemoryContext, &dropped_room, ndropped + 1, sizeof(DroppedFile));
	fake = CreateFakeRelcacheEntry(rel);

	/* it would be unpinned, and from 17 on was never pinned */
	fake->rd_smgr = NULL;
	RelationPreserveStorage(rel, true);
	RelationDropStorage(fake);
	FreeFakeRelcacheEntry(fake);
	dropped[ndropped].locator = locator;
	dropped[ndropped].nest = GetCurrentTransactionNestLevel();
	ndropped++;
	return true;
}

/*
 * Replay of this record resolves conflicts and looks at no block.  It needs a
 * locator for its database alone.
 */
void
StoreLogConflict(FullTransactionId xid)
{
	xl_btree_reuse_page record = BfReusePageInit(FileRelLocator((FileLocator) {0}), xid);

	if (!XLogStandbyInfoActive())
		return;
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeReusePage);
	(void) XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}

void
StoreAtXactEvent(XactEvent event)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	WrittenForget();
	ndropped = 0;
	if (dropped_room > 1024)
	{
		pfree(dropped);
		dropped = NULL;
		dropped_room = 0;
	}
}

void
StoreAtSubXactEvent(SubXactEvent event)
{
	int			nest = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		while (ndropped > 0 && dropped[ndropped - 1].nest >= nest)
			ndropped--;
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int i = ndropped - 1; i >= 0 && dropped[i].nest >= nest; i--)
			dropped[i].nest = nest - 1;
	}
}
