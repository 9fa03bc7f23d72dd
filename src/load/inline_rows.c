/*
 * inline_rows.c
 *	  Small writes wait in the catalog, not in files.
 *
 * A row of bucketfdw.inline_rows holds the rows of one write as tuples, as a
 * heap would.  Columns that were dropped or added since are treated as a heap
 * treats them; bucket and order are not stored, so a new spec holds for them at
 * once.  Readers sort them into a file image: one more run of each bucket.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "compat.h"
#include "format/read/reader.h"
#include "format/row_types.h"
#include "guc.h"
#include "load/change_lock.h"
#include "load/inline_rows.h"
#include "load/load_internal.h"
#include "miscadmin.h"
#include "storage/grow.h"
#include "storage/inline_catalog.h"
#include "storage/missing_catalog.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* packed rows that are sorted at once: more become several images, or writes */
#define SET_BYTES (16 * 1024 * 1024)

/*
 * The data of a write.  Behind the header: what each column is; what
 * RowTypesWrite tells of them; and from the next multiple of MAXIMUM_ALIGNOF
 * on, minimal tuples, so aligned.
 */
typedef struct InlineHeader
{
	uint16		version;
	uint16		natts;
	uint32		row_types_len;
} InlineHeader;

typedef struct InlineColumn
{
	Oid			typid;			/* base type; 0: not stored */
	int32		typmod;			/* of it */
} InlineColumn;

#define INLINE_VERSION 1

/* bytes that RowTypesWrite writes if there are none: their number */
#define NO_ROW_TYPES sizeof(uint32)

/* Where the tuples begin. */
static Size
TuplesAt(const InlineHeader *header)
{
	return MAXALIGN(sizeof(InlineHeader) + header->natts * sizeof(InlineColumn) + header->row_types_len);
}

static void
WriteHeader(ByteBuffer *data, const RowLayout *layout)
{
	InlineHeader header = {.version = INLINE_VERSION, .natts = layout->desc->natts};
	LoadKnown  *known = LoadGetKnown(layout);
	size_t		row_types;

	ByteBufferExtend(data, sizeof(header));
	for (int i = 0; i < header.natts; i++)
	{
		InlineColumn column = {0};

		if (layout->col_of[i] >= 0)
		{
			column.typmod = TupleDescAttr(layout->desc, i)->atttypmod;
			column.typid = getBaseTypeAndTypmod(TupleDescAttr(layout->desc, i)->atttypid, &column.typmod);
		}
		ByteBufferAppend(data, &column, sizeof(column));
	}
	row_types = data->len;
	if (known->no_row_types)
		memset(ByteBufferExtend(data, NO_ROW_TYPES), 0, NO_ROW_TYPES);
	else
		RowTypesWrite(data, layout->desc);
	known->no_row_types = data->len - row_types == NO_ROW_TYPES;
	header.row_types_len = data->len - row_types;
	memcpy(data->data, &header, sizeof(header));
	ByteBufferAlign(data, MAXIMUM_ALIGNOF);
}

/* Add the wanted rows of a bucket; false: there is too much. */
static bool
WriteBucket(ByteBuffer *data, const RowLayout *layout, const RowBucket *bucket,
			CommandId from, CommandId before, CommandId *last, int64 *nrows, Datum *values, bool *nulls)
{
	RowWalk		walk;
	char	   *row;

	RowWalkBegin(&walk, layout, bucket);
	while ((row = RowWalkNext(&walk)) != NULL)
	{
		CommandId	cid = RowCid(row);
		MinimalTuple tuple;

		if (cid < from || cid >= before)
			continue;
		for (int c = 0; c < layout->ncols; c++)
		{
			int			att = layout->cols[c].attnum - 1;

			nulls[att] = RowColumnIsNull(layout, row, c);
			values[att] = nulls[att] ? (Datum) 0 : RowColumnValue(&layout->cols[c], row);
		}
		tuple = BfHeapFormMinimalTuple(layout->desc, values, nulls);
		ByteBufferAppend(data, tuple, tuple->t_len);
		ByteBufferAlign(data, MAXIMUM_ALIGNOF);
		pfree(tuple);
		if (data->len > (size_t) bf_inline_limit)
			return false;
		(*nrows)++;
		*last = Max(*last, cid);
	}
	return true;
}

