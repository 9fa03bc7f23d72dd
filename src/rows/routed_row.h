/*
 * routed_row.h
 *	  The packed form in which routed rows wait in memory and in temporary
 *	  files.
 *
 * Columns by value stand in fixed places, in their own width; of one by
 * reference the offset of its value in the row does.  A bitmap of NULLs and
 * the values by reference follow.  A row holds no pointer, so that it may be
 * moved.
 */
#ifndef BF_ROUTED_ROW_H
#define BF_ROUTED_ROW_H

#include "access/tupdesc.h"
#include "vector/batch.h"

typedef struct RoutedColumn
{
	uint32		offset;			/* of its place in the fixed part */
	int16		len;			/* typlen */
	bool		byval;
	bool		pack;			/* a varlena that may get a short header */
	char		align;
} RoutedColumn;

typedef struct RoutedLayout
{
	int			ncols;
	RoutedColumn *cols;
	int			nrefs;			/* columns by reference */
	int		   *refs;			/* which they are */
	uint32		size_offset;	/* if there are any: where the size of the row stands, in units of 8 bytes */
	uint32		null_offset;	/* where the bitmap begins */
	uint32		data_offset;	/* where values by reference may begin */
	uint32		fixed;			/* the least size of a row: the size of all, if no column is by reference */
} RoutedLayout;

extern RoutedLayout *RoutedLayoutCreate(TupleDesc desc);

/*
 * Bytes a row takes, a multiple of 8; raises an error if they are more than
 * can be.  Values that are expanded in memory are replaced by flat copies.
 */
extern Size RoutedRowMeasure(const RoutedLayout *layout, Datum *values, const bool *nulls);

extern void RoutedRowPack(const RoutedLayout *layout, char *row, Size size, const Datum *values,
						  const bool *nulls);

static inline Size
RoutedRowSize(const RoutedLayout *layout, const char *row)
{
	return layout->nrefs == 0 ? layout->fixed :
		(Size) *(const uint32 *) (row + layout->size_offset) * 8;
}

static inline bool
RoutedRowIsNull(const RoutedLayout *layout, const char *row, int col)
{
	return (((const uint8 *) row)[layout->null_offset + (col >> 3)] >> (col & 7)) & 1;
}

/* The value of a column that is not NULL; by reference, it points into the row, and may be toasted. */
static inline Datum
RoutedRowValue(const RoutedColumn *col, char *row)
{
	char	   *at = row + col->offset;

	if (!col->byval)
		return PointerGetDatum(row + *(uint32 *) at);
	switch (col->len)
	{
		case 8:
			return (Datum) *(int64 *) at;
		case 4:
			return Int32GetDatum(*(int32 *) at);
		case 2:
			return Int16GetDatum(*(int16 *) at);
		default:
			return CharGetDatum(*at);
	}
}

#endif							/* BF_ROUTED_ROW_H */
