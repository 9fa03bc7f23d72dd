/*
 * unit_cutter.h
 *	  Cut a bucket group that is too large for one process into parts.
 *
 * Cuts come from the first keys of blocks, which stand in the footers: the
 * same in every process, and no row is read for them.
 */
#ifndef BF_UNIT_CUTTER_H
#define BF_UNIT_CUTTER_H

#include "exec/unit/unit_queue.h"
#include "format/read/reader.h"

/* Takes the blocks that are read of a run, in order. */
typedef void (*CutBlocks) (void *arg, const BucketSpec *spec, const FileBlock *blocks, int nblocks);

/* What a table tells of its groups. */
typedef struct CutSourceOps
{
	int64		(*group_rows) (void *table, int ngroups, int group);
	/* numbers of the runs of a group, valid until the next call */
	const int  *(*group_runs) (void *table, int ngroups, int group, int *nruns);
	void		(*visit_run) (void *table, int run, CutBlocks visit, void *arg);
} CutSourceOps;

/* A table that is read for each group. */
typedef struct CutSource
{
	const CutSourceOps *ops;
	void	   *table;
	int			nkeys;
	const void *owner;			/* those of one owner are sliced together */
	bool		may_slice;		/* may a key's rows be shared out while those of other owners are read for each share? */
} CutSource;

typedef struct UnitCutter
{
	List	   *sources;		/* CutSource */
	bool		split;			/* may a key be in several units? */
	bool		counts;			/* pairs of a key are counted, not made: its rows are all the work */
	int			max_slices;
	uint64		fingerprint;	/* of all cuts made */
} UnitCutter;

/* Add a copy of a source. */
extern void UnitCutterAdd(UnitCutter *cutter, const CutSource *source);

/*
 * The units of a group (list of Unit), with at most so many rows each if that
 * can be: a key whose rows must stay together is not cut.
 */
extern List *UnitCutterCut(UnitCutter *cutter, int ngroups, int group, int64 rows, int64 limit);

#endif							/* BF_UNIT_CUTTER_H */
