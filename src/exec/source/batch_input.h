/*
 * batch_input.h
 *	  A child of a node of ours, read batch by batch: a Foreign Scan, a
 *	  BucketJoin, or an Append of Foreign Scans, maybe under a Result with a
 *	  one-time filter; or any plan, whose rows are routed to buckets.
 */
#ifndef BF_BATCH_INPUT_H
#define BF_BATCH_INPUT_H

#include "exec/join/bucket_join.h"
#include "exec/scan/scan_node.h"
#include "exec/source/append_input.h"
#include "exec/source/routed_input.h"

struct BucketJoinState;

typedef struct BatchInput
{
	PlanState  *planstate;		/* the child as it stands in custom_ps */
	PlanState  *node;			/* the scan or join itself */
	BatchInputKind kind;
	ResultState *gate;			/* a one-time filter between the two, or NULL */
	bool		gate_closed;	/* its condition is false: no row */
	BucketScanState *scan;		/* one of these four, unless plain EXPLAIN */
	struct BucketJoinState *join;
	AppendInput *append;
	RoutedInput *routed;
	int			nkeys;
	int		   *keycols;		/* batch columns */
	Oid		   *keytypes;
	KeyClass   *keyclasses;
	int			ncols;			/* of its batches */
	int16	   *typlen;			/* per batch column */
	bool	   *typbyval;
} BatchInput;

/* Find the node below a child. */
extern void BatchInputResolve(BatchInput *input, PlanState *child, BatchInputKind kind);

/* Fill in batch columns, their types, and the keys among them (columns of the child). */
extern void BatchInputDescribe(BatchInput *input, List *keys);

/*
 * Raise an error unless all files of a scan are laid out by these key columns.
 * A plan can outlive the layout it was made for only by a bug; the files have
 * the last word, so say so rather than join in the wrong order.
 */
extern void BatchInputCheckOrder(BatchInput *input, List *keys);

/* The batch column of a column of the child (attribute number or place in its output). */
extern int	BatchInputColumn(const BatchInput *input, int column);

/*
 * The node "parent" is rescanned: so is its child, unless that happens anyway
 * when it is read, because parameters of it have changed, or its rows were
 * kept.  planstate must be set, nothing else.
 */
extern void BatchInputReScan(BatchInput *input, PlanState *parent);

/* Fix parameters; to be called before the functions below, and after each rescan. */
extern void BatchInputStart(BatchInput *input);

/* gcd of the bucket counts of the files below; 0 when there is none: it has no say in the number of groups. */
extern int	BatchInputBuckets(BatchInput *input);

/* Rows the group can give at most; 0: none. */
extern int64 BatchInputGroupRows(BatchInput *input, int ngroups, int group);

/* Rows read for the group at most, in all tables below; 0: nothing to do. */
extern int64 BatchInputGroupWork(BatchInput *input, int ngroups, int group);

/*
 * Name what is read below, so that large groups can be cut; false: they
 * cannot.  may_slice: as in CutSource.
 */
extern bool BatchInputCutSources(BatchInput *input, struct UnitCutter *cutter, bool may_slice);

/* Start on the bucket groups of an input, as UnitQueueStart; shared and split are set. */
extern void BatchInputStartUnits(BatchInput *input, UnitQueue *queue);

/*
 * Nothing but the keys will be asked for, and how many rows each has: batches of
 * a scan may have "times".  Before BatchInputStart.
 */
extern void BatchInputCountRows(BatchInput *input);

/* Open the next unit of the queue; false when there is none. */
extern bool BatchInputOpenNext(BatchInput *input, UnitQueue *queue);

extern void BatchInputOpenUnit(BatchInput *input, int ngroups, const Unit *unit);

/* The next batch, in key order of a unit; arg is the BatchInput. */
extern Batch *BatchInputNext(void *arg, const KeyBound *bound);

extern void BatchInputClose(BatchInput *input);

#endif							/* BF_BATCH_INPUT_H */
