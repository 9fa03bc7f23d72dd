/*
 * catalog_print.c
 *	  Has anything of the rows that a catalog table has of one table changed?
 *
 * Why a print that holds proves that two snapshots see the same: whoever's
 * changes the later snapshot sees had made them, and so moved an LSN, before it
 * was taken, and the print is compared after that.  Of rows that are as they
 * were, snapshots differ only about transactions that one of them takes for
 * running; of a settled print there are none, nor for a snapshot whose xmin is
 * past all of them.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_am_d.h"
#include "compat.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/catalog.h"
#include "storage/catalog_print.h"
#include "storage/grow.h"
#include "storage/manifest.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* A walk over the index entries of one relid. */
typedef struct PrintWalk
{
	Relation	rel;
	Relation	index;
	IndexScanDesc scan;
} PrintWalk;

static void
WalkBegin(PrintWalk *walk, const char *table, Oid relid)
{
	ScanKeyData key;

	walk->rel = table_open(BucketCatalogOid(table), AccessShareLock);
	walk->index = index_open(CatalogIndexOid(table), AccessShareLock);
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	walk->scan = BfIndexBeginScan(walk->rel, walk->index, SnapshotAny, 1);
	index_rescan(walk->scan, &key, 1, NULL, 0);
}

/* Locks are kept until the end of the transaction, as those of other scans of the catalog. */
static void
WalkEnd(PrintWalk *walk)
{
	index_endscan(walk->scan);
	index_close(walk->index, NoLock);
	table_close(walk->rel, NoLock);
}

/* Are rows of the relation such that an LSN tells of their changes? */
static bool
IsLogged(Relation rel)
{
	return rel->rd_rel->relam == HEAP_TABLE_AM_OID && RelationNeedsWAL(rel);
}

/* A transaction that wrote or deleted a row; false: the snapshot may take it for running. */
static bool
NoteTransaction(CatalogPrint *print, TransactionId xid, Snapshot snapshot)
{
	if (!TransactionIdIsNormal(xid))
		return true;
	if (!TransactionIdPrecedes(xid, snapshot->xmin))
		return false;
	if (!TransactionIdIsValid(print->newest) || TransactionIdPrecedes(print->newest, xid))
		print->newest = xid;
	return true;
}

/* The same of all that the head of a row on a page names. */
static bool
NoteRow(CatalogPrint *print, Page page, OffsetNumber offset, Snapshot snapshot)
{
	ItemId		id;
	HeapTupleHeader head;

	if (offset > PageGetMaxOffsetNumber(page))
		return false;
	id = PageGetItemId(page, offset);
	/* nobody sees it any more; should its place be taken again, the page tells */
	if (ItemIdIsDead(id) || !ItemIdIsUsed(id))
		return true;
	/* rows are never updated, but by hand */
	if (!ItemIdIsNormal(id))
		return false;
	head = (HeapTupleHeader) PageGetItem(page, id);
	if (HeapTupleHeaderIsHotUpdated(head) || !NoteTransaction(print, HeapTupleHeaderGetXmin(head), snapshot))
		return false;
	if ((head->t_infomask & HEAP_XMAX_INVALID) != 0)
		return true;
	return (head->t_infomask & HEAP_XMAX_IS_MULTI) == 0 &&
		NoteTransaction(print, HeapTupleHeaderGetRawXmax(head), snapshot);
}

/* Visit the pages of the rows. */
static void
TakePages(CatalogPrint *print, Relation rel, Snapshot snapshot)
{
	MemoryContext cxt = CurrentMemoryContext;
	int			room = 0;

	for (int i = 0; i < print->nrows && print->settled;)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&print->rows[i]);
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		print->pages = GrowArray(print->pages, cxt, &room, print->npages + 1, sizeof(PrintPage));
		buffer = ReadBuffer(rel, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		print->pages[print->npages].block = block;
		print->pages[print->npages].lsn = PageGetLSN(page);
		print->settled = !XLogRecPtrIsInvalid(print->pages[print->npages++].lsn);
		for (; i < print->nrows && ItemPointerGetBlockNumber(&print->rows[i]) == block; i++)
			print->settled &= NoteRow(print, page, ItemPointerGetOffsetNumber(&print->rows[i]), snapshot);
		UnlockReleaseBuffer(buffer);
	}
}

void
CatalogPrintTake(CatalogPrint *print, const char *table, Oid relid, Snapshot snapshot)
{
	MemoryContext cxt = CurrentMemoryContext;
	PrintWalk	walk;
	ItemPointer tid;
	int			room = 0;

	memset(print, 0, sizeof(CatalogPrint));
	WalkBegin(&walk, table, relid);
	print->table = RelationGetRelid(walk.rel);
	print->storage = walk.rel->rd_rel->relfilenode;
	print->settled = IsLogged(walk.rel);
	while (print->settled && (tid = index_getnext_tid(walk.scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		print->rows = GrowArray(print->rows, cxt, &room, print->nrows + 1, sizeof(ItemPointerData));
		print->rows[print->nrows++] = *tid;
	}
	TakePages(print, walk.rel, snapshot);
	WalkEnd(&walk);
}

/* Do the pages have the LSNs they had? */
static bool
SamePages(const CatalogPrint *print, Relation rel)
{
	for (int i = 0; i < print->npages; i++)
	{
		Buffer		buffer = ReadBuffer(rel, print->pages[i].block);
		XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);

		ReleaseBuffer(buffer);
		if (lsn != print->pages[i].lsn)
			return false;
	}
	return true;
}

bool
CatalogPrintHolds(const CatalogPrint *print, const char *table, Oid relid, Snapshot snapshot)
{
	PrintWalk	walk;
	ItemPointer tid;
	bool		same;
	int			n = 0;

	if (!print->settled ||
		(TransactionIdIsValid(print->newest) && !TransactionIdPrecedes(print->newest, snapshot->xmin)))
		return false;
	WalkBegin(&walk, table, relid);
	same = RelationGetRelid(walk.rel) == print->table && walk.rel->rd_rel->relfilenode == print->storage &&
		IsLogged(walk.rel);
	while (same && (tid = index_getnext_tid(walk.scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		same = n < print->nrows && ItemPointerEquals(tid, &print->rows[n]);
		n++;
	}
	/* pages that the index still leads to are there */
	same = same && n == print->nrows && SamePages(print, walk.rel);
	WalkEnd(&walk);
	return same;
}
