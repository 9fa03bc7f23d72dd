/*
 * batch_source.h
 *	  Whatever gives batches to a node of ours: a scan, a bucket join, an
 *	  Append of scans, or any plan whose rows are routed to buckets; maybe under
 *	  a Result with a one-time filter.
 *
 * A node that can be read in batches has a BatchSource in its state and tells
 * with BatchSourceRegister how to find it.  Whoever reads it knows nothing but
 * the functions below.
 */
#ifndef BF_BATCH_SOURCE_H
#define BF_BATCH_SOURCE_H

#include "compat.h"
#include BF_EXPLAIN_STATE_HEADER
#include "exec/unit/unit_cutter.h"
#include "nodes/execnodes.h"
#include "vector/key_vector.h"

/* What a reader can do with, or without; see BatchSourceWant. */
#define WANT_COUNTED_ROWS	0x01	/* of all columns the keys alone; several rows of a key may be one, Batch.times */
#define WANT_COUNTED_PAIRS	0x02	/* rows of frequent keys may come in stretches instead of pairs */
#define WANT_NO_NULL_KEYS	0x04	/* rows with a NULL key may be left out */
#define WANT_KEPT_ROWS		0x08	/* rescans are likely in which nothing changes below */

typedef struct BatchSource BatchSource;

/* For EXPLAIN ANALYZE, workers included. */
typedef struct SourceCounters
{
	int			runs;			/* most runs merged for one group */
	Size		memory;			/* of decoded vectors */
	double		pairs_counted;	/* instead of made, by a join */
} SourceCounters;

/* The functions of a kind of source; those marked so may be NULL. */
typedef struct BatchSourceOps
{
	/* fill in the batch columns and their types; and use the keys, when they are filled in (may be NULL) */
	void		(*describe) (BatchSource *source);
	void		(*use_keys) (BatchSource *source, List *keys);
	/* the batch column of a column as plans name it, -1: there is none (NULL: it has the same number) */
	int			(*column) (const BatchSource *source, int column);
	/* the value, in a row of a batch, of a column that is none of the batch (may be NULL) */
	Datum		(*attribute) (BatchSource *source, Batch *batch, int row, int column);
	void		(*check_order) (BatchSource *source, List *keys);	/* may be NULL */
	void		(*want) (BatchSource *source, int wants);	/* may be NULL */

	void		(*start) (BatchSource *source);
	void		(*restarted) (BatchSource *source); /* the plan below is at its start again (may be NULL) */
	int			(*buckets) (BatchSource *source);
	int64		(*group_rows) (BatchSource *source, int ngroups, int group);
	int64		(*group_work) (BatchSource *source, int ngroups, int group);	/* NULL: the same */
	bool		(*cut_sources) (BatchSource *source, UnitCutter *cutter, bool may_slice);
	void		(*open_unit) (BatchSource *source, int ngroups, const Unit *unit);
	void		(*open_all) (BatchSource *source, UnitClaim *claim);	/* may be NULL */
	Batch	   *(*next) (BatchSource *source, const KeyBound *bound);
	void		(*close) (BatchSource *source);
	void		(*end) (BatchSource *source);	/* may be NULL */
	/* the next batch of all units, which the source goes through itself (may be NULL) */
	Batch	   *(*next_of_all) (BatchSource *source);

	/* the i-th source below that does its share of the same units; NULL: no more (may be NULL) */
	BatchSource *(*child) (BatchSource *source, int i);
	/* what a worker of a parallel plan did: its size, put into zeroed memory, taken over (may be NULL) */
	Size		(*report_size) (BatchSource *source);
	void		(*report) (BatchSource *source, void *report);
	void		(*collect) (BatchSource *source, const void *report);

	/* EXPLAIN, also where nothing can be read */
	char	   *(*key_name) (BatchSource *source, int key, int k, ExplainState *es);
	List	   *(*bucket_counts) (BatchSource *source, List *counts);
	void		(*add_counters) (BatchSource *source, SourceCounters *counters);	/* may be NULL */
	void		(*explain) (BatchSource *source, const char *side, ExplainState *es);	/* may be NULL */
} BatchSourceOps;

struct BatchSource
{
	const BatchSourceOps *ops;
	PlanState  *node;			/* the scan or join itself */
	PlanState  *planstate;		/* the child as it stands in custom_ps */
	ResultState *gate;			/* a one-time filter between the two, or NULL */
	bool		gate_closed;	/* its condition is false: no row */
	bool		keeps_rows;		/* a rescan need not read the plan below again */

