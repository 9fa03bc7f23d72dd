/*
 * missing_catalog.c
 *	  What a column holds in rows that were written before it was added.
 *
 * A value is kept as its bytes: one that is passed by value as the int64 that
 * it is in vectors, of whatever width; a varlena with its header, not toasted.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tupmacs.h"
#include "access/xact.h"
#include "compat.h"
#include "format/read/reader.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "storage/missing_catalog.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* A scan of the rows of a table. */
typedef struct MissingScan
{
	Relation	table;
	Relation	rel;
	SysScanDesc scan;
	bool		pushed;			/* a snapshot */
	Datum		values[Natts_missing];
} MissingScan;

/*
 * With SnapshotSelf: no lock of a serializable transaction, who reads a column
 * reads the catalog of columns; and workers of a parallel query may not take a
 * snapshot.
 */
static void
BeginScan(MissingScan *scan, Relation table)
{
	ScanKeyData key;

	scan->table = table;

	/* toasted values need one */
	scan->pushed = !ActiveSnapshotSet();
	if (scan->pushed)
		PushActiveSnapshot(GetLatestSnapshot());
	scan->rel = table_open(BucketCatalogOid("missing_values"), AccessShareLock);
	ScanKeyInit(&key, Anum_missing_relid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(table)));
	scan->scan = systable_beginscan(scan->rel, BucketCatalogOid("missing_values_relid_idx"), true,
									SnapshotSelf, 1, &key);
}

/* The attribute of the next row, or NULL. */
static Form_pg_attribute
NextRow(MissingScan *scan)
{
	TupleDesc	desc = RelationGetDescr(scan->table);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan->scan)) != NULL)
	{
		Form_pg_attribute att;
		int			attnum;

		CatalogDeform(scan->rel, tuple, scan->values, Natts_missing);
		attnum = DatumGetInt16(scan->values[Anum_missing_attnum - 1]);
		if (DatumGetObjectId(scan->values[Anum_missing_rowtype - 1]) != scan->table->rd_rel->reltype ||
			attnum < 1 || attnum > desc->natts)
			continue;
		att = TupleDescAttr(desc, attnum - 1);
		if (!att->attisdropped)
			return att;
	}
	return NULL;
}

static void
EndScan(MissingScan *scan)
{
	systable_endscan(scan->scan);
	table_close(scan->rel, NoLock);
	if (scan->pushed)
		PopActiveSnapshot();
}

/* The value that the row has for its column. */
static Datum
GetValue(MissingScan *scan, Form_pg_attribute att)
{
	Oid			typid = DatumGetObjectId(scan->values[Anum_missing_type - 1]);
	bytea	   *bytes = DatumGetByteaPP(scan->values[Anum_missing_value - 1]);
	Size		len = VARSIZE_ANY_EXHDR(bytes);
	int16		typlen = get_typlen(typid);
	char	   *copy;
	Datum		value;

	if (!ColumnHoldsStored(att, typid, KeyClassOfType(typid), typlen))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" has type %s, but was added with a value of type %s",
						NameStr(att->attname), RelationGetRelationName(scan->table),
						format_type_be(att->atttypid), format_type_be(typid)),
				 errhint("Change the type of the column back, or write the table again.")));
	if (len < (att->attbyval ? sizeof(Datum) : att->attlen > 0 ? (Size) att->attlen : VARHDRSZ))
		len = 0;
	copy = palloc(Max(len, sizeof(Datum)));
	memcpy(copy, VARDATA_ANY(bytes), len);
	if (len == 0 || (att->attlen == -1 && VARSIZE_ANY(copy) != len))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("malformed value of column \"%s\" of bucketed table \"%s\" in \"bucketfdw.missing_values\"",
						NameStr(att->attname), RelationGetRelationName(scan->table))));
	if (!att->attbyval)
		return PointerGetDatum(copy);
	memcpy(&value, copy, sizeof(Datum));
	pfree(copy);
	return value;
}

