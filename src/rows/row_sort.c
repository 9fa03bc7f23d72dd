/*
 * row_sort.c
 *	  Sort rows: by a 64-bit prefix of the first column,
 *	  then, where prefixes are equal, by all columns.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "rows/row_sort.h"

/* below this many entries a comparison sort is faster than counting */
#define RADIX_MIN_ROWS 192

/* by prefix only */
#define ST_SORT SortByPrefix
#define ST_ELEMENT_TYPE SortEntry
#define ST_COMPARE(a, b) ((a)->prefix < (b)->prefix ? -1 : (a)->prefix > (b)->prefix ? 1 : 0)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* the same of many entries */
#define RS_SORT SortByDigits
#define RS_ELEMENT SortEntry
#define RS_NUMBER prefix
#include "vector/radix_sort.h"

/* entries of one prefix by the rest of the order */
#define ST_SORT SortTies
#define ST_ELEMENT_TYPE SortEntry
#define ST_COMPARE(a, b, layout) RowCompareTie(layout, (a)->prefix, (a)->row, (b)->row)
#define ST_COMPARE_ARG_TYPE const RowLayout
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

void
RowSorterInit(RowSorter *sorter, MemoryContext cxt)
{
	memset(sorter, 0, sizeof(RowSorter));
	sorter->cxt = cxt;
}

static void
Free(RowSorter *sorter)
{
	if (sorter->entries)
		pfree(sorter->entries);
	if (sorter->spare)
		pfree(sorter->spare);
	sorter->entries = sorter->spare = NULL;
	sorter->capacity = 0;
}

void
RowSorterRoom(RowSorter *sorter, int64 n)
{
	if (n <= sorter->capacity)
		return;
	Free(sorter);
	n = Max(n + n / 8, 256);
	sorter->entries = MemoryContextAllocHuge(sorter->cxt, n * sizeof(SortEntry));
	sorter->spare = MemoryContextAllocHuge(sorter->cxt, n * sizeof(SortEntry));
	sorter->capacity = n;
}

/* Order each group of equal prefixes by all columns. */
static void
SortTieGroups(const RowLayout *layout, SortEntry *entries, int64 n)
{
	int64		i = 0;

	/* NULLs, which no prefix decides between, are the last ones */
	if (n == 0 || RowPrefixDecides(layout, entries[n - 1].prefix))
		return;
	while (i < n)
	{
		uint64		prefix = entries[i].prefix;
		int64		end = i + 1;

		while (end < n && entries[end].prefix == prefix)
			end++;
		if (end - i > 1 && !RowPrefixDecides(layout, prefix))
			SortTies(entries + i, end - i, layout);
		i = end;
	}
}

int64
RowSorterAdd(RowSorter *sorter, const RowLayout *layout, const RowBucket *bucket, int64 n)
{
	RowWalk		walk;
	char	   *row;

	RowWalkBegin(&walk, layout, bucket);
	while ((row = RowWalkNext(&walk)) != NULL)
	{
		sorter->entries[n].prefix = RowPrefix(layout, row);
		sorter->entries[n].row = row;
		n++;
	}
	return n;
}

void
RowSorterOrder(RowSorter *sorter, const RowLayout *layout, int64 n)
{
	const SortEntry *entries = sorter->entries;
	uint64		differing = 0;
	bool		sorted = true;

	for (int64 i = 1; i < n; i++)
	{
		sorted &= entries[i].prefix >= entries[i - 1].prefix;
		differing |= entries[i].prefix ^ entries[i - 1].prefix;
	}
	if (!sorted)
	{
		if (n < RADIX_MIN_ROWS)
			SortByPrefix(sorter->entries, n);
		else
			SortByDigits(&sorter->entries, &sorter->spare, n, differing);
	}
	SortTieGroups(layout, sorter->entries, n);
}
