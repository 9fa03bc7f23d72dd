/*
 * block_cursor.h
 *	  Blocks of one run, one after the other: skip what cannot matter, apply
 *	  batch quals, leave the other columns for later.
 *
 * Internal to src/exec/scan/.
 */
#ifndef BF_BLOCK_CURSOR_H
#define BF_BLOCK_CURSOR_H

#include "catalog/heap.h"
#include "exec/qual/leaf_qual.h"
#include "exec/scan/block/leaf_counters.h"
#include "exec/unit/unit_queue.h"
#include "format/read/reader.h"
#include "lib/ilist.h"
#include "storage/manifest.h"
#include "utils/relcache.h"
#include "vector/key_vector.h"

/* the column is absent in the file; it is what identifies the row (attribute ctid) */
#define FILECOL_ABSENT (-1)
#define FILECOL_ROW_ID (-2)

typedef struct RowIds RowIds;
typedef struct AbsentColumn AbsentColumn;

/* A file of the manifest, open. */
typedef struct LeafFile
{
	MemoryContext cxt;			/* of everything below */
	FileSource *source;
	FileReader *reader;
	int		   *filecols;		/* per leaf column: index in the file, or one of the next two */
	int		   *sortcols;		/* per sort column of the file's spec: index in the file */
	bool		checked;		/* order verification possible: all sort columns there */
	RowNumbers *deleted;		/* rows; NULL: none */
	int64		first_number;	/* of its rows, if they have numbers */
	int			npoints;		/* leading sort columns that quals set equal to values */
	int		   *pointquals;		/* these quals; only the first may have several values */
	struct PointColumn **points;	/* per block and leaf column: kept packed, or NULL; NULL: none is */
	int			users;			/* cursors that stand in it */
	uint64		last_used;
	Size		memory;			/* of cxt */
} LeafFile;

/* Rows of a block from <= row < to. */
typedef struct RowStretch
{
	uint16		from;
	uint16		to;
} RowStretch;

/*
 * A block read into memory; reused.  Deleted rows are left out of its columns
 * when these are decoded: a few of them would else cost each row of the block
 * a way through the selection in all that follows.
 */
typedef struct LeafBlock
{
	Batch		batch;			/* load_arg points back to this struct */
	LeafReader *leaf;
	LeafFile   *file;			/* NULL: holds nothing that could be used again */
	int			blockno;
	int			nlive;			/* rows that are not deleted */
	int			nstretches;		/* of these; 0: all are there */
	RowStretch *stretches;		/* NULL: not needed yet */
	ColumnBuffer **buffers;		/* one per column */
	ColumnBuffer **scaled_buffers;	/* for the columns below */
	ScaledColumn *scaled;		/* per column, if it was asked for without being loaded; NULL: none was */
	bool	   *scaled_loaded;
	CodedColumn *coded;			/* the same of columns with a dictionary, which lie in buffers */
	bool	   *coded_loaded;
	RowIds	   *ids;			/* NULL: not needed yet; the same of the next */
	uint16	   *selection;		/* BF_BATCH_ROWS of them */
	KeyVector	keys;			/* used in merges only */
	Size		memory;			/* of buffers, when it was last released */
	Size		expected;		/* merges: of buffers, once all columns are loaded */
	bool		settled;		/* merges: it is held, and all columns may be loaded */
	Size		excess;			/* then, what counts of it in leaf->wide_memory */
	struct LeafBlock *next;		/* free or retired list */
} LeafBlock;

/* Where the reader stands in a run. */
typedef struct BlockCursor
{
	int			run;			/* index in Manifest.runs */
	LeafFile   *file;
	int			next;			/* next block to look at */
	int			end;
	LeafBlock  *block;			/* block last returned, or NULL */
	int			pos;			/* merges: next entry of block->keys */
	int64		first_row;		/* of a share by rows: row numbers in the file */
	int64		end_row;
	struct GroupStore *store;	/* merges: rows that were copied, see merge_passes.c; NULL: none were so far */
	int			chunk;			/* next chunk of it */
	int			nchunks;
	LeafBlock  *spooled;		/* the chunk being read, as a block */
} BlockCursor;

/* runs merged at once, at most */
#define MERGE_FAN_IN 512

