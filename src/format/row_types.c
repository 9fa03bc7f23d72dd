/*
 * row_types.c
 *	  Composite types inside the columns of a file.
 *
 * A composite value on disk is a tuple of its type as it was then.  Core
 * refuses ALTER TYPE for types used in tables with storage of their own;
 * foreign tables are not among them, so the file records the shape it was
 * written with and reading compares.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "format/read/reader.h"
#include "format/read/reader_private.h"
#include "format/row_types.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Add the composite types reachable from a type to found (an oid list that
 * also ends the recursion).
 */
static List *
collect_row_types(List *found, Oid typid)
{
	check_stack_depth();
	for (;;)
	{
		Oid			inner;

		typid = getBaseType(typid);
		if (OidIsValid(inner = get_element_type(typid)) ||
			OidIsValid(inner = get_multirange_range(typid)) ||
			OidIsValid(inner = get_range_subtype(typid)))
		{
			typid = inner;
			continue;
		}
		break;
	}
	if (get_typtype(typid) == TYPTYPE_COMPOSITE && !list_member_oid(found, typid))
	{
		TupleDesc	desc = lookup_rowtype_tupdesc_copy(typid, -1);

		found = lappend_oid(found, typid);
		for (int i = 0; i < desc->natts; i++)
		{
			if (!TupleDescAttr(desc, i)->attisdropped)
				found = collect_row_types(found, TupleDescAttr(desc, i)->atttypid);
		}
		FreeTupleDesc(desc);
	}
	return found;
}

static void
put_uint32(ByteBuffer *out, uint32 value)
{
	ByteBufferAppend(out, &value, sizeof(value));
}

void
RowTypesWrite(ByteBuffer *out, TupleDesc desc)
{
	List	   *types = NIL;
	ListCell   *lc;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped)
			types = collect_row_types(types, att->atttypid);
	}
	put_uint32(out, list_length(types));
	foreach(lc, types)
	{
		TupleDesc	row = lookup_rowtype_tupdesc(lfirst_oid(lc), -1);

		put_uint32(out, lfirst_oid(lc));
		put_uint32(out, row->natts);
		for (int i = 0; i < row->natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(row, i);

			put_uint32(out, att->attisdropped ? InvalidOid : att->atttypid);
			put_uint32(out, (uint32) att->atttypmod);
			put_uint32(out, att->attisdropped ? 1 : 0);
		}
		ReleaseTupleDesc(row);
	}
	list_free(types);
}

static uint32
get_uint32(FileReader *reader, size_t *at)
{
	uint32		value;

	if (reader->priv->row_types_len - *at < sizeof(value))
		FileReaderCorrupt(reader, -1, -1, 0, "section of row types is cut off");
	memcpy(&value, reader->priv->row_types + *at, sizeof(value));
	*at += sizeof(value);
	return value;
}

static void
row_type_changed(FileReader *reader, Oid typid, int attnum)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("type %s has changed since file \"%s\" of table \"%s\" was written",
					format_type_be(typid), reader->source->path, reader->source->relname),
			 errdetail("Attribute %d of the type is not what it was.", attnum),
			 errhint("Undo the change of the type, or write the table again.")));
}

/*
 * Compare the recorded row types with the catalogs.  Attributes added since
 * read as null and dropped ones are not seen, as in a heap table; any other
 * change makes the stored values unreadable.
 */
static void
check_row_types(FileReader *reader)
{
	size_t		at = 0;
	uint32		ntypes;

	if (reader->priv->row_types == NULL)
		return;
	ntypes = get_uint32(reader, &at);
	for (uint32 t = 0; t < ntypes; t++)
	{
		Oid			typid = get_uint32(reader, &at);
		uint32		natts = get_uint32(reader, &at);
		TupleDesc	row;

		CHECK_FOR_INTERRUPTS();
		/* a type that is gone belonged to a dropped column */
		row = get_typtype(typid) == TYPTYPE_COMPOSITE ? lookup_rowtype_tupdesc(typid, -1) : NULL;
		for (uint32 i = 0; i < natts; i++)
		{
			Oid			atttypid = get_uint32(reader, &at);
			int32		typmod = (int32) get_uint32(reader, &at);
			bool		dropped = get_uint32(reader, &at) != 0;
			Form_pg_attribute att;

			if (row == NULL)
				continue;
			if (i >= row->natts)
			{
				ReleaseTupleDesc(row);
				row_type_changed(reader, typid, i + 1);
			}
			att = TupleDescAttr(row, i);
			if (att->attisdropped)
				continue;
			if (dropped || att->atttypid != atttypid || att->atttypmod != typmod)
			{
				ReleaseTupleDesc(row);
				row_type_changed(reader, typid, i + 1);
			}
		}
		if (row != NULL)
			ReleaseTupleDesc(row);
	}
}

void
FileReaderCheckColumns(FileReader *reader, TupleDesc desc)
{
	for (int i = 0; i < reader->ncols; i++)
	{
		FileColumn *col = &reader->cols[i];
		Form_pg_attribute att;

		if (col->attnum > desc->natts)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("file \"%s\" of table \"%s\" has a column %d, the table has %d columns",
							reader->source->path, reader->source->relname, col->attnum, desc->natts)));
		att = TupleDescAttr(desc, col->attnum - 1);
		if (att->attisdropped)
			continue;
		if (att->atttypid != col->typid || att->attlen != col->typlen ||
			att->attbyval != col->typbyval || att->attalign != col->typalign)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of table \"%s\" has type %s, but file \"%s\" was written with type %s",
							NameStr(att->attname), reader->source->relname, format_type_be(att->atttypid),
							reader->source->path, format_type_be(col->typid)),
					 errhint("Change the type of the column back, or write the table again.")));
	}
	check_row_types(reader);
}
