/*
 * compact_choose.h
 *	  Which files the next step of a compaction replaces.
 */
#ifndef BF_COMPACT_CHOOSE_H
#define BF_COMPACT_CHOOSE_H

#include "storage/manifest.h"

/* What is merged, and how much at once. */
typedef struct CompactLimits
{
	bool		full;			/* until a bucket has one run, else until it has few enough */
	int			runs;			/* so many */
	bool		quiet;			/* nothing is appended: then on to two or one, as far as credit goes */
	double		deleted;		/* files of which a greater part is deleted are written anew; if full, all that have any */
	int64		step_bytes;		/* of files replaced in a step, about */
	Size		row_memory;		/* that a row of a block takes while its run is merged */
	Size		memory;			/* for all runs of a bucket together */
} CompactLimits;

/* What there is to do. */
#define COMPACT_MERGE	1		/* runs are merged */
#define COMPACT_CLEAN	2		/* deleted rows are taken out */

/*
 * Choose files among those that are eligible, which all have the same spec;
 * sets chosen[], returns how many.  In each of the chosen files all runs are
 * merged, by bucket.  0: nothing is to be done.  parts[] has an element for each
 * bucket, 0 before the first step: what was decided and goes beyond this step.
 * Deleted rows of files that are fresh, earlier steps having written them, are
 * left; NULL: none is.
 */
extern int	CompactChoose(const Manifest *manifest, const bool *eligible, const bool *fresh,
						  const CompactLimits *limits, double *parts, bool *chosen);

/* What is to be done among the files of a spec?  Memory and size of a step do not matter. */
extern int	CompactDue(const Manifest *manifest, const BucketSpec *spec, const CompactLimits *limits);

#endif							/* BF_COMPACT_CHOOSE_H */
