/*
 * row_types.h
 *	  Composite types inside the columns of a file, which ALTER TYPE may change
 *	  behind its back.  The one part of the format that looks at catalogs.
 */
#ifndef BF_ROW_TYPES_H
#define BF_ROW_TYPES_H

#include "access/tupdesc.h"
#include "format/byte_buffer.h"

/*
 * Append the payload of section ROW_TYPES: the composite types reachable from
 * the columns through arrays, domains, ranges and composite types.
 */
extern void RowTypesWrite(ByteBuffer *out, TupleDesc desc);

/*
 * Compare such a payload with the catalogs; false when it is cut off.
 * Attributes added since read as null and dropped ones are not seen, as in a
 * heap table; any other change makes the stored values unreadable: *changed is
 * then the type, else InvalidOid, and *attnum its attribute.
 */
extern bool RowTypesCheck(const char *section, size_t len, Oid *changed, int *attnum);

#endif							/* BF_ROW_TYPES_H */
