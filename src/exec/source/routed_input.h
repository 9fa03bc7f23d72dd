/*
 * routed_input.h
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs: the side of a bucket join that is not bucketed by the join's key.
 *
 * Rows are read once, and kept in work_mem or temporary files.
 */
#ifndef BF_ROUTED_INPUT_H
#define BF_ROUTED_INPUT_H

#include "nodes/execnodes.h"
#include "vector/key_vector.h"

typedef struct RoutedInput RoutedInput;

/* Column i of the input's batches is entry i of the plan's target list. */
extern RoutedInput *RoutedInputCreate(PlanState *planstate);

/* Keys are the columns keycols, of the given classes and base types. */
extern void RoutedInputSetKeys(RoutedInput *routed, int nkeys, const int *keycols,
							   const KeyClass *classes, const Oid *types);

/* Leave out rows with a NULL key, which match nothing. */
extern void RoutedInputDropNulls(RoutedInput *routed);

/* Keep the rows for rescans that change nothing in the plan below. */
extern void RoutedInputKeepRows(RoutedInput *routed);

/* Are they kept?  Then the plan below need not be read again. */
extern bool RoutedInputKeepsRows(const RoutedInput *routed);

/* Forget all rows: the plan below is at its start again. */
extern void RoutedInputForget(RoutedInput *routed);

/* Groups are opened anew, with the rows that were not forgotten. */
extern void RoutedInputStart(RoutedInput *routed);

/*
 * Exact rows of a group.  The first call reads the plan to its end; from then
 * on the number of groups is fixed, as that of files is for a snapshot.
 */
extern int64 RoutedInputGroupRows(RoutedInput *routed, int ngroups, int group);

extern void RoutedInputOpenGroup(RoutedInput *routed, int ngroups, int group);

/* The next batch of the open group, in key order; NULL at its end. */
extern Batch *RoutedInputNext(RoutedInput *routed);

/* Most memory that keeping and sorting the rows took, and temporary files; false when no rows were read. */
extern bool RoutedInputStats(RoutedInput *routed, int64 *memory_kb, int64 *disk_kb);

/* Give up memory and temporary files. */
extern void RoutedInputEnd(RoutedInput *routed);

#endif							/* BF_ROUTED_INPUT_H */
