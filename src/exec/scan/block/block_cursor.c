/*
 * block_cursor.c
 *	  Blocks of one run, one after the other.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "miscadmin.h"
#include "storage/file_image.h"
#include "storage/file_store.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* open files beyond this are closed, longest unused first */
#define MAX_OPEN_FILES 64
/* more may stay open as far as their footers fit work_mem, or this many kilobytes */
#define MAX_KEPT_FILES 1024
#define MIN_FOOTER_KB (16 * 1024)
/* decoded blocks kept between rescans, as far as they fit work_mem */
#define MAX_KEPT_BLOCKS 32

/*
 * The plan relies on the spec it was made for; the files say what they are.
 * A contradiction means catalog and files have come apart.
 */
static void
CheckFileAgainstManifest(LeafReader *leaf, LeafFile *file, int fileno)
{
	ManifestFile *mf = &leaf->manifest->files[fileno];
	FileReader *reader = file->reader;

	if (!BucketSpecEqual(reader->spec, leaf->manifest->specs[mf->spec]) ||
		reader->nrows != mf->rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("file \"%s\" of bucketed table \"%s\" does not match its manifest row",
						file->source->path, RelationGetRelationName(leaf->rel)),
				 errhint("Run bucketfdw.verify('%s') to see what is damaged.",
						 RelationGetRelationName(leaf->rel))));
}

/*
 * Close a file that no cursor stands in.  Buckets in turn come back to all
 * files in the same order: the file used last is the one that is needed again
 * last.  Lookups come back to any.
 */
static void
EvictOne(LeafReader *leaf)
{
	bool		newest = leaf->sorted && !leaf->rescanned;
	int			victim = -1;

	for (int i = 0; i < leaf->manifest->nfiles; i++)
	{
		LeafFile   *file = leaf->files[i];

		if (file != NULL && file->users == 0 &&
			(victim < 0 || (file->last_used > leaf->files[victim]->last_used) == newest))
			victim = i;
	}
	if (victim >= 0)
		LeafFileClose(leaf, victim);
}

/* Open (or find open) a file of the manifest; closes one that is not in use when many are open. */
static LeafFile *
LeafFileGet(LeafReader *leaf, int fileno)
{
	LeafFile   *file = leaf->files[fileno];
	ManifestFile *mf = &leaf->manifest->files[fileno];
	TupleDesc	desc = RelationGetDescr(leaf->rel);
	MemoryContext cxt;
	MemoryContext old;

	if (file != NULL)
	{
		file->last_used = ++leaf->clock;
		return file;
	}
	if (leaf->nopen >= MAX_OPEN_FILES &&
		(leaf->nopen >= MAX_KEPT_FILES ||
		 leaf->open_memory >= (Size) Max(work_mem, MIN_FOOTER_KB) * 1024))
		EvictOne(leaf);

	/* all of a file goes when it is closed: it may be opened again for each of thousands of buckets */
	cxt = AllocSetContextCreate(leaf->cxt, "bucketfdw leaf file", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	file = palloc0(sizeof(LeafFile));
	file->cxt = cxt;
	file->source = StoreOpen(RelationGetRelid(leaf->rel), RelationGetRelationName(leaf->rel), mf);
	/* rows in no file are read once */
	file->reader = ImageFind(RelationGetRelid(leaf->rel), mf->file_id) != NULL ?
		FileReaderOpen(file->source, mf->file_id, RelationGetRelid(leaf->rel)) :
		FileReaderOpenKept(file->source, mf->file_id, RelationGetRelid(leaf->rel));
	CheckFileAgainstManifest(leaf, file, fileno);
	if (FileReaderColumnsDiffer(file->reader, desc))
		ManifestCheckReplaced(leaf->rel, mf->file_id);
	FileReaderCheckColumns(file->reader, desc);
	file->filecols = palloc(leaf->ncols * sizeof(int));
	for (int i = 0; i < leaf->ncols; i++)
	{
		file->filecols[i] = leaf->attnums[i] < 0 ? FILECOL_ROW_ID :
			FileReaderFindColumn(file->reader, leaf->attnums[i]);
		if (file->filecols[i] == FILECOL_ABSENT)
			AbsentColumnsFind(leaf);
	}
	file->first_number = mf->first_number;
	if (mf->deletes != NULL)
		file->deleted = DeletedRows(mf->deletes, RelationGetRelid(leaf->rel), mf->rows);
	file->sortcols = palloc(file->reader->spec->nsort * sizeof(int));
	file->checked = true;
	for (int i = 0; i < file->reader->spec->nsort; i++)
	{
		file->sortcols[i] = FileReaderFindColumn(file->reader,
												 file->reader->spec->sort[i].attnum);
		if (file->sortcols[i] < 0)
			file->checked = false;
	}
	LeafFileFindPoints(leaf, file);
	file->last_used = ++leaf->clock;
	leaf->files[fileno] = file;
	leaf->nopen++;
	file->memory = MemoryContextMemAllocated(cxt, true);
	leaf->open_memory += file->memory;
	MemoryContextSwitchTo(old);
	return file;
}

void
LeafFileClose(LeafReader *leaf, int fileno)
{
	LeafFile   *file = leaf->files[fileno];

	for (LeafBlock *block = leaf->free_blocks; block != NULL; block = block->next)
	{
		if (block->file == file)
			block->file = NULL;
	}
	LeafFileForgetPoints(leaf, file);
	leaf->open_memory -= file->memory;
	StoreClose(file->source);
	MemoryContextDelete(file->cxt);
	leaf->files[fileno] = NULL;
	leaf->nopen--;
}

void
BlockCursorStart(LeafReader *leaf, BlockCursor *cursor, int runno)
{
	ManifestRun *run = &leaf->manifest->runs[runno];
	FileReader *reader;

	cursor->run = runno;
	cursor->file = LeafFileGet(leaf, run->file);
	reader = cursor->file->reader;
	if (run->run < 0 || run->run >= reader->nruns ||
		reader->runs[run->run].bucket != run->bucket ||
		reader->runs[run->run].nrows != run->rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("file \"%s\" of bucketed table \"%s\" does not match its manifest row",
						cursor->file->source->path, RelationGetRelationName(leaf->rel)),
				 errdetail("Run %d should hold %lld rows of bucket %d.",
						   run->run, (long long) run->rows, run->bucket)));
	cursor->next = reader->runs[run->run].first_block;
	cursor->end = cursor->next + reader->runs[run->run].nblocks;
	cursor->file->users++;
	cursor->block = NULL;
	cursor->pos = 0;
	BlockCursorTakePart(leaf, cursor);
	BlockCursorNarrow(leaf, cursor);
}

