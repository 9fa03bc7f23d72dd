/*
 * append_input.h
 *	  Several bucketed scans of one partitioned table, read as one sorted
 *	  stream per bucket group.
 */
#ifndef BF_APPEND_INPUT_H
#define BF_APPEND_INPUT_H

#include "exec/unit/unit_queue.h"
#include "nodes/execnodes.h"
#include "vector/key_vector.h"

typedef struct AppendInput AppendInput;

/*
 * Make the input from a plan state that is core's Append over Foreign Scans
 * of ours, or the single scan that core left in its place.  Column i of its
 * batches is entry i of the plan's target list.
 */
extern AppendInput *AppendInputCreate(PlanState *planstate);

/* Keys are the batch columns keycols, of the given classes and types (of the parent). */
extern void AppendInputSetKeys(AppendInput *append, int nkeys, const int *keycols,
							   const KeyClass *classes);

extern void AppendInputStart(AppendInput *append);

/* gcd of the bucket counts of all files; 0 when there is none. */
extern int	AppendInputBuckets(AppendInput *append);

extern int64 AppendInputGroupRows(AppendInput *append, int ngroups, int group);
extern void AppendInputOpenUnit(AppendInput *append, int ngroups, const Unit *unit);
extern Batch *AppendInputNext(AppendInput *append, const KeyBound *bound);
extern void AppendInputClose(AppendInput *append);

/* The scans below, for EXPLAIN. */
extern int	AppendInputCount(const AppendInput *append);
extern struct BatchInput *AppendInputChild(AppendInput *append, int child);

#endif							/* BF_APPEND_INPUT_H */
