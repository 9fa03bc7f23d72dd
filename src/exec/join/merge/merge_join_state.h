/*
 * merge_join_state.h
 *	  What the files of the merge share.
 */
#ifndef BF_MERGE_JOIN_STATE_H
#define BF_MERGE_JOIN_STATE_H

#include "exec/join/merge/merge_join.h"
#include "exec/scan/merge/group_store.h"

typedef struct MergeSide
{
	MergeSideSpec spec;
	KeyVector	keys;
	Batch	   *batch;			/* NULL: nothing read yet, or ended */
	int			pos;			/* next entry of keys */
	bool		ended;
	bool		preserved;		/* rows without a match are wanted */
	int			nkeyed;			/* entries before the first one with a NULL key */
	bool		single;			/* inner and left joins: each image of those from pos on is there once */
	bool	   *matched;		/* per row of batch; set by the taker */
	Datum	   *bound_values;
	KeyBound	bound;			/* present key, as a bound for the other side */
} MergeSide;

typedef enum MergePhase
{
	PHASE_MERGE,				/* looking for the next common key */
	PHASE_CROSS,				/* pairs of two groups inside the batches */
	PHASE_LEFT_DONE,			/* left rows of a group that are finished */
	PHASE_RIGHT_DONE,			/* right rows of a group that are finished */
	PHASE_STORED,				/* pairs of left rows with the stored right group */
	PHASE_STORED_LEFT_DONE,		/* left rows of it that are finished */
	PHASE_STORED_RIGHT_DONE,	/* the stored rows are finished */
	PHASE_COUNT_LEFT,			/* left rows of a group that is counted */
	PHASE_COUNT_RIGHT			/* right rows of it */
} MergePhase;

/* Groups are counted if that saves so many entries: what stretches of their own cost, and finishing a key. */
#define COUNT_SAVES 128

struct MergeJoin
{
	MergeType	type;
	bool		residual;		/* the taker tests further conditions */
	bool		first_only;		/* one right row per left row is enough */
	bool		counts;			/* the taker wants large groups counted */
	MergeSide	left;
	MergeSide	right;
	bool		left_first;
	MergePhase	phase;

	/* the groups of the present key: entries lfrom..lto-1 by rfrom..rto-1 */
	int			lfrom,
				lto,
				rfrom,
				rto;
	int			l,
				r;				/* the next pair, or the next finished row */
	int			chunk;			/* chunk of the store */

	GroupStore *store;
	bool	   *store_matched;	/* GROUP_CHUNK_ROWS per chunk, for full joins */
	KeyBound	store_key;		/* key of the stored group, or of the one counted, copied */
	MemoryContext keycxt;		/* holds the two above */
	int64		rows_compared;

	bool		count_begins;	/* nothing of the present group has been counted yet */
	int64		group_rows[2];	/* rows of it, left and right */
	double		pairs_counted;
};

/* How MergeSome stopped. */
typedef enum MergeStep
{
	STEP_EXHAUSTED,				/* a batch is used up */
	STEP_FULL,					/* no room for another entry */
	STEP_CROSS,					/* a product too large for the room left */
	STEP_COUNT,					/* of a join that counts, for the ones above and below, and where
								 * counting saves entries */
	STEP_BOTH_OPEN				/* both groups reach the end of their batches */
} MergeStep;

/*
 * Merge the present batches, adding entries.  On STEP_CROSS, STEP_COUNT and
 * STEP_BOTH_OPEN the two groups are in lfrom..rto.
 */
extern MergeStep MergeSome(MergeJoin *join, MergePairs *pairs);

/*
 * merge_fetch.c: read on until the side has an entry; false at the end of the input.  A
 * preserved side reads all its rows; others may skip to the bound.
 */
extern bool MergeFetch(MergeJoin *join, MergeSide *side, const KeyBound *bound);

/* The side's present key, for the other side to skip to; NULL if there is none. */
extern const KeyBound *MergePresentKey(MergeSide *side);

/* Copy the present key of the right side to store_key. */
extern void MergeKeepKey(MergeJoin *join);

/*
 * merge_count.c: begin to count the groups lfrom..rto, of which no entry is in
 * a list.
 */
extern void MergeCountBegin(MergeJoin *join);

/* Go on with them; false when the list must be handed out. */
extern bool MergeCountGroups(MergeJoin *join, MergePairs *pairs);

/*
 * The groups that were counted are finished: begin with those of the next
 * key if they are to be counted too.  Both sides have entries left; those
 * without a match are passed where they are not wanted.
 */
extern bool MergeCountNext(MergeJoin *join);

/* Are the groups of a key, of so many rows each, to be counted? */
static inline bool
CountsGroups(const MergeJoin *join, int64 nleft, int64 nright)
{
	return join->counts && nleft * nright - nleft - nright > COUNT_SAVES;
}

static inline bool
IsFull(const MergePairs *pairs)
{
	return pairs->n == MERGE_PAIRS;
}

static inline void
AddPair(MergePairs *pairs, int lrow, int rrow)
{
	pairs->lrow[pairs->n] = (uint16) lrow;
	pairs->rrow[pairs->n] = (uint16) rrow;
	pairs->n++;
}

/* Entries without partner for the side's entries from pos to to-1, as far as there is room. */
static inline void
AddFinished(MergeSide *side, bool is_left, int to, MergePairs *pairs)
{
	int			end = Min(to, side->pos + MERGE_PAIRS - pairs->n);

	for (int i = side->pos; i < end; i++)
	{
		int			row = KeyVectorRow(&side->keys, i);

		AddPair(pairs, is_left ? row : MERGE_NONE, is_left ? MERGE_NONE : row);
	}
	side->pos = end;
}

#endif							/* BF_MERGE_JOIN_STATE_H */
