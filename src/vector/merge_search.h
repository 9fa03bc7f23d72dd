/*
 * merge_search.h
 *	  Searching in key vectors; inlined into the merge loops.
 */
#ifndef BF_MERGE_SEARCH_H
#define BF_MERGE_SEARCH_H

#include "vector/key_vector.h"

/* steps taken one by one before a search starts to gallop */
#define LINEAR_STEPS 8
/* the same before a look is taken whether the rest of the vector is one group */
#define LINEAR_GROUP 32

/* First index at or after from with k[index] >= want; starts slow, then gallops. */
static inline int
Search64(const int64 *k, int from, int n, int64 want)
{
	int			step = 1;
	int			lo = from;
	int			hi;

	for (int i = 0; i < LINEAR_STEPS; i++)
	{
		if (lo >= n || k[lo] >= want)
			return lo;
		lo++;
	}
	hi = lo;
	while (hi < n && k[hi] < want)
	{
		lo = hi + 1;
		hi += step;
		step *= 2;
	}
	hi = Min(hi, n);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (k[mid] < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same over full comparisons with an entry of another vector. */
static inline int
SearchFull(const KeyVector *kv, int from, const KeyVector *other, int entry)
{
	int			step = 1;
	int			lo = from;
	int			hi = from;

	while (hi < kv->n && KeyVectorCompare(kv, hi, other, entry) < 0)
	{
		lo = hi + 1;
		hi += step;
		step *= 2;
	}
	hi = Min(hi, kv->n);
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (KeyVectorCompare(kv, mid, other, entry) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* End of the group of equal keys that starts at "from"; exact: the images decide. */
static inline int
GroupEnd(const KeyVector *kv, int from, bool exact)
{
	int			i = from + 1;

	if (exact)
	{
		int64		key = kv->k64[from];
		int			few = Min(kv->n, from + LINEAR_GROUP);

		while (i < few && kv->k64[i] == key)
			i++;
		if (i < few || i == kv->n)
			return i;
		if (kv->k64[kv->n - 1] == key)
			return kv->n;
		while (kv->k64[i] == key)
			i++;
	}
	else
	{
		while (i < kv->n && KeyVectorCompare(kv, i, kv, from) == 0)
			i++;
	}
	return i;
}

/* The same of a group about which nothing else is known. */
static inline int
EndOfGroup(const KeyVector *kv, int from)
{
	return GroupEnd(kv, from, kv->exact && kv->entry_null == NULL);
}

#endif							/* BF_MERGE_SEARCH_H */
