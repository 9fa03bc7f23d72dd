/*
 * pg_shim_catalog.c
 *	  Lists, and a catalog of nothing but built-in scalar types and the row
 *	  types a test registers; see pg_shim.h.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "compat.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pg_shim.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ---------------------------------------------------------------------
 * Lists: room for 8 elements, then twice as much each time
 * ---------------------------------------------------------------------
 */

static List *
ListWithRoom(List *list, NodeTag type)
{
	if (list == NIL)
	{
		list = palloc0(sizeof(List));
		list->type = type;
		list->max_length = 8;
		list->elements = palloc(list->max_length * sizeof(ListCell));
	}
	else if (list->length == list->max_length)
	{
		list->max_length *= 2;
		list->elements = repalloc(list->elements, list->max_length * sizeof(ListCell));
	}
	return list;
}

List *
lappend(List *list, void *datum)
{
	list = ListWithRoom(list, T_List);
	list->elements[list->length++].ptr_value = datum;
	return list;
}

List *
lappend_int(List *list, int datum)
{
	list = ListWithRoom(list, T_IntList);
	list->elements[list->length++].int_value = datum;
	return list;
}

List *
lappend_oid(List *list, Oid datum)
{
	list = ListWithRoom(list, T_OidList);
	list->elements[list->length++].oid_value = datum;
	return list;
}

bool
list_member_oid(const List *list, Oid datum)
{
	for (int i = 0; i < list_length(list); i++)
	{
		if (list->elements[i].oid_value == datum)
			return true;
	}
	return false;
}

void
list_free(List *list)
{
	if (list != NIL)
	{
		pfree(list->elements);
		pfree(list);
	}
}

void
list_free_deep(List *list)
{
	for (int i = 0; i < list_length(list); i++)
		pfree(list->elements[i].ptr_value);
	list_free(list);
}

/* ---------------------------------------------------------------------
 * Types
 * ---------------------------------------------------------------------
 */

static struct
{
	Oid			typid;
	TupleDesc	desc;
}			row_types[16];
static int	row_type_count = 0;

void
ShimRegisterRowType(Oid typid, TupleDesc desc)
{
	for (int i = 0; i < row_type_count; i++)
	{
		if (row_types[i].typid == typid)
		{
			row_types[i].desc = desc;
			return;
		}
	}
	if (row_type_count == lengthof(row_types))
		elog(ERROR, "too many row types");
	row_types[row_type_count].typid = typid;
	row_types[row_type_count].desc = desc;
	row_type_count++;
}

TupleDesc
lookup_rowtype_tupdesc_noerror(Oid type_id, int32 typmod, bool noError)
{
	for (int i = 0; i < row_type_count; i++)
	{
		if (row_types[i].typid == type_id)
			return row_types[i].desc;
	}
	if (!noError)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("type %u is not composite", type_id)));
	return NULL;
}

TupleDesc
lookup_rowtype_tupdesc(Oid type_id, int32 typmod)
{
	return lookup_rowtype_tupdesc_noerror(type_id, typmod, false);
}

TupleDesc
lookup_rowtype_tupdesc_copy(Oid type_id, int32 typmod)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type_id, typmod);
	TupleDesc	copy = CreateTemplateTupleDesc(desc->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		memcpy(TupleDescAttr(copy, i), TupleDescAttr(desc, i), sizeof(FormData_pg_attribute));
#if PG_VERSION_NUM >= 180000
		populate_compact_attribute(copy, i);
#endif
	}
	return copy;
}

/* descriptors here are not counted */
void
DecrTupleDescRefCount(TupleDesc tupdesc)
{
}

char
get_typtype(Oid typid)
{
	return lookup_rowtype_tupdesc_noerror(typid, -1, true) != NULL ? TYPTYPE_COMPOSITE : TYPTYPE_BASE;
}

Oid
get_element_type(Oid typid)
{
	return typid == INT4ARRAYOID ? INT4OID : InvalidOid;
}

Oid
get_base_element_type(Oid typid)
{
	return get_element_type(typid);
}

Oid
get_range_subtype(Oid rangeOid)
{
	return InvalidOid;
}

Oid
get_multirange_range(Oid multirangeOid)
{
	return InvalidOid;
}

void
check_stack_depth(void)
{
}
