/*
 * block_quals.c
 *	  What quals say of a block before it is read, and then of its rows.
 */
#include "postgres.h"

#include "exec/qual/like_pattern.h"
#include "exec/scan/block/block_cursor.h"
#include "format/stats/block_stats.h"
#include "guc.h"

static bool QualCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno, const LeafQual *qual);

/* The same of AND and OR: one arm that can hold nowhere is enough, or all of them are needed. */
static bool
ArmsCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno, const LeafQual *qual)
{
	bool		enough = qual->op == LEAF_AND;

	for (int a = 0; a < qual->narms; a++)
	{
		if (QualCanSkip(leaf, cursor, blockno, &qual->arms[a]) == enough)
			return enough;
	}
	return !enough;
}

/* Can the qual hold for no row of the block, by its statistics? */
static bool
QualCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno, const LeafQual *qual)
{
	FileReader *reader = cursor->file->reader;
	int			nrows = reader->blocks[blockno].nrows;
	int			filecol;
	BlockColumnStats stats;
	Datum		value = qual->nvalues > 0 ? qual->values[0] : (Datum) 0;
	SkipOp		op;

	if (qual->never)
		return true;
	if (LeafQualHasArms(qual))
		return ArmsCanSkip(leaf, cursor, blockno, qual);
	/* of NULL core may make anything of what it evaluates */
	if (LeafQualIsBucket(qual) || LeafQualAlways(qual) || qual->op == LEAF_EVALUATE)
		return false;
	filecol = cursor->file->filecols[qual->col];
	if (filecol == FILECOL_ABSENT)
		AbsentColumnStats(leaf, qual->col, nrows, &stats);
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
		case LEAF_LIKE:
			value = LikePatternBegin(qual->like);
			op = value != (Datum) 0 && qual->keyclass == KEYCLASS_TEXT ? SKIP_PREFIX : SKIP_NOTNULL;
			break;
		case LEAF_ISNULL:
			op = SKIP_ISNULL;
			break;
		case LEAF_NOT_PREFIX:
		case LEAF_NOT_LIKE:
		case LEAF_COLUMNS:
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
	return BlockStatsCanSkip(&stats, nrows, qual->keyclass, qual->coltype, op, qual->valuetype, value);
}

bool
BlockCanSkip(LeafReader *leaf, BlockCursor *cursor, int blockno)
{
	if (!bf_enable_pruning)
		return false;
	for (int i = 0; i < leaf->nquals; i++)
	{
		if (QualCanSkip(leaf, cursor, blockno, &leaf->quals[i]))
			return true;
	}
	return false;
}

/*
 * What takes little time comes first.  A qual for which an error may be raised
 * is no such, and is not moved before others.
 */
void
BlockOrderQuals(LeafReader *leaf)
{
	for (int i = 0; i < leaf->nquals; i++)
	{
		int			effort = LeafQualMayFail(&leaf->quals[i]) ? PG_INT32_MAX : LeafQualEffort(&leaf->quals[i]);
		int			at = i;

		for (; at > 0; at--)
		{
			const LeafQual *before = &leaf->quals[leaf->qualorder[at - 1]];

			if (effort >= (LeafQualMayFail(before) ? PG_INT32_MAX : LeafQualEffort(before)))
				break;
			leaf->qualorder[at] = leaf->qualorder[at - 1];
		}
		leaf->qualorder[at] = i;
	}
}

void
BlockApplyQuals(LeafReader *leaf, BlockCursor *cursor, Batch *batch, uint16 *selection, uint64 done)
{
	const BucketSpec *spec = cursor->file->reader->spec;
	int			bucket = leaf->manifest->runs[cursor->run].bucket;

	for (int q = 0; q < leaf->nquals && batch->nselected > 0; q++)
	{
		int			i = leaf->qualorder[q];
		int			whole;

		if (i < 64 && (done & (UINT64CONST(1) << i)) != 0)
			continue;
		whole = LeafQualOfBucket(&leaf->quals[i], spec, bucket);
		if (whole < 0)
			LeafQualApply(&leaf->quals[i], batch, selection);
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