struct LeafReader
{
	Relation	rel;
	Manifest   *manifest;
	int			ncols;
	AttrNumber *attnums;
	int			nquals;
	LeafQual   *quals;
	int		   *qualorder;		/* the order in which they are applied */
	MemoryContext cxt;

	LeafFile  **files;			/* per manifest file, NULL: not open */
	int			nopen;
	Size		open_memory;	/* of their readers */
	uint64		clock;
	bool		rescanned;		/* keep files and blocks for the next rescan */
	bool		countable;		/* sorted units: rows of a key may be counted */
	uint8	  **prune;			/* per manifest spec: bitmap of buckets, NULL: all */
	int			nbuckets;		/* gcd of the files' counts, at least 1 */
	bool	   *touched;		/* per bucket of that count: a block of it was read */
	struct RunIndex *run_index;	/* runs by bucket; NULL: not made */
	int		   *group_runs;		/* of a group that was asked for */
	AbsentColumn *absent;		/* per column, for files that lack it; NULL: none did so far */
	bool	   *all_nulls;		/* BF_BATCH_ROWS of true, for those that are null; NULL: not needed yet */
	Datum	   *zeros;

	/* the unit being read */
	bool		sorted;
	int			nkeys;
	int			nruns;			/* runs of the unit */
	int		   *runs;			/* their indexes in Manifest.runs */
	int			at;				/* file order: next of them, or of the pieces */
	UnitClaim  *claim;			/* file order: where pieces are claimed; NULL: all are ours */
	int			npieces;
	struct RunPiece *pieces;
	UnitPart	part;			/* what is read of each run */
	int		   *partcols;		/* batch columns of the keys; sorted units that are a part of a group */
	int			ncursors;
	BlockCursor *cursors;
	Size		run_memory;		/* merges: what a run has without being counted, see merge_memory.h */
	Size		wide_memory;	/* what blocks take beyond it */
	MemoryContext spool_cxt;	/* of rows that are read from temporary files; NULL: none */
	int			ramp;			/* rows of the next merged batch, when it starts small; else 0 */
	struct MergeState *merge;	/* sorted units of several runs */
	int		   *keycols;		/* then, batch columns of the keys */
	KeyClass   *keyclasses;
	Oid		   *keytypes;

	dlist_head	points[2];		/* columns that lookups keep packed, by PointKind */
	size_t		npoints;		/* columns in both lists */
	Size		point_memory;
	uint64		point_clock;	/* number of the lookup */
	struct PointBatch *found;	/* rows of a lookup */

	ColumnScratch *scratch;		/* of all blocks */
	LeafBlock  *free_blocks;	/* last released first */
	int			nblocks;		/* made so far */
	Size		memory;			/* of all blocks made so far */
	LeafCounters counters;
};

/* The attribute of a column of batches. */
static inline const FormData_pg_attribute *
LeafAttribute(TupleDesc desc, AttrNumber attnum)
{
	return attnum > 0 ? TupleDescAttr(desc, attnum - 1) : SystemAttributeDefinition(attnum);
}

/* The batch column of a column that a qual is on, or a key. */
static inline int
LeafColumn(const LeafReader *leaf, AttrNumber attnum)
{
	for (int c = 0; c < leaf->ncols; c++)
	{
		if (leaf->attnums[c] == attnum)
			return c;
	}
	elog(ERROR, "column %d of a batch qual or a key is not read", attnum);
	return -1;
}

/* Close a file of the manifest that is open. */
extern void LeafFileClose(LeafReader *leaf, int file);

extern void BlockCursorStart(LeafReader *leaf, BlockCursor *cursor, int run);

/* Release the cursor's block and its hold on the file; harmless twice. */
extern void BlockCursorStop(LeafReader *leaf, BlockCursor *cursor);

/*
 * Move to the next block with a selected row; false at the end of the run.
 * The old block is not released.  With a bound, blocks wholly below it are
 * passed over.
 */
extern bool BlockCursorNext(LeafReader *leaf, BlockCursor *cursor, const KeyBound *bound);

/* Bytes that the loaded columns of a block take. */
extern Size LeafBlockMemory(const LeafReader *leaf, const LeafBlock *block);

/* Put a block on the free list. */
extern void LeafBlockRelease(LeafReader *leaf, LeafBlock *block);

/*
 * block_quals.c
 */

