/*
 * ddl.c
 *	  What the event triggers call: bucketed tables created, altered, dropped.
 *
 * The triggers only anticipate.  Nothing here may be needed for correct
 * answers about rows: the spec stored with each file is the authority.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "compat.h"
#include "ddl/ddl.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "guc.h"
#include "load/load.h"
#include "rewrite/rewriteHandler.h"
#include "storage/catalog.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "storage/missing_catalog.h"
#include "tcop/deparse_utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(bucketfdw_ddl_command);
PG_FUNCTION_INFO_V1(bucketfdw_object_dropped);

PGDLLEXPORT Datum bucketfdw_ddl_command(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_object_dropped(PG_FUNCTION_ARGS);

/*
 * Leave out of the context of errors what our event trigger adds, its query
 * and itself: it is the user's command that fails.  Returns what
 * error_context_stack is set to again when there was no error.
 */
static ErrorContextCallback *
HideTrigger(void)
{
	ErrorContextCallback *trigger = error_context_stack;

	for (int i = 0; i < 2 && error_context_stack != NULL; i++)
		error_context_stack = error_context_stack->previous;
	return trigger;
}

/* true if rows of the table exist, those collected in this transaction included. */
static bool
HasRows(Oid relid)
{
	LoadSealTable(relid);
	CommandCounterIncrement();
	return ManifestHasRows(relid);
}

void
TableOptionsWrite(Oid relid, List *options)
{
	Relation	catalog = table_open(ForeignTableRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	Datum		values[Natts_pg_foreign_table] = {0};
	bool		nulls[Natts_pg_foreign_table] = {false};
	bool		replace[Natts_pg_foreign_table] = {false};

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign table %u", relid);

	values[Anum_pg_foreign_table_ftoptions - 1] =
		transformGenericOptions(ForeignTableRelationId, PointerGetDatum(NULL), options, InvalidOid);
	replace[Anum_pg_foreign_table_ftoptions - 1] = true;
	tuple = heap_modify_tuple(tuple, RelationGetDescr(catalog), values, nulls, replace);

	/* toasting may need one, and between the transactions of a procedure there is none */
	PushActiveSnapshot(GetLatestSnapshot());
	CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
	PopActiveSnapshot();
	CacheInvalidateRelcacheByRelid(relid);
	table_close(catalog, NoLock);
	CommandCounterIncrement();
}

/* Options of the newest bucketed partition beside this one, or NIL. */
static List *
SiblingOptions(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			newest = InvalidOid;
	ListCell   *lc;

	if (!rel->rd_rel->relispartition)
		return NIL;
	foreach(lc, find_inheritance_children(get_partition_parent(relid, false), NoLock))
	{
		Oid			sibling = lfirst_oid(lc);

		if (sibling != relid && sibling > newest && IsBucketTable(sibling))
			newest = sibling;
	}
	return OidIsValid(newest) ? GetForeignTable(newest)->options : NIL;
}

/*
 * The options as they should stand in the catalog: a default number of buckets
 * is written down, so that dump and restore give the same spec.
 */
static TableOptions *
SettleOptions(Relation rel, List *options, bool changed, int default_buckets)
{
	Oid			relid = RelationGetRelid(rel);
	TableOptions *parsed = TableOptionsParse(options, RelationGetDescr(rel),
											 RelationGetRelationName(rel), default_buckets);

	if (!parsed->buckets_given)
	{
		options = OptionsSet(options, "buckets", psprintf("%d", parsed->spec->nbuckets));
		changed = true;
	}
	if (changed)
		TableOptionsWrite(relid, options);
	return parsed;
}

/* CREATE FOREIGN TABLE */
static void
TableCreated(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *options = GetForeignTable(relid)->options;
	List	   *siblings = NIL;
	TableOptions *parsed;

	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP ||
		isTempOrTempToastNamespace(RelationGetNamespace(rel)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("bucketed tables cannot be temporary"),
				 errhint("Create the table in a schema of its own, and drop it when done.")));
	CheckNotDefaultPartition(rel);

	if (options == NIL)
		options = siblings = SiblingOptions(rel);
	parsed = SettleOptions(rel, options, siblings != NIL, bf_default_buckets);

	/* what an older table of this oid left behind */
	(void) ManifestDelete(relid, false, false);
	SpecRecord(relid, parsed->spec);
	TablespaceSettle(rel, parsed->tablespace);
	relation_close(rel, NoLock);
}

