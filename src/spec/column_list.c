/*
 * column_list.c
 *	  Read and write the column lists of bucket_by and sort_by.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "parser/scansup.h"
#include "spec/column_list.h"
#include "utils/builtins.h"

typedef struct ListScanner
{
	const char *option;
	const char *list;
	const char *pos;
} ListScanner;

/* Raise the error that the list is malformed at the current position. */
static void
ListSyntaxError(const ListScanner *scan, const char *expected)
{
	int			position = pg_mbstrlen_with_len(scan->list, scan->pos - scan->list) + 1;

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("invalid column list in option \"%s\": \"%s\"", scan->option, scan->list),
			 *scan->pos == '\0' ?
			 errdetail("Expected %s at the end of the list.", expected) :
			 errdetail("Expected %s at character %d, near \"%s\".", expected, position, scan->pos),
			 errhint("Separate columns with commas, and put names that are not plain lower case into double quotes.")));
}

static void
SkipSpace(ListScanner *scan)
{
	while (scanner_isspace(*scan->pos))
		scan->pos++;
}

static bool
IsIdentifierStart(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || IS_HIGHBIT_SET(c);
}

static bool
IsIdentifierPart(char c)
{
	return IsIdentifierStart(c) || (c >= '0' && c <= '9') || c == '$';
}

/* Length of the unquoted word here, 0 if there is none. */
static int
WordLength(const ListScanner *scan)
{
	const char *p = scan->pos;

	if (!IsIdentifierStart(*p))
		return 0;
	while (IsIdentifierPart(*p))
		p++;
	return p - scan->pos;
}

/* Step over the word if it stands here, and over the space behind it. */
static bool
AcceptWord(ListScanner *scan, const char *word)
{
	int			len = WordLength(scan);

	if (len != (int) strlen(word) || pg_strncasecmp(scan->pos, word, len) != 0)
		return false;
	scan->pos += len;
	SkipSpace(scan);
	return true;
}

/* Read an identifier. */
static void
ScanIdentifier(ListScanner *scan, ColumnItem *item)
{
	int			len;

	item->start = scan->pos - scan->list;
	if (*scan->pos == '"')
	{
		StringInfoData name;

		initStringInfo(&name);
		scan->pos++;
		for (;;)
		{
			if (*scan->pos == '\0')
				ListSyntaxError(scan, "a closing double quote");
			if (*scan->pos == '"')
			{
				scan->pos++;
				if (*scan->pos != '"')
					break;
			}
			appendStringInfoChar(&name, *scan->pos++);
		}
		if (name.len == 0)
		{
			scan->pos = scan->list + item->start;
			ListSyntaxError(scan, "a column name");
		}
		truncate_identifier(name.data, name.len, false);
		item->name = name.data;
	}
	else
	{
		len = WordLength(scan);
		if (len == 0)
			ListSyntaxError(scan, "a column name");
		item->name = downcase_truncate_identifier(scan->pos, len, false);
		scan->pos += len;
	}
	item->end = scan->pos - scan->list;
	SkipSpace(scan);
}

/* Read what may follow an identifier in sort_by. */
static uint8
ScanOrder(ListScanner *scan)
{
	uint8		flags = 0;

	/* as in SQL: nulls count as larger than all values */
	if (AcceptWord(scan, "desc"))
		flags = BF_SORT_DESC | BF_SORT_NULLS_FIRST;
	else
		(void) AcceptWord(scan, "asc");

	if (AcceptWord(scan, "nulls"))
	{
		if (AcceptWord(scan, "first"))
			flags |= BF_SORT_NULLS_FIRST;
		else if (AcceptWord(scan, "last"))
			flags &= ~BF_SORT_NULLS_FIRST;
		else
			ListSyntaxError(scan, "\"first\" or \"last\"");
	}
	return flags;
}

List *
ColumnListParse(const char *option, const char *list, bool allow_order)
{
	ListScanner scan = {option, list, list};
	List	   *items = NIL;

	for (;;)
	{
		ColumnItem *item = palloc0(sizeof(ColumnItem));
		ListCell   *lc;

		SkipSpace(&scan);
		ScanIdentifier(&scan, item);
		foreach(lc, items)
		{
			if (strcmp(((ColumnItem *) lfirst(lc))->name, item->name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" appears twice in option \"%s\"", item->name, option)));
		}
		if (allow_order)
			item->flags = ScanOrder(&scan);
		else if (WordLength(&scan) > 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					 errmsg("invalid column list in option \"%s\": \"%s\"", option, list),
					 errdetail("Expected a comma or the end of the list, near \"%s\".", scan.pos),
					 errhint("Bucket columns are always ascending, nulls last; the order of further columns goes into sort_by.")));
		items = lappend(items, item);

		if (*scan.pos == '\0')
			return items;
		if (*scan.pos != ',')
			ListSyntaxError(&scan, "a comma");
		scan.pos++;
	}
}

void
ColumnItemAppend(StringInfo buf, const char *name, uint8 flags)
{
	if (buf->len > 0)
		appendStringInfoString(buf, ", ");
	appendStringInfoString(buf, quote_identifier(name));
	switch (flags & (BF_SORT_DESC | BF_SORT_NULLS_FIRST))
	{
		case BF_SORT_DESC:
			appendStringInfoString(buf, " desc nulls last");
			break;
		case BF_SORT_DESC | BF_SORT_NULLS_FIRST:
			appendStringInfoString(buf, " desc");
			break;
		case BF_SORT_NULLS_FIRST:
			appendStringInfoString(buf, " nulls first");
			break;
		default:
			break;
	}
}

/* Only the name is replaced: spaces and directions stay as they were written. */
char *
ColumnListRename(const char *list, const char *oldname, const char *newname)
{
	List	   *items = ColumnListParse("sort_by", list, true);
	ListCell   *lc;

	foreach(lc, items)
	{
		ColumnItem *item = lfirst(lc);

		if (strcmp(item->name, oldname) == 0)
			return psprintf("%.*s%s%s", item->start, list, quote_identifier(newname), list + item->end);
	}
	return NULL;
}

char *
BucketSpecBucketBy(const BucketSpec *spec, TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < spec->nkeys; i++)
		ColumnItemAppend(&buf, NameStr(TupleDescAttr(desc, spec->sort[i].attnum - 1)->attname), 0);
	return buf.data;
}

char *
BucketSpecSortBy(const BucketSpec *spec, TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < spec->nsort; i++)
		ColumnItemAppend(&buf, NameStr(TupleDescAttr(desc, spec->sort[i].attnum - 1)->attname),
						 spec->sort[i].flags);
	return buf.data;
}