void
BlockCursorStop(LeafReader *leaf, BlockCursor *cursor)
{
	if (cursor->block != NULL)
		LeafBlockRelease(leaf, cursor->block);
	cursor->block = NULL;
	if (cursor->file != NULL)
		cursor->file->users--;
	cursor->file = NULL;
}

/* The buffer of a column among those of a block. */
static ColumnBuffer *
BlockBuffer(LeafBlock *block, ColumnBuffer **buffers, int col)
{
	if (buffers[col] == NULL)
		buffers[col] = ColumnBufferCreate(block->leaf->cxt, block->leaf->scratch);
	return buffers[col];
}

/* BatchColumnLoader of blocks: decode one column. */
static void
LoadBlockColumn(Batch *batch, int col)
{
	LeafBlock  *block = batch->load_arg;
	LeafReader *leaf = block->leaf;
	int			filecol = block->file->filecols[col];

	if (filecol == FILECOL_ROW_ID)
		LeafBlockRowIds(block, &batch->cols[col]);
	else if (filecol == FILECOL_ABSENT)
		AbsentColumnVector(leaf, col, &batch->cols[col]);
	else
	{
		ColumnBuffer *buffer = BlockBuffer(block, block->buffers, col);

		/* what conditions looked at is here already */
		if (block->scaled != NULL && block->scaled_loaded[col])
			FileReaderScaledVector(&block->scaled[col], batch->nrows, buffer, &batch->cols[col]);
		else if (block->coded != NULL && block->coded_loaded[col])
			FileReaderCodedVector(&block->coded[col], batch->nrows, buffer, &batch->cols[col]);
		else
		{
			FileReaderDecode(block->file->reader, block->blockno, filecol, buffer, &batch->cols[col],
							 &leaf->counters.bytes_read);
			BlockCloseUp(block, batch->cols[col].values, batch->cols[col].nulls);
		}
	}
	batch->loaded[col] = true;
}

