/*
 * pg_shim.h
 *	  Just enough of a PostgreSQL backend to run the folders spec, vector and
 *	  format in a stand-alone program: memory contexts over malloc, errors with
 *	  PG_TRY, interrupts that never come, tuple descriptors, string buffers.
 *
 * Values outside a server are never toasted: detoasting raises an error.
 */
#ifndef PG_SHIM_H
#define PG_SHIM_H

#include "postgres.h"

#include "access/tupdesc.h"

/* Call first: makes TopMemoryContext, the current one. */
extern void ShimInit(void);

/* Bytes of all live chunks of all contexts, headers excluded: for leak checks. */
extern Size ShimMemoryInUse(void);

/* Temporary files created and not yet closed. */
extern int	ShimOpenTempFiles(void);

/*
 * Fill column attno (1-based) of a template descriptor.  Only built-in types:
 * the length, by-value flag and alignment come from a small table inside.
 */
extern void ShimTupleDescSet(TupleDesc desc, AttrNumber attno, const char *name, Oid typid);

/* Make a row type known to the type look-ups; desc stays the caller's. */
extern void ShimRegisterRowType(Oid typid, TupleDesc desc);

/* Test output in the manner of TAP; ShimDone prints the plan and returns the exit status. */
extern bool ShimOk(bool pass, const char *fmt, ...) pg_attribute_printf(2, 3);
extern int	ShimDone(void);

#endif							/* PG_SHIM_H */