/* RENAME of a column: the options keep naming it. */
static void
ColumnRenamed(Oid relid, const char *oldname, const char *newname)
{
	List	   *old = GetForeignTable(relid)->options;
	List	   *options = old;
	ListCell   *lc;

	foreach(lc, old)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		char	   *renamed = NULL;

		if (strcmp(def->defname, "bucket_by") == 0 || strcmp(def->defname, "sort_by") == 0)
			renamed = ColumnListRename(defGetString(def), oldname, newname);
		if (renamed != NULL)
			options = OptionsSet(options, def->defname, renamed);
	}
	if (options != old)
		TableOptionsWrite(relid, options);
}

/* Is an option in the list of an ALTER? */
static bool
NamesOption(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
		if (strcmp(lfirst_node(DefElem, lc)->defname, name) == 0)
			return true;
	return false;
}

/* ALTER FOREIGN TABLE ... OPTIONS (changed) */
static void
OptionsChanged(Relation rel, List *changed)
{
	Oid			relid = RelationGetRelid(rel);
	int			version;
	BucketSpec *before = SpecNewest(relid, &version);
	TableOptions *parsed = SettleOptions(rel, GetForeignTable(relid)->options, false,
										 before ? before->nbuckets : bf_default_buckets);

	if (before != NULL)
	{
		/* the number of buckets may change at any time, for later writes */
		before->nbuckets = parsed->spec->nbuckets;
		if (!BucketSpecEqual(before, parsed->spec) && HasRows(relid))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot change \"bucket_by\" or \"sort_by\" of bucketed table \"%s\", which has rows",
							RelationGetRelationName(rel)),
					 errdetail("Its files are bucketed by %s and sorted by %s.",
							   BucketSpecBucketBy(before, RelationGetDescr(rel)),
							   BucketSpecSortBy(before, RelationGetDescr(rel))),
					 errhint("CALL bucketfdw.rebucket changes them and writes the rows anew.")));
	}
	if (NamesOption(changed, "compression"))
		SpecRenew(relid, parsed->spec);
	else
		SpecRecord(relid, parsed->spec);

	/* else it may be one that did not exist when the table was restored */
	if (NamesOption(changed, "tablespace"))
		TablespaceChange(rel, parsed->tablespace);
}

/* Not null constraints are constraints by name from 18 on; there are no others on foreign tables. */
static bool
IsCheckConstraint(Oid conoid)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(conoid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", conoid);
	result = ((Form_pg_constraint) GETSTRUCT(tuple))->contype == CONSTRAINT_CHECK;
	ReleaseSysCache(tuple);
	return result;
}

/* ADD CONSTRAINT or VALIDATE CONSTRAINT, on the table itself or a parent */
static void
ConstraintAdded(Relation rel, const CollectedATSubcmd *sub)
{
	Oid			conoid = sub->address.classId == ConstraintRelationId ? sub->address.objectId : InvalidOid;
	char	   *conname = OidIsValid(conoid) ? get_constraint_name(conoid) : NULL;

	if (conname != NULL && IsCheckConstraint(conoid))
		CheckConstraintHolds(rel, conname);
	else
		CheckNotNullColumns(rel, NULL);
}

/* Is the default of a column set by the command itself, after it was added? */
static bool
SetsDefault(const CollectedCommand *command, const char *colname)
{
	ListCell   *lc;

	foreach(lc, command->d.alterTable.subcmds)
	{
		const AlterTableCmd *cmd = (AlterTableCmd *) ((CollectedATSubcmd *) lfirst(lc))->parsetree;

		if (cmd->subtype == AT_ColumnDefault && cmd->name != NULL && strcmp(cmd->name, colname) == 0)
			return true;
	}
	return false;
}

/* ADD COLUMN, on the table itself or a parent; the table has rows */
static void
AddColumnDone(const CollectedCommand *command, Relation rel, const CollectedATSubcmd *sub)
{
	const char *colname = castNode(ColumnDef, ((AlterTableCmd *) sub->parsetree)->def)->colname;
	AttrNumber	attnum = StoredColumn(rel, colname);
	Form_pg_attribute att;

	/* IF NOT EXISTS, and it does */
	if (!OidIsValid(sub->address.objectId))
		return;
	if (attnum == 0)
	{
		/* virtual: computed from what is stored */
		CheckNotNullColumns(rel, colname);
		return;
	}
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	if (RelationGetRelid(rel) != command->d.alterTable.objectId && att->attislocal)
	{
		/* the parent's column is one with the table's own, which stays what it is */
		CheckNotNullColumns(rel, colname);
		return;
	}
	if (att->attinhcount > 1 && build_column_default(rel, attnum) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot add column \"%s\" with a default to bucketed table \"%s\", which has rows, through several parents",
						colname, RelationGetRelationName(rel)),
				 errhint("Add the column to the table itself first.")));
	if (att->atthasdef && SetsDefault(command, colname))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot add column \"%s\" to bucketed table \"%s\", which has rows, and set its default in one command",
						colname, RelationGetRelationName(rel)),
				 errhint("Set the default in a second ALTER TABLE.")));
	ColumnAdded(rel, attnum);
}

