/*
 * row_id.h
 *	  A row's number within a manifest, see ManifestNumberRows, as the ctid that
 *	  the executor carries from a scan to the node that changes rows.
 *
 * It means nothing outside the statement.
 */
#ifndef BF_ROW_ID_H
#define BF_ROW_ID_H

#include "storage/itemptr.h"

/* offset 0 is no tuple's */
#define ROW_ID_OFFSETS 65535

/* numbers are less than this */
#define ROW_ID_LIMIT ((int64) MaxBlockNumber * ROW_ID_OFFSETS)

static inline void
RowIdSet(ItemPointer id, int64 number)
{
	ItemPointerSet(id, (BlockNumber) (number / ROW_ID_OFFSETS), (OffsetNumber) (1 + number % ROW_ID_OFFSETS));
}

static inline int64
RowIdGet(const ItemPointerData *id)
{
	return (int64) ItemPointerGetBlockNumberNoCheck(id) * ROW_ID_OFFSETS + ItemPointerGetOffsetNumberNoCheck(id) - 1;
}

#endif							/* BF_ROW_ID_H */