bool
InlineSeal(RowSet **sets, int nsets, CommandId from, CommandId before, SealCounters *counters)
{
	const RowLayout *layout = sets[0]->layout;
	MemoryContext cxt;
	MemoryContext old;
	Datum	   *values;
	bool	   *nulls;
	ByteBuffer	data;
	int64		nrows = 0;
	CommandId	last = from;
	bool		fits = bf_inline_limit > 0;

	for (int s = 0; s < nsets; s++)
		fits &= sets[s]->runs == NIL;
	if (!fits)
		return false;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw inline rows", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	values = palloc(layout->desc->natts * sizeof(Datum));
	nulls = palloc(layout->desc->natts * sizeof(bool));
	memset(nulls, true, layout->desc->natts * sizeof(bool));
	ByteBufferInit(&data, cxt);
	WriteHeader(&data, layout);
	for (int s = 0; s < nsets && fits; s++)
		for (int b = 0; b < layout->spec->nbuckets && fits; b++)
			fits = WriteBucket(&data, layout, RowSetBucket(sets[s], b), from, before, &last, &nrows, values, nulls);
	if (fits && nrows > 0)
	{
		LoadKnown  *known = LoadGetKnown(layout);
		int			version;

		/* whoever looks for what a dropped table left looks for this */
		if (!known->recorded)
			known->recorded = SpecNewest(layout->relid, &version) != NULL;
		if (!known->recorded)
			(void) SpecRecord(layout->relid, layout->spec);
		InlineInsert(layout->relid, nrows, data.data, data.len, last);
		counters->rows += nrows;
		counters->bytes += data.len;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return fits;
}

/* What inline rows are read for. */
typedef struct InlineReader
{
	Relation	rel;
	RowLayout  *layout;
	RowPool		pool;
	RowSet	   *set;			/* NULL: no rows since the last time */
	Datum	   *values;
	bool	   *nulls;
	Datum	   *absent;			/* of columns that a write lacks; NULL: none did so far */
	bool	   *absent_nulls;
	MemoryContext cxt;			/* of all that */
	void		(*take) (struct InlineReader *reader);	/* what becomes of a set that is full */
	Manifest   *manifest;		/* AddImage's */
	bool		with_stats;		/* the same */
	bool		to_change;		/* rows are to have origins */
	int64		norigins;
	int			origins_room;
	RowOrigin  *origins;		/* of the rows of the set; the command id of a row is its index here */
	CommandId	cid;			/* of the rows; that of WriteFiles */
} InlineReader;

static void
Malformed(const InlineReader *reader)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("malformed inline rows of bucketed table \"%s\"", RelationGetRelationName(reader->rel))));
}

/* Does a column hold what such a column stored? */
static bool
HoldsInline(Form_pg_attribute att, const InlineColumn *column)
{
	return !OidIsValid(column->typid) || att->attisdropped || column->typid == att->atttypid ||
		ColumnHoldsStored(att, column->typid, KeyClassOfType(column->typid), get_typlen(column->typid));
}

/* Do the columns of the table hold what the rows were written with? */
static void
CheckTypes(const InlineReader *reader, const InlineHeader *header, int64 file_id)
{
	TupleDesc	desc = reader->layout->desc;
	const InlineColumn *columns = (const InlineColumn *) (header + 1);
	Oid			changed;
	int			attnum;

	for (int i = 0; i < header->natts; i++)
	{
		if (i < desc->natts && HoldsInline(TupleDescAttr(desc, i), &columns[i]))
			continue;
		ManifestCheckReplaced(reader->rel, file_id);
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %d of table \"%s\" has another type than the one its inline rows were written with",
						i + 1, RelationGetRelationName(reader->rel)),
				 errhint("Change the type of the column back, or write the table again.")));
	}
	if (!RowTypesCheck((const char *) (columns + header->natts), header->row_types_len, &changed, &attnum))
		Malformed(reader);
	if (OidIsValid(changed))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s has changed since inline rows of table \"%s\" were written",
						format_type_be(changed), RelationGetRelationName(reader->rel)),
				 errdetail("Attribute %d of the type is not what it was.", attnum),
				 errhint("Undo the change of the type, or write the table again.")));
}

/* Put the row in values and nulls into the set. */
static void
AddRow(InlineReader *reader)
{
	RowLayout  *layout = reader->layout;
	Size		size = RowMeasure(layout, reader->values, reader->nulls);
	int			bucket = KeyBucket(BucketSpecHash(layout->spec, reader->values, reader->nulls),
								   layout->spec->nbuckets);

	if (reader->set == NULL)
		reader->set = RowSetCreate(&reader->pool, layout);
	if (size == 0)
		Malformed(reader);
	RowPack(layout, RowSetReserve(reader->set, bucket, size, reader->cid), size, reader->values, reader->nulls,
			reader->cid);
}

