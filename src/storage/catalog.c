/*
 * catalog.c
 *	  Rows of the catalog tables of schema bucketfdw: scan, insert, delete.
 *
 * Core's CatalogTupleInsert is not used: it would hand the rows to logical
 * decoding, and a publication FOR ALL TABLES would send them to subscribers
 * that know neither the table nor the files.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* A table of the catalog and its index on relid, as found by their names. */
typedef struct KnownTable
{
	NameData	name;
	Oid			oid;
	Oid			index;			/* InvalidOid: not looked for yet */
} KnownTable;

/* until the relation cache says that one of them, or anything, has changed */
static KnownTable known_tables[8];
static int	nknown_tables = 0;
static uint64 known_generation = 0;

static void
ForgetKnownTables(void)
{
	nknown_tables = 0;
	known_generation++;
}

static void
CatalogRelcacheCallback(Datum arg, Oid relid)
{
	bool		ours = relid == InvalidOid;

	for (int i = 0; i < nknown_tables && !ours; i++)
		ours = known_tables[i].oid == relid || known_tables[i].index == relid;
	if (ours)
		ForgetKnownTables();
}

/* The schema may get another name. */
static void
CatalogNamespaceCallback(Datum arg, int cacheid, uint32 hashvalue)
{
	ForgetKnownTables();
}

void
CatalogInit(void)
{
	CacheRegisterRelcacheCallback(CatalogRelcacheCallback, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, CatalogNamespaceCallback, (Datum) 0);
}

/* Oid of a relation of our schema by its name. */
static Oid
FindByName(const char *name)
{
	Oid			nspoid = get_namespace_oid("bucketfdw", true);
	Oid			relid = OidIsValid(nspoid) ? get_relname_relid(name, nspoid) : InvalidOid;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"bucketfdw.%s\" does not exist", name),
				 errhint("Run CREATE EXTENSION bucketfdw in this database.")));
	return relid;
}

Oid
BucketCatalogOid(const char *name)
{
	uint64		generation = known_generation;
	Oid			relid;

	for (int i = 0; i < nknown_tables; i++)
		if (strcmp(NameStr(known_tables[i].name), name) == 0)
			return known_tables[i].oid;
	relid = FindByName(name);
	if (generation == known_generation && nknown_tables < lengthof(known_tables))
	{
		KnownTable *known = &known_tables[nknown_tables++];

		namestrcpy(&known->name, name);
		known->oid = relid;
		known->index = InvalidOid;
	}
	return relid;
}

Oid
CatalogIndexOid(const char *table)
{
	uint64		generation = known_generation;
	char		name[NAMEDATALEN];
	Oid			index;

	for (int i = 0; i < nknown_tables; i++)
		if (OidIsValid(known_tables[i].index) && strcmp(NameStr(known_tables[i].name), table) == 0)
			return known_tables[i].index;
	snprintf(name, sizeof(name), "%s_relid_idx", table);
	index = FindByName(name);
	for (int i = 0; i < nknown_tables && generation == known_generation; i++)
		if (strcmp(NameStr(known_tables[i].name), table) == 0)
			known_tables[i].index = index;
	return index;
}

/* As CatalogScanBegin, which see. */
static void
ScanBegin(CatalogScan *scan, const char *table, LOCKMODE lockmode, Oid relid, Snapshot snapshot, bool unnoticed)
{
	ScanKeyData key;

	scan->unnoticed = unnoticed;
	scan->cxt = CurrentMemoryContext;
	scan->rel = table_open(BucketCatalogOid(table), lockmode);
	scan->snapshot = RegisterSnapshot(snapshot ? snapshot : GetLatestSnapshot());
	PushActiveSnapshot(scan->snapshot);

	/* relid is the first column of every table */
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	if (OidIsValid(relid))
		scan->scan = systable_beginscan(scan->rel, CatalogIndexOid(table), true,
										unnoticed ? SnapshotAny : scan->snapshot, 1, &key);
	else
		scan->scan = systable_beginscan(scan->rel, InvalidOid, false, scan->snapshot, 0, NULL);
}

void
CatalogScanBegin(CatalogScan *scan, const char *table, LOCKMODE lockmode,
				 Oid relid, Snapshot snapshot)
{
	ScanBegin(scan, table, lockmode, relid, snapshot, false);
}

void
CatalogScanBeginUnnoticed(CatalogScan *scan, const char *table, Oid relid, Snapshot snapshot)
{
	ScanBegin(scan, table, AccessShareLock, relid, snapshot, true);
}

HeapTuple
CatalogScanNext(CatalogScan *scan)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(scan->cxt);
	HeapTuple	tuple;

	/* callers have a context they reset for each row; btree keeps memory between calls */
	do
	{
		CHECK_FOR_INTERRUPTS();
		tuple = systable_getnext(scan->scan);
	} while (tuple != NULL && scan->unnoticed &&
			 !table_tuple_satisfies_snapshot(scan->rel, scan->scan->slot, scan->snapshot));
	MemoryContextSwitchTo(oldcxt);
	return tuple;
}

