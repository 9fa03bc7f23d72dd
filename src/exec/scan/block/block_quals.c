/*
 * block_quals.c
 *	  What quals say of a block before it is read, and then of its rows.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "format/stats/block_stats.h"
#include "guc.h"

/* Can the qual on column col hold for no row of the block, by its statistics? */
static bool
QualCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno, const LeafQual *qual, int col)
{
	FileReader *reader = cursor->file->reader;
	int			nrows = reader->blocks[blockno].nrows;
	int			filecol = cursor->file->filecols[col];
	BlockColumnStats stats;
	SkipOp		op;

	if (qual->never)
		return true;
	if (LeafQualIsBucket(qual) || LeafQualAlways(qual))
		return false;
	if (qual->op == LEAF_OR)
	{
		for (int a = 0; a < qual->narms; a++)
		{
			if (!QualCanSkip(leaf, cursor, blockno, &qual->arms[a], qual->armcols[a]))
				return false;
		}
		return true;
	}
	if (filecol == FILECOL_ABSENT)
		AbsentColumnStats(leaf, col, nrows, &stats);
	else
		FileReaderColumnStats(reader, blockno, filecol, &stats);
	switch (qual->op)
	{
		case LEAF_EQ:
			op = SKIP_EQ;
			break;
		case LEAF_LT:
			op = SKIP_LT;
			break;
		case LEAF_LE:
			op = SKIP_LE;
			break;
		case LEAF_GT:
			op = SKIP_GT;
			break;
		case LEAF_GE:
			op = SKIP_GE;
			break;
		case LEAF_PREFIX:
			op = SKIP_PREFIX;
			break;
		case LEAF_ISNULL:
			op = SKIP_ISNULL;
			break;
		case LEAF_NOTNULL:
		case LEAF_NE:
		case LEAF_NONE_OF:
			op = SKIP_NOTNULL;
			break;
		case LEAF_ANY:
			for (int v = 0; v < qual->nvalues; v++)
			{
				if (!BlockStatsCanSkip(&stats, nrows, qual->keyclass, qual->coltype,
									   SKIP_EQ, qual->valuetype, qual->values[v]))
					return false;
			}
			return true;
		default:
			return false;
	}
	return BlockStatsCanSkip(&stats, nrows, qual->keyclass, qual->coltype, op,
							 qual->valuetype, qual->nvalues > 0 ? qual->values[0] : (Datum) 0);
}

bool
BlockCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno)
{
	if (!bf_enable_pruning)
		return false;
	for (int i = 0; i < leaf->nquals; i++)
	{
		if (QualCanSkip(leaf, cursor, blockno, &leaf->quals[i], leaf->qualcols[i]))
			return true;
	}
	return false;
}

void
BlockApplyQuals(LeafReader *leaf, BlockCursor *cursor, Batch *batch, uint16 *selection, uint64 done)
{
	const BucketSpec *spec = cursor->file->reader->spec;
	int			bucket = leaf->manifest->runs[cursor->run].bucket;

	for (int i = 0; i < leaf->nquals && batch->nselected > 0; i++)
	{
		int			whole;

		if (i < 64 && (done & (UINT64CONST(1) << i)) != 0)
			continue;
		whole = LeafQualOfBucket(&leaf->quals[i], spec, bucket);
		if (whole < 0)
			LeafQualApply(&leaf->quals[i], batch, leaf->qualcols[i], selection);
		else if (whole == 0)
			batch->nselected = 0;
	}
}

void
BlockIsRead(LeafReader *leaf, BlockCursor *cursor, int blockno)
{
	leaf->counters.blocks_read++;
	leaf->touched[leaf->manifest->runs[cursor->run].bucket % leaf->nbuckets] = true;
	if (bf_verify_order)
		VerifyBlockOrder(leaf, cursor, blockno);
}
