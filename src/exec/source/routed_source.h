/*
 * routed_source.h
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs: the side of a bucket join that is not bucketed by the join's key.
 *
 * Rows are read once, and kept in work_mem or temporary files.  The first time
 * a group's rows are counted the plan is read to its end; from then on the
 * number of groups is fixed, as that of files is for a snapshot.
 */
#ifndef BF_ROUTED_SOURCE_H
#define BF_ROUTED_SOURCE_H

#include "exec/source/batch_source.h"

/* Column i of the source's batches is entry i of the plan's target list. */
extern BatchSource *RoutedSourceCreate(PlanState *planstate);

#endif							/* BF_ROUTED_SOURCE_H */