	/* see BatchSourceDescribe */
	int			nkeys;
	int		   *keycols;		/* batch columns */
	Oid		   *keytypes;		/* base types */
	KeyClass   *keyclasses;
	int			ncols;			/* of its batches */
	Oid		   *types;			/* per batch column */
	int16	   *typlen;
	bool	   *typbyval;
};

/* How to find the source in a plan state of this tag; NULL: it is none of ours. */
typedef BatchSource *(*BatchSourceFinder) (PlanState *planstate);

/* Register a kind of node that can be read in batches; once, from _PG_init. */
extern void BatchSourceRegister(NodeTag tag, BatchSourceFinder find);

/* The source of a node that is registered, or of the one under a one-time filter; NULL: it is none. */
extern BatchSource *BatchSourceFind(PlanState *planstate);

/* Fill in batch columns, their types, and the keys among them (columns as plans name them). */
extern void BatchSourceDescribe(BatchSource *source, List *keys);

/* For "describe": the batch columns are the entries of a target list. */
extern void BatchSourceDescribeList(BatchSource *source, List *tlist);

/* Room for the types of ncols batch columns. */
extern void BatchSourceSetColumns(BatchSource *source, int ncols);

/*
 * Raise an error unless all files of a scan are laid out by these key columns.
 * A plan can outlive the layout it was made for only by a bug; the files have
 * the last word, so say so rather than join in the wrong order.
 */
extern void BatchSourceCheckOrder(BatchSource *source, List *keys);

/* The batch column of a column as plans name it: attribute number of a Foreign Scan, else place in the output. */
extern int	BatchSourceColumn(const BatchSource *source, int column);

/* Is it a column that batches do not have, so that its values must be asked for row by row? */
extern bool BatchSourceIsAttribute(const BatchSource *source, int column);

/* Tell what the reader can do with or without (WANT_*), in addition to what was told; before BatchSourceStart. */
extern void BatchSourceWant(BatchSource *source, int wants);

/*
 * The node "parent" is rescanned: so is its child, unless that happens anyway
 * when it is read, because parameters of it have changed, or its rows were
 * kept.  source may be NULL.
 */
extern void BatchSourceReScan(BatchSource *source, PlanState *child, PlanState *parent);

/* Fix parameters; to be called before the functions below, and after each rescan. */
extern void BatchSourceStart(BatchSource *source);

/* gcd of the bucket counts of the files below; 0 when there is none: it has no say in the number of groups. */
extern int	BatchSourceBuckets(BatchSource *source);

/* Rows the group can give at most; 0: none. */
extern int64 BatchSourceGroupRows(BatchSource *source, int ngroups, int group);

/* Rows read for the group at most, in all tables below; 0: nothing to do. */
extern int64 BatchSourceGroupWork(BatchSource *source, int ngroups, int group);

/*
 * Name what is read below, so that large groups can be cut; false: they
 * cannot.  may_slice: as in CutSource.
 */
extern bool BatchSourceCutSources(BatchSource *source, UnitCutter *cutter, bool may_slice);

/* Start on the bucket groups of a source, as UnitQueueStart; shared and split are set. */
extern void BatchSourceStartUnits(BatchSource *source, UnitQueue *queue);

/* Open the next unit of the queue; false when there is none. */
extern bool BatchSourceOpenNext(BatchSource *source, UnitQueue *queue);

extern void BatchSourceOpenUnit(BatchSource *source, int ngroups, const Unit *unit);

/* The part of a unit that this source reads: all, if another one is read in slices. */
extern UnitPart BatchSourcePart(const BatchSource *source, const Unit *unit);

/*
 * Open all rows in any order, or those that no other process takes; false: the
 * source is read unit by unit only.  The claim must live until it is closed.
 */
extern bool BatchSourceOpenAll(BatchSource *source, UnitClaim *claim);

/* The next batch, in key order of a unit. */
extern Batch *BatchSourceNext(BatchSource *source, const KeyBound *bound);

extern void BatchSourceClose(BatchSource *source);

/* Give up memory and temporary files; source may be NULL. */
extern void BatchSourceEnd(BatchSource *source);

/* "alias.column" of column "key" of a source, which is the k-th key there. */
extern char *BatchSourceKeyName(BatchSource *source, int key, int k, ExplainState *es);

#endif							/* BF_BATCH_SOURCE_H */
