/*
 * bucket_join_state.h
 *	  Executor state of BucketJoin; internal to src/exec/.
 *
 * An input of a join is a Foreign Scan of ours or another BucketJoin, read
 * batch by batch.  Only the topmost join of a chain hands out rows.
 */
#ifndef BF_BUCKET_JOIN_STATE_H
#define BF_BUCKET_JOIN_STATE_H

#include "exec/join/merge/merge_join.h"
#include "exec/source/batch_input.h"

/* Where a column of the scan slot comes from. */
typedef struct JoinOutput
{
	int			side;			/* 0 outer, 1 inner, JOIN_SIDE_EITHER */
	int			col;			/* batch column, or -1 */
	AttrNumber	attnum;			/* for col -1: 0 whole row, else tableoid */
	int			keycols[2];		/* of either side: batch columns of the key, outer and inner */
	Oid			keytypes[2];
	Oid			type;			/* what they are widened to */
} JoinOutput;

/* What EXPLAIN ANALYZE tells of a join. */
typedef struct JoinCounters
{
	int64		units;			/* groups, or parts of groups, joined */
	int64		rows_filtered;	/* by the join filter */
	MergeJoinCounters merge;
} JoinCounters;

/* A column of the scan slot in the present list of pairs. */
typedef struct JoinSource
{
	const Datum *values;		/* NULL: that side has no partner in any entry */
	const bool *nulls;
	const uint16 *rows;			/* per entry */
} JoinSource;

typedef struct BucketJoinState
{
	ParallelCustomState base;	/* must be first */
	JoinType	jointype;
	BatchInput	input[2];		/* outer, inner */
	ExprState  *joinqual;		/* residual join quals */
	bool		unconditional;	/* no conditions beside the keys */
	bool		counts;			/* the aggregate above wants large groups counted; set by it */
	bool		direct;			/* that, and every column of the output is one of a batch */
	int			nout;
	JoinOutput *out;
	MemoryContext cxt;

	bool		started;
	UnitQueue	queue;			/* what to join; the topmost join only */
	int			nbuckets;		/* gcd over all files below; 0: no file */
	bool		in_group;
	MergeJoin  *merge;
	MergePairs *pairs;
	int			pair;			/* next entry to look at */
	JoinSource *sources;		/* per column, for "direct"; made on first use */

	/* as an input of another join */
	Batch		batch;
	const uint16 *lrow;			/* entries of the batch */
	const uint16 *rrow;
	uint16	   *lrow_buffer;
	uint16	   *rrow_buffer;
	Datum	  **values;			/* per column, made on first use */
	bool	  **nulls;
	ScaledColumn *scaled;		/* the same of integers instead of numerics */
	int64	   *times;			/* of the rows, where an input has them; made on first use */

	int64		units;
	int64		rows_filtered;

	JoinCounters workers;		/* what parallel workers did */
} BucketJoinState;

/* join_node.c: a join as a node that others read. */

/* Fix parameters and groups of the join and all below it. */
extern void JoinNodeStart(BucketJoinState *state);

/* Rows the group can give at most, 0: none. */
extern int64 JoinNodeGroupRows(BucketJoinState *state, int ngroups, int group);

/* Rows read for the group at most, 0: none can come out of it. */
extern int64 JoinNodeGroupWork(BucketJoinState *state, int ngroups, int group);

/* As BatchInputCutSources. */
extern bool JoinNodeCutSources(BucketJoinState *state, struct UnitCutter *cutter, bool may_slice);

extern void JoinNodeOpenUnit(BucketJoinState *state, int ngroups, const Unit *unit);

/*
 * Step to the next entry of the output and put it into the scan slot; false
 * at the end of the group.
 */
extern bool JoinNodeNextEntry(BucketJoinState *state);

/* The next batch of output rows, or NULL; column i is entry i of custom_scan_tlist. */
extern Batch *JoinNodeNextBatch(BucketJoinState *state, const KeyBound *bound);

/* The stretches of the batch given last, see merge_join.h; returns how many, 0: it is of pairs. */
extern int	JoinNodeStretches(const BucketJoinState *state, const MergeStretch **stretches);

extern void JoinNodeCloseGroup(BucketJoinState *state);

/* Forget everything that depends on parameters. */
extern void JoinNodeReset(BucketJoinState *state);

/* What this process did, without its workers. */
extern void JoinNodeCounters(const BucketJoinState *state, JoinCounters *counters);

/* Add counters of one process to those of another; peaks are the greater of the two. */
extern void JoinCountersAdd(JoinCounters *sum, const JoinCounters *add);

/* join_explain.c */
extern void BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es);

/*
 * "alias.column" of column "key" of an input, which is the k-th key there.
 */
extern char *BatchInputKeyName(BatchInput *input, int key, int k, ExplainState *es);

/* bucket_join.c: the state of a child that is a BucketJoin, else NULL */
extern BucketJoinState *BucketJoinOf(PlanState *planstate);

/* Can a topmost join be read in batches, since it gives nothing but columns of batches? */
extern bool BucketJoinGivesBatches(const BucketJoinState *state);

/* The next batch of a topmost join, in place of the rows it would give; NULL at the end. */
extern Batch *BucketJoinNextBatch(BucketJoinState *state);

#endif							/* BF_BUCKET_JOIN_STATE_H */
