/*
 * point_read.c
 *	  Lookups: the few rows of a block that equal values on its leading sort
 *	  columns.
 *
 * They are found by binary search in columns that stay packed as in the file,
 * and what is asked of them is taken out one by one.  The packed columns are
 * kept for the next lookup: those used last, as far as they fit work_mem, and
 * keys rather than others, because every lookup in a block needs them.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "format/read/packed_column.h"
#include "miscadmin.h"

/* of more values (IN) than this a block is searched as a whole */
#define MAX_POINT_VALUES 64

/* What is kept of a column of a block; that of the first kind goes first. */
typedef enum PointKind
{
	POINT_OTHER,
	POINT_KEY					/* it is searched */
} PointKind;

StaticAssertDecl(POINT_KEY + 1 == lengthof(((LeafReader *) 0)->points), "a list for each kind");

/* A packed column of a block that is kept. */
typedef struct PointColumn
{
	dlist_node	link;			/* last used first */
	struct PointColumn **slot;	/* what points here */
	LeafFile   *file;
	PackedColumn *packed;
	Size		memory;
	PointKind	kind;
	uint64		used;			/* lookup that used it last */
} PointColumn;

/* The rows a lookup found in a block. */
typedef struct PointBatch
{
	Batch		batch;			/* load_arg points back to this struct */
	struct LeafReader *leaf;
	LeafFile   *file;
	int			blockno;
	uint16		rows[BF_GATHER_ROWS];	/* of the block */
	uint16		selection[BF_GATHER_ROWS];	/* of them, by quals */
	RowIds	   *ids;
	ByteBuffer *made;
} PointBatch;

void
LeafFileFindPoints(LeafReader *leaf, LeafFile *file)
{
	const BucketSpec *spec = file->reader->spec;

	file->pointquals = palloc(spec->nsort * sizeof(int));
	for (int k = 0; k < spec->nsort; k++)
	{
		const SortColumn *col = &spec->sort[k];
		int			found = -1;

		if (col->flags != 0)
			return;
		for (int i = 0; i < leaf->nquals && found < 0; i++)
		{
			const LeafQual *qual = &leaf->quals[i];

			if (qual->attnum == col->attnum && qual->keyclass == col->keyclass &&
				(qual->op == LEAF_EQ || (qual->op == LEAF_ANY && k == 0)))
				found = i;
		}
		if (found < 0)
			return;
		file->pointquals[file->npoints++] = found;
		if (leaf->quals[found].op == LEAF_ANY)
			return;
	}
}

static void
FreePoint(LeafReader *leaf, PointColumn *point)
{
	dlist_delete(&point->link);
	*point->slot = NULL;
	leaf->point_memory -= point->memory;
	leaf->npoints--;
	PackedColumnFree(point->packed);
	pfree(point);
}

void
LeafFileForgetPoints(LeafReader *leaf, LeafFile *file)
{
	size_t		n = (size_t) file->reader->nblocks * leaf->ncols;

	if (file->points == NULL)
		return;
	/* a lookup leaves few, of a file that may have thousands of places */
	if (leaf->npoints < n)
	{
		for (int kind = POINT_OTHER; kind <= POINT_KEY; kind++)
		{
			dlist_mutable_iter iter;

			dlist_foreach_modify(iter, &leaf->points[kind])
			{
				PointColumn *point = dlist_container(PointColumn, link, iter.cur);

				if (point->file == file)
					FreePoint(leaf, point);
			}
		}
	}
	else
	{
		for (size_t i = 0; i < n; i++)
		{
			if (file->points[i] != NULL)
				FreePoint(leaf, file->points[i]);
		}
	}
	leaf->point_memory -= n * sizeof(PointColumn *);
}

/* Drop what was not used for longest, but nothing of the present lookup: its rows point there. */
static void
DropPoints(LeafReader *leaf)
{
	Size		limit = (Size) work_mem * 1024;

	limit -= Min(leaf->memory, limit / 2);
	for (int kind = POINT_OTHER; kind <= POINT_KEY; kind++)
	{
		dlist_head *list = &leaf->points[kind];

		while (leaf->point_memory > limit && !dlist_is_empty(list))
		{
			PointColumn *point = dlist_tail_element(PointColumn, link, list);

			if (point->used == leaf->point_clock)
				break;
			FreePoint(leaf, point);
		}
	}
}

