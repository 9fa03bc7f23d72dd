/*
 * append_source.h
 *	  Several bucketed scans of one partitioned table, read as one sorted
 *	  stream per bucket group.
 */
#ifndef BF_APPEND_SOURCE_H
#define BF_APPEND_SOURCE_H

#include "exec/source/batch_source.h"

/*
 * Make the source of core's Append over Foreign Scans of ours, maybe under a
 * one-time filter, or of the single child that core left in its place.  Column
 * i of its batches is entry i of the plan's target list.
 */
extern BatchSource *AppendSourceCreate(PlanState *planstate);

#endif							/* BF_APPEND_SOURCE_H */
