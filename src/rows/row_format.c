/*
 * row_format.c
 *	  Pack, unpack and compare collected rows.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/tupmacs.h"
#include "catalog/pg_attribute.h"
#include "compat.h"
#include "rows/row_format.h"

static int
ColumnWidth(const RowColumn *col)
{
	switch (col->kind)
	{
		case ROW_INT64:
			return 8;
		case ROW_INT16:
			return 2;
		case ROW_INT8:
			return 1;
		default:
			return 4;			/* ROW_INT32 and the offsets */
	}
}

static RowColumnKind
ColumnKind(Form_pg_attribute att)
{
	if (att->attbyval)
	{
		switch (att->attlen)
		{
			case 1:
				return ROW_INT8;
			case 2:
				return ROW_INT16;
			case 4:
				return ROW_INT32;
			case 8:
				return ROW_INT64;
			default:
				elog(ERROR, "unsupported length %d of a by-value type", att->attlen);
		}
	}
	if (att->attlen == -1)
		return ROW_VARLENA;
	if (att->attlen == -2)
		return ROW_CSTRING;
	return ROW_FIXED;
}

/* How the first sort column becomes a prefix. */
static void
SetFirst(RowLayout *layout)
{
	KeyClass	keyclass = layout->sort[0].keyclass;
	const RowColumn *col = &layout->cols[layout->sort_cols[0]];

	layout->exact_first = KeyClassIsFixed(keyclass);
	layout->first_offset = col->offset;
	/* a signed integer is its own image */
	if (layout->exact_first && keyclass != KEYCLASS_FLOAT && KeyClasses[keyclass].span == 0)
		layout->first_width = col->kind == ROW_INT64 ? 8 : col->kind == ROW_INT32 ? 4 : 0;
}

/* Columns of a width get the next places. */
static uint32
PlaceColumns(RowLayout *layout, const RowColumn *cols, int ncols, int width, uint32 offset)
{
	for (int i = 0; i < ncols; i++)
	{
		if (ColumnWidth(&cols[i]) != width)
			continue;
		if (cols[i].kind == ROW_INT64)
			layout->nwide++;
		if (cols[i].kind >= ROW_VARLENA)
			layout->refs[layout->nrefs++] = layout->ncols;
		layout->col_of[cols[i].attnum - 1] = layout->ncols;
		layout->cols[layout->ncols] = cols[i];
		layout->cols[layout->ncols++].offset = offset;
		offset += width;
	}
	return offset;
}

/* A layout of the columns that are stored: not dropped, not virtual. */
static RowLayout *
CreateLayout(TupleDesc desc, bool header, int nsort, const SortColumn *sort)
{
	RowLayout  *layout = palloc0(sizeof(RowLayout));
	RowColumn  *cols = palloc0(sizeof(RowColumn) * Max(desc->natts, 1));
	uint32		offset = header ? sizeof(RowHeader) : 0;
	int			nstored = 0;

	layout->cols = palloc(sizeof(RowColumn) * Max(desc->natts, 1));
	layout->col_of = palloc(sizeof(int) * Max(desc->natts, 1));
	layout->refs = palloc(sizeof(int) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		layout->col_of[i] = -1;
		if (att->attisdropped || BfAttributeIsVirtual(att))
			continue;
		cols[nstored].attnum = i + 1;
		cols[nstored].kind = ColumnKind(att);
		cols[nstored].len = att->attlen;
		cols[nstored].align = att->attalign;
		cols[nstored].pack = att->attstorage != TYPSTORAGE_PLAIN;
		layout->sized |= cols[nstored].kind >= ROW_VARLENA;
		nstored++;
	}
	offset = PlaceColumns(layout, cols, nstored, 8, offset);
	if (header)
		layout->sized = true;
	else if (layout->sized)
	{
		layout->size_offset = offset;
		offset += sizeof(uint32);
	}
	for (int width = 4; width >= 1; width /= 2)
		offset = PlaceColumns(layout, cols, nstored, width, offset);
	pfree(cols);
	layout->null_offset = offset;
	layout->data_offset = offset + (layout->ncols + 7) / 8;
	/* a row without columns has a place, too */
	layout->fixed = Max(TYPEALIGN(8, layout->data_offset), 8);

	layout->nsort = nsort;
	layout->sort = sort;
	layout->sort_cols = palloc(sizeof(int) * nsort);
	for (int i = 0; i < nsort; i++)
	{
		layout->sort_cols[i] = layout->col_of[sort[i].attnum - 1];
		if (layout->sort_cols[i] < 0)
			elog(ERROR, "sort column %d is not a stored column", sort[i].attnum);
	}
	SetFirst(layout);
	return layout;
}

/*
 * Everything the layout points to is copied into the current context, which
 * must live as long as the rows.
 */
RowLayout *
RowLayoutCreate(Oid relid, TupleDesc desc, const TableOptions *options)
{
	BucketSpec *spec = BucketSpecCopy(options->spec);
	RowLayout  *layout = CreateLayout(desc, true, spec->nsort, spec->sort);

	layout->relid = relid;
	layout->desc = CreateTupleDescCopyConstr(desc);
	layout->options = palloc(sizeof(TableOptions));
	*layout->options = *options;
	layout->options->spec = layout->spec = spec;
	return layout;
}