/* BatchScaledLoader of blocks: an integer each instead of a numeric. */
static bool
LoadBlockScaled(Batch *batch, int col, ScaledColumn *scaled)
{
	LeafBlock  *block = batch->load_arg;
	LeafReader *leaf = block->leaf;
	int			filecol = block->file->filecols[col];

	if (filecol == FILECOL_ABSENT)
		return AbsentColumnScaled(leaf, col, scaled);
	if (filecol < 0)
		return false;
	if (block->scaled == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(leaf->cxt);

		block->scaled_buffers = palloc0(leaf->ncols * sizeof(ColumnBuffer *));
		block->scaled = palloc0(leaf->ncols * sizeof(ScaledColumn));
		block->scaled_loaded = palloc0(leaf->ncols * sizeof(bool));
		MemoryContextSwitchTo(old);
	}
	if (!block->scaled_loaded[col])
	{
		if (!FileReaderDecodeScaled(block->file->reader, block->blockno, filecol,
									BlockBuffer(block, block->scaled_buffers, col), &block->scaled[col],
									&leaf->counters.bytes_read))
			return false;
		BlockCloseUp(block, (Datum *) block->scaled[col].values, block->scaled[col].nulls);
		block->scaled_loaded[col] = true;
	}
	*scaled = block->scaled[col];
	return true;
}

/* BatchCodedLoader of blocks. */
static bool
LoadBlockCoded(Batch *batch, int col, CodedColumn *coded)
{
	LeafBlock  *block = batch->load_arg;
	LeafReader *leaf = block->leaf;
	int			filecol = block->file->filecols[col];

	if (filecol < 0)
		return false;
	if (block->coded == NULL)
	{
		block->coded = MemoryContextAllocZero(leaf->cxt, leaf->ncols * sizeof(CodedColumn));
		block->coded_loaded = MemoryContextAllocZero(leaf->cxt, leaf->ncols * sizeof(bool));
	}
	if (!block->coded_loaded[col])
	{
		if (!FileReaderDecodeCoded(block->file->reader, block->blockno, filecol,
								   BlockBuffer(block, block->buffers, col), &block->coded[col],
								   &leaf->counters.bytes_read))
			return false;
		BlockCloseUp(block, unconstify(uint64 *, block->coded[col].codes), unconstify(bool *, block->coded[col].nulls));
		block->coded_loaded[col] = true;
	}
	*coded = block->coded[col];
	return true;
}

static LeafBlock *
LeafBlockMake(LeafReader *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(leaf->cxt);
	LeafBlock  *block = palloc0(sizeof(LeafBlock));

	block->leaf = leaf;
	block->buffers = palloc0(leaf->ncols * sizeof(ColumnBuffer *));
	BatchInit(&block->batch, leaf->ncols, 0, LoadBlockColumn, block);
	block->batch.load_scaled = LoadBlockScaled;
	block->batch.load_coded = LoadBlockCoded;
	MemoryContextSwitchTo(old);
	leaf->nblocks++;
	return block;
}

/*
 * A block to read into, not on the free list; one that holds this block
 * already, when there is one (its file and blockno say so).
 */
static LeafBlock *
LeafBlockGet(LeafReader *leaf, const LeafFile *file, int blockno)
{
	LeafBlock **link = &leaf->free_blocks;
	LeafBlock  *block;

	if (leaf->rescanned)
	{
		/* the block itself, else the longest unused */
		while (*link != NULL && (*link)->next != NULL &&
			   !((*link)->file == file && (*link)->blockno == blockno))
			link = &(*link)->next;
		block = *link;
		if (block != NULL && !(block->file == file && block->blockno == blockno) &&
			leaf->nblocks < MAX_KEPT_BLOCKS && leaf->memory + leaf->point_memory < (Size) work_mem * 1024)
			block = NULL;
	}
	else
		block = *link;
	if (block == NULL)
		block = LeafBlockMake(leaf);
	else
		*link = block->next;
	block->next = NULL;
	return block;
}

static Size
BuffersMemory(ColumnBuffer **buffers, int n)
{
	Size		memory = 0;

	for (int i = 0; buffers != NULL && i < n; i++)
	{
		if (buffers[i] != NULL)
			memory += ColumnBufferMemory(buffers[i]);
	}
	return memory;
}

static void
FreeBuffers(ColumnBuffer **buffers, int n)
{
	for (int i = 0; buffers != NULL && i < n; i++)
	{
		if (buffers[i] != NULL)
			ColumnBufferFree(buffers[i]);
		buffers[i] = NULL;
	}
}

Size
LeafBlockMemory(const LeafReader *leaf, const LeafBlock *block)
{
	return BuffersMemory(block->buffers, leaf->ncols) + BuffersMemory(block->scaled_buffers, leaf->ncols);
}

