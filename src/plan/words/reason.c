/*
 * reason.c
 *	  Names of the reasons and words to say them in.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "compat.h"
#include "parser/parsetree.h"
#include "plan/words/reason.h"
#include "spec/key_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static const struct
{
	const char *name;
	const char *detail;
	const char *hint;
}			reasons[] = {
#define BF_REASON(code, name, detail, hint) {name, detail, hint},
#include "plan/words/reason_list.h"
#undef BF_REASON
};

const char *
ReasonName(BucketReason code)
{
	return reasons[code].name;
}

BucketReason
ReasonOfName(const char *name)
{
	for (int code = 0; code < (int) lengthof(reasons); code++)
	{
		if (strcmp(reasons[code].name, name) == 0)
			return (BucketReason) code;
	}
	return REASON_NONE;
}

void
ReasonSay(Rejection *rejection, BucketReason code, const char *about)
{
	if (reasons[code].detail == NULL)
		elog(ERROR, "unexpected reason %d", code);
	rejection->code = code;
	rejection->detail = psprintf(reasons[code].detail, about);
	rejection->hint = psprintf(reasons[code].hint, about);
}

char *
RejectionShort(const Rejection *rejection)
{
	const char *name = ReasonName(rejection->code);

	return rejection->relation ? psprintf("%s: %s", name, rejection->relation) : pstrdup(name);
}

char *
RejectionDetail(const Rejection *rejection)
{
	if (rejection->costs == NULL)
		return rejection->detail;
	return psprintf("%s (%s)", rejection->detail, rejection->costs);
}

/* C strings in a row, the last of them after a separator of its own. */
static char *
Joined(List *words, const char *last)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, words)
	{
		if (lc != list_head(words))
			appendStringInfoString(&buf, lnext(words, lc) ? ", " : last);
		appendStringInfoString(&buf, lfirst(lc));
	}
	return buf.data;
}

char *
WordList(List *words)
{
	return Joined(words, " and ");
}

List *
BucketColumnNames(Oid relid, const BucketSpec *spec)
{
	List	   *names = NIL;

	for (int k = 0; k < spec->nkeys; k++)
		names = lappend(names, makeString(get_attname(relid, spec->sort[k].attnum, false)));
	return names;
}

List *
QuotedNames(List *names)
{
	List	   *quoted = NIL;
	ListCell   *lc;

	foreach(lc, names)
		quoted = lappend(quoted, pstrdup(quote_identifier(strVal(lfirst(lc)))));
	return quoted;
}

/* A name in the schema of a table, which is named where search_path does not find the table. */
static char *
NameBeside(Oid relid, const char *name)
{
	return RelationIsVisible(relid) ? pstrdup(quote_identifier(name)) :
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

char *
TableLabel(Oid relid)
{
	return NameBeside(relid, get_rel_name(relid));
}

static char *
Label(PlannerInfo *root, Index rti, bool title)
{
	RangeTblEntry *rte = planner_rt_fetch(rti, root);
	const char *alias = rte->eref->aliasname;
	char	   *name;

	if (!title || rte->rtekind != RTE_RELATION)
		return pstrdup(quote_identifier(alias));
	name = TableLabel(rte->relid);
	return strcmp(get_rel_name(rte->relid), alias) == 0 ? name :
		psprintf("%s %s", name, quote_identifier(alias));
}

/* Those that are outer joins (16 and later) have no place in it. */
char *
RelationLabels(PlannerInfo *root, Relids relids, bool title)
{
	List	   *labels = NIL;
	int			rti = -1;

	while ((rti = bms_next_member(relids, rti)) >= 0)
	{
		if (planner_rt_fetch(rti, root)->rtekind != RTE_JOIN)
			labels = lappend(labels, Label(root, rti, title));
	}
	return list_length(labels) > 1 ? psprintf("(%s)", Joined(labels, ", ")) : Joined(labels, ", ");
}

char *
ColumnLabel(PlannerInfo *root, Var *var)
{
	RangeTblEntry *rte = planner_rt_fetch(var->varno, root);
	const char *column = var->varattno > 0 ? get_rte_attribute_name(rte, var->varattno) : "*";

	return psprintf("%s.%s", quote_identifier(rte->eref->aliasname),
					var->varattno > 0 ? quote_identifier(column) : column);
}

char *
ColumnType(Var *var)
{
	return format_type_with_typemod(var->vartype, var->vartypmod);
}

void
HashVersionReason(Oid relid, const char *label, int version, Rejection *rejection)
{
	char	   *name = TableLabel(relid);
	char	   *statement = psprintf("SELECT bucketfdw.create_table_as(%s, %s, mode => 'overwrite');",
									 quote_literal_cstr(name),
									 quote_literal_cstr(psprintf("SELECT * FROM %s", name)));

	rejection->code = REASON_OLD_HASH_VERSION;
	rejection->relation = pstrdup(label);
	rejection->detail = psprintf("%s has files of hash version %d, this library makes buckets by version %d",
								 label, version, BF_HASH_VERSION);
	rejection->hint = psprintf(version < BF_HASH_VERSION ? "Write the table anew: %s" :
							   "Install the newer version of bucketfdw, or write the table anew with this one: %s",
							   statement);
}

/* "a, k::numeric AS k, c": all columns of a table, some of them cast. */
static char *
CastColumns(Oid relid, List *columns, List *types)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *items = NIL;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		char	   *item = pstrdup(quote_identifier(NameStr(att->attname)));
		ListCell   *lc;
		ListCell   *lt;

		if (att->attisdropped)
			continue;
		forboth(lc, columns, lt, types)
		{
			if (lfirst(lt) != NULL && strcmp(strVal(lfirst(lc)), NameStr(att->attname)) == 0)
				item = psprintf("%s::%s AS %s", item, (char *) lfirst(lt), item);
		}
		items = lappend(items, item);
	}
	relation_close(rel, AccessShareLock);
	return Joined(items, ", ");
}

char *
BucketedCopyStatement(Oid relid, List *columns, List *types, int nbuckets, int nth)
{
	char	   *copy = ChooseRelationName(get_rel_name(relid), NULL, nth == 0 ? "b" : "b2",
										  get_rel_namespace(relid), false);
	char	   *list = "*";
	ListCell   *lc;

	foreach(lc, types)
	{
		if (lfirst(lc) != NULL)
			list = CastColumns(relid, columns, types);
	}
	return psprintf("SELECT bucketfdw.create_table_as(%s, %s, bucket_by => %s, buckets => %d);",
					quote_literal_cstr(NameBeside(relid, copy)),
					quote_literal_cstr(psprintf("SELECT %s FROM %s", list, TableLabel(relid))),
					quote_literal_cstr(Joined(QuotedNames(columns), ", ")), nbuckets);
}
