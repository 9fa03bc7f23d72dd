/*
 * locator.h
 *	  Where a file of ours is: the main fork of a relation that has no row in
 *	  pg_class.
 */
#ifndef BF_LOCATOR_H
#define BF_LOCATOR_H

#include "compat.h"
#include "miscadmin.h"

/*
 * As the catalog has it.  The database is always the current one, so that a
 * copied database reads its own copies.
 */
typedef struct FileLocator
{
	Oid			tablespace;		/* 0: the database's, whichever that is at the time */
	Oid			number;
} FileLocator;

/* The tablespace that a column of the catalog means. */
static inline Oid
TablespaceOid(Oid tablespace)
{
	return OidIsValid(tablespace) ? tablespace : MyDatabaseTableSpace;
}

/* The locator as core's storage manager wants it. */
static inline BfRelLocator
FileRelLocator(FileLocator locator)
{
	return BfRelLocatorInit(TablespaceOid(locator.tablespace), MyDatabaseId, locator.number);
}

/* A tablespace as the catalog has it. */
static inline Oid
FileTablespace(Oid tablespace)
{
	return tablespace == MyDatabaseTableSpace ? InvalidOid : tablespace;
}

#endif							/* BF_LOCATOR_H */
