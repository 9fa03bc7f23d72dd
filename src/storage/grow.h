/*
 * grow.h
 *	  Arrays that grow.
 */
#ifndef BF_GROW_H
#define BF_GROW_H

#include <limits.h>

#include "utils/memutils.h"

/*
 * An array with room for so many elements: the same, or a larger one, made in
 * cxt if there is none yet (NULL).  After an error the old one is as it was.
 */
static inline void *
GrowArray(void *array, MemoryContext cxt, int *room, int needed, Size elemsize)
{
	int64		size = Min(Max(Max((int64) *room * 2, 32), needed), INT_MAX);

	if (needed <= *room)
		return array;
	array = array == NULL ? MemoryContextAllocHuge(cxt, (Size) size * elemsize) :
		repalloc_huge(array, (Size) size * elemsize);
	*room = (int) size;
	return array;
}

#endif							/* BF_GROW_H */