RowLayout *
RowLayoutOfRows(TupleDesc desc, int nsort, const SortColumn *sort)
{
	RowLayout  *layout = CreateLayout(desc, false, nsort, sort);

	layout->toasted = true;
	return layout;
}

/* Would a layout made now be the same? */
bool
RowLayoutMatches(const RowLayout *layout, TupleDesc desc, const TableOptions *options)
{
	const TableOptions *mine = layout->options;

	return equalTupleDescs(layout->desc, desc) &&
		BucketSpecEqual(mine->spec, options->spec) &&
		mine->compression == options->compression &&
		mine->compression_level == options->compression_level &&
		mine->block_rows == options->block_rows;
}

/*
 * Replace compressed, toasted and expanded values of an array by flat copies
 * in the current context.
 */
void
RowFlatten(const RowLayout *layout, Datum *values, const bool *nulls)
{
	for (int i = 0; i < layout->nrefs; i++)
	{
		const RowColumn *col = &layout->cols[layout->refs[i]];
		struct varlena *value;

		if (col->kind != ROW_VARLENA || nulls[col->attnum - 1])
			continue;
		value = (struct varlena *) DatumGetPointer(values[col->attnum - 1]);
		if (VARATT_IS_COMPRESSED(value) || VARATT_IS_EXTERNAL(value))
			values[col->attnum - 1] = PointerGetDatum(detoast_attr(value));
	}
}

