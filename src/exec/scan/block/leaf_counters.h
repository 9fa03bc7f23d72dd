/*
 * leaf_counters.h
 *	  What a reader of a table has read.
 */
#ifndef BF_LEAF_COUNTERS_H
#define BF_LEAF_COUNTERS_H

typedef struct LeafReader LeafReader;

/* What was read so far; printed by EXPLAIN ANALYZE. */
typedef struct LeafCounters
{
	int64		blocks_read;
	int64		blocks_skipped;
	uint64		bytes_read;
	int64		rows_removed;	/* by batch quals */
	int			max_runs;		/* most runs merged for one group */
	Size		peak_memory;	/* bytes of decoded vectors, at most */
} LeafCounters;

/* Add counters of one process to those of another; peaks are the greater of the two. */
static inline void
LeafCountersAdd(LeafCounters *sum, const LeafCounters *add)
{
	sum->blocks_read += add->blocks_read;
	sum->blocks_skipped += add->blocks_skipped;
	sum->bytes_read += add->bytes_read;
	sum->rows_removed += add->rows_removed;
	sum->max_runs = Max(sum->max_runs, add->max_runs);
	sum->peak_memory = Max(sum->peak_memory, add->peak_memory);
}

#endif							/* BF_LEAF_COUNTERS_H */