/*
 * The columns as tuples of the write have them.  Of those that the table still
 * holds, or has dropped, only integers may look otherwise now.
 */
static TupleDesc
StoredDesc(const InlineReader *reader, const InlineHeader *header)
{
	const InlineColumn *columns = (const InlineColumn *) (header + 1);
	TupleDesc	desc = reader->layout->desc;
	bool		copied = false;

	for (int i = 0; i < header->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (KeyClassOfType(columns[i].typid) != KEYCLASS_INT || get_typlen(columns[i].typid) == att->attlen)
			continue;
		if (!copied)
		{
			desc = CreateTupleDescCopy(desc);
			att = TupleDescAttr(desc, i);
			copied = true;
		}
		get_typlenbyvalalign(columns[i].typid, &att->attlen, &att->attbyval, &att->attalign);
	}
	for (int i = 0; i < desc->natts && copied; i++)
		BfAttributeChanged(desc, i);
	return desc;
}

/* Read what columns hold in rows that are older than they. */
static void
FindAbsent(InlineReader *reader)
{
	int			natts = reader->layout->desc->natts;
	MemoryContext old;

	if (reader->absent != NULL)
		return;
	old = MemoryContextSwitchTo(reader->cxt);
	reader->absent = palloc(natts * sizeof(Datum));
	reader->absent_nulls = palloc(natts * sizeof(bool));
	MissingValuesRead(reader->rel, reader->absent, reader->absent_nulls);
	MemoryContextSwitchTo(old);
}

/* Note where the next row of the set comes from. */
static void
AddOrigin(InlineReader *reader, int64 file_id, int64 row)
{
	RowOrigin  *origin;

	reader->origins = GrowArray(reader->origins, reader->pool.cxt, &reader->origins_room,
								(int) reader->norigins + 1, sizeof(RowOrigin));
	origin = &reader->origins[reader->norigins];
	origin->file_id = (uint64) file_id;
	origin->row = row;
	reader->cid = (CommandId) reader->norigins++;
}

/* Put the rows of a write that are not deleted into the set; the data is aligned. */
static void
AddWrite(InlineReader *reader, const char *data, Size len, int64 nrows, int64 file_id, const RowNumbers *deleted)
{
	const InlineHeader *header = (const InlineHeader *) data;
	TupleDesc	stored;
	int			nabsent;
	Size		at;
	int64		row;

	if (len < sizeof(InlineHeader) || header->version != INLINE_VERSION || TuplesAt(header) > len)
		Malformed(reader);
	CheckTypes(reader, header, file_id);
	stored = StoredDesc(reader, header);
	nabsent = reader->layout->desc->natts - header->natts;
	if (nabsent > 0)
		FindAbsent(reader);
	for (at = TuplesAt(header), row = 0; at < len && row < nrows; row++)
	{
		MinimalTuple minimal = (MinimalTuple) (data + at);
		HeapTupleData tuple = {0};

		if (len - at < SizeofMinimalTupleHeader || minimal->t_len > len - at ||
			minimal->t_len < SizeofMinimalTupleHeader ||
			minimal->t_hoff > minimal->t_len + MINIMAL_TUPLE_OFFSET ||
			HeapTupleHeaderGetNatts(minimal) > reader->layout->desc->natts)
			Malformed(reader);
		at += MAXALIGN(minimal->t_len);
		if (deleted != NULL && RowNumbersHas(deleted, row))
			continue;
		tuple.t_len = minimal->t_len + MINIMAL_TUPLE_OFFSET;
		tuple.t_data = (HeapTupleHeader) ((char *) minimal - MINIMAL_TUPLE_OFFSET);
		heap_deform_tuple(&tuple, stored, reader->values, reader->nulls);
		if (nabsent > 0)
		{
			memcpy(reader->values + header->natts, reader->absent + header->natts, nabsent * sizeof(Datum));
			memcpy(reader->nulls + header->natts, reader->absent_nulls + header->natts, nabsent * sizeof(bool));
		}
		if (reader->to_change)
			AddOrigin(reader, file_id, row);
		AddRow(reader);
	}
	if (at != len || row != nrows)
		Malformed(reader);
}

/* The set is full, or nothing more comes. */
static void
TakeSet(InlineReader *reader)
{
	if (reader->set == NULL)
		return;
	reader->take(reader);
	RowSetFree(reader->set);
	reader->set = NULL;
	reader->norigins = 0;
}

/*
 * The number of buckets may be changed while a query runs: all its processes
 * must take the same.  What else there is stays, as the table is locked.
 */
