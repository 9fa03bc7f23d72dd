/*
 * source_of.h
 *	  From a child of a node of ours to the source of its batches.
 */
#ifndef BF_SOURCE_OF_H
#define BF_SOURCE_OF_H

#include "exec/source/batch_source.h"

/* What a child was planned as; stands in plans. */
typedef enum BatchSourceKind
{
	BATCH_SOURCE_NODE,			/* a scan or join of ours */
	BATCH_SOURCE_APPEND,		/* an Append of scans of ours, or the one scan left of it */
	BATCH_SOURCE_ROUTED			/* whatever it is, its rows are read and routed */
} BatchSourceKind;

/*
 * The source of a child, which must be one.  With BatchSourceFind the only
 * place that looks at kinds of nodes.
 */
extern BatchSource *BatchSourceOf(PlanState *child, BatchSourceKind kind);

#endif							/* BF_SOURCE_OF_H */
