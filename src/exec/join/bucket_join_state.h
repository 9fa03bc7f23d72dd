/*
 * bucket_join_state.h
 *	  Executor state of BucketJoin; internal to src/exec/join/.
 *
 * A child of a join is read batch by batch; it may be another BucketJoin.
 * Only the topmost join of a chain hands out rows.
 */
#ifndef BF_BUCKET_JOIN_STATE_H
#define BF_BUCKET_JOIN_STATE_H

#include "exec/join/bucket_join.h"
#include "exec/join/merge/merge_join.h"
#include "exec/source/parallel_state.h"

/* Where a column of the scan slot comes from. */
typedef struct JoinOutput
{
	int			side;			/* 0 outer, 1 inner, JOIN_SIDE_EITHER */
	int			col;			/* batch column, or -1: */
	int			attribute;		/* that column of the side, which no batch has */
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
	const Datum *values;		/* NULL: it is none of a batch, or that side has no partner in any entry */
	const bool *nulls;
	const uint16 *rows;			/* per entry */
} JoinSource;

typedef struct BucketJoinState
{
	ParallelCustomState base;	/* must be first */
	JoinType	jointype;
	BatchSource source;			/* of another node that reads the join in batches */
	BatchSource *child[2];		/* outer, inner */
	ExprState  *joinqual;		/* residual join quals */
	bool		unconditional;	/* no conditions beside the keys */
	bool		counts;			/* the node above wants pairs of large groups counted */
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
	JoinSource *sources;		/* per column, made on first use */
	bool		found;			/* they are those of the present list */

	/* as a source of batches */
	Batch		batch;
	const uint16 *lrow;			/* entries of the batch */
	const uint16 *rrow;
	uint16	   *lrow_buffer;
	uint16	   *rrow_buffer;
	ScaledColumn *scaled;		/* per column, integers instead of numerics */
	int64	   *times;			/* of the rows, where an input has them; made on first use */

	int64		units;
	int64		rows_filtered;

	JoinCounters workers;		/* what parallel workers did */
} BucketJoinState;

/* The state of which this is the source. */
static inline BucketJoinState *
JoinOf(const BatchSource *source)
{
	return (BucketJoinState *) ((char *) source - offsetof(BucketJoinState, source));
}

/* join_node.c; functions of the source: */

/* Fix parameters and groups of the join and all below it. */
extern void JoinNodeStart(BatchSource *source);
extern void JoinNodeOpenUnit(BatchSource *source, int ngroups, const Unit *unit);
extern Batch *JoinNodeNextBatch(BatchSource *source, const KeyBound *bound);
extern void JoinNodeClose(BatchSource *source);

/*
 * Step to the next entry of the output and put it into the scan slot; false
 * at the end of the group.
 */
extern bool JoinNodeNextEntry(BucketJoinState *state);

/* Forget everything that depends on parameters. */
extern void JoinNodeReset(BucketJoinState *state);

/* What this process did, without its workers. */
extern void JoinNodeCounters(const BucketJoinState *state, JoinCounters *counters);

/* Add counters of one process to those of another; peaks are the greater of the two. */
extern void JoinCountersAdd(JoinCounters *sum, const JoinCounters *add);

/* join_explain.c */
extern void BucketJoinExplain(CustomScanState *node, List *ancestors, ExplainState *es);

/* and functions of the source */
extern char *JoinKeyName(BatchSource *source, int key, int k, ExplainState *es);
extern List *JoinBucketCounts(BatchSource *source, List *counts);
extern void JoinAddCounters(BatchSource *source, SourceCounters *counters);

#endif							/* BF_BUCKET_JOIN_STATE_H */
