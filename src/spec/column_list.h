/*
 * column_list.h
 *	  The lists of columns in the options bucket_by and sort_by.
 *
 *	list	item [, item]...
 *	item	identifier [asc | desc] [nulls first | nulls last]
 *
 * Identifiers are SQL's: folded to lower case unless quoted.
 */
#ifndef BF_COLUMN_LIST_H
#define BF_COLUMN_LIST_H

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "spec/bucket_spec.h"

typedef struct ColumnItem
{
	char	   *name;			/* folded, unquoted */
	uint8		flags;			/* BF_SORT_* */
	int			start;			/* of the identifier in the list, bytes */
	int			end;			/* one past it */
} ColumnItem;

/*
 * List of palloc'd ColumnItem, at least one.  A malformed list or a column
 * named twice is an error that names the option; directions are accepted only
 * where allow_order is set.
 */
extern List *ColumnListParse(const char *option, const char *list, bool allow_order);

/* Append an item as it would be written: quoted where needed, defaults left out. */
extern void ColumnItemAppend(StringInfo buf, const char *name, uint8 flags);

#endif							/* BF_COLUMN_LIST_H */
