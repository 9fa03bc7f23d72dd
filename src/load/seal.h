/*
 * seal.h
 *	  Collected rows become files and one manifest row.
 */
#ifndef BF_SEAL_H
#define BF_SEAL_H

#include "rows/row_buffer.h"
#include "utils/relcache.h"

/*
 * Write all rows of some sets of one layout as one write of the table, which
 * snapshots with a curcid greater than cid see.  The sets stay as they are.
 */
extern void SealSets(Relation rel, RowSet **sets, int nsets, CommandId cid);

#endif							/* BF_SEAL_H */
