/*
 * block_rows.c
 *	  Rows of a block: which are deleted, and what identifies each of them.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "storage/row_id.h"
#include "utils/memutils.h"

/* Room for the identities of rows of a batch, and Datums that point there. */
struct RowIds
{
	Datum		values[BF_BATCH_ROWS];
	ItemPointerData ids[BF_BATCH_ROWS];
};

void
BlockDropDeleted(const LeafFile *file, int blockno, Batch *batch, uint16 *selection)
{
	const FileBlock *fb = &file->reader->blocks[blockno];
	uint64		bits[ROW_NUMBERS_WORDS(BF_BATCH_ROWS)];
	int			n = 0;

	if (RowNumbersBits(file->deleted, fb->first_row, fb->nrows, bits) == 0)
		return;
	for (int i = 0; i < batch->nselected; i++)
	{
		int			row = batch->selection ? batch->selection[i] : i;

		selection[n] = (uint16) row;
		n += 1 - ((bits[row / 64] >> (row % 64)) & 1);
	}
	batch->selection = selection;
	batch->nselected = n;
}

int
BlockLiveRows(const LeafFile *file, int blockno)
{
	const FileBlock *fb = &file->reader->blocks[blockno];

	if (file->deleted == NULL)
		return fb->nrows;
	return fb->nrows - (int) RowNumbersCountIn(file->deleted, fb->first_row, fb->first_row + fb->nrows);
}

int
BlockDropDeletedOf(const LeafFile *file, int blockno, uint16 *rows, int n)
{
	int64		first = file->reader->blocks[blockno].first_row;
	int			kept = 0;

	if (file->deleted == NULL)
		return n;
	for (int i = 0; i < n; i++)
	{
		rows[kept] = rows[i];
		kept += !RowNumbersHas(file->deleted, first + rows[i]);
	}
	return kept;
}

void
BlockRowIds(const LeafFile *file, int blockno, const uint16 *rows, int n, RowIds **ids, MemoryContext cxt,
			ColumnVector *vector)
{
	int64		first = file->first_number + file->reader->blocks[blockno].first_row;

	if (*ids == NULL)
	{
		*ids = MemoryContextAlloc(cxt, sizeof(RowIds));
		for (int i = 0; i < BF_BATCH_ROWS; i++)
			(*ids)->values[i] = PointerGetDatum(&(*ids)->ids[i]);
	}
	for (int i = 0; i < n; i++)
		RowIdSet(&(*ids)->ids[i], first + (rows ? rows[i] : i));
	vector->values = (*ids)->values;
	vector->nulls = NULL;
}
