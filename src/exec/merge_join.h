/*
 * merge_join.h
 *	  Merge two sorted streams of batches into pairs of row numbers.
 *
 * Knows nothing of plans: inputs are functions that give batches.  Inner join
 * only: rows with a NULL key match nothing and are dropped.  Includes no
 * planner or executor header.
 */
#ifndef BF_MERGE_JOIN_H
#define BF_MERGE_JOIN_H

#include "exec/key_vector.h"
#include "vector/batch.h"

/* pairs given at a time */
#define MERGE_PAIRS 4096

/*
 * Gives the next batch of an input in key order, or NULL at its end.  Rows
 * below the bound (NULL: none) may be left out.  The batch lives until the
 * next call.
 */
typedef Batch *(*MergeInputNext) (void *arg, const KeyBound *bound);

typedef struct MergeInputSpec
{
	MergeInputNext next;
	void	   *arg;
	const int  *keycols;		/* batch columns of the keys */
	const Oid  *keytypes;
	int			ncols;			/* of its batches */
	const int16 *typlen;		/* per column */
	const bool *typbyval;
} MergeInputSpec;

/* Rows lrow[i] of left and rrow[i] of right match, i < n. */
typedef struct MergePairs
{
	Batch	   *left;
	Batch	   *right;
	int			n;
	uint16		lrow[MERGE_PAIRS];
	uint16		rrow[MERGE_PAIRS];
} MergePairs;

typedef struct MergeJoin MergeJoin;

/* work_bytes bounds the memory for keys that are frequent on both inputs. */
extern MergeJoin *MergeJoinCreate(int nkeys, const KeyClass *classes,
								  const MergeInputSpec *left, const MergeInputSpec *right,
								  Size work_bytes);

/* Begin a unit; the input named first is read first and, if empty, the other not at all. */
extern void MergeJoinStart(MergeJoin *join, bool left_first);

/* Next pairs (at least one); false at the end of the unit. */
extern bool MergeJoinNext(MergeJoin *join, MergePairs *pairs);

typedef struct MergeJoinCounters
{
	int64		rows_compared;	/* rows of both inputs that reached the merge */
	Size		peak_memory;	/* of key groups */
	int64		spilled;		/* bytes of key groups written to temporary files */
} MergeJoinCounters;

extern void MergeJoinGetCounters(const MergeJoin *join, MergeJoinCounters *counters);

/* Forget the present unit. */
extern void MergeJoinReset(MergeJoin *join);

#endif							/* BF_MERGE_JOIN_H */
