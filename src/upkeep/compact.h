/*
 * compact.h
 *	  Compaction: small runs of a bucket become one, in steps of whole files.
 */
#ifndef BF_COMPACT_H
#define BF_COMPACT_H

#include "postgres.h"

/* One table that is being compacted, from step to step. */
typedef struct Compaction Compaction;

/* What is done: see CompactLimits.  In the current context, which outlives the transactions of the steps. */
extern Compaction *CompactBegin(Oid relid, bool full, bool quiet, double deleted);

/*
 * One step, in a transaction as StepOfTable wants it.  Only files that were
 * there at the first step, or come from one, are looked at, so that there is an
 * end however much is appended meanwhile.  false: nothing more is to be done.
 */
extern bool CompactStep(Compaction *compaction);

#endif							/* BF_COMPACT_H */
