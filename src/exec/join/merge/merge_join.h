/*
 * merge_join.h
 *	  Merge two sorted streams of batches into pairs of row numbers.
 *
 * Knows nothing of plans: inputs are functions that give batches, and
 * conditions beside the key equality are tested by whoever takes the pairs.
 * Includes no planner or executor header.
 */
#ifndef BF_MERGE_JOIN_H
#define BF_MERGE_JOIN_H

#include "vector/batch.h"
#include "vector/key_vector.h"

/* pairs given at a time */
#define MERGE_PAIRS 4096

/* in lrow or rrow: no partner */
#define MERGE_NONE 0xFFFF

typedef enum MergeType
{
	MERGE_INNER,
	MERGE_LEFT,					/* left rows without a match too */
	MERGE_FULL,					/* and right ones */
	MERGE_SEMI,					/* left rows with a match, once */
	MERGE_ANTI					/* left rows without a match */
} MergeType;

/*
 * Gives the next batch of an input in key order, or NULL at its end.  Rows
 * below the bound (NULL: none) may be left out.  The batch lives until the
 * next call.
 */
typedef Batch *(*MergeSideNext) (void *arg, const KeyBound *bound);

typedef struct MergeSideSpec
{
	MergeSideNext next;
	void	   *arg;
	const int  *keycols;		/* batch columns of the keys */
	const Oid  *keytypes;
	const KeyClass *keyclasses; /* may differ from those of the other input if they meet */
	int			ncols;			/* of its batches */
	const int16 *typlen;		/* per column */
	const bool *typbyval;
} MergeSideSpec;

/*
 * A list of candidate pairs and of rows that are finished, in key order.
 *
 * lrow[i], rrow[i] both rows: their keys are equal.  The taker tests further
 * conditions and, if they hold, sets lmatched[lrow[i]] and rmatched[rrow[i]]
 * (where not NULL).  rrow[i] = MERGE_NONE: all pairs of that left row have
 * been given; it has no match unless its flag is set.  lrow[i] = MERGE_NONE:
 * the same of a right row.  The flags must be up to date when the next list
 * is asked for.  The first "settled" entries need no flags: they are pairs of
 * a join without further conditions, and rows without a match.
 *
 * Of a join that counts, a list is either as above or has nothing but
 * stretches of rows whose pairs were not made (nstretches > 0), see
 * BatchStretch.  The first entry of a stretch that begins is one of these pairs;
 * in others the other row may be MERGE_NONE.
 */
typedef struct MergePairs
{
	Batch	   *left;
	Batch	   *right;
	bool	   *lmatched;
	bool	   *rmatched;
	int			n;
	int			settled;
	uint16		lrow[MERGE_PAIRS];
	uint16		rrow[MERGE_PAIRS];
	int			nstretches;
	BatchStretch stretches[MERGE_PAIRS];
} MergePairs;

typedef struct MergeJoin MergeJoin;

/*
 * residual: the taker tests conditions beside the key, so that one pair per
 * left row is not enough for semi and anti joins.  work_bytes bounds the
 * memory for keys that are frequent on both inputs.
 */
extern MergeJoin *MergeJoinCreate(MergeType type, bool residual,
								  int nkeys,
								  const MergeSideSpec *left, const MergeSideSpec *right,
								  Size work_bytes);

/*
 * Count the rows of keys that are frequent on both inputs, instead of making
 * their pairs.  For inner, left and full joins without further conditions,
 * before the first unit.
 */
extern void MergeJoinCount(MergeJoin *join);

/*
 * Begin a unit.  The input named first is read first and, if that settles the
 * result, the other not at all.
 */
extern void MergeJoinStart(MergeJoin *join, bool left_first);

/* The next list, with at least one entry; false at the end of the unit. */
extern bool MergeJoinNext(MergeJoin *join, MergePairs *pairs);

typedef struct MergeJoinCounters
{
	int64		rows_compared;	/* rows of both inputs that reached the merge */
	Size		peak_memory;	/* of key groups */
	int64		spilled;		/* bytes of key groups written to temporary files */
	double		pairs_counted;	/* pairs that were counted, not made */
} MergeJoinCounters;

extern void MergeJoinGetCounters(const MergeJoin *join, MergeJoinCounters *counters);

/* Forget the present unit. */
extern void MergeJoinReset(MergeJoin *join);

#endif							/* BF_MERGE_JOIN_H */
