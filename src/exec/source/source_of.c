/*
 * source_of.c
 *	  From a child of a node of ours to the source of its batches.
 */
#include "postgres.h"

#include "exec/source/append_source.h"
#include "exec/source/routed_source.h"
#include "exec/source/source_of.h"

BatchSource *
BatchSourceOf(PlanState *child, BatchSourceKind kind)
{
	BatchSource *source = NULL;

	switch (kind)
	{
		case BATCH_SOURCE_NODE:
			source = BatchSourceFind(child);
			break;
		case BATCH_SOURCE_APPEND:
			source = AppendSourceCreate(child);
			break;
		case BATCH_SOURCE_ROUTED:
			source = RoutedSourceCreate(child);
			break;
	}
	if (source == NULL)
		elog(ERROR, "a child of a bucket plan cannot be read in batches");
	return source;
}
