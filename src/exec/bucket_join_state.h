/*
 * bucket_join_state.h
 *	  Executor state of BucketJoin; internal to src/exec/.
 */
#ifndef BF_BUCKET_JOIN_STATE_H
#define BF_BUCKET_JOIN_STATE_H

#include "exec/merge_join.h"
#include "exec/scan_node.h"

typedef struct JoinInput
{
	PlanState  *planstate;		/* the child as it stands in custom_ps */
	PlanState  *scanstate;		/* the Foreign Scan itself */
	ResultState *gate;			/* a one-time filter between the two, or NULL */
	BucketScanState *scan;		/* NULL under plain EXPLAIN */
	int			nkeys;
	int		   *keycols;		/* batch columns */
	Oid		   *keytypes;
	KeyClass   *keyclasses;
	int16	   *typlen;			/* per batch column */
	bool	   *typbyval;
} JoinInput;

/* Where a column of the scan slot comes from. */
typedef struct JoinOutput
{
	int			side;
	AttrNumber	attnum;			/* 0: whole row; negative: tableoid */
	int			col;			/* batch column when attnum > 0 */
} JoinOutput;

typedef struct BucketJoinState
{
	CustomScanState css;		/* must be first */
	JoinInput	input[2];		/* outer, inner */
	ExprState  *joinqual;		/* residual join quals */
	int			nout;
	JoinOutput *out;
	MemoryContext cxt;

	int			group;			/* next group to open; -1: not started */
	int			ngroups;
	int			nbuckets[2];
	bool		in_group;
	MergeJoin  *merge;
	MergePairs *pairs;
	int			pair;			/* next pair to hand out */

	int64		units;			/* groups joined */
	int64		rows_filtered;	/* by the join filter */
} BucketJoinState;

extern void BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* BF_BUCKET_JOIN_STATE_H */
