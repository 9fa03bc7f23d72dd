/*
 * merge_memory.h
 *	  What a merge of runs may take, and what becomes of blocks that take more:
 *	  the planner asks what the executor will do.
 *
 * A run's block, or a piece of it, is free up to some bytes.  What blocks take
 * beyond must fit into work_mem, all runs together; a block that does not fit
 * is copied to a temporary file when it is read, and merged from there piece by
 * piece.
 */
#ifndef BF_MERGE_MEMORY_H
#define BF_MERGE_MEMORY_H

#include <math.h>

#include "miscadmin.h"

/* memory that a column of a run in a merge has without being counted */
#define MERGE_STREAM_BYTES (64 * 1024)

/* pieces of a block are not smaller, unless the block is */
#define MERGE_LEAST_PIECE (16 * 1024)

/*
 * A scan in order merges all buckets, where a join merges one of them at a
 * time.  So what its runs have without being counted is bounded by this, too.
 */
static inline Size
MergeOrderedMemory(void)
{
	Size		bytes = (Size) work_mem * 1024;

	/* 128 MB with the default of work_mem */
	return Max(bytes, Min(bytes * 32, (Size) 128 * 1024 * 1024));
}

/* Bytes that each of nruns runs has without being counted. */
static inline Size
MergeRunMemory(int ncols, double nruns, bool ordered)
{
	Size		bytes = (Size) Max(ncols, 1) * MERGE_STREAM_BYTES;

	if (ordered)
		bytes = Min(bytes, (Size) (MergeOrderedMemory() / Max(nruns, 1.0)));
	return Max(bytes, MERGE_LEAST_PIECE);
}

/* What a block takes beyond that. */
static inline Size
MergeExcess(Size block, Size run_memory)
{
	return block > run_memory ? block - run_memory : 0;
}

/* Does that fit beside what other blocks take beyond theirs? */
static inline bool
MergeHolds(Size excess, Size others)
{
	return excess == 0 || others + excess <= (Size) work_mem * 1024;
}

/* The part of nruns runs with equal blocks that is read by way of temporary files. */
static inline double
MergeSpooledShare(double nruns, Size excess)
{
	if (excess == 0 || nruns <= 0)
		return 0;
	return Max(0.0, 1.0 - floor((double) work_mem * 1024 / excess) / nruns);
}

#endif							/* BF_MERGE_MEMORY_H */