/* Where a packed column of a block is kept. */
static PointColumn **
PointSlot(LeafReader *leaf, LeafFile *file, int blockno, int col)
{
	if (file->points == NULL)
	{
		Size		size = (Size) file->reader->nblocks * leaf->ncols * sizeof(PointColumn *);

		file->points = MemoryContextAllocExtended(file->cxt, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		leaf->point_memory += size;
	}
	return &file->points[(size_t) blockno * leaf->ncols + col];
}

/* A column of a block, that is stored in the file, for the present lookup. */
static PackedColumn *
GetPoint(LeafReader *leaf, LeafFile *file, int blockno, int col, PointKind kind)
{
	PointColumn **slot = PointSlot(leaf, file, blockno, col);
	PointColumn *point = *slot;

	if (point != NULL)
		dlist_move_head(&leaf->points[point->kind], &point->link);
	else
	{
		PackedColumn *packed = PackedColumnRead(file->reader, blockno, file->filecols[col], leaf->scratch,
												leaf->cxt, &leaf->counters.bytes_read);

		point = MemoryContextAlloc(leaf->cxt, sizeof(PointColumn));
		point->slot = slot;
		point->file = file;
		point->packed = packed;
		point->memory = sizeof(PointColumn) + PackedColumnMemory(packed);
		point->kind = kind;
		point->used = 0;
		*slot = point;
		dlist_push_head(&leaf->points[point->kind], &point->link);
		leaf->point_memory += point->memory;
		leaf->npoints++;
	}
	if (point->used != leaf->point_clock)
	{
		point->used = leaf->point_clock;
		DropPoints(leaf);
		leaf->counters.peak_memory = Max(leaf->counters.peak_memory, leaf->memory + leaf->point_memory +
										 ColumnScratchMemory(leaf->scratch));
	}
	return point->packed;
}

/* BatchColumnLoader of the rows found. */
static void
LoadPointColumn(Batch *batch, int col)
{
	PointBatch *found = batch->load_arg;
	LeafReader *leaf = found->leaf;
	ColumnVector *room;
	bool		anynull;

	if (found->file->filecols[col] == FILECOL_ROW_ID)
	{
		BlockRowIds(found->file, found->blockno, found->rows, batch->nrows, &found->ids, leaf->cxt, &batch->cols[col]);
		batch->loaded[col] = true;
		return;
	}
	if (found->file->filecols[col] == FILECOL_ABSENT)
	{
		AbsentColumnVector(leaf, col, &batch->cols[col]);
		batch->loaded[col] = true;
		return;
	}
	room = BatchRoom(batch, col);
	anynull = PackedColumnGather(GetPoint(leaf, found->file, found->blockno, col, POINT_OTHER),
								 batch->nrows, found->rows, room->values, room->nulls,
								 &found->made[col]);
	BatchFilled(batch, col, anynull);
}

static PointBatch *
MakePointBatch(LeafReader *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(leaf->cxt);
	PointBatch *found = palloc0(sizeof(PointBatch));

	found->leaf = leaf;
	found->made = palloc(Max(leaf->ncols, 1) * sizeof(ByteBuffer));
	for (int i = 0; i < leaf->ncols; i++)
		ByteBufferInit(&found->made[i], leaf->cxt);
	BatchInit(&found->batch, leaf->ncols, BF_GATHER_ROWS, LoadPointColumn, found);
	MemoryContextSwitchTo(old);
	return found;
}

/* The rows [*from, *to) of a block, sorted by the column of a qual there, that equal a value of it. */
static void
NarrowRows(LeafReader *leaf, LeafFile *file, int blockno, int q, int value, int *from, int *to)
{
	const LeafQual *qual = &leaf->quals[q];
	PackedColumn *packed = GetPoint(leaf, file, blockno, qual->col, POINT_KEY);

	*from = PackedColumnSearch(packed, *from, *to, qual->coltype, qual->valuetype, qual->values[value], false);
	*to = PackedColumnSearch(packed, *from, *to, qual->coltype, qual->valuetype, qual->values[value], true);
}

/* Find the rows of a block; how many, which may be more than there is room for. */
static int
FindRows(LeafReader *leaf, LeafFile *file, int blockno, PointBatch *found)
{
	int			nrows = file->reader->blocks[blockno].nrows;
	int			nvalues = leaf->quals[file->pointquals[0]].nvalues;
	int			next = 0;
	int			n = 0;

	for (int v = 0; v < nvalues; v++)
	{
		int			from = next;
		int			to = nrows;

		NarrowRows(leaf, file, blockno, file->pointquals[0], v, &from, &to);
		next = to;
		for (int k = 1; k < file->npoints && from < to; k++)
			NarrowRows(leaf, file, blockno, file->pointquals[k], 0, &from, &to);
		for (int row = from; row < to && n + (row - from) < BF_GATHER_ROWS; row++)
			found->rows[n + (row - from)] = (uint16) row;
		n += to - from;
		if (n > BF_GATHER_ROWS)
			break;
	}
	return n;
}

Batch *
PointNext(LeafReader *leaf, BlockCursor *cursor)
{
	LeafFile   *file = cursor->file;
	PointBatch *found;
	Batch	   *batch;
	uint64		done = 0;
	int			key;

	if (file->npoints == 0 || leaf->part.nslices > 1)
		return NULL;
	key = file->pointquals[0];
	if (leaf->quals[key].nvalues > MAX_POINT_VALUES)
		return NULL;
	if (leaf->found == NULL)
		leaf->found = MakePointBatch(leaf);
	found = leaf->found;
	batch = &found->batch;
	for (int k = 0; k < file->npoints; k++)
	{
		if (file->pointquals[k] < 64)
			done |= UINT64CONST(1) << file->pointquals[k];
	}

	for (; cursor->next < cursor->end; cursor->next++)
	{
		int			blockno = cursor->next;
		bool		held = *PointSlot(leaf, file, blockno, leaf->quals[key].col) != NULL;
		int			n;

		CHECK_FOR_INTERRUPTS();
		leaf->point_clock++;
		if (!held && BlockCanSkip(leaf, cursor, blockno))
		{
			leaf->counters.blocks_skipped++;
			continue;
		}
		n = FindRows(leaf, file, blockno, found);
		/* of so many rows it is better decoded as a whole */
		if (n > BF_GATHER_ROWS)
			return NULL;
		if (!held)
			BlockIsRead(leaf, cursor, blockno);
		n = BlockDropDeletedOf(file, blockno, found->rows, n);
		if (n > 0)
		{
			found->file = file;
			found->blockno = blockno;
			BatchReset(batch, n);
			BlockApplyQuals(leaf, cursor, batch, found->selection, done);
			n = batch->nselected;
		}
		leaf->counters.rows_removed += BlockLiveRows(file, blockno) - n;
		if (n == 0)
			continue;
		if (n == batch->nrows)
			batch->selection = NULL;
		cursor->next++;
		return batch;
	}
	return NULL;
}
