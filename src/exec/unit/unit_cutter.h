/*
 * unit_cutter.h
 *	  Cut a bucket group that is too large for one process into parts.
 *
 * Cuts come from the first keys of blocks, which stand in the footers: the
 * same in every process, and no row is read for them.
 */
#ifndef BF_UNIT_CUTTER_H
#define BF_UNIT_CUTTER_H

#include "exec/scan/leaf_reader.h"
#include "exec/unit/unit_queue.h"

/* A table that is read for each group. */
typedef struct CutSource
{
	LeafReader *leaf;
	int			nkeys;
	const void *input;			/* those of one input are sliced together */
	bool		may_slice;		/* may a key's rows be shared out while the other inputs' are read for each share? */
} CutSource;

typedef struct UnitCutter
{
	List	   *sources;		/* CutSource */
	bool		split;			/* may a key be in several units? */
	bool		counts;			/* pairs of a key are counted, not made: its rows are all the work */
	int			max_slices;
	uint64		fingerprint;	/* of all cuts made */
} UnitCutter;

extern void UnitCutterAdd(UnitCutter *cutter, LeafReader *leaf, int nkeys, const void *input,
						  bool may_slice);

/*
 * The units of a group (list of Unit), with at most so many rows each if that
 * can be: a key whose rows must stay together is not cut.
 */
extern List *UnitCutterCut(UnitCutter *cutter, int ngroups, int group, int64 rows, int64 limit);

/* Is there a group with so many runs that UnitCutterSliceRuns may be of use? */
extern bool UnitCutterManyRuns(const UnitCutter *cutter, int ngroups);

/*
 * As UnitCutterCut, of a group of that many rows that need not be cut: several units, each
 * of which reads some runs of one input and all of the others, where there are
 * so many runs that this is faster; NIL: it is not.
 */
extern List *UnitCutterSliceRuns(const UnitCutter *cutter, int ngroups, int group, int64 rows);

#endif							/* BF_UNIT_CUTTER_H */
