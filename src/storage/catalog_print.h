/*
 * catalog_print.h
 *	  Has anything of the rows that a catalog table has of one table changed?
 *
 * A print is what the index leads to, row by row, visible or not, with the LSN
 * of each page of the heap that these rows are on.  Every change of a row moves
 * the LSN of its page, and a new row has a new entry in the index: as long as
 * both are the same, so are the rows.
 */
#ifndef BF_CATALOG_PRINT_H
#define BF_CATALOG_PRINT_H

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

typedef struct PrintPage
{
	BlockNumber block;
	XLogRecPtr	lsn;
} PrintPage;

typedef struct CatalogPrint
{
	Oid			table;
	Oid			storage;		/* relfilenode */
	int			nrows;
	ItemPointerData *rows;		/* in order of the index */
	int			npages;
	PrintPage  *pages;
	bool		settled;		/* the next says all there is to know of who wrote and deleted the rows */
	TransactionId newest;		/* of those; InvalidTransactionId: nobody that matters */
} CatalogPrint;

/*
 * Take the print of the rows of relid in a table of the catalog, before they
 * are read under a snapshot; palloc'd in the current context.  It is settled if
 * all transactions that wrote or deleted them had ended when the snapshot was
 * taken, and what they did is logged.
 */
extern void CatalogPrintTake(CatalogPrint *print, const char *table, Oid relid, Snapshot snapshot);

/*
 * Does a snapshot, taken before this call, see of these rows what that of
 * CatalogPrintTake saw?  false: it may, or may not.
 */
extern bool CatalogPrintHolds(const CatalogPrint *print, const char *table, Oid relid, Snapshot snapshot);

#endif							/* BF_CATALOG_PRINT_H */
