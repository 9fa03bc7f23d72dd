/*
 * ddl_tablespace.c
 *	  The tablespace of a table: chosen as core does for its own, changed by
 *	  ALTER FOREIGN TABLE.
 *
 * pg_class has no place for it in a foreign table's row: the spec row has it,
 * and the shared dependency that core would record.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "compat.h"
#include "ddl/ddl.h"
#include "miscadmin.h"
#include "storage/catalog.h"
#include "storage/manifest.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * The tablespace, as the catalog has it, that an option asks for; or, if it is
 * not written or names none and that is allowed, the parent's or the default
 * one.  Error if the user may not use it.
 */
static Oid
ChooseTablespace(Relation rel, const char *option, bool missing_ok)
{
	Oid			tablespace = InvalidOid;

	if (option != NULL)
	{
		tablespace = get_tablespace_oid(option, missing_ok);
		if (!OidIsValid(tablespace))
			ereport(WARNING,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("tablespace \"%s\" does not exist", option),
					 errdetail("Bucketed table \"%s\" is created in the default tablespace.",
							   RelationGetRelationName(rel)),
					 errhint("When the tablespace is there, ALTER FOREIGN TABLE ... OPTIONS (SET tablespace ...) moves the table.")));
	}
	if (!OidIsValid(tablespace) && rel->rd_rel->relispartition)
		tablespace = get_rel_tablespace(get_partition_parent(RelationGetRelid(rel), false));
	if (!OidIsValid(tablespace))
		tablespace = GetDefaultTablespace(RELPERSISTENCE_PERMANENT, false);
	tablespace = FileTablespace(tablespace);

	if (OidIsValid(tablespace))
	{
		AclResult	result = BfTablespaceAclCheck(tablespace, GetUserId());

		if (result != ACLCHECK_OK)
			aclcheck_error(result, OBJECT_TABLESPACE, get_tablespace_name(tablespace));
	}
	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in pg_global tablespace")));
	return tablespace;
}

/* New files go to a tablespace from now on. */
static void
SetTablespace(Oid relid, Oid tablespace)
{
	SpecSetTablespace(relid, tablespace);
	changeDependencyOnTablespace(RelationRelationId, relid, tablespace);
}

void
TablespaceSettle(Relation rel, const char *option)
{
	SetTablespace(RelationGetRelid(rel), ChooseTablespace(rel, option, true));
}

void
TablespaceChange(Relation rel, const char *option)
{
	Oid			tablespace = ChooseTablespace(rel, option, false);

	SetTablespace(RelationGetRelid(rel), tablespace);
	ManifestMove(rel, tablespace);
}