static RowLayout *
ReadLayout(Relation rel, Snapshot snapshot)
{
	RowLayout  *layout = LoadGetLayout(rel);
	int			version;
	Oid			tablespace;
	BucketSpec *seen = SpecNewestRow(RelationGetRelid(rel), NULL, snapshot, &version, &tablespace);
	TableOptions options;

	if (seen == NULL || seen->nbuckets == layout->spec->nbuckets)
		return layout;
	options = *layout->options;
	options.spec = BucketSpecCopy(layout->spec);
	options.spec->nbuckets = seen->nbuckets;
	return RowLayoutCreate(RelationGetRelid(rel), RelationGetDescr(rel), &options);
}

/* Read what the snapshot sees, and delete it if the scan's lock says so; returns the number of writes. */
static int64
ReadInline(InlineReader *reader, Snapshot snapshot, LOCKMODE lockmode)
{
	Oid			relid = RelationGetRelid(reader->rel);
	Oid			rowtype = get_rel_type_id(relid);
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext read_cxt = NULL;
	MemoryContext write_cxt = NULL;
	int64		n = 0;
	const TableDeletes *deletes = NULL;
	uint64	   *ids = NULL;
	int			room = 0;
	int			nids = 0;
	CatalogScan scan;
	HeapTuple	tuple;
	Datum		values[Natts_inline];

	CatalogScanBegin(&scan, "inline_rows", lockmode, relid, snapshot);
	while ((tuple = InlineScanNext(&scan, rowtype, values)) != NULL)
	{
		struct varlena *data;
		char	   *copy;
		int64		file_id;
		int64		nrows;
		const FileDeletes *deleted;

		/* most tables have none and pay for nothing else */
		if (n++ == 0)
		{
			read_cxt = AllocSetContextCreate(cxt, "bucketfdw inline rows", ALLOCSET_DEFAULT_SIZES);
			MemoryContextSwitchTo(read_cxt);
			reader->layout = ReadLayout(reader->rel, scan.snapshot);
			reader->pool.cxt = reader->cxt = read_cxt;
			reader->values = palloc(reader->layout->desc->natts * sizeof(Datum));
			reader->nulls = palloc(reader->layout->desc->natts * sizeof(bool));
			write_cxt = AllocSetContextCreate(read_cxt, "bucketfdw inline write", ALLOCSET_DEFAULT_SIZES);
			/* of one of which only sizes were read, and of none, nobody has asked */
			deletes = reader->manifest != NULL && reader->manifest->files != NULL ?
				reader->manifest->deletes : DeletesRead(relid, scan.snapshot);
		}
		MemoryContextSwitchTo(write_cxt);
		file_id = DatumGetInt64(values[Anum_inline_file_id - 1]);
		nrows = DatumGetInt64(values[Anum_inline_rows - 1]);
		deleted = DeletesOfFile(deletes, (uint64) file_id);
		data = PG_DETOAST_DATUM_PACKED(values[Anum_inline_data - 1]);
		copy = palloc(VARSIZE_ANY_EXHDR(data));
		memcpy(copy, VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data));
		AddWrite(reader, copy, VARSIZE_ANY_EXHDR(data), nrows, file_id,
				 deleted ? DeletedRows(deleted, relid, nrows) : NULL);
		MemoryContextSwitchTo(cxt);
		MemoryContextReset(write_cxt);
		if (lockmode != AccessShareLock && !CatalogDelete(scan.rel, &tuple->t_self, scan.snapshot))
			elog(ERROR, "inline rows of bucketed table \"%s\" were changed concurrently",
				 RelationGetRelationName(reader->rel));
		if (lockmode != AccessShareLock && deleted != NULL)
		{
			ids = GrowArray(ids, read_cxt, &room, nids + 1, sizeof(uint64));
			ids[nids++] = (uint64) file_id;
		}
		if (reader->pool.used > SET_BYTES)
			TakeSet(reader);
	}
	CatalogScanEnd(&scan);
	TakeSet(reader);
	if (nids > 0)
	{
		qsort(ids, nids, sizeof(uint64), CompareFileIds);
		DeletesRemove(relid, ids, nids);
	}
	if (read_cxt != NULL)
		MemoryContextDelete(read_cxt);
	return n;
}

