/*
 * changers.c
 *	  The lock of those who change rows of a table.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/changers.h"
#include "storage/manifest.h"

static void
MakeTag(LOCKTAG *tag, Oid relid)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, BucketCatalogOid("manifest"), relid, 0);
}

bool
ChangersTryLockOut(Oid relid)
{
	LOCKTAG		tag;

	MakeTag(&tag, relid);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
ChangersLetIn(Oid relid)
{
	LOCKTAG		tag;

	MakeTag(&tag, relid);
	(void) LockRelease(&tag, ExclusiveLock, false);
}
