/*
 * modify.h
 *	  The callbacks of the wrapper that take rows in: INSERT, COPY, TRUNCATE.
 */
#ifndef BF_MODIFY_H
#define BF_MODIFY_H

#include "foreign/fdwapi.h"
#include "load/load.h"

/* Fill in the write callbacks of a routine. */
extern void ModifyRoutine(FdwRoutine *routine);

/* An INSERT into one table, started but not run, is to give its rows to this collector. */
extern void ModifyInto(PlanState *planstate, LoadState *load);

#endif							/* BF_MODIFY_H */
