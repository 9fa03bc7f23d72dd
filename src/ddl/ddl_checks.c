/*
 * ddl_checks.c
 *	  Checks that core does for heap tables and not for foreign ones, when
 *	  DDL promises something about rows that exist already.
 *
 * The planner trusts constraints: a row that violates one gives wrong answers
 * later, so the command fails instead.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "compat.h"
#include "ddl/ddl.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* The query must not be answered from the very constraint it checks. */
bool
AnyRowViolates(Relation rel, const char *expr)
{
	char	   *query = psprintf("SELECT 1 FROM ONLY %s WHERE NOT (%s) LIMIT 1",
							  quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
														 RelationGetRelationName(rel)),
							  expr);
	int			nestlevel = NewGUCNestLevel();
	bool		violated;

	(void) set_config_option("constraint_exclusion", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);

	/* rows that cannot be read now may be back one day */
	(void) set_config_option("bucketfdw.ignore_damaged_files", "off", PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\"", query);
	violated = SPI_processed > 0;
	SPI_finish();
	PopActiveSnapshot();
	AtEOXact_GUC(true, nestlevel);
	return violated;
}

/* What no row may violate when a column has no nulls; IS NOT NULL the planner takes for granted. */
static char *
HasNoNulls(const char *column)
{
	return psprintf("pg_catalog.num_nulls(%s) OPERATOR(pg_catalog.=) 0", quote_identifier(column));
}

void
CheckNotNullColumns(Relation rel, const char *colname)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *attnums = NIL;
	StringInfoData all;
	ListCell   *lc;

	initStringInfo(&all);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped || !BfColumnNotNull(desc, i) ||
			(colname != NULL && strcmp(NameStr(att->attname), colname) != 0))
			continue;
		appendStringInfo(&all, "%s%s", attnums ? " AND " : "", HasNoNulls(NameStr(att->attname)));
		attnums = lappend_int(attnums, att->attnum);
	}

	/* all columns in one scan; which of them it is takes another for each */
	if (attnums == NIL || !AnyRowViolates(rel, all.data))
		return;
	foreach(lc, attnums)
	{
		const char *column = NameStr(TupleDescAttr(desc, lfirst_int(lc) - 1)->attname);

		if (AnyRowViolates(rel, HasNoNulls(column)))
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("column \"%s\" of relation \"%s\" contains null values",
							column, RelationGetRelationName(rel)),
					 errtablecol(rel, lfirst_int(lc))));
	}
}

void
CheckConstraintHolds(Relation rel, const char *conname)
{
	Oid			conoid = get_relation_constraint_oid(RelationGetRelid(rel), conname, true);
	HeapTuple	tuple;
	Form_pg_constraint con;
	Datum		conbin;
	bool		isnull;

	if (!OidIsValid(conoid))
		return;
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(conoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", conoid);
	con = (Form_pg_constraint) GETSTRUCT(tuple);
	conbin = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conbin, &isnull);

	/* not validated, or (18) not enforced: nobody trusts it */
	if (con->contype == CONSTRAINT_CHECK && con->convalidated && !isnull)
	{
		char	   *expr = TextDatumGetCString(DirectFunctionCall2(pg_get_expr, conbin,
																   ObjectIdGetDatum(RelationGetRelid(rel))));

		if (AnyRowViolates(rel, expr))
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("check constraint \"%s\" of relation \"%s\" is violated by some row",
							conname, RelationGetRelationName(rel)),
					 errtableconstraint(rel, conname)));
	}
	ReleaseSysCache(tuple);
}

void
CheckPartitionBound(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Expr	   *qual = get_partition_qual_relid(relid);

	if (qual == NULL)
		return;
	if (AnyRowViolates(rel, deparse_expression((Node *) qual,
											   deparse_context_for(RelationGetRelationName(rel), relid),
											   false, false)))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("partition constraint of relation \"%s\" is violated by some row",
						RelationGetRelationName(rel)),
				 errtable(rel)));
}

/*
 * Rows of a default partition must be checked again whenever another
 * partition comes, of whatever kind; core skips foreign tables there.
 */
void
CheckNotDefaultPartition(Relation rel)
{
	Oid			child = RelationGetRelid(rel);
	ListCell   *lc;

	if (!rel->rd_rel->relispartition)
		return;
	foreach(lc, get_partition_ancestors(child))
	{
		Oid			parent = lfirst_oid(lc);

		if (get_default_partition_oid(parent) == child)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("bucketed table \"%s\" cannot be a default partition, or lie in one",
							RelationGetRelationName(rel)),
					 errdetail("Its rows would not be checked when \"%s\" gets another partition.",
							   get_rel_name(parent)),
					 errhint("Use a plain table as the default partition.")));
		child = parent;
	}
}
