/*
 * routed_row.c
 *	  The packed form of routed rows.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "fmgr.h"
#include "rows/routed_row.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Give the columns of one width their places. */
static uint32
PlaceColumns(RoutedLayout *layout, int width, uint32 offset)
{
	for (int c = 0; c < layout->ncols; c++)
	{
		RoutedColumn *col = &layout->cols[c];

		if ((col->byval ? col->len : (int) sizeof(uint32)) != width)
			continue;
		col->offset = offset;
		offset += width;
	}
	return offset;
}

RoutedLayout *
RoutedLayoutCreate(TupleDesc desc)
{
	RoutedLayout *layout = palloc0(sizeof(RoutedLayout));
	uint32		offset;

	layout->ncols = desc->natts;
	layout->cols = palloc0(Max(desc->natts, 1) * sizeof(RoutedColumn));
	layout->refs = palloc(Max(desc->natts, 1) * sizeof(int));
	for (int c = 0; c < desc->natts; c++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, c);
		RoutedColumn *col = &layout->cols[c];

		col->len = att->attlen;
		col->byval = att->attbyval;
		col->align = att->attalign;
		col->pack = att->attlen == -1 && att->attstorage != TYPSTORAGE_PLAIN;
		if (!att->attbyval)
			layout->refs[layout->nrefs++] = c;
	}
	offset = PlaceColumns(layout, 8, 0);
	if (layout->nrefs > 0)
	{
		layout->size_offset = offset;
		offset += sizeof(uint32);
	}
	for (int width = 4; width > 0; width /= 2)
		offset = PlaceColumns(layout, width, offset);
	layout->null_offset = offset;
	layout->data_offset = offset + (desc->natts + 7) / 8;
	/* a row without columns has a place, too */
	layout->fixed = Max(TYPEALIGN(8, layout->data_offset), 8);
	return layout;
}

/* Where a value by reference begins after so many bytes of the row. */
static inline Size
AlignValue(const RoutedColumn *col, Size offset, Datum value)
{
	if (col->pack && (VARATT_CAN_MAKE_SHORT(DatumGetPointer(value)) ||
					  VARATT_IS_1B(DatumGetPointer(value))))
		return offset;
	return col->len == -1 ? att_align_datum(offset, col->align, -1, value) :
		att_align_nominal(offset, col->align);
}

static inline Size
ValueSize(const RoutedColumn *col, Datum value)
{
	if (col->pack && VARATT_CAN_MAKE_SHORT(DatumGetPointer(value)))
		return VARATT_CONVERTED_SHORT_SIZE(DatumGetPointer(value));
	return col->len == -1 ? VARSIZE_ANY(DatumGetPointer(value)) :
		datumGetSize(value, false, col->len);
}

Size
RoutedRowMeasure(const RoutedLayout *layout, Datum *values, const bool *nulls)
{
	Size		size = layout->data_offset;

	if (layout->nrefs == 0)
		return layout->fixed;
	for (int i = 0; i < layout->nrefs; i++)
	{
		int			c = layout->refs[i];
		const RoutedColumn *col = &layout->cols[c];

		if (nulls[c])
			continue;
		if (col->len == -1)
		{
			struct varlena *ptr = (struct varlena *) DatumGetPointer(values[c]);

			if (VARATT_IS_EXTERNAL(ptr) && !VARATT_IS_EXTERNAL_ONDISK(ptr))
				values[c] = PointerGetDatum(pg_detoast_datum_packed(ptr));
		}
		size = AlignValue(col, size, values[c]) + ValueSize(col, values[c]);
	}
	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a row of %zu bytes is too large to be sorted into buckets", size),
				 errhint("Set bucketfdw.enable_routing to off.")));
	return Max(TYPEALIGN(8, size), layout->fixed);
}

/* Write a value by reference; returns the offset behind it. */
static Size
PackReference(const RoutedColumn *col, char *row, Size offset, Datum value)
{
	Size		start = AlignValue(col, offset, value);
	Size		size = ValueSize(col, value);
	char	   *ptr = DatumGetPointer(value);

	/* in what is skipped a reader could take something for a header */
	memset(row + offset, 0, start - offset);
	*(uint32 *) (row + col->offset) = (uint32) start;
	if (col->pack && VARATT_CAN_MAKE_SHORT(ptr))
	{
		SET_VARSIZE_SHORT(row + start, size);
		memcpy(row + start + 1, VARDATA(ptr), size - 1);
	}
	else
		memcpy(row + start, ptr, size);
	return start + size;
}

void
RoutedRowPack(const RoutedLayout *layout, char *row, Size size, const Datum *values,
			  const bool *nulls)
{
	const RoutedColumn *col = layout->cols;
	uint8	   *bitmap = (uint8 *) row + layout->null_offset;
	Size		offset = layout->data_offset;

	memset(bitmap, 0, layout->data_offset - layout->null_offset);
	for (int c = 0; c < layout->ncols; c++, col++)
	{
		char	   *at = row + col->offset;

		if (unlikely(nulls[c]))
		{
			bitmap[c >> 3] |= (uint8) (1 << (c & 7));
			memset(at, 0, col->byval ? col->len : (int) sizeof(uint32));
		}
		else if (!col->byval)
			offset = PackReference(col, row, offset, values[c]);
		else
			switch (col->len)
			{
				case 8:
					*(int64 *) at = (int64) values[c];
					break;
				case 4:
					*(int32 *) at = (int32) values[c];
					break;
				case 2:
					*(int16 *) at = (int16) values[c];
					break;
				default:
					*at = (char) values[c];
			}
	}
	if (layout->nrefs > 0)
		*(uint32 *) (row + layout->size_offset) = (uint32) (size / 8);
}
