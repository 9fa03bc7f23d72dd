/*
 * row_format.h
 *	  The packed form in which rows wait in memory and in temporary files: those
 *	  of a load, and those that are routed.  It never reaches a permanent file.
 *
 * A row has its columns in fixed places (by-value columns in their own width,
 * by-reference columns as the offset of their value in the row), a null bitmap
 * and the by-reference values.  It holds no pointer, so it may be moved and
 * written as it is.  Rows of a load have a header; of others the size stands
 * in them if they differ in it.
 */
#ifndef BF_ROW_FORMAT_H
#define BF_ROW_FORMAT_H

#include "access/tupdesc.h"
#include "spec/bucket_spec.h"

typedef struct RowHeader
{
	uint32		size8;			/* size of the row in units of 8 bytes */
	CommandId	cid;			/* the command that inserted it */
} RowHeader;

typedef enum RowColumnKind
{
	ROW_INT8,					/* by value, 1 byte; and so on */
	ROW_INT16,
	ROW_INT32,
	ROW_INT64,
	ROW_VARLENA,
	ROW_CSTRING,
	ROW_FIXED					/* by reference, fixed length */
} RowColumnKind;

typedef struct RowColumn
{
	AttrNumber	attnum;
	RowColumnKind kind;
	uint32		offset;			/* of its place in the fixed part */
	int16		len;			/* typlen */
	char		align;
	bool		pack;			/* varlena that may get a short header */
} RowColumn;

/* How rows are packed and ordered; and, of a load, routed. */
typedef struct RowLayout
{
	int			ncols;			/* stored columns */
	RowColumn  *cols;			/* by falling width: no padding */
	int		   *col_of;			/* index in cols by attribute number - 1; -1: not stored */
	int			nwide;			/* columns of 8 bytes, the first ones of cols */
	int			nrefs;			/* by-reference columns, the first ones of refs */
	int		   *refs;			/* their indexes in cols */
	bool		toasted;		/* values may be: those on disk are taken as they are */
	bool		sized;			/* the size of a row stands in it, in units of 8 bytes */
	uint32		size_offset;	/* where */
	uint32		null_offset;	/* where the null bitmap begins */
	uint32		data_offset;	/* where by-reference values may begin */
	uint32		fixed;			/* the least size of a row; if not sized, that of all */

	int			nsort;
	const SortColumn *sort;
	int		   *sort_cols;		/* index in cols of each sort column */
	bool		exact_first;	/* the prefix orders the first column fully */
	int			first_width;	/* 4 or 8: the first sort column is such an integer; else 0 */
	uint32		first_offset;	/* its place */

	/* of a load */
	Oid			relid;
	TupleDesc	desc;
	TableOptions *options;
	BucketSpec *spec;			/* options->spec */
} RowLayout;

/* The prefix of a NULL, the greatest there is. */
#define ROW_PREFIX_NULL PG_UINT64_MAX

/* of rows of a load */
#define RowSize(row) ((Size) ((const RowHeader *) (row))->size8 * 8)
#define RowCid(row) (((const RowHeader *) (row))->cid)

/* The greatest size of a packed row. */
#define ROW_MAX_SIZE ((Size) UINT32_MAX)

/* The rows of a table that is loaded. */
extern RowLayout *RowLayoutCreate(Oid relid, TupleDesc desc, const TableOptions *options);

/* Rows of any columns, without a header; the sort columns must live as long. */
extern RowLayout *RowLayoutOfRows(TupleDesc desc, int nsort, const SortColumn *sort);
extern bool RowLayoutMatches(const RowLayout *layout, TupleDesc desc, const TableOptions *options);

extern void RowFlatten(const RowLayout *layout, Datum *values, const bool *nulls);
extern Size RowMeasure(const RowLayout *layout, const Datum *values, const bool *nulls);
extern void RowPack(const RowLayout *layout, char *row, Size size, const Datum *values,
					const bool *nulls, CommandId cid);
extern void RowGather(const RowLayout *layout, char *const *rows, int n, Datum *const *values,
					  bool *const *nulls);

extern uint64 RowPrefixOfAny(const RowLayout *layout, char *row);
extern int	RowCompareTie(const RowLayout *layout, uint64 prefix, char *a, char *b);

static inline Size
RowLayoutSize(const RowLayout *layout, const char *row)
{
	return layout->sized ? (Size) *(const uint32 *) (row + layout->size_offset) * 8 : layout->fixed;
}

static inline bool
RowColumnIsNull(const RowLayout *layout, const char *row, int i)
{
	return (((const uint8 *) row)[layout->null_offset + (i >> 3)] >> (i & 7)) & 1;
}

/* The value of a column that is not null; by-reference values point into the row. */
static inline Datum
RowColumnValue(const RowColumn *col, char *row)
{
	char	   *place = row + col->offset;

	switch (col->kind)
	{
		case ROW_INT8:
			return CharGetDatum(*(int8 *) place);
		case ROW_INT16:
			return Int16GetDatum(*(int16 *) place);
		case ROW_INT32:
			return Int32GetDatum(*(int32 *) place);
		case ROW_INT64:
			return (Datum) *(int64 *) place;
		default:
			return PointerGetDatum(row + *(uint32 *) place);
	}
}

/*
 * A number for the first sort column: when it differs between two rows, their
 * order is that of the numbers; when it is equal, RowCompareTie decides.  The
 * first sort column is a bucket column: ascending, nulls last.
 */
static inline uint64
RowPrefix(const RowLayout *layout, char *row)
{
	int64		value;

	if (layout->first_width == 0)
		return RowPrefixOfAny(layout, row);
	if (RowColumnIsNull(layout, row, layout->sort_cols[0]))
		return ROW_PREFIX_NULL;
	value = layout->first_width == 8 ? *(int64 *) (row + layout->first_offset) :
		*(int32 *) (row + layout->first_offset);
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

/* true if rows with this equal prefix are equal in order */
static inline bool
RowPrefixDecides(const RowLayout *layout, uint64 prefix)
{
	return layout->exact_first && layout->nsort == 1 && prefix != ROW_PREFIX_NULL;
}

#endif							/* BF_ROW_FORMAT_H */
