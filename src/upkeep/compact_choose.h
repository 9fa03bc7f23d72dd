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
	int64		step_bytes;		/* of files replaced in a step, about */
	Size		row_memory;		/* that a row of a block takes while its run is merged */
	Size		memory;			/* for all runs of a bucket together */
} CompactLimits;

/*
 * Choose files among those that are eligible, which all have the same spec;
 * sets chosen[], returns how many.  In each of the chosen
 * files all runs are merged, by bucket.  0: nothing is to be done.
 */
extern int	CompactChoose(const Manifest *manifest, const bool *eligible, const CompactLimits *limits,
						  bool *chosen);

#endif							/* BF_COMPACT_CHOOSE_H */