/* Can the quals hold for no row of the block, by its statistics? */
extern bool BlockCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno);

/* A block is read: count it, and verify its order if that is wanted. */
extern void BlockIsRead(LeafReader *leaf, BlockCursor *cursor, int blockno);

/* Find out in which order the quals are best applied; once for a reader. */
extern void BlockOrderQuals(LeafReader *leaf);

/*
 * Narrow the selection of a batch of rows of the cursor's run by the quals,
 * except those whose bits are set in done.
 */
extern void BlockApplyQuals(LeafReader *leaf, BlockCursor *cursor, Batch *batch,
							uint16 *selection, uint64 done);

/*
 * absent_column.c
 */

/* Find out what the columns hold in files that lack them; once for a reader. */
extern void AbsentColumnsFind(LeafReader *leaf);

/* Such a column as a vector of as many rows as a block may have. */
extern void AbsentColumnVector(LeafReader *leaf, int col, ColumnVector *vector);

/* The same of numerics as integers; false if it is not such a column. */
extern bool AbsentColumnScaled(LeafReader *leaf, int col, ScaledColumn *scaled);

/* What statistics would say of it in a block. */
extern void AbsentColumnStats(LeafReader *leaf, int col, int nrows, BlockColumnStats *stats);

/*
 * block_rows.c
 */

/* Find the rows of a block that are not deleted: what a block read into memory is made of. */
extern void BlockFindLive(const LeafFile *file, int blockno, LeafBlock *block);

/* Move the values of those rows, and their null flags if there are some, together. */
extern void BlockCloseUp(const LeafBlock *block, Datum *values, bool *nulls);

/* How many rows of a block are not deleted; and of those before a row. */
extern int	BlockLiveRows(const LeafFile *file, int blockno);
extern int	BlockLiveRank(const LeafFile *file, int blockno, int row);

/* Keep those of some rows of a block that are not deleted; returns how many. */
extern int	BlockDropDeletedOf(const LeafFile *file, int blockno, uint16 *rows, int n);

/* The identities of some rows of a block (NULL: the first n) as a vector; *ids is made in cxt when it is NULL. */
extern void BlockRowIds(const LeafFile *file, int blockno, const uint16 *rows, int n, RowIds **ids,
						MemoryContext cxt, ColumnVector *vector);

/* The same of the rows that a block in memory has. */
extern void LeafBlockRowIds(LeafBlock *block, ColumnVector *vector);

/* Lookups (point_read.c): find the quals they use, when a file was opened; and drop what is kept of it. */
extern void LeafFileFindPoints(LeafReader *leaf, LeafFile *file);
extern void LeafFileForgetPoints(LeafReader *leaf, LeafFile *file);

/*
 * The rows of the next block with rows, if the quals are equalities on leading
 * sort columns; as batches of LeafNextBatch.  NULL: go on with
 * BlockCursorNext, which knows whether there are more blocks.
 */
extern Batch *PointNext(LeafReader *leaf, BlockCursor *cursor);

/* Leave out blocks that are no part of the unit (block_range.c). */
extern void BlockCursorTakePart(LeafReader *leaf, BlockCursor *cursor);

/* Leave out blocks that the quals' values put out of reach (block_range.c). */
extern void BlockCursorNarrow(LeafReader *leaf, BlockCursor *cursor);

/* Is every row of a block below the bound?  Only answers true when that is certain. */
extern bool BlockBelowBound(const BucketSpec *spec, const FileBlock *block, const KeyBound *bound);

/* An image not above those of all keys the cursor, which has another block, will come to. */
extern int64 BlockCursorFirstImage(const BlockCursor *cursor, KeyClass keyclass, Oid keytype);

/* Is the cursor's block a chunk of its store? */
static inline bool
BlockIsChunk(const BlockCursor *cursor)
{
	return cursor->block != NULL && cursor->block == cursor->spooled;
}

/* Does anything follow the cursor's block? */
static inline bool
BlockCursorHasMore(const BlockCursor *cursor)
{
	return cursor->next < cursor->end || cursor->chunk < cursor->nchunks;
}

/* check order and placement of a block's rows (verify_order.c) */
extern void VerifyBlockOrder(LeafReader *leaf, BlockCursor *cursor, int blockno);

#endif							/* BF_BLOCK_CURSOR_H */
