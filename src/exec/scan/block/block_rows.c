/*
 * block_rows.c
 *	  Rows of a block: which are deleted, and what identifies each of them.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "port/pg_bitutils.h"
#include "storage/row_id.h"
#include "utils/memutils.h"

/* Room for the identities of rows of a batch, and Datums that point there. */
struct RowIds
{
	Datum		values[BF_BATCH_ROWS];
	ItemPointerData ids[BF_BATCH_ROWS];
};

void
BlockFindLive(const LeafFile *file, int blockno, LeafBlock *block)
{
	const FileBlock *fb = &file->reader->blocks[blockno];
	uint64		bits[ROW_NUMBERS_WORDS(BF_BATCH_ROWS)];
	int			from = 0;
	int			n = 0;

	block->nstretches = 0;
	block->nlive = fb->nrows;
	if (file->deleted == NULL)
		return;
	block->nlive -= RowNumbersBits(file->deleted, fb->first_row, fb->nrows, bits);
	if (block->nlive == fb->nrows || block->nlive == 0)
		return;
	if (block->stretches == NULL)
		block->stretches = MemoryContextAlloc(block->leaf->cxt, (BF_BATCH_ROWS / 2 + 1) * sizeof(RowStretch));
	for (int word = 0; word < ROW_NUMBERS_WORDS(fb->nrows); word++)
	{
		for (uint64 left = bits[word]; left != 0; left &= left - 1)
		{
			int			row = word * 64 + pg_rightmost_one_pos64(left);

			if (row > from)
				block->stretches[n++] = (RowStretch) {(uint16) from, (uint16) row};
			from = row + 1;
		}
	}
	if (from < fb->nrows)
		block->stretches[n++] = (RowStretch) {(uint16) from, (uint16) fb->nrows};
	block->nstretches = n;
}

void
BlockCloseUp(const LeafBlock *block, Datum *values, bool *nulls)
{
	int			n = 0;

	for (int i = 0; i < block->nstretches; i++)
	{
		const RowStretch *stretch = &block->stretches[i];
		int			len = stretch->to - stretch->from;

		if (n != stretch->from)
		{
			memmove(values + n, values + stretch->from, len * sizeof(Datum));
			if (nulls != NULL)
				memmove(nulls + n, nulls + stretch->from, len * sizeof(bool));
		}
		n += len;
	}
}

int
BlockLiveRank(const LeafFile *file, int blockno, int row)
{
	int64		first = file->reader->blocks[blockno].first_row;

	return file->deleted == NULL ? row : row - (int) RowNumbersCountIn(file->deleted, first, first + row);
}

int
BlockLiveRows(const LeafFile *file, int blockno)
{
	return BlockLiveRank(file, blockno, file->reader->blocks[blockno].nrows);
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

void
LeafBlockRowIds(LeafBlock *block, ColumnVector *vector)
{
	uint16		rows[BF_BATCH_ROWS];
	int			n = 0;

	for (int i = 0; i < block->nstretches; i++)
	{
		for (int row = block->stretches[i].from; row < block->stretches[i].to; row++)
			rows[n++] = (uint16) row;
	}
	BlockRowIds(block->file, block->blockno, block->nstretches > 0 ? rows : NULL, block->nlive, &block->ids,
				block->leaf->cxt, vector);
}
