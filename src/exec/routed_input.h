/*
 * routed_input.h
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs: the side of a bucket join that is not bucketed by the join's key.
 *
 * Rows are sorted once, by group and key, in work_mem or temporary files.
 */
#ifndef BF_ROUTED_INPUT_H
#define BF_ROUTED_INPUT_H

#include "exec/key_vector.h"
#include "nodes/execnodes.h"
#include "utils/tuplesort.h"

typedef struct RoutedInput RoutedInput;

/* Column i of the input's batches is entry i of the plan's target list. */
extern RoutedInput *RoutedInputCreate(PlanState *planstate);

/* Keys are the columns keycols, of the given classes and base types. */
extern void RoutedInputSetKeys(RoutedInput *routed, int nkeys, const int *keycols,
							   const KeyClass *classes, const Oid *types);

/* Leave out rows with a NULL key, which match nothing. */
extern void RoutedInputDropNulls(RoutedInput *routed);

/* Keep the sorted rows for rescans that change nothing in the plan below. */
extern void RoutedInputKeepRows(RoutedInput *routed);

/* Are they kept?  Then the plan below need not be read again. */
extern bool RoutedInputKeepsRows(const RoutedInput *routed);

/* Forget all rows: the plan below is at its start again. */
extern void RoutedInputForget(RoutedInput *routed);

/* Begin with the first group again, with the rows that were not forgotten. */
extern void RoutedInputStart(RoutedInput *routed);

/*
 * Exact rows of a group.  The first call reads the plan to its end; from then
 * on the number of groups is fixed, as that of files is for a snapshot.
 */
extern int64 RoutedInputGroupRows(RoutedInput *routed, int ngroups, int group);

/* Groups are opened in ascending order; some may be left out. */
extern void RoutedInputOpenGroup(RoutedInput *routed, int ngroups, int group);

/* The next batch of the open group, in key order; NULL at its end. */
extern Batch *RoutedInputNext(RoutedInput *routed);

/* How the rows were sorted; false when they were not read. */
extern bool RoutedInputStats(RoutedInput *routed, TuplesortInstrumentation *stats);

/* Give up memory and temporary files. */
extern void RoutedInputEnd(RoutedInput *routed);

#endif							/* BF_ROUTED_INPUT_H */