void
MissingValuesRead(Relation rel, Datum *values, bool *nulls)
{
	MissingScan scan;
	Form_pg_attribute att;

	memset(values, 0, RelationGetNumberOfAttributes(rel) * sizeof(Datum));
	memset(nulls, true, RelationGetNumberOfAttributes(rel) * sizeof(bool));
	BeginScan(&scan, rel);
	while ((att = NextRow(&scan)) != NULL)
	{
		values[att->attnum - 1] = GetValue(&scan, att);
		nulls[att->attnum - 1] = false;
	}
	EndScan(&scan);
}

/* Begin a scan and find the row of a column; its attribute, or NULL. */
static Form_pg_attribute
FindRow(MissingScan *scan, Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att;

	BeginScan(scan, rel);
	while ((att = NextRow(scan)) != NULL && att->attnum != attnum)
		;
	return att;
}

bool
MissingValueRead(Relation rel, AttrNumber attnum, Datum *value)
{
	MissingScan scan;
	Form_pg_attribute att = FindRow(&scan, rel, attnum);

	if (att != NULL)
		*value = GetValue(&scan, att);
	EndScan(&scan);
	return att != NULL;
}

bool
MissingValueType(Relation rel, AttrNumber attnum, Oid *typid, int32 *typmod)
{
	MissingScan scan;
	Form_pg_attribute att = FindRow(&scan, rel, attnum);

	if (att != NULL)
	{
		*typid = DatumGetObjectId(scan.values[Anum_missing_type - 1]);
		*typmod = DatumGetInt32(scan.values[Anum_missing_typmod - 1]);
	}
	EndScan(&scan);
	return att != NULL;
}

/* A value passed by value as vectors hold it: an expression may leave anything in the bytes that are not the type's. */
static Datum
ExtendedValue(Form_pg_attribute att, Oid typid, Datum value)
{
	Datum		stored = (Datum) 0;

	store_att_byval(&stored, value, att->attlen);
	return KeyClassOfType(typid) == KEYCLASS_OID ? ObjectIdGetDatum(DatumGetObjectId(value)) :
		fetch_att(&stored, true, att->attlen);
}

void
MissingValueInsert(Relation rel, AttrNumber attnum, Datum value)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	int32		typmod = att->atttypmod;
	Oid			typid = getBaseTypeAndTypmod(att->atttypid, &typmod);
	Relation	catalog = table_open(BucketCatalogOid("missing_values"), RowExclusiveLock);
	Datum		values[Natts_missing];
	bool		nulls[Natts_missing] = {false};
	const char *from = (const char *) &value;
	Size		len = sizeof(Datum);
	bytea	   *bytes;

	if (att->attbyval)
		value = ExtendedValue(att, typid, value);
	else
	{
		if (att->attlen == -1)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		from = DatumGetPointer(value);
		len = att->attlen == -1 ? VARSIZE_ANY(from) : (Size) att->attlen;
	}
	bytes = palloc(VARHDRSZ + len);
	SET_VARSIZE(bytes, VARHDRSZ + len);
	memcpy(VARDATA(bytes), from, len);
	values[Anum_missing_relid - 1] = ObjectIdGetDatum(RelationGetRelid(rel));
	values[Anum_missing_rowtype - 1] = ObjectIdGetDatum(rel->rd_rel->reltype);
	values[Anum_missing_attnum - 1] = Int16GetDatum(attnum);
	values[Anum_missing_type - 1] = ObjectIdGetDatum(typid);
	values[Anum_missing_typmod - 1] = Int32GetDatum(typmod);
	values[Anum_missing_value - 1] = PointerGetDatum(bytes);
	CatalogInsert(catalog, values, nulls, Natts_missing, GetCurrentCommandId(true));
	table_close(catalog, NoLock);
	CommandCounterIncrement();
}

void
MissingValueDelete(Oid relid, AttrNumber attnum)
{
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_missing];

	CatalogScanBegin(&scan, "missing_values", RowExclusiveLock, relid, NULL);
	while ((tuple = CatalogScanNext(&scan)) != NULL)
	{
		CatalogDeform(scan.rel, tuple, values, Natts_missing);
		if (DatumGetInt16(values[Anum_missing_attnum - 1]) == attnum)
			(void) CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot);
	}
	CatalogScanEnd(&scan);
	CommandCounterIncrement();
}
