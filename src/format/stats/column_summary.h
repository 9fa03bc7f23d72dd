/*
 * column_summary.h
 *	  Statistics of the columns of one write, as one piece of bytes that is kept
 *	  with the manifest row.  The planner reads them, nothing else: what they say
 *	  sets costs.
 *
 *	bytes		u32 version, u32 columns, then for each column, by attribute number:
 *				i16 attribute number, u16 key class, u32 offset of its summary
 *	summary		at a multiple of 8: i64 nulls, i64 values, i64 bytes of values,
 *				u16 hashes, u8 common values, u8 bounds, u8 flags (1: there are no
 *				more hashes), 3 bytes reserved; u32 hashes, ascending; f32 shares of
 *				the common values among all rows; the common values and the bounds
 *				(minimum, quantiles of the values that are not common, maximum) as
 *				key values, see docs/format.md
 */
#ifndef BF_COLUMN_SUMMARY_H
#define BF_COLUMN_SUMMARY_H

#include "format/stats/column_stats.h"

#define BF_SUMMARY_VERSION 1

#define SUMMARY_COMMON 12
#define SUMMARY_BOUNDS 17

/* columns of a table beyond this one have no summary */
#define SUMMARY_COLUMNS 256

typedef struct ColumnSummary
{
	AttrNumber	attnum;
	KeyClass	keyclass;
	int64		nulls;
	int64		values;
	int64		bytes;
	int			nhashes;		/* see column_stats.h */
	uint32		hashes[SKETCH_HASHES];
	uint64		below;
	int			ncommon;
	float		shares[SUMMARY_COMMON];
	StatValue	common[SUMMARY_COMMON];
	int			nbounds;
	StatValue	bounds[SUMMARY_BOUNDS];
} ColumnSummary;

/* How many hashes, common values and bounds a column of a table of so many may have. */
typedef struct SummaryLimits
{
	int			hashes;
	int			common;
	int			bounds;
} SummaryLimits;

extern void SummaryGetLimits(int ncolumns, SummaryLimits *limits);

/* Begin a piece of ncolumns summaries; then each is added, in order of attnum. */
extern void SummaryBegin(ByteBuffer *out, int ncolumns);
extern void SummaryAdd(ByteBuffer *out, int index, const ColumnSummary *summary);

/*
 * Find the summary of a column in len bytes at base (MAXALIGNed); values point
 * there.  False when there is none, or the bytes are no summary we can read.
 */
extern bool SummaryFind(const char *base, size_t len, AttrNumber attnum, ColumnSummary *summary);

/* Is every column that the table had then among the summaries? */
extern bool SummaryIsComplete(const char *base, size_t len);

#endif							/* BF_COLUMN_SUMMARY_H */
