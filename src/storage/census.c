/*
 * census.c
 *	  Which tables catalog tables have rows of.
 *
 * Most tables have no garbage, no inline rows and no deleted ones: who looks at
 * thousands of tables reads these catalog tables once, not each index for each
 * table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "storage/catalog.h"
#include "storage/grow.h"
#include "utils/rel.h"

static const char *const census_tables[] = {
	[CENSUS_DELETES] = "delete_vectors",
	[CENSUS_GARBAGE] = "dead_files",
	[CENSUS_INLINE] = "inline_rows",
	[CENSUS_UPKEEP] = "upkeep_state"
};

struct CatalogCensus
{
	int			n[lengthof(census_tables)];
	Oid		   *relids[lengthof(census_tables)];	/* ascending */
};

static int
CompareOids(const void *a, const void *b)
{
	Oid			x = *(const Oid *) a;
	Oid			y = *(const Oid *) b;

	return (x > y) - (x < y);
}

/* The relids of all rows of a catalog table. */
static Oid *
ReadRelids(const char *table, Snapshot snapshot, int *n)
{
	MemoryContext cxt = CurrentMemoryContext;
	Oid		   *relids = NULL;
	int			room = 0;
	CatalogScan scan;
	HeapTuple	tuple;

	*n = 0;
	CatalogScanBegin(&scan, table, AccessShareLock, InvalidOid, snapshot);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		bool		isnull;
		Oid			relid = DatumGetObjectId(heap_getattr(tuple, 1, RelationGetDescr(scan.rel), &isnull));

		/* rows of a table mostly stand together */
		if (*n > 0 && relids[*n - 1] == relid)
			continue;
		relids = GrowArray(relids, cxt, &room, *n + 1, sizeof(Oid));
		relids[(*n)++] = relid;
	}
	CatalogScanEnd(&scan);
	if (*n > 0)
		qsort(relids, *n, sizeof(Oid), CompareOids);
	return relids;
}

CatalogCensus *
CatalogCensusRead(Snapshot snapshot)
{
	CatalogCensus *census = palloc(sizeof(CatalogCensus));

	for (int i = 0; i < lengthof(census_tables); i++)
		census->relids[i] = ReadRelids(census_tables[i], snapshot, &census->n[i]);
	return census;
}

bool
CatalogCensusHas(const CatalogCensus *census, CensusTable table, Oid relid)
{
	return census == NULL ||
		(census->n[table] > 0 &&
		 bsearch(&relid, census->relids[table], census->n[table], sizeof(Oid), CompareOids) != NULL);
}