/* Locks are kept until the end of the transaction. */
void
CatalogScanEnd(CatalogScan *scan)
{
	systable_endscan(scan->scan);
	PopActiveSnapshot();
	UnregisterSnapshot(scan->snapshot);
	table_close(scan->rel, NoLock);
}

/* Needs RowExclusiveLock on rel.  An active snapshot is not needed. */
void
CatalogInsert(Relation rel, const Datum *values, const bool *nulls, int natts, CommandId cid)
{
	TupleTableSlot *slot;
	HeapTuple	tuple;
	List	   *indexes;
	ListCell   *lc;

	if (RelationGetNumberOfAttributes(rel) > natts)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"bucketfdw.%s\" has columns that this library does not know",
						RelationGetRelationName(rel)),
				 errhint("Install the library of the version that the extension bucketfdw has in this database.")));
	slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	tuple = heap_form_tuple(RelationGetDescr(rel), unconstify(Datum *, values),
							unconstify(bool *, nulls));
	indexes = RelationGetIndexList(rel);
	ExecStoreHeapTuple(tuple, slot, false);

	/* toasting may need one */
	PushActiveSnapshot(GetLatestSnapshot());

	/* later commands of this transaction must get another command id */
	(void) GetCurrentCommandId(true);
	table_tuple_insert(rel, slot, cid, TABLE_INSERT_NO_LOGICAL, NULL);

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);
		Datum		keys[INDEX_MAX_KEYS];
		bool		keynulls[INDEX_MAX_KEYS];

		if (info->ii_ReadyForInserts)
		{
			FormIndexDatum(info, slot, NULL, keys, keynulls);
			index_insert(index, keys, keynulls, &slot->tts_tid, rel,
						 UNIQUE_CHECK_NO, false, info);
		}
		index_close(index, NoLock);
	}

	PopActiveSnapshot();
	ExecDropSingleTupleTableSlot(slot);
	heap_freetuple(tuple);
	list_free(indexes);
}

bool
CatalogDelete(Relation rel, ItemPointer tid, Snapshot snapshot)
{
	TM_FailureData tmfd;

	return table_tuple_delete(rel, tid, GetCurrentCommandId(true), snapshot,
							  InvalidSnapshot, false, &tmfd, false) == TM_Ok;
}

int
CompareFileIds(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

void
CatalogDeleteRows(const char *table, Oid relid)
{
	CatalogScan scan;
	HeapTuple	tuple;

	CatalogScanBegin(&scan, table, RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
		CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot);
	CatalogScanEnd(&scan);
	CommandCounterIncrement();
}

void
CatalogDeform(Relation rel, HeapTuple tuple, Datum *values, int natts)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum		all[BF_CATALOG_COLUMNS];
	bool		nulls[BF_CATALOG_COLUMNS];

	if (desc->natts > BF_CATALOG_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"bucketfdw.%s\" has more columns than this library can read",
						RelationGetRelationName(rel))));
	heap_deform_tuple(tuple, desc, all, nulls);
	for (int i = 0; i < natts; i++)
	{
		bool		isnull = i >= desc->natts || nulls[i];

		if (isnull && i < desc->natts && TupleDescAttr(desc, i)->attnotnull)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("unexpected null in column %d of \"bucketfdw.%s\"",
							i + 1, RelationGetRelationName(rel))));
		values[i] = isnull ? (Datum) 0 : all[i];
	}
}

bool
CatalogNamesTable(Oid relid)
{
	static const char *const tables[] = {"spec", "manifest", "inline_rows"};
	Oid			rowtype = get_rel_type_id(relid);
	bool		found = false;

	for (int i = 0; i < lengthof(tables) && !found; i++)
	{
		CatalogScan scan;
		HeapTuple	tuple;
		Datum		values[Anum_spec_rowtype];

		/* all begin with the same two columns */
		CatalogScanBegin(&scan, tables[i], AccessShareLock, relid, NULL);
		while (!found && (tuple = CatalogScanNext(&scan)) != NULL)
		{
			CatalogDeform(scan.rel, tuple, values, Anum_spec_rowtype);
			found = DatumGetObjectId(values[Anum_spec_rowtype - 1]) == rowtype;
		}
		CatalogScanEnd(&scan);
	}
	return found;
}

char *
ExtensionVersion(void)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *version = NULL;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("bucketfdw"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		datum = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(rel), &isnull);

		if (!isnull)
			version = TextDatumGetCString(datum);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return version;
}

