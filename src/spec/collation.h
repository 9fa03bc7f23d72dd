/*
 * collation.h
 *	  Does a collation order text by bytes?
 */
#ifndef BF_COLLATION_H
#define BF_COLLATION_H

#include "postgres.h"

/*
 * true if comparing under the collation is comparing bytes: "C", "POSIX", the
 * builtin provider's collations, or the database's default where it is one of
 * these.  Read from the catalog, because the server's own header of locales
 * needs ICU's to be installed.
 */
extern bool CollationIsC(Oid collation);

#endif							/* BF_COLLATION_H */
