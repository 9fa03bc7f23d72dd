/*
 * reason.c
 *	  Names of the reasons and words to say them in.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "compat.h"
#include "mb/pg_wchar.h"
#include "parser/parsetree.h"
#include "plan/words/reason.h"
#include "spec/key_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Stable: users' scripts compare with them. */
static const char *const reason_names[] = {
	[REASON_NONE] = "none",
	[REASON_DISABLED] = "disabled",
	[REASON_NOT_BUCKETED] = "not_bucketed",
	[REASON_SUBQUERY] = "subquery",
	[REASON_SUBPLAN] = "subplan",
	[REASON_PARTITIONED] = "partitioned",
	[REASON_PARTITION_MIX] = "partition_mix",
	[REASON_KEY_NOT_EQUAL_JOINED] = "key_not_equal_joined",
	[REASON_EXPRESSION_ON_KEY] = "expression_on_key",
	[REASON_TYPE_CLASS] = "type_class",
	[REASON_COLLATION] = "collation",
	[REASON_JOIN_KEYS_SUBSET] = "join_keys_subset",
	[REASON_BUCKET_COLUMN_ORDER] = "bucket_column_order",
	[REASON_BUCKET_COLUMNS_DIFFER] = "bucket_columns_differ",
	[REASON_CONSTANT_KEY] = "constant_key",
	[REASON_OLD_HASH_VERSION] = "old_hash_version",
	[REASON_OUTER_JOIN_POSITION] = "outer_join_position",
	[REASON_ROW_MARKS] = "row_marks",
	[REASON_VOLATILE] = "volatile",
	[REASON_ONE_TIME_FILTER] = "one_time_filter",
	[REASON_LATERAL] = "lateral",
	[REASON_PLACEHOLDER] = "placeholder",
	[REASON_SYSTEM_COLUMN] = "system_column",
	[REASON_PROVEN_EMPTY] = "proven_empty",
	[REASON_COST] = "cost",
	[REASON_KEY_NOT_GROUPED] = "key_not_grouped",
	[REASON_GROUP_KEY_SUBSET] = "group_key_subset",
	[REASON_GROUP_KEY_SUPERSET] = "group_key_superset",
	[REASON_GROUPING_SETS] = "grouping_sets",
	[REASON_ORDERED_AGGREGATE] = "ordered_aggregate",
	[REASON_SET_RETURNING] = "set_returning",
	[REASON_DISTINCT_ON] = "distinct_on",
	[REASON_DISTINCT_OF_GROUPS] = "distinct_of_groups",
};

StaticAssertDecl(lengthof(reason_names) == REASON_LAST + 1, "a reason has no name");

const char *
ReasonName(BucketReason code)
{
	return reason_names[code];
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

char *
TableLabel(Oid relid)
{
	return RelationIsVisible(relid) ? pstrdup(quote_identifier(get_rel_name(relid))) :
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
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

/* Relations as a list; those that are outer joins (16 and later) have no place in it. */
static char *
Labels(PlannerInfo *root, Relids relids, bool title)
{
	StringInfoData buf;
	int			rti = -1;
	int			n = 0;

	initStringInfo(&buf);
	while ((rti = bms_next_member(relids, rti)) >= 0)
	{
		if (planner_rt_fetch(rti, root)->rtekind == RTE_JOIN)
			continue;
		if (n++ > 0)
			appendStringInfoString(&buf, ", ");
		appendStringInfoString(&buf, Label(root, rti, title));
	}
	return n > 1 ? psprintf("(%s)", buf.data) : buf.data;
}

char *
RelationLabel(PlannerInfo *root, Relids relids)
{
	return Labels(root, relids, false);
}

char *
RelationTitle(PlannerInfo *root, Relids relids)
{
	return Labels(root, relids, true);
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

char *
WordList(List *words)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, words)
	{
		if (lc != list_head(words))
			appendStringInfoString(&buf, lnext(words, lc) ? ", " : " and ");
		appendStringInfoString(&buf, lfirst(lc));
	}
	return buf.data;
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

/* The nth name near that of the table which is free in its schema. */
static char *
FreeName(Oid relid, int nth)
{
	char	   *name = get_rel_name(relid);
	Oid			schema = get_rel_namespace(relid);
	char	   *candidate;
	int			n = 1;

	do
	{
		char		suffix[16];
		int			len;

		snprintf(suffix, sizeof(suffix), n == 1 ? "_b" : "_b%d", n);
		len = pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1 - strlen(suffix));
		candidate = psprintf("%.*s%s", len, name, suffix);
		n++;
	} while (OidIsValid(get_relname_relid(candidate, schema)) || nth-- > 0);
	return candidate;
}

/* "a, k::numeric AS k, c": all columns of a table, some of them cast. */
static char *
CastColumns(Oid relid, List *columns, List *types)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		const char *type = NULL;
		ListCell   *lc;
		ListCell   *lt;

		if (att->attisdropped)
			continue;
		forboth(lc, columns, lt, types)
		{
			if (strcmp(strVal(lfirst(lc)), NameStr(att->attname)) == 0)
				type = lfirst(lt);
		}
		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		appendStringInfoString(&buf, quote_identifier(NameStr(att->attname)));
		if (type != NULL)
			appendStringInfo(&buf, "::%s AS %s", type, quote_identifier(NameStr(att->attname)));
	}
	relation_close(rel, AccessShareLock);
	return buf.data;
}

char *
BucketedCopyStatement(Oid relid, List *columns, List *types, int nbuckets, int nth)
{
	char	   *copy = FreeName(relid, nth);
	char	   *list = "*";
	ListCell   *lc;
	StringInfoData buf;

	copy = RelationIsVisible(relid) ? pstrdup(quote_identifier(copy)) :
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), copy);
	foreach(lc, types)
	{
		if (lfirst(lc) != NULL)
			list = CastColumns(relid, columns, types);
	}
	initStringInfo(&buf);
	foreach(lc, columns)
	{
		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		appendStringInfoString(&buf, quote_identifier(strVal(lfirst(lc))));
	}
	return psprintf("SELECT bucketfdw.create_table_as(%s, %s, bucket_by => %s, buckets => %d);",
					quote_literal_cstr(copy),
					quote_literal_cstr(psprintf("SELECT %s FROM %s", list, TableLabel(relid))),
					quote_literal_cstr(buf.data), nbuckets);
}
