/*
 * procedure.h
 *	  What procedures that do the upkeep of tables in several transactions have
 *	  in common.
 */
#ifndef BF_PROCEDURE_H
#define BF_PROCEDURE_H

#include "fmgr.h"
#include "nodes/pg_list.h"

/*
 * Begin a procedure of that name, whose first argument is a table: its bucketed
 * partitions, or the table itself, which the user may maintain; null is an
 * error, or stands for all tables of which that is true.  SPI is connected; what
 * is allocated then outlives transactions.
 */
extern List *ProcedureBegin(FunctionCallInfo fcinfo, const char *name, bool all);

#endif							/* BF_PROCEDURE_H */
