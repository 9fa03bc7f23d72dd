/*
 * verify_order.c
 *	  bucketfdw.verify_order: check that rows are where the format says.
 *
 * Checksums find bytes that changed; this finds rows that were written in the
 * wrong order or bucket, which would make a merge join lose rows silently.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static void
ReportDisorder(LeafReader *leaf, const LeafFile *file, int bucket, int blockno, int row,
			   const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("bucketed table \"%s\" is not in order: %s",
					RelationGetRelationName(leaf->rel), what),
			 errdetail("File \"%s\", bucket %d, block %d, row %d.",
					   file->source->path, bucket, blockno, row),
			 errhint("Run bucketfdw.verify('%s') to see what is damaged.",
					 RelationGetRelationName(leaf->rel))));
}

void
VerifyBlockOrder(LeafReader *leaf, BlockCursor *cursor, int blockno)
{
	LeafFile   *file = cursor->file;
	FileReader *reader = file->reader;
	const BucketSpec *spec = reader->spec;
	FileBlock  *fb = &reader->blocks[blockno];
	int			bucket = leaf->manifest->runs[cursor->run].bucket;
	MemoryContext cxt;
	MemoryContext old;
	ColumnVector *vecs;
	Datum	   *prev;
	Datum	   *cur;
	bool	   *prevnull;
	bool	   *curnull;
	uint64		bytes = 0;

	if (!file->checked)
		return;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw order check",
								ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	vecs = palloc(spec->nsort * sizeof(ColumnVector));
	prev = palloc0(spec->nsort * sizeof(Datum));
	cur = palloc0(spec->nsort * sizeof(Datum));
	prevnull = palloc0(spec->nsort * sizeof(bool));
	curnull = palloc0(spec->nsort * sizeof(bool));
	for (int k = 0; k < spec->nsort; k++)
		FileReaderDecode(reader, blockno, file->sortcols[k],
						 ColumnBufferCreate(cxt, NULL), &vecs[k], &bytes);

	for (int row = 0; row < fb->nrows; row++)
	{
		uint32		hash = 0;

		for (int k = 0; k < spec->nsort; k++)
		{
			cur[k] = vecs[k].values[row];
			curnull[k] = vecs[k].nulls && vecs[k].nulls[row];
			if (k < spec->nkeys && !curnull[k])
				hash = KeyHash(spec->sort[k].keyclass, spec->sort[k].typid, cur[k], hash);
		}
		if (BucketSpecHashKnown(spec) && KeyBucket(hash, spec->nbuckets) != bucket)
			ReportDisorder(leaf, file, bucket, blockno, row, "a row lies in the wrong bucket");
		if (row > 0 &&
			BucketSpecCompare(spec, spec->nsort, prev, prevnull, cur, curnull) > 0)
			ReportDisorder(leaf, file, bucket, blockno, row, "a row is smaller than the one before it");
		if (row == 0 && blockno > 0 &&
			blockno > reader->runs[leaf->manifest->runs[cursor->run].run].first_block)
		{
			/* against the last key of the block before, as far as that is stored whole */
			StatValue  *last = reader->blocks[blockno - 1].last;
			int			n = 0;

			while (n < spec->nsort && !last[n].truncated)
			{
				prev[n] = last[n].value;
				prevnull[n] = last[n].isnull;
				n++;
			}
			if (n > 0 && BucketSpecCompare(spec, n, prev, prevnull, cur, curnull) > 0)
				ReportDisorder(leaf, file, bucket, blockno, row,
							   "a block begins below the end of the one before it");
		}
		memcpy(prev, cur, spec->nsort * sizeof(Datum));
		memcpy(prevnull, curnull, spec->nsort * sizeof(bool));
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}