void
InlineColumnTypes(Relation rel, AttrNumber attnum, StoredTypeFunction take, void *arg)
{
	Size		wanted = sizeof(InlineHeader) + attnum * sizeof(InlineColumn);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw inline types", ALLOCSET_SMALL_SIZES);
	CatalogScan scan;
	Datum		values[Natts_inline];

	CatalogScanBegin(&scan, "inline_rows", AccessShareLock, RelationGetRelid(rel), NULL);
	while (InlineScanNext(&scan, rel->rd_rel->reltype, values) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		struct varlena *head = PG_DETOAST_DATUM_SLICE(values[Anum_inline_data - 1], 0, wanted);
		InlineHeader header;
		InlineColumn column;

		if (VARSIZE_ANY_EXHDR(head) >= sizeof(header))
			memcpy(&header, VARDATA_ANY(head), sizeof(header));
		if (VARSIZE_ANY_EXHDR(head) == wanted && header.natts >= attnum)
		{
			memcpy(&column, VARDATA_ANY(head) + wanted - sizeof(column), sizeof(column));
			if (OidIsValid(column.typid))
				take(arg, column.typid, column.typmod);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
	CatalogScanEnd(&scan);
	MemoryContextDelete(cxt);
}

static void
AddImage(InlineReader *reader)
{
	ManifestWrite write;
	CommandId  *tags;
	FileImage  *image = SealImage(&reader->set, 1, InvalidCommandId, reader->with_stats, &write,
								  reader->to_change ? &tags : NULL);

	ImagePin(image);
	ImageRelease(image);
	ManifestAdd(reader->manifest, &write);
	if (reader->to_change)
	{
		RowOrigin  *origins = MemoryContextAllocHuge(GetMemoryChunkContext(reader->manifest),
													 reader->norigins * sizeof(RowOrigin));

		for (int64 i = 0; i < reader->norigins; i++)
			origins[i] = reader->origins[tags[i]];
		reader->manifest->files[reader->manifest->nfiles - 1].origins = origins;
		pfree(tags);
	}
}

void
InlineAdd(Manifest *manifest, Snapshot snapshot, bool with_stats, bool to_change)
{
	InlineReader reader = {.take = AddImage, .manifest = manifest, .with_stats = with_stats, .to_change = to_change};

	/* the caller has locked it */
	reader.rel = relation_open(manifest->relid, NoLock);
	(void) ReadInline(&reader, snapshot, AccessShareLock);
	relation_close(reader.rel, NoLock);
}

/*
 * Files have statistics, which these rows hardly change.  Of a table without
 * files the image has them.
 */
void
InlineAddSizes(Manifest *manifest, Snapshot snapshot, bool with_stats)
{
	InlineCounts counts;
	ManifestFile file = {0};
	ManifestWrite write = {.nfiles = 1, .files = &file};
	Relation	rel;

	if (with_stats && manifest->nfiles == 0)
	{
		InlineAdd(manifest, snapshot, true, false);
		return;
	}
	InlineCount(manifest->relid, snapshot, &counts);
	if (counts.rows == 0)
		return;
	rel = relation_open(manifest->relid, NoLock);
	write.spec = LoadGetLayout(rel)->spec;
	write.nruns = (int) Min(counts.rows, write.spec->nbuckets);
	file.rows = counts.rows;
	file.bytes = file.raw_bytes = counts.bytes;
	ManifestAdd(manifest, &write);
	relation_close(rel, NoLock);
}

bool
InlineAreMany(const InlineCounts *counts, int times)
{
	return counts->writes > INLINE_WRITES * (int64) times || counts->bytes > INLINE_BYTES * (int64) times;
}

bool
InlineDue(Oid relid, int times)
{
	InlineCounts counts;

	InlineCount(relid, NULL, &counts);
	return InlineAreMany(&counts, times);
}

static void
WriteFiles(InlineReader *reader)
{
	SealCounters counters = {0};

	SealSets(reader->rel, &reader->set, 1, FirstCommandId, InvalidCommandId, &counters);
}

bool
InlineFlush(Relation rel)
{
	InlineReader reader = {.rel = rel, .take = WriteFiles};
	int64		n;

	/* this transaction's are meant too */
	CommandCounterIncrement();
	reader.cid = GetCurrentCommandId(true);
	n = ReadInline(&reader, NULL, RowExclusiveLock);
	CommandCounterIncrement();
	return n > 0;
}

void
InlineFlushLarge(Oid relid)
{
	Relation	rel;

	/* its deletes would conflict with readers for no good reason */
	if (IsolationIsSerializable() || !InlineDue(relid, 10) ||
		!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock) ||
		!ChangeLockIfFree(relid, CHANGE_WHOLE, CHANGE_LOCK_EXCLUSIVE))
		return;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return;
	(void) InlineFlush(rel);
	relation_close(rel, NoLock);
}
