/*
 * stat_value.h
 *	  Values in block statistics and key tuples, as stored in the footer.
 */
#ifndef BF_STAT_VALUE_H
#define BF_STAT_VALUE_H

#include "format/byte_buffer.h"
#include "format/file_meta.h"

/* May a minimum or maximum be kept?  A long numeric may not. */
extern bool StatValueKept(KeyClass keyclass, Datum value);

/* A value as statistics keep it: texts are cut to BF_STAT_BYTES.  buffer has room for that and a header. */
extern void StatValueKeep(StatValue *to, char *buffer, KeyClass keyclass, Datum value);

/* Append a value of a key class; long texts are cut. */
extern void StatValueWrite(ByteBuffer *out, KeyClass keyclass, bool isnull, Datum value);

/*
 * Read the value at *at of the len bytes at base (MAXALIGNed) and move *at
 * behind it.  By-reference Datums point into base.  NULL, or what is wrong.
 */
extern const char *StatValueRead(const char *base, size_t len, size_t *at, KeyClass keyclass,
								 StatValue *result);

#endif							/* BF_STAT_VALUE_H */
