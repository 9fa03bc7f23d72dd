/*
 * open_checked.c
 *	  Relations that a function's caller names: rights before locks.
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/open_checked.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/manifest.h"
#include "upkeep/replace.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

/* Name of a relation, or an error. */
static const char *
RequireRelation(Oid relid)
{
	const char *relname = get_rel_name(relid);

	if (relname == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return relname;
}

void
RequireBucketTable(Oid relid)
{
	const char *relname = RequireRelation(relid);

	if (!IsBucketTable(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a bucketed table", relname)));
}

void
RequireMaintainable(Oid relid)
{
	RequireBucketTable(relid);
	if (!MayMaintain(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
}

List *
BucketTables(Oid relid)
{
	List	   *tables = NIL;
	ListCell   *lc;

	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
	{
		foreach(lc, find_all_inheritors(relid, NoLock, NULL))
		{
			if (IsBucketTable(lfirst_oid(lc)))
				tables = lappend_oid(tables, lfirst_oid(lc));
		}
	}
	if (tables == NIL)
	{
		RequireBucketTable(relid);
		tables = list_make1_oid(relid);
	}
	return tables;
}

List *
MaintainedTables(Oid relid)
{
	List	   *tables = BucketTables(relid);
	ListCell   *lc;

	foreach(lc, tables)
		RequireMaintainable(lfirst_oid(lc));
	return tables;
}

void
RequireReadable(Oid relid)
{
	const char *relname = RequireRelation(relid);
	Oid			user = GetUserId();

	if (pg_class_aclcheck(relid, user, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, user, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), relname);
}

void
RequireReadableBucketTable(Oid relid)
{
	RequireBucketTable(relid);
	RequireReadable(relid);
}

Relation
OpenChecked(Oid relid, LOCKMODE lockmode, RelationCheck check)
{
	check(relid);
	LockRelationOid(relid, lockmode);
	check(relid);
	return relation_open(relid, NoLock);
}

/* What is to be done to a table that exists. */
typedef struct WriteRequest
{
	TupleDesc	columns;		/* of the query */
	bool		overwrite;
} WriteRequest;

/*
 * RangeVarGetRelidCallback: before the lock is waited for, may the user write
 * the table, or these columns of it?  As the executor decides for INSERT; that
 * there is no such column is said later.
 */
static void
CheckWriteRight(const RangeVar *name, Oid relid, Oid oldrelid, void *arg)
{
	const WriteRequest *request = arg;
	Oid			user = GetUserId();
	bool		table;
	bool		columns;

	if (!OidIsValid(relid))
		return;
	(void) BucketTables(relid);
	table = pg_class_aclcheck(relid, user, ACL_INSERT) == ACLCHECK_OK;
	columns = pg_attribute_aclcheck_all(relid, user, ACL_INSERT, ACLMASK_ANY) == ACLCHECK_OK;
	for (int i = 0; i < request->columns->natts; i++)
	{
		AttrNumber	attnum = get_attnum(relid, NameStr(TupleDescAttr(request->columns, i)->attname));

		columns &= attnum <= 0 || pg_attribute_aclcheck(relid, attnum, user, ACL_INSERT) == ACLCHECK_OK;
	}
	if (!(table || columns) ||
		(request->overwrite && pg_class_aclcheck(relid, user, ACL_TRUNCATE) != ACLCHECK_OK))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), name->relname);
}

Oid
LockForInsert(RangeVar *name, TupleDesc columns, bool overwrite)
{
	WriteRequest request = {columns, overwrite};

	/*
	 * While new contents are collected nobody may add rows to the old ones:
	 * they would be lost.  Readers wait only for the end.
	 */
	LOCKMODE	lockmode = overwrite ? ShareRowExclusiveLock : RowExclusiveLock;
	Oid			relid = RangeVarGetRelidExtended(name, lockmode, RVR_MISSING_OK, CheckWriteRight, &request);

	if (OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		(void) find_all_inheritors(relid, lockmode, NULL);
	return relid;
}
