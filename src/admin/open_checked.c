/*
 * open_checked.c
 *	  Relations that a function's caller names: rights before locks.
 */
#include "postgres.h"

#include "access/relation.h"
#include "admin/open_checked.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/manifest.h"
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

/*
 * RangeVarGetRelidCallback: before the lock is waited for, may the user write
 * the table, or some column of it?  Which ones the executor checks.
 */
static void
CheckWriteRight(const RangeVar *name, Oid relid, Oid oldrelid, void *overwrite)
{
	Oid			user = GetUserId();

	if (!OidIsValid(relid))
		return;
	RequireBucketTable(relid);
	if ((pg_class_aclcheck(relid, user, ACL_INSERT) != ACLCHECK_OK &&
		 pg_attribute_aclcheck_all(relid, user, ACL_INSERT, ACLMASK_ANY) != ACLCHECK_OK) ||
		(*(bool *) overwrite && pg_class_aclcheck(relid, user, ACL_TRUNCATE) != ACLCHECK_OK))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE, name->relname);
}

Oid
LockForInsert(RangeVar *name, bool overwrite)
{
	/*
	 * While new contents are collected nobody may add rows to the old ones:
	 * they would be lost.  Readers wait only for the end.
	 */
	return RangeVarGetRelidExtended(name, overwrite ? ShareRowExclusiveLock : RowExclusiveLock,
									RVR_MISSING_OK, CheckWriteRight, &overwrite);
}