const void *
CatalogArray(Datum value, Oid elemtype, int *nelems)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) > 1 || ARR_HASNULL(array) || ARR_ELEMTYPE(array) != elemtype)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("malformed array in a catalog table of bucketfdw")));

	*nelems = ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0];
	return ARR_DATA_PTR(array);
}

int
CatalogArrayLength(Datum value)
{
	int			dims[2];		/* size, and lower bound behind it */
	struct varlena *head = PG_DETOAST_DATUM_SLICE(value, 0, sizeof(ArrayType) - VARHDRSZ + sizeof(dims));
	ArrayType	array;

	/* the slice may have a short header */
	if (VARSIZE_ANY_EXHDR(head) < sizeof(ArrayType) - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("malformed array in a catalog table of bucketfdw")));
	memcpy((char *) &array + VARHDRSZ, VARDATA_ANY(head), sizeof(ArrayType) - VARHDRSZ);
	if (array.ndim != 1 || VARSIZE_ANY_EXHDR(head) < sizeof(ArrayType) - VARHDRSZ + sizeof(dims))
		return 0;
	memcpy(dims, VARDATA_ANY(head) + sizeof(ArrayType) - VARHDRSZ, sizeof(dims));
	return dims[0];
}

Datum
CatalogMakeArray(const void *elems, int nelems, Oid elemtype, int elemsize)
{
	ArrayType  *array;
	Size		size;

	if (nelems == 0)
		return PointerGetDatum(construct_empty_array(elemtype));

	/* the data of an array of fixed-size elements is the C array itself */
	size = ARR_OVERHEAD_NONULLS(1) + (Size) nelems * elemsize;
	array = (ArrayType *) palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = elemtype;
	ARR_DIMS(array)[0] = nelems;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), elems, (size_t) nelems * elemsize);
	return PointerGetDatum(array);
}

BucketSpec *
CatalogGetSpec(const Datum *values, int first)
{
	int			n[4];
	const int16 *attnums = CatalogArray(values[first + 2], INT2OID, &n[0]);
	const int16 *classes = CatalogArray(values[first + 3], INT2OID, &n[1]);
	const Oid  *types = CatalogArray(values[first + 4], OIDOID, &n[2]);
	const int16 *flags = CatalogArray(values[first + 5], INT2OID, &n[3]);
	BucketSpec *spec = palloc0(BucketSpecSize(n[0]));

	spec->hash_version = DatumGetInt16(values[first - 1]);
	spec->nbuckets = DatumGetInt32(values[first]);
	spec->nkeys = DatumGetInt16(values[first + 1]);
	spec->nsort = n[0];
	if (n[1] != n[0] || n[2] != n[0] || n[3] != n[0] ||
		spec->nkeys < 1 || spec->nkeys > spec->nsort ||
		spec->nbuckets < 1 || spec->nbuckets > BF_MAX_BUCKETS)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("malformed bucket spec in a catalog table of bucketfdw")));

	for (int i = 0; i < spec->nsort; i++)
	{
		if (classes[i] <= KEYCLASS_NONE || classes[i] > KEYCLASS_LAST)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("unknown key class %d in a catalog table of bucketfdw", classes[i]),
					 errhint("The table may have been written by a newer version of bucketfdw.")));
		spec->sort[i].attnum = attnums[i];
		spec->sort[i].keyclass = (KeyClass) classes[i];
		spec->sort[i].typid = types[i];
		spec->sort[i].flags = (uint8) flags[i];
	}
	return spec;
}

void
CatalogSetSpec(const BucketSpec *spec, Datum *values, int first)
{
	int16	   *smalls = palloc(sizeof(int16) * spec->nsort);
	Oid		   *types = palloc(sizeof(Oid) * spec->nsort);

	values[first - 1] = Int16GetDatum(spec->hash_version);
	values[first] = Int32GetDatum(spec->nbuckets);
	values[first + 1] = Int16GetDatum(spec->nkeys);
	for (int i = 0; i < spec->nsort; i++)
		smalls[i] = spec->sort[i].attnum;
	values[first + 2] = CatalogMakeArray(smalls, spec->nsort, INT2OID, sizeof(int16));
	for (int i = 0; i < spec->nsort; i++)
		smalls[i] = (int16) spec->sort[i].keyclass;
	values[first + 3] = CatalogMakeArray(smalls, spec->nsort, INT2OID, sizeof(int16));
	for (int i = 0; i < spec->nsort; i++)
		types[i] = spec->sort[i].typid;
	values[first + 4] = CatalogMakeArray(types, spec->nsort, OIDOID, sizeof(Oid));
	for (int i = 0; i < spec->nsort; i++)
		smalls[i] = spec->sort[i].flags;
	values[first + 5] = CatalogMakeArray(smalls, spec->nsort, INT2OID, sizeof(int16));
	pfree(smalls);
	pfree(types);
}
