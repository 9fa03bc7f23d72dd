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
#include "format/row_types.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
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

/* The next number of the section; false when it is cut off. */
static bool
get_uint32(const char *section, size_t len, size_t *at, uint32 *value)
{
	if (len - *at < sizeof(*value))
		return false;
	memcpy(value, section + *at, sizeof(*value));
	*at += sizeof(*value);
	return true;
}

bool
RowTypesCheck(const char *section, size_t len, Oid *changed, int *attnum)
{
	size_t		at = 0;
	uint32		ntypes;

	*changed = InvalidOid;
	if (!get_uint32(section, len, &at, &ntypes))
		return false;
	for (uint32 t = 0; t < ntypes; t++)
	{
		Oid			typid;
		uint32		natts;
		TupleDesc	row;
		bool		complete = true;

		CHECK_FOR_INTERRUPTS();
		if (!get_uint32(section, len, &at, &typid) || !get_uint32(section, len, &at, &natts))
			return false;
		/* a type that is gone belonged to a dropped column */
		row = get_typtype(typid) == TYPTYPE_COMPOSITE ? lookup_rowtype_tupdesc(typid, -1) : NULL;
		for (uint32 i = 0; i < natts && complete && *changed == InvalidOid; i++)
		{
			Oid			atttypid;
			uint32		typmod;
			uint32		dropped;
			Form_pg_attribute att;

			complete = get_uint32(section, len, &at, &atttypid) && get_uint32(section, len, &at, &typmod) &&
				get_uint32(section, len, &at, &dropped);
			if (!complete || row == NULL)
				continue;
			att = i < row->natts ? TupleDescAttr(row, i) : NULL;
			if (att == NULL ||
				(!att->attisdropped && (dropped || att->atttypid != atttypid || att->atttypmod != (int32) typmod)))
			{
				*changed = typid;
				*attnum = i + 1;
			}
		}
		if (row != NULL)
			ReleaseTupleDesc(row);
		if (!complete || *changed != InvalidOid)
			return complete;
	}
	return true;
}