/* ALTER COLUMN ... TYPE, on the table itself or a parent */
static void
AlterTypeDone(Relation rel, const char *colname)
{
	Oid			relid = RelationGetRelid(rel);
	AttrNumber	attnum = StoredColumn(rel, colname);

	if (attnum == 0)
		return;
	if (HasRows(relid))
		ColumnTypeChanged(rel, attnum);
	else
		MissingValueDelete(relid, attnum);
	SpecRecord(relid, TableOptionsGet(rel)->spec);
}

/* SET EXPRESSION of a generated column of a table with rows */
static void
SetExpressionDone(Relation rel, const char *colname)
{
	if (StoredColumn(rel, colname) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change the expression of the stored generated column \"%s\" of bucketed table \"%s\", which has rows",
						colname, RelationGetRelationName(rel)),
				 errhint("Create another table with the expression and fill it with INSERT ... SELECT from this one; or TRUNCATE this one first.")));

	/* virtual: it may be null now */
	CheckNotNullColumns(rel, colname);
}

/*
 * true if a table is the partition of that name, or lies in it.  The command's
 * search path is not known here, so the schema is left out: should two
 * partitions have one name, both are checked.
 */
static bool
LiesInPartition(Oid parent, const char *relname, Oid relid)
{
	ListCell   *lc;

	foreach(lc, find_inheritance_children(parent, NoLock))
	{
		const char *name = get_rel_name(lfirst_oid(lc));

		if (name != NULL && strcmp(name, relname) == 0 &&
			list_member_oid(find_all_inheritors(lfirst_oid(lc), NoLock, NULL), relid))
			return true;
	}
	return false;
}

/* One subcommand of ALTER TABLE, as it concerns one table of ours below its target. */
static void
SubcommandDone(const CollectedCommand *command, Relation rel, const CollectedATSubcmd *sub)
{
	AlterTableCmd *cmd = castNode(AlterTableCmd, sub->parsetree);
	Oid			target = command->d.alterTable.objectId;
	Oid			relid = RelationGetRelid(rel);

	switch (BfAlterSubtype(cmd->subtype))
	{
		case AT_AddColumn:
			if (HasRows(relid))
				AddColumnDone(command, rel, sub);
			break;

		case AT_AlterColumnType:
			AlterTypeDone(rel, cmd->name);
			break;

		case AT_SetNotNull:
			if (HasRows(relid))
				CheckNotNullColumns(rel, cmd->name);
			break;

		case AT_AddConstraint:
		case AT_ReAddConstraint:	/* it speaks of a column of another type now */
		case AT_ValidateConstraint:
			if (HasRows(relid))
				ConstraintAdded(rel, sub);
			break;

		case AT_AttachPartition:
			if (LiesInPartition(target, castNode(PartitionCmd, cmd->def)->name->relname, relid))
			{
				CheckNotDefaultPartition(rel);
				if (HasRows(relid))
				{
					CheckNotNullColumns(rel, NULL);
					CheckPartitionBound(rel);
				}
			}
			break;

		case AT_GenericOptions:
			if (relid == target)
				OptionsChanged(rel, castNode(List, cmd->def));
			break;

		default:
			if (BfIsSetExpression(cmd->subtype) && HasRows(relid))
				SetExpressionDone(rel, cmd->name);
			break;
	}
}

/* A type changed under a column of a table of ours. */
static void
RefuseTypeChange(Oid relid, const char *what)
{
	if (HasRows(relid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s: bucketed table \"%s\" has rows with values of it",
						what, get_rel_name(relid)),
				 errhint("TRUNCATE the table first, or write it anew with bucketfdw.create_table_as.")));
}

/* ALTER TABLE, ALTER FOREIGN TABLE, ALTER TYPE of a composite type */
static void
TableAltered(const CollectedCommand *command, List *concerned)
{
	Oid			target = command->d.alterTable.objectId;
	List	   *family = find_all_inheritors(target, NoLock, NULL);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, concerned)
	{
		Oid			relid = lfirst_oid(lc);
		bool		member = list_member_oid(family, relid);
		Relation	rel;

		if (!IsBucketTable(relid))
			continue;
		rel = relation_open(relid, AccessShareLock);
		foreach(lc2, command->d.alterTable.subcmds)
		{
			CollectedATSubcmd *sub = lfirst(lc2);
			AlterTableCmd *cmd = castNode(AlterTableCmd, sub->parsetree);
			AlterTableType subtype = BfAlterSubtype(cmd->subtype);

			if (member)
				SubcommandDone(command, rel, sub);
			/* else a column of it has the altered relation's row type inside */
			else if (subtype == AT_AddColumn || subtype == AT_DropColumn || subtype == AT_AlterColumnType)
				RefuseTypeChange(relid, psprintf("alter columns of type %s",
												 format_type_be(get_rel_type_id(target))));
		}
		relation_close(rel, NoLock);
	}
}

