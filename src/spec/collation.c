/*
 * collation.c
 *	  Does a collation order text by bytes?
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "spec/collation.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* pg_collation.collprovider and pg_database.datlocprovider; 'b' exists from 17 on */
#define PROVIDER_BUILTIN 'b'
#define PROVIDER_LIBC 'c'

/* Decide by provider and the name of libc's locale. */
static bool
LocaleIsC(char provider, const char *name)
{
	if (provider == PROVIDER_BUILTIN)
		return true;
	return provider == PROVIDER_LIBC && name != NULL &&
		(strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0);
}

/* A text attribute of a catalog row, or NULL. */
static char *
TextAttribute(int cache, HeapTuple tuple, AttrNumber attnum)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(cache, tuple, attnum, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

/* The database's default collation cannot change while it is connected to. */
static bool
DefaultIsC(void)
{
	static int	known = -1;
	HeapTuple	tuple;

	if (known >= 0)
		return known != 0;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	known = LocaleIsC(((Form_pg_database) GETSTRUCT(tuple))->datlocprovider,
					  TextAttribute(DATABASEOID, tuple, Anum_pg_database_datcollate));
	ReleaseSysCache(tuple);
	return known != 0;
}

bool
CollationIsC(Oid collation)
{
	HeapTuple	tuple;
	bool		result;

	if (!OidIsValid(collation))
		return false;
	if (collation == C_COLLATION_OID)
		return true;
	if (collation == DEFAULT_COLLATION_OID)
		return DefaultIsC();
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	result = LocaleIsC(((Form_pg_collation) GETSTRUCT(tuple))->collprovider,
					   TextAttribute(COLLOID, tuple, Anum_pg_collation_collcollate));
	ReleaseSysCache(tuple);
	return result;
}
