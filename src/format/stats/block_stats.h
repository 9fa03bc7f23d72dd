/*
 * block_stats.h
 *	  May a block be skipped, going by its statistics?
 */
#ifndef BF_BLOCK_STATS_H
#define BF_BLOCK_STATS_H

#include "format/file_meta.h"

typedef enum SkipOp
{
	SKIP_EQ,
	SKIP_LT,
	SKIP_LE,
	SKIP_GT,
	SKIP_GE,
	SKIP_PREFIX,
	SKIP_ISNULL,
	SKIP_NOTNULL
} SkipOp;

/*
 * True only when no row of the block can satisfy "column op value".  coltype
 * is the base type of the column, consttype that of the non-null value, both
 * of keyclass.  The caller vouches that the operator orders (for SKIP_EQ:
 * compares) values as the class does: the type's own btree operator, and for
 * <, <=, >, >= on TEXT and BPCHAR collation C.  SKIP_PREFIX is of TEXT: the
 * column begins with the bytes of value.  value is ignored by SKIP_ISNULL and
 * SKIP_NOTNULL.
 */
extern bool BlockStatsCanSkip(const BlockColumnStats *stats, int nrows, KeyClass keyclass,
							  Oid coltype, SkipOp op, Oid consttype, Datum value);

#endif							/* BF_BLOCK_STATS_H */