/* Size of a row when packed; 0 when it holds values that cannot be, as they are expanded or toasted: RowFlatten helps. */
Size
RowMeasure(const RowLayout *layout, const Datum *values, const bool *nulls)
{
	Size		size = layout->data_offset;

	for (int i = 0; i < layout->nrefs; i++)
	{
		const RowColumn *col = &layout->cols[layout->refs[i]];
		Pointer		value;

		if (nulls[col->attnum - 1])
			continue;
		value = DatumGetPointer(values[col->attnum - 1]);
		if (col->kind == ROW_VARLENA)
		{
			if (VARATT_IS_4B_U(value) && col->pack && VARATT_CAN_MAKE_SHORT(value))
				size += VARATT_CONVERTED_SHORT_SIZE(value);
			else if (VARATT_IS_4B_U(value) || (layout->toasted && VARATT_IS_4B_C(value)))
				size = att_align_nominal(size, col->align) + VARSIZE_4B(value);
			else if (VARATT_IS_SHORT(value) && !VARATT_IS_EXTERNAL(value))
				size += VARSIZE_SHORT(value);
			else if (layout->toasted && VARATT_IS_EXTERNAL_ONDISK(value))
				size += VARSIZE_EXTERNAL(value);
			else
				return 0;
		}
		else if (col->kind == ROW_CSTRING)
			size += strlen(value) + 1;
		else
			size = att_align_nominal(size, col->align) + col->len;
	}
	size = Max(TYPEALIGN(8, size), layout->fixed);
	if (size > ROW_MAX_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu", size, ROW_MAX_SIZE)));
	return size;
}

/* Write a varlena to the end of a row; returns where it stands, and moves the end. */
static inline Size
PackVarlena(const RowColumn *col, char *row, Size *end, Pointer from)
{
	Size		start = *end;
	Size		len;

	if (VARATT_IS_1B(from))
	{
		len = VARATT_IS_EXTERNAL(from) ? VARSIZE_EXTERNAL(from) : VARSIZE_SHORT(from);
		memcpy(row + start, from, len);
	}
	else if (col->pack && VARATT_CAN_MAKE_SHORT(from))
	{
		len = VARATT_CONVERTED_SHORT_SIZE(from);
		SET_VARSIZE_SHORT(row + start, len);
		memcpy(row + start + 1, VARDATA(from), len - 1);
	}
	else
	{
		start = att_align_nominal(start, col->align);
		len = VARSIZE_4B(from);
		memcpy(row + start, from, len);
	}
	*end = start + len;
	return start;
}

/*
 * Write a row to "row", 8-byte aligned memory of the size that RowMeasure
 * returned for the same values.  Without a header, cid is ignored.
 */
void
RowPack(const RowLayout *layout, char *row, Size size, const Datum *values,
		const bool *nulls, CommandId cid)
{
	uint8	   *bitmap = (uint8 *) row + layout->null_offset;
	Size		end = layout->data_offset;

	/* where the header has it, if there is one */
	if (layout->sized)
		*(uint32 *) (row + layout->size_offset) = (uint32) (size / 8);
	if (layout->spec != NULL)
		((RowHeader *) row)->cid = cid;
	memset(bitmap, 0, layout->data_offset - layout->null_offset);

	for (int i = 0; i < layout->nwide; i++)
	{
		const RowColumn *col = &layout->cols[i];
		Datum		value = values[col->attnum - 1];

		if (unlikely(nulls[col->attnum - 1]))
		{
			bitmap[i >> 3] |= 1 << (i & 7);
			value = 0;
		}
		*(Datum *) (row + col->offset) = value;
	}
	for (int i = layout->nwide; i < layout->ncols; i++)
	{
		const RowColumn *col = &layout->cols[i];
		Datum		value = values[col->attnum - 1];
		char	   *place = row + col->offset;

		if (nulls[col->attnum - 1])
		{
			bitmap[i >> 3] |= 1 << (i & 7);
			memset(place, 0, ColumnWidth(col));
			continue;
		}
		switch (col->kind)
		{
			case ROW_INT8:
				*(int8 *) place = DatumGetChar(value);
				break;
			case ROW_INT16:
				*(int16 *) place = DatumGetInt16(value);
				break;
			case ROW_INT32:
				*(int32 *) place = DatumGetInt32(value);
				break;
			case ROW_INT64:
				break;			/* done above */
			case ROW_VARLENA:
				*(uint32 *) place = (uint32) PackVarlena(col, row, &end, DatumGetPointer(value));
				break;
			case ROW_CSTRING:
				{
					Size		len = strlen(DatumGetPointer(value)) + 1;

					memcpy(row + end, DatumGetPointer(value), len);
					*(uint32 *) place = (uint32) end;
					end += len;
				}
				break;
			case ROW_FIXED:
				end = att_align_nominal(end, col->align);
				memcpy(row + end, DatumGetPointer(value), col->len);
				*(uint32 *) place = (uint32) end;
				end += col->len;
				break;
		}
	}
	Assert(Max(TYPEALIGN(8, end), layout->fixed) == size);
}

/* Spread one column of some rows over an array; by-reference values point into the rows. */
static void
GatherColumn(const RowLayout *layout, int c, char *const *rows, int n, Datum *values, bool *nulls)
{
	const RowColumn *col = &layout->cols[c];
	uint32		offset = col->offset;
	uint32		null_byte = layout->null_offset + (c >> 3);
	int			null_bit = c & 7;

	/* the place of a null is zero, so that by-value columns need no care */
	for (int i = 0; i < n; i++)
		nulls[i] = (((const uint8 *) rows[i])[null_byte] >> null_bit) & 1;
	switch (col->kind)
	{
		case ROW_INT8:
			for (int i = 0; i < n; i++)
				values[i] = CharGetDatum(*(int8 *) (rows[i] + offset));
			break;
		case ROW_INT16:
			for (int i = 0; i < n; i++)
				values[i] = Int16GetDatum(*(int16 *) (rows[i] + offset));
			break;
		case ROW_INT32:
			for (int i = 0; i < n; i++)
				values[i] = Int32GetDatum(*(int32 *) (rows[i] + offset));
			break;
		case ROW_INT64:
			for (int i = 0; i < n; i++)
				values[i] = (Datum) *(int64 *) (rows[i] + offset);
			break;
		default:
			for (int i = 0; i < n; i++)
				values[i] = PointerGetDatum(rows[i] + *(uint32 *) (rows[i] + offset));
			break;
	}
}

/*
 * Spread n rows over arrays of n elements, indexed by attnum - 1; those of
 * columns that are not stored are left alone.
 */
void
RowGather(const RowLayout *layout, char *const *rows, int n, Datum *const *values, bool *const *nulls)
{
	for (int c = 0; c < layout->ncols; c++)
	{
		int			index = layout->cols[c].attnum - 1;

		GatherColumn(layout, c, rows, n, values[index], nulls[index]);
	}
}

/* RowPrefix of a first sort column of any type: the image that merges compare, in unsigned order. */
uint64
RowPrefixOfAny(const RowLayout *layout, char *row)
{
	const SortColumn *sort = &layout->sort[0];
	int			c = layout->sort_cols[0];

	if (RowColumnIsNull(layout, row, c))
		return ROW_PREFIX_NULL;
	return (uint64) KeyImage64(sort->keyclass, sort->typid, RowColumnValue(&layout->cols[c], row)) ^
		(UINT64CONST(1) << 63);
}

/* Order of two rows whose prefix is the same. */
int
RowCompareTie(const RowLayout *layout, uint64 prefix, char *a, char *b)
{
	int			first = layout->exact_first && prefix != ROW_PREFIX_NULL ? 1 : 0;

	for (int i = first; i < layout->nsort; i++)
	{
		const SortColumn *sort = &layout->sort[i];
		int			c = layout->sort_cols[i];
		bool		anull = RowColumnIsNull(layout, a, c);
		bool		bnull = RowColumnIsNull(layout, b, c);
		int			cmp;

		if (anull || bnull)
		{
			if (anull && bnull)
				continue;
			/* nulls last: the null one is the greater */
			cmp = anull ? 1 : -1;
			return (sort->flags & BF_SORT_NULLS_FIRST) ? -cmp : cmp;
		}
		cmp = KeyCompare(sort->keyclass,
						 sort->typid, RowColumnValue(&layout->cols[c], a),
						 sort->typid, RowColumnValue(&layout->cols[c], b));
		if (cmp != 0)
			return (sort->flags & BF_SORT_DESC) ? (cmp < 0 ? 1 : -1) : cmp;
	}
	return 0;
}
