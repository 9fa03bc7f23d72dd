/*
 * block_range.c
 *	  Which blocks of a run can hold the keys that quals or a unit of work ask
 *	  for, found by binary search over the blocks' first and last keys.
 *
 * A wrong answer loses rows.  Each probe therefore gives a certain answer or
 * "unknown", and an unknown block is kept; because the run is sorted, what is
 * certain of one block is certain of all on its far side.
 */
#include "postgres.h"

#include "exec/scan/block/block_cursor.h"
#include "guc.h"

/* sort columns looked at; more would hardly ever narrow anything */
#define MAX_RANGE_KEYS 8

/* One end of the range: a tuple of leading sort columns. */
typedef struct RangeEnd
{
	KeyBound	bound;
	KeyClass	classes[MAX_RANGE_KEYS];
	Oid			types[MAX_RANGE_KEYS];
	Datum		values[MAX_RANGE_KEYS];
} RangeEnd;

static void
AddToEnd(RangeEnd *end, const LeafQual *qual, int value)
{
	int			k = end->bound.nkeys++;

	end->classes[k] = qual->keyclass;
	end->types[k] = qual->valuetype;
	end->values[k] = qual->values[value];
}

/* The qual on a column with one of two operators. */
static const LeafQual *
FindQual(LeafReader *leaf, const SortColumn *col, LeafQualOp op1, LeafQualOp op2)
{
	for (int i = 0; i < leaf->nquals; i++)
	{
		const LeafQual *qual = &leaf->quals[i];

		if (qual->attnum == col->attnum && (qual->op == op1 || qual->op == op2) &&
			qual->keyclass == col->keyclass && qual->nvalues > 0)
			return qual;
	}
	return NULL;
}

/*
 * The range the quals leave: equal values of leading sort columns, then the
 * bounds of one more.  Columns with another order than ascending end it.
 */
static void
FindRange(LeafReader *leaf, const BucketSpec *spec, RangeEnd *lower, RangeEnd *upper)
{
	RangeEnd   *ends[2] = {lower, upper};

	for (int i = 0; i < 2; i++)
	{
		ends[i]->bound.nkeys = 0;
		ends[i]->bound.classes = ends[i]->classes;
		ends[i]->bound.types = ends[i]->types;
		ends[i]->bound.values = ends[i]->values;
	}
	for (int k = 0; k < Min(spec->nsort, MAX_RANGE_KEYS); k++)
	{
		const SortColumn *col = &spec->sort[k];
		const LeafQual *qual;

		if (col->flags != 0)
			return;
		qual = FindQual(leaf, col, LEAF_EQ, LEAF_ANY);
		if (qual != NULL)
		{
			AddToEnd(lower, qual, 0);
			AddToEnd(upper, qual, qual->nvalues - 1);
			if (qual->nvalues > 1)
				return;
			continue;
		}
		qual = FindQual(leaf, col, LEAF_GT, LEAF_GE);
		if (qual != NULL)
			AddToEnd(lower, qual, 0);
		qual = FindQual(leaf, col, LEAF_LT, LEAF_LE);
		if (qual != NULL)
			AddToEnd(upper, qual, 0);
		return;
	}
}

bool
BlockBelowBound(const BucketSpec *spec, const FileBlock *block, const KeyBound *bound)
{
	for (int k = 0; k < bound->nkeys; k++)
	{
		const StatValue *last = &block->last[k];
		int			c;

		if (last->isnull)
			return false;
		c = KeyCompareAcross(spec->sort[k].keyclass, spec->sort[k].typid, last->value,
							 bound->classes[k], bound->types[k], bound->values[k]);
		if (last->truncated)
		{
			struct varlena *lv = (struct varlena *) DatumGetPointer(last->value);
			struct varlena *bv = (struct varlena *) DatumGetPointer(bound->values[k]);
			size_t		llen = VARSIZE_ANY_EXHDR(lv);
			size_t		blen = VARSIZE_ANY_EXHDR(bv);

			/* the real value extends the prefix: below only if the prefix differs and is smaller */
			return c < 0 &&
				memcmp(VARDATA_ANY(lv), VARDATA_ANY(bv), Min(llen, blen)) < 0;
		}
		if (c != 0)
			return c < 0;
	}
	return false;
}

