/*
 * modify.h
 *	  The callbacks of the wrapper that take rows in: INSERT, COPY, TRUNCATE.
 */
#ifndef BF_MODIFY_H
#define BF_MODIFY_H

#include "foreign/fdwapi.h"

/* Fill in the write callbacks of a routine. */
extern void ModifyRoutine(FdwRoutine *routine);

#endif							/* BF_MODIFY_H */