/* ALTER DOMAIN: new constraints are not checked in files. */
static void
DomainAltered(Oid domain, const AlterDomainStmt *stmt, List *concerned)
{
	ListCell   *lc;

	if (stmt->subtype == 'C' ?
		IsA(stmt->def, Constraint) && ((Constraint *) stmt->def)->skip_validation :
		stmt->subtype != 'O' && stmt->subtype != 'V')
		return;
	foreach(lc, concerned)
		RefuseTypeChange(lfirst_oid(lc), psprintf("add constraints to domain %s",
												  format_type_be(domain)));
}

/* One command at its end, see bucketfdw_ddl_command. */
static void
CommandDone(const CollectedCommand *command, ArrayType *array)
{
	List	   *concerned = NIL;
	RenameStmt *stmt;
	Oid			objid;
	const Oid  *oids;
	int			noids;
	ListCell   *lc;

	oids = CatalogArray(PointerGetDatum(array), OIDOID, &noids);
	for (int i = 0; i < noids; i++)
		concerned = lappend_oid(concerned, oids[i]);

	if (command->type == SCT_AlterTable)
		TableAltered(command, concerned);
	if (command->type != SCT_Simple)
		return;
	objid = command->d.simple.address.objectId;
	switch (nodeTag(command->parsetree))
	{
		case T_CreateForeignTableStmt:
			if (list_member_oid(concerned, objid))
				TableCreated(objid);
			break;
		case T_RenameStmt:
			stmt = (RenameStmt *) command->parsetree;
			if (stmt->renameType != OBJECT_COLUMN)
				break;
			foreach(lc, find_all_inheritors(objid, NoLock, NULL))
			{
				if (list_member_oid(concerned, lfirst_oid(lc)))
					ColumnRenamed(lfirst_oid(lc), stmt->subname, stmt->newname);
			}
			break;
		case T_AlterDomainStmt:
			DomainAltered(objid, (AlterDomainStmt *) command->parsetree, concerned);
			break;
		default:
			break;
	}
}

/*
 * One command at its end.  concerned: tables of ours that it names, that are
 * children of what it names, or that have a column of a type that depends on
 * it.  The first argument can only come from an event trigger.
 */
Datum
bucketfdw_ddl_command(PG_FUNCTION_ARGS)
{
	ErrorContextCallback *trigger = HideTrigger();

	CommandDone((CollectedCommand *) PG_GETARG_POINTER(0), PG_GETARG_ARRAYTYPE_P(1));
	error_context_stack = trigger;
	PG_RETURN_VOID();
}

/* DROP of a column: a key cannot go while the options name it. */
static void
ColumnDropped(Oid relid, AttrNumber attnum)
{
	int			version;
	BucketSpec *spec = SpecNewest(relid, &version);
	const char *option = NULL;

	if (spec == NULL)
		return;
	for (int i = 0; i < spec->nsort; i++)
		if (spec->sort[i].attnum == attnum)
			option = i < spec->nkeys ? "bucket_by" : "sort_by";
	if (option == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot drop a column that is in \"%s\" of bucketed table \"%s\"",
					option, get_rel_name(relid)),
			 errhint("Write the table anew without the column with bucketfdw.create_table_as, or empty it and change its options with ALTER FOREIGN TABLE ... OPTIONS first.")));
}

/* One dropped foreign table (attnum 0), or column of one. */
static void
ObjectDropped(Oid relid, int attnum)
{
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
	{
		/* the spec row tells that it is ours, whatever became of its wrapper */
		if (attnum > 0)
		{
			ColumnDropped(relid, (AttrNumber) attnum);
			MissingValueDelete(relid, (AttrNumber) attnum);
		}
	}
	else if (attnum == 0)
	{
		LoadDiscard(relid);
		(void) CatalogForgetTable(relid);
	}
}

/* Only for the event trigger, as EXECUTE is revoked. */
Datum
bucketfdw_object_dropped(PG_FUNCTION_ARGS)
{
	ErrorContextCallback *trigger = HideTrigger();

	ObjectDropped(PG_GETARG_OID(0), PG_GETARG_INT32(1));
	error_context_stack = trigger;
	PG_RETURN_VOID();
}