/* Is every row of a block above the bound?  Only answers true when that is certain. */
static bool
BlockAboveBound(const BucketSpec *spec, const FileBlock *block, const KeyBound *bound)
{
	for (int k = 0; k < bound->nkeys; k++)
	{
		const StatValue *first = &block->first[k];
		int			c;

		/* NULLs are last */
		if (first->isnull)
			return true;
		c = KeyCompareAcross(spec->sort[k].keyclass, spec->sort[k].typid, first->value,
							 bound->classes[k], bound->types[k], bound->values[k]);
		if (c > 0)
			return true;
		/* the real value is not less than its prefix, but may be greater */
		if (c < 0 || first->truncated)
			return false;
	}
	return false;
}

void
BlockCursorTakePart(LeafReader *leaf, BlockCursor *cursor)
{
	FileReader *reader = cursor->file->reader;
	const UnitPart *part = &leaf->part;

	if (part->from != NULL)
	{
		int			lo = cursor->next;
		int			hi = cursor->end;

		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if (BlockBeforeCut(reader->spec, &reader->blocks[mid], part->from))
				lo = mid + 1;
			else
				hi = mid;
		}
		cursor->next = lo;
	}
	if (part->to != NULL)
	{
		int			lo = cursor->next;
		int			hi = cursor->end;

		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if (BlockAfterCut(reader->spec, &reader->blocks[mid], part->to))
				hi = mid;
			else
				lo = mid + 1;
		}
		cursor->end = lo;
	}
	if (part->nslices > 1 && part->by_rows && cursor->next < cursor->end)
	{
		const FileBlock *first = &reader->blocks[cursor->next];
		const FileBlock *last = &reader->blocks[cursor->end - 1];
		int64		n = last->first_row + last->nrows - first->first_row;

		cursor->first_row = first->first_row + n * part->slice / part->nslices;
		cursor->end_row = first->first_row + n * (part->slice + 1) / part->nslices;
		if (cursor->first_row == cursor->end_row)
			cursor->end = cursor->next;
		for (; first->first_row + first->nrows <= cursor->first_row && cursor->next < cursor->end; first++)
			cursor->next++;
		for (; last->first_row >= cursor->end_row && cursor->next < cursor->end; last--)
			cursor->end--;
	}
	else if (part->nslices > 1)
	{
		/* of runs with few blocks each slice gets another share */
		int			slice = (part->slice + cursor->run) % part->nslices;
		int			first = cursor->next;
		int64		n = cursor->end - cursor->next;

		cursor->next = first + (int) (n * slice / part->nslices);
		cursor->end = first + (int) (n * (slice + 1) / part->nslices);
	}
}

void
BlockCursorNarrow(LeafReader *leaf, BlockCursor *cursor)
{
	FileReader *reader = cursor->file->reader;
	RangeEnd	lower;
	RangeEnd	upper;
	int			lo = cursor->next;
	int			hi = cursor->end;
	int			n = hi - lo;

	if (!bf_enable_pruning || leaf->nquals == 0)
		return;
	FindRange(leaf, reader->spec, &lower, &upper);
	if (lower.bound.nkeys > 0)
	{
		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if (BlockBelowBound(reader->spec, &reader->blocks[mid], &lower.bound))
				lo = mid + 1;
			else
				hi = mid;
		}
		cursor->next = lo;
	}
	if (upper.bound.nkeys > 0)
	{
		hi = cursor->end;
		while (lo < hi)
		{
			int			mid = lo + (hi - lo) / 2;

			if (BlockAboveBound(reader->spec, &reader->blocks[mid], &upper.bound))
				hi = mid;
			else
				lo = mid + 1;
		}
		cursor->end = lo;
	}
	leaf->counters.blocks_skipped += n - (cursor->end - cursor->next);
}