void
LeafBlockRelease(LeafReader *leaf, LeafBlock *block)
{
	Size		memory = LeafBlockMemory(leaf, block);

	leaf->wide_memory -= block->excess;
	block->excess = 0;
	block->settled = false;
	/* in a merge, any run may have the block next: the large blocks of some must not become those of all */
	if (leaf->sorted && leaf->nruns > 1 && memory > leaf->run_memory)
	{
		FreeBuffers(block->buffers, leaf->ncols);
		FreeBuffers(block->scaled_buffers, leaf->ncols);
		leaf->counters.peak_memory = Max(leaf->counters.peak_memory, leaf->memory + memory - block->memory +
										 ColumnScratchMemory(leaf->scratch));
		block->file = NULL;
		memory = 0;
	}
	/* buffers keep their size on the free list */
	leaf->memory += memory - block->memory;
	block->memory = memory;
	leaf->counters.peak_memory = Max(leaf->counters.peak_memory,
									 leaf->memory + ColumnScratchMemory(leaf->scratch));
	block->next = leaf->free_blocks;
	leaf->free_blocks = block;
}

/* Select the rows of a block that are part of the unit. */
static void
SelectPart(LeafReader *leaf, BlockCursor *cursor, LeafBlock *block)
{
	Batch	   *batch = &block->batch;
	const BucketSpec *spec = cursor->file->reader->spec;
	const FileBlock *fb = &cursor->file->reader->blocks[block->blockno];
	const UnitPart *part = &leaf->part;
	int			from = 0;
	int			to = batch->nrows;

	if (part->from != NULL && !BlockAfterCut(spec, fb, part->from))
		from = RowAfterCut(spec, batch, leaf->partcols, part->from);
	if (part->to != NULL && !BlockBeforeCut(spec, fb, part->to))
		to = RowAfterCut(spec, batch, leaf->partcols, part->to);
	if (part->nslices > 1 && part->by_rows)
	{
		int			first = (int) Max(cursor->first_row - fb->first_row, 0);
		int			end = (int) Min(cursor->end_row - fb->first_row, fb->nrows);

		from = Max(from, BlockLiveRank(cursor->file, block->blockno, first));
		to = Min(to, BlockLiveRank(cursor->file, block->blockno, end));
	}
	if (from == 0 && to == batch->nrows)
		return;
	batch->nselected = Max(to - from, 0);
	batch->selection = block->selection;
	for (int i = 0; i < batch->nselected; i++)
		batch->selection[i] = (uint16) (from + i);
}

int64
BlockCursorFirstImage(const BlockCursor *cursor, KeyClass keyclass, Oid keytype)
{
	const StatValue *first;

	/* of rows that were merged before, only reading tells */
	if (cursor->file == NULL)
		return PG_INT64_MIN;
	first = &cursor->file->reader->blocks[cursor->next].first[0];
	if (first->isnull)
		return KEY64_NULL;
	return KeyImage64(keyclass, keytype, first->value);
}

bool
BlockCursorNext(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound)
{
	FileReader *reader = cursor->file->reader;

	cursor->block = NULL;
	while (cursor->next < cursor->end)
	{
		int			blockno = cursor->next++;
		FileBlock  *fb = &reader->blocks[blockno];
		LeafBlock  *block;
		Batch	   *batch;
		int			nrows;

		CHECK_FOR_INTERRUPTS();
		if ((bound != NULL && BlockBelowBound(reader->spec, fb, bound)) ||
			BlockCanSkip(leaf, cursor, blockno))
		{
			leaf->counters.blocks_skipped++;
			continue;
		}
		block = LeafBlockGet(leaf, cursor->file, blockno);
		batch = &block->batch;
		if (block->file != cursor->file || block->blockno != blockno)
		{
			BlockIsRead(leaf, cursor, blockno);
			block->file = cursor->file;
			block->blockno = blockno;
			BlockFindLive(cursor->file, blockno, block);
			memset(batch->loaded, 0, leaf->ncols * sizeof(bool));
			if (block->scaled != NULL)
				memset(block->scaled_loaded, 0, leaf->ncols * sizeof(bool));
			if (block->coded != NULL)
				memset(block->coded_loaded, 0, leaf->ncols * sizeof(bool));
		}
		batch->nrows = block->nlive;
		batch->nselected = block->nlive;
		batch->selection = NULL;

		if (block->selection == NULL && (leaf->nquals > 0 || leaf->part.from || leaf->part.to))
			block->selection = MemoryContextAlloc(leaf->cxt, BF_BATCH_ROWS * sizeof(uint16));
		SelectPart(leaf, cursor, block);
		nrows = batch->nselected;
		BlockApplyQuals(leaf, cursor, batch, block->selection, 0);
		leaf->counters.rows_removed += nrows - batch->nselected;
		if (batch->nselected == 0)
		{
			LeafBlockRelease(leaf, block);
			continue;
		}
		if (batch->nselected == batch->nrows)
			batch->selection = NULL;
		cursor->block = block;
		cursor->pos = 0;
		return true;
	}
	return false;
}
